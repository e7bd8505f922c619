"""The contract of a set of candidate functions: x → φ(x)."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._numerics.checks import all_finite, check_function_values, named_errors, reading
from relvec._numerics.compact import Compact
from relvec._numerics.typing import Array, Index
from relvec.basis.products import Products

#: k(X, Z) of arrays of rows, of shape (len(X), len(Z)).
KernelFunction = Callable[[Array, Array], Array]
#: Size of inputs up to which their products stay in the range of float64.
MODERATE = 1e50


@dataclass(frozen=True)
class Centers:
    """Points that functions are centred on."""

    points: Array  # (n_centers, n_features)
    rows: Index  # (n_centers,), the training row that each point is, -1 where it is none

    @classmethod
    def on(cls, X: Array, rows: Index | None = None) -> Centers:
        """Take some rows of X, or all of them."""
        return cls(X, np.arange(len(X))) if rows is None else cls(X[rows], rows)

    @classmethod
    def at(cls, points: Array) -> Centers:
        """Take points that are no training rows."""
        return cls(points, np.full(len(points), -1))


def _moderate(X: Array) -> bool:
    """Return whether inputs are of a size whose products stay in the range of float64."""
    return X.dtype == object or bool(np.abs(X).max(initial=0.0) < MODERATE)


class Basis(Compact, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Candidate basis functions φ_1 … φ_M, as a scikit-learn transformer.

    A subclass has ``place`` (fix the functions), ``evaluate`` (their values), ``restrict`` (keep
    some and forget the rest) and ``names``; all four may trust their input. One with values to
    learn from the evidence has ``hyper`` and ``hyper_gradient``, too.

    Attributes
    ----------
    centred : bool
        Whether there are functions for points, so that their number grows with the rows.
    any_rows : bool
        Whether rows may hold anything, such as texts, and not numbers alone.
    follows_rows : bool
        Whether `place` looks at the rows themselves, and not at their location and spread alone.
    rows_ : ndarray of int, shape (n_functions,)
        Row of the fitted X that each function is centred on, -1 where there is none.
    centers_ : ndarray of shape (n_centred, n_features)
        Points that functions are centred on, of shape (0, 0) if none are.
    """

    centred: bool = False
    any_rows: bool = False
    follows_rows: bool = False
    rows_: Index
    centers_: Array = np.empty((0, 0))

    def __copy__(self) -> Self:
        """Return a basis with the same attributes, which a stored one has in other forms."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    @abstractmethod
    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Fix the functions.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Training rows, from which scales that follow the data are taken. Of many they are a few
            with the same location and spread, unless the basis `follows_rows`.
        centers : Centers
            Points for the functions that are centred.
        weights : ndarray of shape (n_samples,) or None
            Frequency of each row.
        """

    @abstractmethod
    def evaluate(self, X: Array) -> Array:
        """Values of every function at every row, a new array of shape (n_samples, n_functions)."""

    @abstractmethod
    def restrict(self, active: Index) -> Self:
        """Return a fitted basis of the functions `active` only, in that order."""

    @abstractmethod
    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Name of each function, given the names of the inputs."""

    def terms(self, features: Sequence[str] | None = None) -> list[str]:
        """Name of the term of the model that each function is part of: its own, unless said."""
        return self.names(features)

    @property
    def groups(self) -> Index:
        """Labels of the functions, shape (n_functions,): the same where a precision is shared."""
        return np.arange(len(self.rows_))

    @property
    def inputs(self) -> Index | None:
        """Columns of X that the functions are, (n_functions,); None if they are made of X."""
        return None

    @property
    def optional(self) -> NDArray[np.bool_]:
        """Functions that are only candidates if they seem worth it, of all in a group or of none.

        They are judged beside a fit of all others; shape (n_functions,).
        """
        return np.zeros(len(self.rows_), dtype=np.bool_)

    def unspanned(self, X: Array) -> dict[int, Array]:
        """Variance of the prior that functions stand for but do not span, by their positions.

        At every row, shape (n_samples,), in units of the inverse precision of that function.
        """
        return {}

    @property
    def coarse(self) -> bool:
        """True where `refined` may add functions."""
        return False

    def refined(self, X: Array, weights: Array | None, noise: Array) -> Basis:
        """Return functions that leave less of the prior unspanned, or these if it is little.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Training rows.
        weights : ndarray of shape (n_samples,) or None
            Frequency of each row.
        noise : ndarray of shape (n_functions,)
            Variance of the noise in units of the inverse precision of every function; infinite
            where the function was not kept or there is no such noise.
        """
        return self

    @property
    def to_screen(self) -> bool:
        """True where `screened` may leave fewer optional functions."""
        return False

    def screened(self, X: Array, weights: Array | None, gain: Array) -> Basis:
        """Return fewer optional functions and more of the same terms, or these if they are few.

        Those that are not optional stay, in their order.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Training rows.
        weights : ndarray of shape (n_samples,) or None
            Frequency of each row.
        gain : ndarray of shape (n_functions,)
            Nats that the group of each optional function is worth beside a fit of the others.
        """
        return self

    def distinct(self, constant: NDArray[np.bool_]) -> Index:
        """Numbers of the functions that are not multiples of others where inputs are constant.

        ``constant`` (n_features,) tells which inputs are. A multiple of another function fits the
        rows as well as that one, and follows the constant input where it differs in a new row.
        """
        return np.arange(len(self.rows_))

    def without_multiples(self, constant: NDArray[np.bool_]) -> Basis:
        """Return the placed functions without multiples of others; see `distinct`."""
        distinct = self.distinct(constant)
        return self if len(distinct) == len(self.rows_) else self.restrict(distinct)

    @property
    def nothing(self) -> float | Array:
        """Size below which values of a function are rounding, (n_functions,) or of all.

        What is no more at every training row says nothing of the function, which may be large
        elsewhere.
        """
        return 0.0

    @property
    def hyper(self) -> dict[str, float | Array]:
        """Positive values that are to be learnt from the evidence, by name.

        An array has a value for each input. One that is zero stays so, and others may become zero
        while one is left: the functions do not depend on these inputs.
        """
        return {}

    @property
    def n_hyper(self) -> int:
        """Number of values in `hyper` that are not zero."""
        return sum(int(np.count_nonzero(value)) for value in self.hyper.values())

    def with_hyper(self, values: Mapping[str, float | Array]) -> Self:
        """Return the same functions at other values of `hyper`, each the attribute ``name_``."""
        moved = copy.copy(self)
        for name, value in values.items():
            setattr(moved, f"{name}_", value)
        return moved

    def hyper_gradient(self, X: Array, D: Array) -> dict[str, float | Array]:
        """Gradient of a function L of Φ in the logarithms of `hyper` (eq. 53).

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows.
        D : ndarray of shape (n_samples, n_functions)
            ∂L/∂φ_m(x_n).

        Returns
        -------
        gradient : dict of str to float or ndarray
            Σ_nm D_nm ∂φ_m(x_n)/∂log η for each value η, in the shape that it has in `hyper`.
        """
        return {}

    def derivatives(self, X: Array) -> Iterator[Array]:
        """Yield ∂φ_m(x)/∂x_d of every function at every row for one input d after the other.

        Each is an array of shape (n_samples, n_functions).

        Raises
        ------
        ValueError
            The functions have none, or they are not known.
        """
        raise ValueError(
            f"{type(self).__name__} has no known derivatives in its inputs, expected functions "
            "that have"
        )

    def products(self) -> list[Products]:
        """Return parts of the functions that make them up, but for constants.

        Raises
        ------
        ValueError
            The functions are no sums of products of functions of one input each.
        """
        raise self._no_products()

    def _no_products(self) -> ValueError:
        return ValueError(
            f"{type(self).__name__} is not known as a sum of products of functions of one input "
            "each, expected functions that are"
        )

    def linear_map(self) -> Array | None:
        """Matrix L (n_features, n_functions) with φ(x) = Lᵀx, or None if φ is not linear in x."""
        return None

    def kernel_parts(self) -> list[tuple[KernelFunction, Index]]:
        """Kernels k(X, Z) that can be centred on any point, and positions of their functions."""
        return []

    def relevance(self, deviations: Array) -> Array | None:
        """Standard `deviations` of the inputs in widths of the functions, None without a width.

        Both have the shape (n_features,).
        """
        return None

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Fix the functions, centred ones on every row of X (n_samples, n_features)."""
        with named_errors("X"):
            rows = validate_data(self, X, **reading(lambda: self.any_rows, X))
        return self.place(rows, Centers.on(rows), None)

    def transform(self, X: ArrayLike) -> Array:
        """Evaluate every function at every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        Phi : ndarray of shape (n_samples, n_functions)

        Raises
        ------
        OverflowError
            Functions exceed the range of float64 there.
        """
        check_is_fitted(self)
        read = reading(lambda: self.any_rows, X)
        with named_errors("X"):
            rows = validate_data(self, X, reset=False, **read)
        return self.values(rows)

    def values(self, X: Array) -> Array:
        """Evaluate at new rows; values out of range are refused. See `transform`."""
        Phi = self.checked(X)
        if not all_finite(Phi):
            raise OverflowError(
                "basis functions at these rows of X exceed the range of float64; "
                + ("" if X.dtype == object else f"X has numbers of up to {np.abs(X).max():.3g}")
            )
        return Phi

    def checked(self, X: Array) -> Array:
        """Evaluate; complex values and NaN are refused, and infinite ones are left to the caller.

        NaN of moderate inputs does not come of numbers that grew too large on the way.
        """
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            Phi = self.evaluate(X)
            finite = np.isfinite(Phi.sum())
        if np.iscomplexobj(Phi):
            raise ValueError(
                f"{type(self).__name__} has complex values at rows of X, expected real numbers"
            )
        if not finite and not np.isinf(Phi).any() and _moderate(X):
            check_function_values(Phi, type(self).__name__)
        return Phi

    def get_feature_names_out(
        self, input_features: Sequence[str] | None = None
    ) -> NDArray[np.object_]:
        """Name of each function, given names of the inputs if these had none in `fit`."""
        check_is_fitted(self)
        seen = getattr(self, "feature_names_in_", None)
        if input_features is None:
            return np.asarray(self.names(seen), dtype=object)
        if len(input_features) != self.n_features_in_:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(input_features)}"
            )
        if seen is not None and list(input_features) != list(seen):
            raise ValueError(f"input_features is not equal to feature_names_in_, {list(seen)}")
        return np.asarray(self.names(input_features), dtype=object)
