"""Functions centred on points: φ_m(x) = k(x, z_m), with z_m the centres.

A new kernel is a class with its formula ``k`` and a line in the registry of ``basis/__init__.py``.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from relvec._numerics.checks import check_count, check_finite
from relvec._numerics.typing import Array, Index
from relvec.basis.base import Basis, Centers
from relvec.basis.distances import squared_distances
from relvec.basis.scale import LEARNT, Gamma, resolve_gamma


class Kernel(Basis):
    """Functions φ_m(x) = k(x, z_m). Mercer's condition is not needed.

    Attributes
    ----------
    centers_ : ndarray of shape (n_functions, n_features)
        The points z_m.
    places_ : ndarray of int, shape (n_functions,)
        What they are called: the training row, or the number among points of one's own.
    """

    centred = True
    centers_: Array
    places_: Index

    @abstractmethod
    def k(self, X: Array, Z: Array) -> Array:
        """Kernel between the rows of X and of Z, shape (n, m)."""

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Centre one function on each of `centers`; see `Basis.place`."""
        self.centers_, self.rows_ = centers.points, centers.rows
        self.places_ = np.where(self.rows_ >= 0, self.rows_, np.arange(len(self.rows_)))
        return self

    def evaluate(self, X: Array) -> Array:
        """Kernel between the rows of X and every centre; see `Basis.evaluate`."""
        if not len(self.centers_):
            return np.empty((len(X), 0))
        return self.k(X, self.centers_)

    def restrict(self, active: Index) -> Self:
        """Keep the centres `active`; see `Basis.restrict`."""
        return self._at(self.centers_[active], self.rows_[active], self.places_[active])

    def _at(self, centers: Array, rows: Index, places: Index) -> Self:
        """Return the same kernel with functions on other centres."""
        moved = copy.copy(self)
        moved.centers_, moved.rows_, moved.places_ = centers, rows, places
        return moved

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Name each function by kernel and row, or by position where the centre is no row."""
        return [f"{self.label}[{place}]" for place in self.places_]

    @property
    def label(self) -> str:
        """What the names of its functions begin with."""
        return type(self).__name__.lower()

    def families(self) -> Index:
        """See `Basis.families`: all are of one."""
        return np.zeros(len(self.rows_), dtype=np.intp)

    def kernel_parts(self) -> list[tuple[Kernel, Index]]:
        """See `Basis.kernel_parts`: this one."""
        return [(self, np.arange(len(self.rows_)))]

    @property
    def vectors(self) -> Array:
        """The centres, shape (n_functions, n_features)."""
        return self.centers_

    def __add__(self, other: Kernel) -> Kernel:
        """Sum of two kernels; see `relvec.basis.Sum`."""
        from relvec.basis.combine import Sum  # which is a Kernel itself

        return Sum([self, other]) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel) -> Kernel:
        """Product of two kernels; see `relvec.basis.Product`."""
        from relvec.basis.combine import Product  # which is a Kernel itself

        return Product([self, other]) if isinstance(other, Kernel) else NotImplemented


class ScaledKernel(Kernel):
    """A kernel with an input scale γ.

    Parameters
    ----------
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        The scale; see `relvec.basis.scale.resolve_gamma`.

    Attributes
    ----------
    gamma_ : float or ndarray of shape (n_features,)
        γ as a number; one per feature where it was given so or learnt so.
    power : int
        γ has the unit of X to minus this power.
    """

    gamma_: float | Array
    power: ClassVar[int] = 2

    def __init__(self, gamma: Gamma = "scale") -> None:
        self.gamma = gamma

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Resolve γ and centre the functions; see `Basis.place`."""
        self.gamma_ = resolve_gamma(self.gamma, X, weights, self.power)
        return super().place(X, centers, weights)

    @abstractmethod
    def gamma_slope(self, X: Array, Z: Array, D: Array) -> Array:
        """Σ_nm D_nm ∂k(x_n, z_m)/∂log γ_d for every feature d, shape (n_features,)."""

    def _learnt(self) -> NDArray[np.bool_]:
        """Which of the γ are to be learnt: none of a feature that does not vary."""
        named = isinstance(self.gamma, str) and self.gamma in LEARNT
        learnt: NDArray[np.bool_] = named & (np.atleast_1d(self.gamma_) > 0)
        return learnt

    def log_scales(self) -> Array:
        """See `Basis.log_scales`."""
        scales: Array = np.log(np.atleast_1d(self.gamma_)[self._learnt()])
        return scales

    def idle_scales(self) -> NDArray[np.bool_]:
        """See `Basis.idle_scales`."""
        return np.full(self.n_scales, self.n_scales > 1)

    def with_log_scales(self, values: Array) -> Self:
        """See `Basis.with_log_scales`."""
        moved = copy.copy(self)
        gamma = np.array(self.gamma_, ndmin=1)
        gamma[self._learnt()] = np.exp(values)
        moved.gamma_ = gamma if np.ndim(self.gamma_) else float(gamma[0])
        return moved

    def scale_slope(self, X: Array, D: Array) -> Array:
        """See `Basis.scale_slope`; one γ shared by the features has the sum of their slopes."""
        if not len(self.centers_):
            return np.zeros(self.n_scales)
        by_feature = self.gamma_slope(X, self.centers_, D)
        slopes = by_feature if np.ndim(self.gamma_) else by_feature.sum(keepdims=True)
        return slopes[self._learnt()]

    def relevance(self, spread: Array) -> Array:
        """See `Basis.relevance`; nothing matters to no function."""
        relevance: Array = np.asarray(self.gamma_) ** (1 / self.power) * spread
        return relevance * (len(self.rows_) > 0)


