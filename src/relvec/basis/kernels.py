"""Kernels by formula.

A new one is a class with its formula ``k`` and a line in the registry of ``basis/__init__.py``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial, reduce
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances

from relvec._numerics.checks import as_numbers, check_count, check_finite, check_function_values
from relvec._numerics.typing import Array
from relvec.basis.base import Centers
from relvec.basis.kernel import Kernel, ScaledKernel
from relvec.basis.products import Products

#: From this many features the matrix product is worth its rounding errors, …
MANY_FEATURES = 32
#: … which stay under 1e-11 while no squared length, in units of the kernel's width, exceeds this.
SAFE_LENGTH2 = 1e4


def squared_distances(X: Array, Z: Array, scale: float | Array) -> Array:
    """Σ_d (scale_d (x_d − z_d))² between the rows of X and Z, shape (n, m).

    The origin moves into the data before anything is multiplied, so inputs far from zero lose
    nothing. The expansion ‖x‖² − 2xᵀz + ‖z‖² is used only where what it loses is negligible.
    """
    origin = Z[0]
    X, Z = (X - origin) * scale, (Z - origin) * scale
    squared: Array
    if X.shape[1] == 1:
        difference = X - Z.T
        return np.square(difference, out=difference)
    if X.shape[1] >= MANY_FEATURES:
        length2 = [np.einsum("ij,ij->i", rows, rows).max(initial=0.0) for rows in (X, Z)]
        if max(length2) < SAFE_LENGTH2:
            squared = euclidean_distances(X, Z, squared=True)
            return squared
    squared = cdist(X, Z, "sqeuclidean")
    return squared


class RadialKernel(ScaledKernel):
    """A kernel k(x, z) = g(s) of the squared distance s = Σ_d γ_d (x_d − z_d)², with g(0) = 1."""

    peak = 1.0

    @abstractmethod
    def of_square(self, s: Array) -> Array:
        """G of squared distances, an array of any shape that may be written to."""

    @abstractmethod
    def square_slope(self, s: Array) -> Array:
        """dg/ds of the same."""

    def squares(self, X: Array, Z: Array) -> Array:
        """Σ_d γ_d (x_d − z_d)² between the rows of X and Z, shape (n, m)."""
        return squared_distances(X, Z, np.sqrt(self.gamma_))

    def k(self, X: Array, Z: Array) -> Array:
        """g(Σ_d γ_d (x_d − z_d)²)."""
        return self.of_square(self.squares(X, Z))

    def slopes(self, X: Array, Z: Array) -> Iterator[Array]:
        """2 γ_d g′(s) (x_d − z_d); see `Kernel.slopes`."""
        slope = 2 * self.square_slope(self.squares(X, Z))
        for gamma, apart in self._apart(X, Z):
            yield gamma * slope * apart

    def gamma_slope(self, X: Array, Z: Array, D: Array) -> Array:
        """γ_d Σ_nm D_nm g′(s_nm) (x_nd − z_md)²; eq. 57 for the Gaussian kernel."""
        P, origin = D * self.square_slope(self.squares(X, Z)), Z.mean(axis=0)
        X, Z = X - origin, Z - origin
        squares = P.sum(axis=1) @ X**2 - 2 * ((P @ Z) * X).sum(axis=0) + P.sum(axis=0) @ Z**2
        return np.asarray(self.gamma_ * squares)


class RBF(RadialKernel):
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

    def factors(self, X: Array, Z: Array) -> Iterator[Array]:
        """exp(−γ_d (x_d − z_d)²); see `Kernel.factors`."""
        return (np.exp(-gamma * apart**2) for gamma, apart in self._apart(X, Z))

    def of_square(self, s: Array) -> Array:
        """exp(−s), in the place of s."""
        np.negative(s, out=s)
        return np.exp(s, out=s)

    def square_slope(self, s: Array) -> Array:
        """−exp(−s)."""
        return -self.of_square(s)


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
    peak = 1.0

    def k(self, X: Array, Z: Array) -> Array:
        """`exp(−Σ_d γ_d |x_d − z_d|)`."""
        origin = Z[0]
        K: Array = cdist((X - origin) * self.gamma_, (Z - origin) * self.gamma_, "cityblock")
        np.negative(K, out=K)
        return np.exp(K, out=K)

    def factors(self, X: Array, Z: Array) -> Iterator[Array]:
        """`exp(−γ_d |x_d − z_d|)`; see `Kernel.factors`."""
        return (np.exp(-gamma * np.abs(apart)) for gamma, apart in self._apart(X, Z))

    def slopes(self, X: Array, Z: Array) -> Iterator[Array]:
        """−γ_d k(x, z) sign(x_d − z_d), zero at the kink; see `Kernel.slopes`."""
        K = self.k(X, Z)
        for gamma, apart in self._apart(X, Z):
            yield -gamma * K * np.sign(apart)

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

    def products(self) -> list[Products]:
        """x_d z_d of every input; see `Basis.products`."""
        one = np.eye(len(self.centers_))
        return [
            Products.of_input(d, partial(_times, d, z), one) for d, z in enumerate(self.centers_.T)
        ]

    def slopes(self, X: Array, Z: Array) -> Iterator[Array]:
        """z_d; see `Kernel.slopes`."""
        yield from (np.broadcast_to(z, (len(X), len(Z))) for z in Z.T)

    def linear_map(self) -> Array:
        """The centres as columns."""
        return self.centers_.T


def _times(d: int, z: Array, X: Array) -> Array:
    return X[:, [d]] * z


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

    def __init__(
        self, degree: int = 3, gamma: str | ArrayLike = "scale", coef0: float = 0.0
    ) -> None:
        self.degree, self.gamma, self.coef0 = degree, gamma, coef0

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        check_count(self.degree, "degree")
        check_finite(self.coef0, "coef0")
        return super().place(X, centers, weights)

    def k(self, X: Array, Z: Array) -> Array:
        """(Σ_d γ_d x_d z_d + c₀)^degree."""
        return ((X * self.gamma_) @ Z.T + self.coef0) ** self.degree

    def slopes(self, X: Array, Z: Array) -> Iterator[Array]:
        """Degree (Σ_e γ_e x_e z_e + c₀)^(degree − 1) γ_d z_d; see `Kernel.slopes`."""
        inner = (X * self.gamma_) @ Z.T + self.coef0
        slope = self.degree * inner ** (self.degree - 1)
        yield from (slope * z for z in (Z * self.gamma_).T)

    def gamma_slope(self, X: Array, Z: Array, D: Array) -> Array:
        """γ_d Σ_nm D_nm degree (Σ_e γ_e x_ne z_me + c₀)^(degree − 1) x_nd z_md."""
        inner = (X * self.gamma_) @ Z.T + self.coef0
        P = D * self.degree * inner ** (self.degree - 1)
        return np.asarray(self.gamma_ * ((P @ Z) * X).sum(axis=0))


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

    def __init__(self, gamma: str | ArrayLike = "scale", coef0: float = 0.0) -> None:
        self.gamma, self.coef0 = gamma, coef0

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        check_finite(self.coef0, "coef0")
        return super().place(X, centers, weights)

    def k(self, X: Array, Z: Array) -> Array:
        """tanh(Σ_d γ_d x_d z_d + c₀)."""
        return np.tanh((X * self.gamma_) @ Z.T + self.coef0)

    def slopes(self, X: Array, Z: Array) -> Iterator[Array]:
        """(1 − k(x, z)²) γ_d z_d; see `Kernel.slopes`."""
        slope = 1 - self.k(X, Z) ** 2
        yield from (slope * z for z in (Z * self.gamma_).T)

    def gamma_slope(self, X: Array, Z: Array, D: Array) -> Array:
        """γ_d Σ_nm D_nm (1 − k(x_n, z_m)²) x_nd z_md."""
        P = D * (1 - self.k(X, Z) ** 2)
        return np.asarray(self.gamma_ * ((P @ Z) * X).sum(axis=0))


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
        return reduce(np.multiply, self.factors(X, Z))

    def slopes(self, X: Array, Z: Array) -> Iterator[Array]:
        """z_d + z_d m_d − m_d²/2 times the other factors; see `Kernel.slopes`."""
        factors = list(self.factors(X, Z))
        for d, (x, z) in enumerate(zip(X.T[:, :, None], Z.T, strict=True)):
            m = np.minimum(x, z)
            yield reduce(np.multiply, factors[:d] + factors[d + 1 :], z + z * m - m**2 / 2)

    def factors(self, X: Array, Z: Array) -> Iterator[Array]:
        """Yield eq. 29 of one input after the other, of shape (n, m)."""
        for x, z in zip(X.T[:, :, None], Z.T[:, None, :], strict=True):
            m = np.minimum(x, z)
            yield 1 + x * z + x * z * m - (x + z) / 2 * m**2 + m**3 / 3


class CallableKernel(Kernel):
    """A kernel given as a function k(X, Z) of two arrays of rows.

    Rows that hold texts or other objects are handed to it as they are, in arrays of objects. The
    arrays are its own, and it may write to them.

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

    any_rows = True

    def __init__(self, function: Callable[[Array, Array], ArrayLike]) -> None:
        self.function = function

    def k(self, X: Array, Z: Array) -> Array:
        K = as_numbers(self.function(X.copy(), Z.copy()), "kernel function")
        if K.shape != (len(X), len(Z)):
            raise ValueError(
                f"kernel function returned shape {K.shape}, expected {(len(X), len(Z))}: one row a "
                "row of its first argument, one column a row of its second"
            )
        check_function_values(K, "kernel function", pairs=True)
        return K
