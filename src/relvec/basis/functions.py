"""Functions that are not centred on points: a constant, the inputs, given kernel values."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from relvec._numerics.typing import Array, Index
from relvec.basis.base import Basis, Centers
from relvec.basis.products import Products


class Terms(Basis):
    """Functions without centres.

    Attributes
    ----------
    terms_ : ndarray of int
        Integers from which each function is made, one row a function.
    """

    terms_: Index

    def _of(self, terms: Index) -> Self:
        """Take the functions of some terms."""
        self.terms_, self.rows_ = terms, np.full(len(terms), -1)
        return self

    def restrict(self, active: Index) -> Self:
        """Keep the terms `active`; see `Basis.restrict`."""
        return copy.copy(self)._of(self.terms_[active])


def feature_name(features: Sequence[str] | None, position: int) -> str:
    """Name of an input, or x0, x1, … where they have none."""
    return f"x{position}" if features is None else str(features[position])


class Bias(Terms):
    """The constant function φ(x) = 1: the paper's bias, penalised like any other weight.

    Examples
    --------
    >>> from relvec.basis import Bias
    >>> Bias().fit([[3.0], [4.0]]).transform([[5.0], [6.0]])
    array([[1.],
           [1.]])
    """

    any_rows = True

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """One function; see `Basis.place`."""
        return self._of(np.zeros(1, dtype=np.intp))

    def evaluate(self, X: Array) -> Array:
        """Ones; see `Basis.evaluate`."""
        return np.ones((len(X), len(self.terms_)))

    def derivatives(self, X: Array) -> Iterator[Array]:
        """Zeros; see `Basis.derivatives`."""
        return iter(np.zeros((X.shape[1], len(X), len(self.terms_))))

    def products(self) -> list[Products]:
        """None: a constant; see `Basis.products`."""
        return []

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Return "bias" for the constant."""
        return ["bias"] * len(self.terms_)


class Columns(Terms):
    """The columns of X themselves: φ_d(x) = x_d.

    Parameters
    ----------
    labels : sequence of hashable objects, of length n_features, default=None
        Columns with one label share a precision: they are in the model together or out. None gives
        each a precision of its own.

    Examples
    --------
    >>> from relvec.basis import Columns
    >>> Columns().fit([[3.0, 1.0]]).transform([[5.0, 2.0]])
    array([[5., 2.]])
    >>> Columns(["position", "position", "time"]).fit([[3.0, 1.0, 4.0]]).groups
    array([0, 0, 1])
    """

    labels: Sequence[Hashable] | None = None  # of what earlier releases stored

    def __init__(self, labels: Sequence[Hashable] | None = None) -> None:
        self.labels = labels

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """One function a column; see `Basis.place`."""
        self.n_columns_ = X.shape[1]
        if self.labels is not None and len(self.labels) != self.n_columns_:
            raise ValueError(
                f"labels has {len(self.labels)} entries, expected one for each of the "
                f"{self.n_columns_} columns of X"
            )
        return self._of(np.arange(X.shape[1]))

    @property
    def groups(self) -> Index:
        """Numbers of the labels in the order of the columns; see `Basis.groups`."""
        if self.labels is None:
            return super().groups
        numbers = {label: number for number, label in enumerate(dict.fromkeys(self.labels))}
        own = [numbers[self.labels[column]] for column in self.terms_]
        return np.array(own, dtype=np.intp)

    @property
    def inputs(self) -> Index | None:
        """Columns of X; see `Basis.inputs`."""
        return self.terms_

    def terms(self, features: Sequence[str] | None = None) -> list[str]:
        """Labels that several columns have, and names of the others; see `Basis.terms`."""
        names, labels = self.names(features), self.labels
        if labels is None:
            return names
        shared = Counter(labels)
        return [
            str(labels[column]) if shared[labels[column]] > 1 else name
            for column, name in zip(self.terms_, names, strict=True)
        ]

    def evaluate(self, X: Array) -> Array:
        """Columns of X; see `Basis.evaluate`."""
        return X[:, self.terms_]

    def derivatives(self, X: Array) -> Iterator[Array]:
        """Ones where the function is the input; see `Basis.derivatives`."""
        for d in range(X.shape[1]):
            yield np.tile((self.terms_ == d).astype(np.float64), (len(X), 1))

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Return the inputs' own names, or x0, x1, … without any."""
        return [feature_name(features, column) for column in self.terms_]

    def products(self) -> list[Products]:
        """Each column by itself; see `Basis.products`."""
        one = np.eye(len(self.terms_))
        return [
            Products.of_input(d, partial(_column, d), one[[m]]) for m, d in enumerate(self.terms_)
        ]

    def linear_map(self) -> Array | None:
        """Columns of the identity."""
        columns: Array = np.zeros((self.n_columns_, len(self.terms_)))
        columns[self.terms_, np.arange(len(self.terms_))] = 1.0
        return columns


def _column(d: int, X: Array) -> Array:
    return X[:, [d]]


class Precomputed(Columns):
    """Kernel values given in place of inputs: X[n, m] = k(x_n, z_m), z_m the training rows.

    Examples
    --------
    >>> from relvec.basis import Precomputed
    >>> Precomputed().fit([[1.0, 0.5], [0.5, 1.0]]).transform([[0.2, 0.9]])
    array([[0.2, 0.9]])
    """

    centred = True

    def __init__(self) -> None:
        super().__init__()

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Take the columns of the training rows `centers`; see `Basis.place`."""
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"X has shape {X.shape}, expected a square matrix with kernel='precomputed': "
                "one row and one column a training row"
            )
        if (centers.rows < 0).any():
            raise ValueError(
                "centers are points of their own, expected None or a number of training rows with "
                "a precomputed kernel"
            )
        return self._of(centers.rows)

    def _of(self, terms: Index) -> Self:
        self.terms_ = self.rows_ = terms
        return self

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Name each function by its training row."""
        return [f"precomputed[{column}]" for column in self.terms_]

    def derivatives(self, X: Array) -> Iterator[Array]:
        """There are none: kernel values are no inputs; see `Basis.derivatives`."""
        return Basis.derivatives(self, X)

    def products(self) -> list[Products]:
        """There are none, either; see `Basis.products`."""
        return Basis.products(self)

    def linear_map(self) -> None:
        """None: kernel values are no inputs; see `Basis.linear_map`."""
        return

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags
