"""Kernels of the difference of two points, beside the Gaussian and the Laplacian one.

Those of a distance have the width of a Gaussian kernel: γ = 1/(2ℓ²) for the length scale ℓ of
Gaussian processes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from relvec._numerics.checks import check_positive
from relvec._numerics.typing import Array
from relvec.basis.base import Centers
from relvec.basis.kernel import ScaledKernel
from relvec.basis.kernels import RadialKernel
from relvec.basis.scale import LEARNT, resolve_gamma


class Matern32(RadialKernel):
    """Matérn kernel of smoothness 3/2, `k(x, z) = (1 + a) exp(−a)`.

    With a² = 6 Σ_d γ_d (x_d − z_d)². Functions of it have one derivative. In the length scale ℓ,
    with γ = 1/(2ℓ²), a is `√3 |x − z|/ℓ`.

    Parameters
    ----------
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        Inverse squared width, in inverse squared units of X.

    Examples
    --------
    >>> from relvec.basis import Matern32
    >>> Matern32(gamma=0.5).fit([[0.0], [1.0]]).transform([[0.0]]).round(3)
    array([[1.   , 0.483]])
    """

    def of_square(self, s: Array) -> Array:
        """(1 + a) exp(−a), a = √(6s)."""
        a = np.sqrt(6 * s)
        return np.asarray((1 + a) * np.exp(-a))

    def square_slope(self, s: Array) -> Array:
        """−3 exp(−a)."""
        return np.asarray(-3 * np.exp(-np.sqrt(6 * s)))


class Matern52(RadialKernel):
    """Matérn kernel of smoothness 5/2, `k(x, z) = (1 + a + a²/3) exp(−a)`.

    With a² = 10 Σ_d γ_d (x_d − z_d)². Functions of it have two derivatives. In the length scale ℓ,
    with γ = 1/(2ℓ²), a is `√5 |x − z|/ℓ`.

    Parameters
    ----------
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        Inverse squared width, in inverse squared units of X.

    Examples
    --------
    >>> from relvec.basis import Matern52
    >>> Matern52(gamma=0.5).fit([[0.0], [1.0]]).transform([[0.0]]).round(3)
    array([[1.   , 0.524]])
    """

    def of_square(self, s: Array) -> Array:
        """(1 + a + a²/3) exp(−a), a = √(10s)."""
        a = np.sqrt(10 * s)
        return np.asarray((1 + a + a * a / 3) * np.exp(-a))

    def square_slope(self, s: Array) -> Array:
        """−5/3 (1 + a) exp(−a)."""
        a = np.sqrt(10 * s)
        return np.asarray(-5 / 3 * (1 + a) * np.exp(-a))


class RationalQuadratic(RadialKernel):
    """Rational quadratic kernel, `k(x, z) = (1 + Σ_d γ_d (x_d − z_d)² / α)^(−α)`.

    A mixture of Gaussian kernels of different widths, and that of width γ alone for a large α.

    Parameters
    ----------
    alpha : float or "evidence", default=1.0
        How alike the widths are. "evidence" learns it, from 1 on.
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        Inverse squared width, in inverse squared units of X.

    Attributes
    ----------
    alpha_ : float
        α as a number.

    Examples
    --------
    >>> from relvec.basis import RationalQuadratic
    >>> RationalQuadratic(gamma=0.5).fit([[0.0], [1.0]]).transform([[0.0]]).round(3)
    array([[1.   , 0.667]])
    """

    alpha_: float

    def __init__(self, alpha: float | str = 1.0, gamma: str | ArrayLike = "scale") -> None:
        self.alpha, self.gamma = alpha, gamma

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        if isinstance(self.alpha, str) and self.alpha == "evidence":
            self.alpha_ = 1.0
        else:
            check_positive(self.alpha, "alpha", "'evidence' or a finite number > 0")
            self.alpha_ = float(self.alpha)
        return super().place(X, centers, weights)

    @property
    def hyper(self) -> dict[str, float | Array]:
        alpha: dict[str, float | Array] = {"alpha": self.alpha_} if self.alpha == "evidence" else {}
        return alpha | super().hyper

    def hyper_gradient(self, X: Array, D: Array) -> dict[str, float | Array]:
        """Gradient in log α, too: α k [u/(1 + u) − log(1 + u)] with u = s/α; see `Basis`."""
        found = super().hyper_gradient(X, D)
        if "alpha" not in self.hyper:
            return found
        if not D.size:
            return {"alpha": 0.0} | found
        s = self.squares(X, self.centers_)
        u = s / self.alpha_
        slope = self.alpha_ * self.of_square(s) * (u / (1 + u) - np.log1p(u))
        return {"alpha": float(np.vdot(D, slope))} | found

    def of_square(self, s: Array) -> Array:
        """`(1 + s/α)^(−α)`."""
        return np.asarray(np.exp(-self.alpha_ * np.log1p(s / self.alpha_)))

    def square_slope(self, s: Array) -> Array:
        """`−(1 + s/α)^(−α − 1)`."""
        return np.asarray(-np.exp(-(self.alpha_ + 1) * np.log1p(s / self.alpha_)))


class Periodic(ScaledKernel):
    """Periodic kernel, `k(x, z) = exp(−2 Σ_d γ_d sin²(π (x_d − z_d)/p))`.

    Times another kernel, ``Periodic(12.0) * RBF("evidence")``, it is a pattern that changes slowly.

    Parameters
    ----------
    period : float
        The period p, in units of X, or a first guess of it, which for a series over n periods
        should be nearer than a share of 1/n.
    gamma : {"evidence", "ard"}, float or array-like, default="evidence"
        How fast the pattern goes, without a unit: 1/ℓ² for the length scale ℓ of Gaussian
        processes. "evidence" and "ard" learn it, from 1 on.
    learn_period : bool, default=True
        Learn the period from the evidence. Without it p is the `period`.

    Attributes
    ----------
    period_ : float
        The period.

    Examples
    --------
    >>> from relvec.basis import Periodic
    >>> Periodic(4.0, gamma=0.5).fit([[0.0]]).transform([[1.0], [2.0], [4.0]]).round(3)
    array([[0.607],
           [0.368],
           [1.   ]])
    """

    period_: float

    def __init__(
        self, period: float, gamma: str | ArrayLike = "evidence", learn_period: bool = True
    ) -> None:
        self.period, self.gamma, self.learn_period = period, gamma, learn_period

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        check_positive(self.period, "period")
        self.period_ = float(self.period)
        super(ScaledKernel, self).place(X, centers, weights)
        if isinstance(self.gamma, str) and self.gamma not in LEARNT:
            raise ValueError(
                f"gamma={self.gamma!r}, expected 'evidence', 'ard', a positive number or one per "
                "feature for a kernel whose γ has no unit"
            )
        if isinstance(self.gamma, str):
            self.gamma_ = 1.0 if self.gamma == "evidence" else np.ones(X.shape[1])
        else:
            self.gamma_ = resolve_gamma(self.gamma, X)
        return self

    @property
    def hyper(self) -> dict[str, float | Array]:
        period: dict[str, float | Array] = {"period": self.period_} if self.learn_period else {}
        return period | super().hyper

    def hyper_gradient(self, X: Array, D: Array) -> dict[str, float | Array]:
        """Gradient in log p, too: 2 k Σ_d γ_d a_d sin 2a_d, a = π(x − z)/p; see `Basis`."""
        found = super().hyper_gradient(X, D)
        if not self.learn_period:
            return found
        if not D.size:
            return {"period": 0.0} | found
        P, slope = 2 * D * self.k(X, self.centers_), 0.0
        for gamma, angle in self._angles(X, self.centers_):
            slope += gamma * float(np.vdot(P, angle * np.sin(2 * angle)))
        return {"period": slope} | found

    def relevance(self, deviations: Array) -> None:
        """Periods have no width that inputs could leave; see `Basis.relevance`."""

    def k(self, X: Array, Z: Array) -> Array:
        """`exp(−2 Σ_d γ_d sin²(π (x_d − z_d)/p))`."""
        K = np.zeros((len(X), len(Z)))
        for gamma, angle in self._angles(X, Z):
            K -= 2 * gamma * np.sin(angle) ** 2
        return np.exp(K, out=K)

    def gamma_slope(self, X: Array, Z: Array, D: Array) -> Array:
        """`−2γ_d Σ_nm D_nm k(x_n, z_m) sin²(π (x_nd − z_md)/p)`."""
        P = 2 * D * self.k(X, Z)
        slopes = [-gamma * np.vdot(P, np.sin(a) ** 2) for gamma, a in self._angles(X, Z)]
        return np.array(slopes)

    def factors(self, X: Array, Z: Array) -> Iterator[Array]:
        """`exp(−2γ_d sin²(π (x_d − z_d)/p))`; see `Kernel.factors`."""
        return (np.exp(-2 * gamma * np.sin(a) ** 2) for gamma, a in self._angles(X, Z))

    def slopes(self, X: Array, Z: Array) -> Iterator[Array]:
        """−2π/p γ_d k(x, z) sin(2π (x_d − z_d)/p); see `Kernel.slopes`."""
        slope = -2 * np.pi / self.period_ * self.k(X, Z)
        for gamma, angle in self._angles(X, Z):
            yield gamma * slope * np.sin(2 * angle)

    def _angles(self, X: Array, Z: Array) -> Iterator[tuple[float, Array]]:
        """γ_d and π(x_d − z_d)/p between the rows of X and Z, for one input after the other."""
        for gamma, apart in self._apart(X, Z):
            yield gamma, apart * (np.pi / self.period_)