class RBF(ScaledKernel):
    """Gaussian kernel, k(x, z) = exp(−Σ_d γ_d (x_d − z_d)²), eq. 30.

    Parameters
    ----------
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        Inverse squared width, in inverse squared units of X. The paper's width r and the length
        scale ℓ of Gaussian processes are γ = 1/r² = 1/(2ℓ²).

    Examples
    --------
    >>> from relvec.basis import RBF
    >>> RBF(gamma=0.5).fit([[0.0], [1.0]]).transform([[0.0]]).round(3)
    array([[1.   , 0.607]])
    """

    def k(self, X: Array, Z: Array) -> Array:
        """exp(−Σ_d γ_d (x_d − z_d)²)."""
        K = squared_distances(X, Z, np.sqrt(self.gamma_))
        np.negative(K, out=K)
        return np.exp(K, out=K)

    def gamma_slope(self, X: Array, Z: Array, D: Array) -> Array:
        """−γ_d Σ_nm D_nm k(x_n, z_m) (x_nd − z_md)², eq. 57."""
        P, origin = D * self.k(X, Z), Z.mean(axis=0)
        X, Z = X - origin, Z - origin
        squares = P.sum(axis=1) @ X**2 - 2 * ((P @ Z) * X).sum(axis=0) + P.sum(axis=0) @ Z**2
        slope: Array = -self.gamma_ * squares
        return slope


class Laplacian(ScaledKernel):
    """Laplacian kernel, `k(x, z) = exp(−Σ_d γ_d |x_d − z_d|)`.

    Parameters
    ----------
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        Inverse width, in inverse units of X.

    Examples
    --------
    >>> from relvec.basis import Laplacian
    >>> Laplacian(gamma=0.5).fit([[0.0], [1.0]]).transform([[0.0]]).round(3)
    array([[1.   , 0.607]])
    """

    power = 1

    def k(self, X: Array, Z: Array) -> Array:
        """`exp(−Σ_d γ_d |x_d − z_d|)`."""
        origin = Z[0]
        K: Array = cdist((X - origin) * self.gamma_, (Z - origin) * self.gamma_, "cityblock")
        np.negative(K, out=K)
        return np.exp(K, out=K)

    def gamma_slope(self, X: Array, Z: Array, D: Array) -> Array:
        """`−γ_d Σ_nm D_nm k(x_n, z_m) |x_nd − z_md|`."""
        P = D * self.k(X, Z)
        distances = [np.vdot(P, np.abs(x[:, None] - z)) for x, z in zip(X.T, Z.T, strict=True)]
        return -self.gamma_ * np.array(distances)


class LinearKernel(Kernel):
    """Linear kernel, k(x, z) = xᵀz.

    Examples
    --------
    >>> from relvec.basis import LinearKernel
    >>> LinearKernel().fit([[1.0, 2.0]]).transform([[3.0, 4.0]])
    array([[11.]])
    """

    def k(self, X: Array, Z: Array) -> Array:
        """xᵀz."""
        return X @ Z.T

    def linear_map(self) -> Array:
        """The centres as columns."""
        return self.centers_.T


