"""Functions centred on points: φ_m(x) = k(x, z_m), with z_m the centres.

A new kernel is a class with its formula ``k`` and a line in the registry of ``basis/__init__.py``.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from relvec.basis.base import Array, Basis, Centers, Index
from relvec.basis.distances import squared_distances
from relvec.checks import check_count, check_finite

Gamma = str | float | ArrayLike


class Kernel(Basis):
    """Functions φ_m(x) = k(x, z_m). Mercer's condition is not needed.

    Attributes
    ----------
    centers_ : ndarray of shape (n_functions, n_features)
        The points z_m.
    """

    centred = True
    centers_: Array

    @abstractmethod
    def k(self, X: Array, Z: Array) -> Array:
        """Kernel between the rows of X and of Z, shape (n, m)."""

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Centre one function on each of `centers`; see `Basis.place`."""
        self.centers_, self.rows_ = centers.points, centers.rows
        return self

    def evaluate(self, X: Array) -> Array:
        """Kernel between the rows of X and every centre; see `Basis.evaluate`."""
        if not len(self.centers_):
            return np.empty((len(X), 0))
        return self.k(X, self.centers_)

    def restrict(self, active: Index) -> Self:
        """Keep the centres `active`; see `Basis.restrict`."""
        restricted = copy.copy(self)
        restricted.centers_, restricted.rows_ = self.centers_[active], self.rows_[active]
        return restricted

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Name each function by kernel and row, or by position where the centre is no row."""
        places = np.where(self.rows_ >= 0, self.rows_, np.arange(len(self.rows_)))
        return [f"{type(self).__name__.lower()}[{place}]" for place in places]

    @property
    def vectors(self) -> Array:
        """The centres, shape (n_functions, n_features)."""
        return self.centers_


class ScaledKernel(Kernel):
    """A kernel with an input scale γ.

    Parameters
    ----------
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
        The scale; see `resolve_gamma`.

    Attributes
    ----------
    gamma_ : float or ndarray of shape (n_features,)
        γ as a number; one per feature where it was given so.
    """

    gamma_: float | Array

    def __init__(self, gamma: Gamma = "scale") -> None:
        self.gamma = gamma

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Resolve γ and centre the functions; see `Basis.place`."""
        self.gamma_ = resolve_gamma(self.gamma, X, weights)
        return super().place(X, centers, weights)


def resolve_gamma(gamma: Gamma, X: Array, weights: Array | None) -> float | Array:
    """Return γ as a positive number, or as one per feature; names mean what they mean in ``SVR``.

    "scale" is 1 / (n_features · variance of X), "auto" is 1 / n_features. Where X does not vary,
    "scale" is 1.
    """
    n_features = int(X.shape[1])
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1.0 / n_features
        if gamma == "scale":
            mean = float(np.average(X, axis=0, weights=weights).mean())
            variance = float(np.average((X - mean) ** 2, axis=0, weights=weights).mean())
            return 1.0 if variance == 0 else 1.0 / (n_features * variance)
        raise ValueError(
            f"gamma={gamma!r} is not known, expected 'scale', 'auto', a positive number or one per "
            "feature"
        )
    values = np.asarray(gamma, dtype=np.float64)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n_features):
        raise ValueError(
            f"gamma has shape {values.shape}, expected one number or {n_features} of them, "
            "one per feature"
        )
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise ValueError(
            f"gamma={gamma!r}, expected a positive finite number, or one per feature of which some "
            "may be zero"
        )
    resolved: float | Array = values if values.ndim else float(values)
    return resolved


class RBF(ScaledKernel):
    """Gaussian kernel, k(x, z) = exp(−Σ_d γ_d (x_d − z_d)²), eq. 30.

    Parameters
    ----------
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
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


class Laplacian(ScaledKernel):
    """Laplacian kernel, k(x, z) = exp(−Σ_d γ_d |x_d − z_d|).

    Parameters
    ----------
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
        Inverse width, in inverse units of X.

    Examples
    --------
    >>> from relvec.basis import Laplacian
    >>> Laplacian(gamma=0.5).fit([[0.0], [1.0]]).transform([[0.0]]).round(3)
    array([[1.   , 0.607]])
    """

    def k(self, X: Array, Z: Array) -> Array:
        """exp(−Σ_d γ_d |x_d − z_d|)."""
        origin = Z[0]
        K: Array = cdist((X - origin) * self.gamma_, (Z - origin) * self.gamma_, "cityblock")
        np.negative(K, out=K)
        return np.exp(K, out=K)


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
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
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


class Sigmoid(ScaledKernel):
    """Sigmoid kernel, k(x, z) = tanh(Σ_d γ_d x_d z_d + c₀); it satisfies no condition of Mercer.

    Parameters
    ----------
    gamma : {"scale", "auto"}, float or array-like of shape (n_features,), default="scale"
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
