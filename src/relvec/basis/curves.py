"""Functions of one input that are centred on the training rows: the factors of effects."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Number
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from relvec._numerics.linalg import inverse_root_of_covariance
from relvec._numerics.medians import weighted_median
from relvec._numerics.typing import Array
from relvec.basis.scale import standard_deviations

#: Distance from the middle, in standard deviations, beyond which inputs are compressed as their
#: logarithm is, so that heavy tails leave some of the range to the rest.
TAIL = 3.0
#: Standard deviation of a normal distribution in units of its mean absolute deviation.
NORMAL = float(np.sqrt(np.pi / 2))


class Factor(Protocol):
    """Several functions of one input, whose means over the training rows are zero."""

    @property
    def feature(self) -> int:
        """The input."""

    @property
    def kind(self) -> str:
        """Word for the functions."""

    @property
    def size(self) -> int:
        """Number of the functions."""

    def values(self, X: Array) -> Array:
        """Values at rows (n_samples, n_features), shape (n_samples, size)."""

    def slopes(self, X: Array) -> Array:
        """Derivatives of the same in the input, zeros of categories."""


@dataclass(frozen=True)
class Line:
    """The input itself, less its mean over the training rows, in standard deviations."""

    feature: int
    mean: float
    deviation: float

    size, kind = 1, "line"

    @classmethod
    def of(cls, feature: int, x: Array, weights: Array | None) -> Self:
        """Take mean and standard deviation of training values x (n_samples,)."""
        mean = float(np.average(x, weights=weights))
        return cls(feature, mean, float(standard_deviations(x[:, None], weights)[0]))

    def values(self, X: Array) -> Array:
        """See `Factor.values`."""
        return (numbers(X, self.feature)[:, None] - self.mean) / self.deviation

    def slopes(self, X: Array) -> Array:
        """See `Factor.slopes`."""
        return np.full((len(X), 1), 1 / self.deviation)


@dataclass(frozen=True)
class Curve:
    """A Gaussian process of one input at knots, as functions whose weights are independent.

    With the covariance k of the process, exp(−d²/2ℓ²) of distances d in standard deviations of the
    input, and its knots c they are k(x, c) k(c, c)^(−1/2), less their means over the training rows.
    """

    feature: int
    middle: float  # median of the input
    unit: float  # its standard deviation as its mean absolute deviation tells it
    width: float  # ℓ, in that unit
    knots: Array  # (n_knots,), c, in that unit
    root: Array  # (n_knots, size), k(c, c)^(−1/2) in the directions that rounding leaves
    mean: Array  # (size,), means over the training rows

    @classmethod
    def of(cls, feature: int, x: Array, weights: Array | None, n_knots: int, width: float) -> Self:
        """Place knots at quantiles of the different values in x (n_samples,)."""
        middle = weighted_median(x, weights)
        unit = NORMAL * float(np.average(np.abs(x - middle), weights=weights))
        u = _compressed((x - middle) / unit)
        knots = np.unique(np.quantile(np.unique(u), np.linspace(0, 1, n_knots)))
        root = inverse_root_of_covariance(_gaussian(knots, knots, width))
        raw = _gaussian(u, knots, width) @ root
        return cls(
            feature, middle, unit, width, knots, root, np.average(raw, axis=0, weights=weights)
        )

    @property
    def kind(self) -> str:
        """Word for the functions, with their width."""
        return f"curve of width {self.width:g}"

    @property
    def size(self) -> int:
        """Number of the functions."""
        return len(self.mean)

    def values(self, X: Array) -> Array:
        """See `Factor.values`."""
        u = _compressed((numbers(X, self.feature) - self.middle) / self.unit)
        values: Array = _gaussian(u, self.knots, self.width) @ self.root
        values -= self.mean
        return values

    def slopes(self, X: Array) -> Array:
        """See `Factor.slopes`."""
        far = (numbers(X, self.feature) - self.middle) / self.unit
        u = _compressed(far)
        inner = 1 / (self.unit * np.hypot(1.0, far / TAIL))
        outer = (self.knots - u[:, None]) / self.width**2 * _gaussian(u, self.knots, self.width)
        return inner[:, None] * (outer @ self.root)


@dataclass(frozen=True)
class Levels:
    """Indicators of the categories of an input, less their shares of the training rows.

    All are zero for a category that the training rows do not have.
    """

    feature: int
    #: (size,), different values of the input in the training rows, ascending
    categories: NDArray[Any]
    share: Array  # (size,), share of the training rows in each

    kind = "levels"

    @classmethod
    def of(cls, feature: int, x: NDArray[Any], weights: Array | None) -> Self:
        """Take the categories of training values x (n_samples,)."""
        categories, code = np.unique(x, return_inverse=True)
        count = np.bincount(code, weights)
        return cls(feature, categories, count / count.sum())

    @property
    def size(self) -> int:
        """Number of the functions."""
        return len(self.categories)

    def values(self, X: Array) -> Array:
        """See `Factor.values`."""
        own = X[:, [self.feature]] == self.categories
        values: Array = (own - self.share) * own.any(axis=1, keepdims=True)
        return values

    def slopes(self, X: Array) -> Array:
        """See `Factor.slopes`."""
        return np.zeros((len(X), self.size))

    def unknown(self, X: Array) -> NDArray[np.bool_]:
        """Return whether the category is none of the training rows, shape (n_samples,)."""
        return ~np.isin(X[:, self.feature], self.categories)


def numbers(X: NDArray[Any], feature: int) -> Array:
    """Values of an input in rows (n_samples, n_features) of numbers or of any objects."""
    try:
        x: Array = X[:, feature].astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"column {feature} of X holds {error}, expected numbers as in the training rows"
        ) from error
    if not np.isfinite(x).all():
        raise ValueError(f"column {feature} of X has NaN or infinity, expected finite numbers")
    return x


def holds_numbers(X: NDArray[Any], feature: int) -> bool:
    """Return whether all values of an input are numbers."""
    return X.dtype != object or all(isinstance(value, Number) for value in X[:, feature])


def _compressed(u: Array) -> Array:
    """Return inputs nearly as they are near zero, and as their logarithm in the tails."""
    return TAIL * np.arcsinh(u / TAIL)


def _gaussian(u: Array, knots: Array, width: float) -> Array:
    """exp(−(u − c)²/2ℓ²), shape (n_samples, n_knots)."""
    distance = (u[:, None] - knots) / width
    return np.exp(-0.5 * distance**2)