class PolynomialKernel(ScaledKernel):
    """Polynomial kernel, k(x, z) = (Σ_d γ_d x_d z_d + c₀)^degree.

    Parameters
    ----------
    degree : int, default=3
        Power.
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        Scale of the inner product, in inverse squared units of X.
    coef0 : float, default=0.0
        c₀.

    Examples
    --------
    >>> from relvec.basis import PolynomialKernel
    >>> PolynomialKernel(degree=2, gamma=1.0, coef0=1.0).fit([[1.0, 2.0]]).transform([[3.0, 4.0]])
    array([[144.]])
    """

    def __init__(self, degree: int = 3, gamma: Gamma = "scale", coef0: float = 0.0) -> None:
        self.degree, self.gamma, self.coef0 = degree, gamma, coef0

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Check the power and centre the functions; see `Basis.place`."""
        check_count(self.degree, "degree")
        check_finite(self.coef0, "coef0")
        return super().place(X, centers, weights)

    def k(self, X: Array, Z: Array) -> Array:
        """(Σ_d γ_d x_d z_d + c₀)^degree."""
        return ((X * self.gamma_) @ Z.T + self.coef0) ** self.degree

    def gamma_slope(self, X: Array, Z: Array, D: Array) -> Array:
        """γ_d Σ_nm D_nm degree (Σ_e γ_e x_ne z_me + c₀)^(degree − 1) x_nd z_md."""
        inner = (X * self.gamma_) @ Z.T + self.coef0
        P = D * self.degree * inner ** (self.degree - 1)
        slope: Array = self.gamma_ * ((P @ Z) * X).sum(axis=0)
        return slope


class Sigmoid(ScaledKernel):
    """Sigmoid kernel, k(x, z) = tanh(Σ_d γ_d x_d z_d + c₀); it satisfies no condition of Mercer.

    Parameters
    ----------
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        Scale of the inner product, in inverse squared units of X.
    coef0 : float, default=0.0
        c₀.

    Examples
    --------
    >>> from relvec.basis import Sigmoid
    >>> Sigmoid(gamma=1.0).fit([[1.0]]).transform([[0.5]]).round(3)
    array([[0.462]])
    """

    def __init__(self, gamma: Gamma = "scale", coef0: float = 0.0) -> None:
        self.gamma, self.coef0 = gamma, coef0

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Check the constant and centre the functions; see `Basis.place`."""
        check_finite(self.coef0, "coef0")
        return super().place(X, centers, weights)

    def k(self, X: Array, Z: Array) -> Array:
        """tanh(Σ_d γ_d x_d z_d + c₀)."""
        return np.tanh((X * self.gamma_) @ Z.T + self.coef0)

    def gamma_slope(self, X: Array, Z: Array, D: Array) -> Array:
        """γ_d Σ_nm D_nm (1 − k(x_n, z_m)²) x_nd z_md."""
        P = D * (1 - self.k(X, Z) ** 2)
        slope: Array = self.gamma_ * ((P @ Z) * X).sum(axis=0)
        return slope


class LinearSpline(Kernel):
    """Linear spline kernel, a product over features of eq. 29.

    With m = min(x, z), k(x, z) = 1 + xz + xz·m − (x + z)/2·m² + m³/3 in each feature.

    Examples
    --------
    >>> from relvec.basis import LinearSpline
    >>> LinearSpline().fit([[2.0]]).transform([[1.0]]).round(3)
    array([[3.833]])
    """

    def k(self, X: Array, Z: Array) -> Array:
        """Π_d 1 + x_d z_d + x_d z_d m_d − (x_d + z_d)/2·m_d² + m_d³/3."""
        K = np.ones((len(X), len(Z)))
        for x, z in zip(X.T[:, :, None], Z.T[:, None, :], strict=True):
            m = np.minimum(x, z)
            K *= 1 + x * z + x * z * m - (x + z) / 2 * m**2 + m**3 / 3
        return K


class CallableKernel(Kernel):
    """A kernel given as a function k(X, Z) of two arrays of rows.

    Parameters
    ----------
    function : callable
        Takes arrays of shape (n, n_features) and (m, n_features), returns one of shape (n, m).

    Examples
    --------
    >>> from relvec.basis import CallableKernel
    >>> CallableKernel(lambda X, Z: 1 + X @ Z.T).fit([[2.0]]).transform([[3.0]])
    array([[7.]])
    """

    def __init__(self, function: Callable[[Array, Array], ArrayLike]) -> None:
        self.function = function

    def k(self, X: Array, Z: Array) -> Array:
        """Call the function and check what it returns."""
        K = np.array(self.function(X, Z), dtype=np.float64)
        if K.shape != (len(X), len(Z)):
            raise ValueError(
                f"kernel function returned shape {K.shape}, expected {(len(X), len(Z))}: one row a "
                "row of its first argument, one column a row of its second"
            )
        return K
