"""Functions of the inputs by formula: polynomial and Fourier terms, and callables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, combinations_with_replacement
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relvec._numerics.checks import as_numbers, check_count, check_function_values
from relvec._numerics.typing import Array, Index
from relvec.basis.base import Centers
from relvec.basis.functions import Terms, feature_name
from relvec.basis.products import Products


class Polynomial(Terms):
    """Powers of the inputs and their products, φ(x) = Π_d x_d^a_d with 1 ≤ Σ_d a_d ≤ degree.

    Parameters
    ----------
    degree : int, default=2
        Highest sum of the powers.
    interaction_only : bool, default=False
        Leave out powers of one input, so that every a_d is 0 or 1.

    Examples
    --------
    >>> from relvec.basis import Polynomial
    >>> basis = Polynomial(degree=2).fit([[0.0, 0.0]])
    >>> basis.names()
    ['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    >>> basis.transform([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    """

    def __init__(self, degree: int = 2, interaction_only: bool = False) -> None:
        self.degree, self.interaction_only = degree, interaction_only

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """List the terms, the inputs of each padded with a column of ones; see `Basis.place`."""
        check_count(self.degree, "degree")
        self.n_columns_ = X.shape[1]
        choose = combinations if self.interaction_only else combinations_with_replacement
        terms = [
            list(factors) + [self.n_columns_] * (self.degree - size)
            for size in range(1, self.degree + 1)
            for factors in choose(range(self.n_columns_), size)
        ]
        return self._of(np.array(terms, dtype=np.intp))

    def distinct(self, constant: NDArray[np.bool_]) -> Index:
        """Leave out products with constant inputs; see `Basis.distinct`."""
        # the columns of ones come last in a term, and a power of one input is no product
        product = (self.terms_ != self.terms_[:, :1]) & (self.terms_ < self.n_columns_)
        fixed = np.append(constant, False)[self.terms_]
        return np.flatnonzero(~(product.any(axis=1) & fixed.any(axis=1)))

    def evaluate(self, X: Array) -> Array:
        """Π_d x_d^a_d; see `Basis.evaluate`."""
        padded = np.hstack([X, np.ones((len(X), 1))])
        Phi = np.ones((len(X), len(self.terms_)))
        for factors in self.terms_.T:
            Phi *= padded[:, factors]
        return Phi

    def derivatives(self, X: Array) -> Iterator[Array]:
        """Sum over the factors that are the input of the product of the others; see `Basis`."""
        padded = np.hstack([X, np.ones((len(X), 1))])
        for d in range(X.shape[1]):
            slope = np.zeros((len(X), len(self.terms_)))
            for place, factor in enumerate(self.terms_.T):
                own = factor == d
                others = np.delete(self.terms_[own], place, axis=1)
                slope[:, own] += padded[:, others].prod(axis=2)
            yield slope

    def products(self) -> list[Products]:
        """Powers of the inputs of each term; see `Basis.products`."""
        found = []
        for one, term in zip(np.eye(len(self.terms_)), self.terms_, strict=True):
            features, powers = np.unique(term[term < self.n_columns_], return_counts=True)
            found.append(Products(features, partial(_powers, features, powers), one[None]))
        return found

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Return terms such as ``x0^2 x1``, with the inputs' own names where there are any."""
        return [
            " ".join(
                feature_name(features, column) + (f"^{power}" if power > 1 else "")
                for column, power in Counter(term[term < self.n_columns_].tolist()).items()
            )
            for term in self.terms_
        ]


def _powers(features: Index, powers: Index, X: Array) -> Array:
    """Powers of inputs, shape (n_samples, n_inputs, 1)."""
    return X[:, features, None] ** powers[:, None]


class Fourier(Terms):
    """Sines and cosines of single inputs, sin(hωx_d) and cos(hωx_d) for h = 1 … harmonics.

    Parameters
    ----------
    harmonics : int, default=3
        Number of frequencies, the multiples of the first.
    period : float or array-like of shape (n_inputs,), default=None
        Period 2π/ω of the first harmonic, in units of X: one, or one for each input used. None is
        twice the range of each input, so that what is fitted need not end where it began; x is then
        counted from the smallest value.
    features : sequence of int, default=None
        Columns of X to use; None takes them all.

    Attributes
    ----------
    features_ : ndarray of int, shape (n_inputs,)
        The inputs used.
    frequency_ : ndarray of shape (n_inputs,)
        ω of each, in radians per unit of the input.
    origin_ : ndarray of shape (n_inputs,)
        Value of each from which it is counted.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.basis import Fourier
    >>> basis = Fourier(harmonics=2, period=2 * np.pi).fit([[0.0]])
    >>> basis.names()
    ['sin(1 x0)', 'cos(1 x0)', 'sin(2 x0)', 'cos(2 x0)']
    >>> basis.transform([[np.pi / 2]]).round(3) + 0.0
    array([[ 1.,  0.,  0., -1.]])
    """

    features_: Index
    frequency_: Array
    origin_: Array

    def __init__(
        self,
        harmonics: int = 3,
        period: float | ArrayLike | None = None,
        features: Sequence[int] | None = None,
    ) -> None:
        self.harmonics, self.period, self.features = harmonics, period, features

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Take periods from the rows that count; see `Basis.place`."""
        check_count(self.harmonics, "harmonics")
        self.features_ = self._features(X.shape[1])
        used = X[:, self.features_] if weights is None else X[weights > 0][:, self.features_]
        if self.period is None:
            self.origin_ = used.min(axis=0)
            extent = used.max(axis=0) - self.origin_
            period = np.where(extent > 0, 2 * extent, 1.0)
        else:
            self.origin_ = np.zeros(len(self.features_))
            period = self._period(len(self.features_))
        self.frequency_ = 2 * np.pi / period
        shape = len(self.features_), self.harmonics, 2  # sine and cosine
        return self._of(np.argwhere(np.ones(shape)))

    def _features(self, n_features: int) -> Index:
        """Return the columns to use, shape (n_inputs,)."""
        features = np.arange(n_features) if self.features is None else np.asarray(self.features)
        known = features.dtype.kind in "iu" and np.isin(features, np.arange(n_features)).all()
        if not known or features.ndim != 1 or len(np.unique(features)) < max(1, len(features)):
            raise ValueError(
                f"features={self.features!r}, expected None or different columns from 0 to "
                f"{n_features - 1}"
            )
        return features.astype(np.intp)

    def _period(self, n_inputs: int) -> Array:
        """Return the period of each input used, shape (n_inputs,)."""
        period = np.asarray(self.period)
        if period.dtype.kind not in "iuf" or not (np.isfinite(period) & (period > 0)).all():
            raise ValueError(f"period={self.period!r}, expected None or finite numbers > 0")
        if period.shape not in ((), (n_inputs,)):
            raise ValueError(
                f"period has shape {period.shape}, expected one number or {n_inputs} of them, "
                "one for each input used"
            )
        return np.broadcast_to(period.astype(np.float64), n_inputs)

    def evaluate(self, X: Array) -> Array:
        """sin(hωx) and cos(hωx) = sin(hωx + π/2); see `Basis.evaluate`."""
        Phi = self._angles(X)
        return np.sin(Phi, out=Phi)

    def derivatives(self, X: Array) -> Iterator[Array]:
        """Hω cos(hωx) and −hω sin(hωx); see `Basis.derivatives`."""
        which, harmonic, _ = self.terms_.T
        slope = np.cos(self._angles(X)) * self.frequency_[which] * (1 + harmonic)
        for d in range(X.shape[1]):
            yield slope * (self.features_[which] == d)

    def products(self) -> list[Products]:
        """Waves of each input; see `Basis.products`."""
        inputs = self.features_[self.terms_[:, 0]]
        found = []
        for feature in np.unique(inputs):
            own = np.flatnonzero(inputs == feature)
            waves = self.restrict(own).evaluate
            found.append(Products.of_input(feature, waves, np.eye(len(inputs))[own]))
        return found

    def _angles(self, X: Array) -> Array:
        """Angle of which each function is the sine, shape (n_samples, n_functions)."""
        which, harmonic, cosine = self.terms_.T
        angle = (X[:, self.features_] - self.origin_) * self.frequency_
        angles: Array = angle[:, which] * (1 + harmonic) + cosine * (np.pi / 2)
        return angles

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Write each function out, such as ``sin(2 x0)``, to six digits."""
        inputs = [feature_name(features, column) for column in self.features_]
        for j, origin in enumerate(self.origin_):
            if origin != 0:
                inputs[j] = f"({inputs[j]} {'-' if origin > 0 else '+'} {abs(origin):.6g})"
        return [
            f"{('sin', 'cos')[cosine]}"
            f"({(1 + harmonic) * self.frequency_[which]:.6g} {inputs[which]})"
            for which, harmonic, cosine in self.terms_
        ]


class FunctionColumns(Terms):
    """Functions of one's own, the columns of what a callable returns.

    Rows that hold texts or other objects are handed to it as they are, in an array of objects.

    Parameters
    ----------
    function : callable
        Takes an array of shape (n, n_features) and returns one of shape (n, m), with the same m
        for any rows; no row may depend on the others.
    column_names : sequence of str, default=None
        Names of the m functions; None numbers them behind the name of the callable.

    Attributes
    ----------
    n_columns_ : int
        m.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.basis import FunctionColumns
    >>> basis = FunctionColumns(lambda X: np.hstack([np.log(X), 1 / X]), ["log x", "1/x"])
    >>> basis.fit([[1.0], [2.0]]).transform([[2.0]]).round(3)
    array([[0.693, 0.5  ]])
    >>> basis.names()
    ['log x', '1/x']
    """

    any_rows = True
    n_columns_: int

    def __init__(
        self,
        function: Callable[[Array], ArrayLike],
        column_names: Sequence[str] | None = None,
    ) -> None:
        self.function, self.column_names = function, column_names

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        self.n_columns_ = self._values(X if weights is None else X[weights > 0]).shape[1]
        if self.column_names is not None and len(self.column_names) != self.n_columns_:
            raise ValueError(
                f"column_names has {len(self.column_names)} names, expected {self.n_columns_}: one "
                "a column that the function returns"
            )
        return self._of(np.arange(self.n_columns_))

    def _values(self, X: Array) -> Array:
        """Call the function and check what it returns."""
        values = as_numbers(self.function(X.copy()), "function")
        if values.ndim != 2 or len(values) != len(X):
            raise ValueError(
                f"function returned shape {values.shape}, expected ({len(X)}, m): one row a row of "
                "its argument, one column a function"
            )
        check_function_values(values, "function")
        return values

    def evaluate(self, X: Array) -> Array:
        """Columns of what the function returns; see `Basis.evaluate`."""
        values = self._values(X)
        if values.shape[1] != self.n_columns_:
            raise ValueError(
                f"function returned {values.shape[1]} columns, expected {self.n_columns_} as in fit"
            )
        return values[:, self.terms_]

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Return the given names, or the callable's own with a number."""
        if self.column_names is not None:
            return [str(self.column_names[column]) for column in self.terms_]
        label = getattr(self.function, "__name__", type(self.function).__name__)
        return [f"{label}[{column}]" for column in self.terms_]
