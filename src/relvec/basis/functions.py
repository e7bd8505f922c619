"""Functions of x that are not centred on points."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from relvec.basis.base import Array, Basis, Centers, Index


class Bias(Basis):
    """The constant function φ(x) = 1: the paper's bias, penalised like any other weight.

    Examples
    --------
    >>> from relvec.basis import Bias
    >>> Bias().fit([[3.0], [4.0]]).transform([[5.0], [6.0]])
    array([[1.],
           [1.]])
    """

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Nothing to fix; see `Basis.place`."""
        self.rows_ = np.array([-1])
        return self

    def evaluate(self, X: Array) -> Array:
        """Ones; see `Basis.evaluate`."""
        return np.ones((len(X), len(self.rows_)))

    def restrict(self, active: Index) -> Self:
        """Keep the constant or drop it; see `Basis.restrict`."""
        restricted = copy.copy(self)
        restricted.rows_ = self.rows_[active]
        return restricted

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Return "bias" for the constant."""
        return ["bias"] * len(self.rows_)


class Columns(Basis):
    """The columns of X themselves: φ_d(x) = x_d.

    Examples
    --------
    >>> from relvec.basis import Columns
    >>> Columns().fit([[3.0, 1.0]]).transform([[5.0, 2.0]])
    array([[5., 2.]])
    """

    columns_: Index

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """One function a column; see `Basis.place`."""
        self.n_columns_ = X.shape[1]
        self.columns_ = np.arange(X.shape[1])
        self.rows_ = np.full(X.shape[1], -1)
        return self

    def evaluate(self, X: Array) -> Array:
        """Columns of X; see `Basis.evaluate`."""
        return X[:, self.columns_]

    def restrict(self, active: Index) -> Self:
        """Keep the columns `active`; see `Basis.restrict`."""
        restricted = copy.copy(self)
        restricted.columns_, restricted.rows_ = self.columns_[active], self.rows_[active]
        return restricted

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Return the inputs' own names, or x0, x1, … without any."""
        return [f"x{c}" if features is None else str(features[c]) for c in self.columns_]

    def linear_map(self) -> Array | None:
        """Columns of the identity."""
        return np.eye(self.n_columns_)[:, self.columns_]


class Precomputed(Columns):
    """Kernel values given in place of inputs: X[n, m] = k(x_n, z_m), z_m the training rows.

    Examples
    --------
    >>> from relvec.basis import Precomputed
    >>> Precomputed().fit([[1.0, 0.5], [0.5, 1.0]]).transform([[0.2, 0.9]])
    array([[0.2, 0.9]])
    """

    centred = True

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Take the columns of the training rows `centers`; see `Basis.place`."""
        if (centers.rows < 0).any():
            raise ValueError(
                "centers are points of their own, expected None or a number of training rows with "
                "a precomputed kernel"
            )
        self.columns_ = self.rows_ = centers.rows
        return self

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Name each function by its training row."""
        return [f"precomputed[{column}]" for column in self.columns_]

    def linear_map(self) -> None:
        """Kernel values are linear in nothing that the user knows as an input."""
        return

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags
