"""What a set of candidate functions is: x → φ(x)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._numerics.compact import Compact
from relvec._numerics.typing import Array, Index

if TYPE_CHECKING:
    from relvec.basis.kernels import Kernel


@dataclass(frozen=True)
class Centers:
    """Points that centred functions sit on.

    Attributes
    ----------
    points : ndarray of shape (n_centers, n_features)
        The points.
    rows : ndarray of int, shape (n_centers,)
        The training row that each point is, -1 where it is none.
    """

    points: Array
    rows: Index

    @classmethod
    def on(cls, X: Array, rows: Index | None = None) -> Centers:
        """Take some rows of X, or all of them."""
        if rows is None:
            return cls(X, np.arange(len(X)))
        return cls(X[rows], rows)

    @classmethod
    def at(cls, points: Array) -> Centers:
        """Take points that are no training rows."""
        return cls(points, np.full(len(points), -1))


class Basis(Compact, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Candidate basis functions φ_1 … φ_M, as a scikit-learn transformer.

    A subclass implements ``place`` (fix the functions), ``evaluate`` (their values), ``restrict``
    (keep some and forget the rest) and ``names``; all four may trust their input.

    Attributes
    ----------
    centred : bool
        Whether there are functions for points, so that their number grows with the rows.
    rows_ : ndarray of int, shape (n_functions,)
        Row of the fitted X that each function is centred on, -1 where there is none.
    """

    centred: bool = False
    rows_: Index

    @abstractmethod
    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Fix the functions.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Training rows, which scales that follow the data are taken from.
        centers : Centers
            Points that centred functions sit on.
        weights : ndarray of shape (n_samples,) or None
            Copies of each row.
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

    @property
    def vectors(self) -> Array:
        """Points that functions are centred on, shape (n_centred, n_features)."""
        return np.empty((0, 0))

    def linear_map(self) -> Array | None:
        """Matrix L (n_features, n_functions) with φ(x) = Lᵀx, or None if φ is not linear in x."""
        return None

    def families(self) -> Index:
        """Number of the family of each function: those of one family differ in their place only."""
        return np.arange(len(self.rows_))

    def kernel_parts(self) -> list[tuple[Kernel, Index]]:
        """Kernels that can be centred on any point, each with the positions of its functions."""
        return []

    @property
    def n_scales(self) -> int:
        """Number of input scales η that are to be learnt from the evidence."""
        return len(self.log_scales())

    def log_scales(self) -> Array:
        """Logarithms of the scales that are to be learnt, shape (n_scales,)."""
        return np.empty(0)

    def idle_scales(self) -> NDArray[np.bool_]:
        """Which of them may be zero: those of single inputs, while the functions keep another."""
        return np.zeros(self.n_scales, dtype=np.bool_)

    def with_log_scales(self, values: Array) -> Self:
        """Return the same functions at other scales."""
        del values  # there are none
        return self

    def scale_slope(self, X: Array, D: Array) -> Array:
        """Slope in each log η of something whose slope in φ_m(x_n) is D_nm (eq. 53).

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Rows.
        D : ndarray of shape (n_samples, n_functions)
            ∂L/∂φ_m(x_n).

        Returns
        -------
        slope : ndarray of shape (n_scales,)
            Σ_nm D_nm ∂φ_m(x_n)/∂log η.
        """
        del X, D
        return np.empty(0)

    def relevance(self, spread: Array) -> Array | None:
        """Spread of the data in each input, in widths of the functions; None if they have none.

        Parameters
        ----------
        spread : ndarray of shape (n_features,)
            Standard deviation of each input.
        """
        del spread
        return None

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Fix the functions, centred ones on every row of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : None
            Ignored.

        Returns
        -------
        self : Basis
            The fitted basis.
        """
        rows = validate_data(self, X, dtype=np.float64)
        return self.place(rows, Centers.on(rows), None)

    def transform(self, X: ArrayLike) -> Array:
        """Evaluate every function at every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Query rows.

        Returns
        -------
        Phi : ndarray of shape (n_samples, n_functions)
            The design matrix.

        Raises
        ------
        OverflowError
            Functions exceed the range of double precision there.
        """
        check_is_fitted(self)
        return self.values(validate_data(self, X, dtype=np.float64, reset=False))

    def values(self, X: Array) -> Array:
        """Evaluate at rows that the functions were not chosen at, which may be too far out."""
        with np.errstate(over="ignore", invalid="ignore"):
            Phi = self.evaluate(X)
        if not np.isfinite(Phi).all():
            raise OverflowError(
                "basis functions at these rows of X exceed the range of float64; "
                f"X has numbers of up to {np.abs(X).max():.3g}"
            )
        return Phi

    def get_feature_names_out(
        self, input_features: Sequence[str] | None = None
    ) -> NDArray[np.object_]:
        """Names of the functions, as scikit-learn asks of a transformer.

        Parameters
        ----------
        input_features : sequence of str, default=None
            Names of the inputs, where they had none in `fit`.

        Returns
        -------
        names : ndarray of str
            One a function.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            self._check_names(list(input_features), names)
            names = input_features
        return np.asarray(self.names(names), dtype=object)

    def _check_names(self, given: list[str], seen: Sequence[str] | None) -> None:
        """Raise unless these may be the names of the inputs, in the words of scikit-learn."""
        if len(given) != self.n_features_in_:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(given)}"
            )
        if seen is not None and given != list(seen):
            raise ValueError(f"input_features is not equal to feature_names_in_, {list(seen)}")
