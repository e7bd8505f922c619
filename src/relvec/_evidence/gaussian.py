"""Evidence, weight posterior, derivatives, the factors S and Q: the mathematics of the method.

Everything is written in dimensionless quantities. With A = diag(α) and R the active functions'
columns in an orthonormal frame Q (Φ_A = QR), let

    D = √β R A^(-1/2),   Σ̂ = (I + DᵀD)⁻¹ = A^(1/2) Σ A^(1/2),   μ̂ = A^(1/2) μ.

The eigenvalues of Σ̂ lie in (0, 1], and neither units of t nor of a function's scale enter.
Equation numbers are those of Tipping (2001); "T&F" are Tipping & Faul (2003).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relvec._design.base import OneTarget
from relvec._numerics.groups import Groups
from relvec._numerics.linalg import cholesky_of_gram, inverse_lower, solve_lower, solve_lower_vector
from relvec._numerics.typing import Array, Index

LOG_2PI = float(np.log(2 * np.pi))


def bic_penalty(n_copies: float) -> float:
    """½ log N: nats that a function or a scale has to be worth, by Schwarz's criterion (1978)."""
    return 0.5 * float(np.log(n_copies))


@dataclass(frozen=True)
class ReducedData:
    """What the evidence needs to know of the data for one set of active functions.

    Attributes
    ----------
    R : ndarray of shape (j, n_active)
        Active functions in the frame, Φ_A = QR.
    c : ndarray of shape (j,)
        Target in the frame, Qᵀt.
    residual_target : float
        ‖t‖² − ‖Qᵀt‖².
    n : float
        Number of observations that count.
    """

    R: Array
    c: Array
    residual_target: float
    n: float

    @classmethod
    def from_frame(cls, frame: OneTarget, active: Index, n: float) -> ReducedData:
        """Take the columns of the active functions out of a frame that spans them."""
        return cls(frame.coords[:, active], frame.target, frame.residual_target, n)

    def weighted(self, alpha: Array, beta: float) -> Array:
        """D = √β R A^(-1/2), shape (j, n_active)."""
        return self.R * np.sqrt(beta / alpha)

    def misfit(self, mean: Array) -> float:
        """Squared misfit r = ‖t − Φμ‖²."""
        residual = self.c - self.R @ mean
        return self.residual_target + float(residual @ residual)


def posterior_root(D: Array) -> Array:
    """Upper triangular F with Σ̂ = (I + DᵀD)⁻¹ = F Fᵀ, shape (n_active, n_active)."""
    return inverse_lower(cholesky_of_gram(D)).T


@dataclass(frozen=True)
class WeightPosterior:
    """Gaussian posterior of the active weights, in dimensionless form, with the evidence.

    Attributes
    ----------
    root : ndarray of shape (n_active, n_active)
        F with Σ̂ = F Fᵀ, upper triangular.
    variance : ndarray of shape (n_active, n_active)
        Σ̂ = A^(1/2) Σ A^(1/2), with Σ of eq. 12.
    mean : ndarray of shape (n_active,)
        μ̂ = A^(1/2) μ, with μ of eq. 13.
    misfit : float
        r = ‖t − Φμ‖².
    log_evidence : float
        L, the logarithm of eq. 15, with its −N/2·log 2π.
    """

    root: Array
    variance: Array
    mean: Array
    misfit: float
    log_evidence: float

    @classmethod
    def at(
        cls, data: ReducedData, alpha: Array, beta: float, root: Array | None = None
    ) -> WeightPosterior:
        """Posterior for the given precisions, and with the root F where that is known already.

        The data term βtᵀ(t − Φμ) is taken as the penalised misfit β‖t − Φμ‖² + μᵀAμ, which is at
        its minimum and so does not feel the rounding errors of μ to first order. Where noise is
        small even their square counts, and one step of iterative refinement makes up for the digits
        that Σ̂ has lost.
        """
        D, c = data.weighted(alpha, beta), np.sqrt(beta) * data.c
        root = posterior_root(D) if root is None else root
        variance = root @ root.T
        mean = root @ (root.T @ (c @ D))
        mean += root @ (root.T @ ((c - D @ mean) @ D - mean))
        misfit = data.misfit(mean / np.sqrt(alpha))
        # log|C| = −N log β + log|I + DᵀD|
        log_evidence = 0.5 * (
            data.n * (np.log(beta) - LOG_2PI) - beta * misfit - float(mean @ mean)
        ) + float(np.log(root.diagonal()).sum())
        return cls(root, variance, mean, misfit, float(log_evidence))

    def well_determined(self) -> Array:
        """γ_i = 1 − α_i Σ_ii of eq. 17, in [0, 1]."""
        return 1 - self.variance.diagonal()

    def gradient(self, n: float, beta: float) -> Array:
        """∂L/∂log α_i for each active function, then ∂L/∂log β: shape (n_active + 1,)."""
        gradient = np.zeros(len(self.mean) + 1)
        self.add_gradient(gradient, -1, n, beta)
        return gradient

    @cached_property
    def used(self) -> float:
        """Σγ_i, the observations that the weights use up."""
        return float(self.well_determined().sum())

    def add_gradient(self, gradient: Array, at: int, n: float, beta: float) -> None:
        """Add the gradient to that of other targets with the same α, its log β at its own place."""
        gradient[: len(self.mean)] += alpha_gradient(self.variance, self.mean)
        gradient[at] += 0.5 * (n - beta * self.misfit - self.used)

    def hessian(self, beta: float) -> Array:
        """Second derivatives of L in (log α, log β): shape (n_active + 1, n_active + 1)."""
        H = np.zeros((len(self.mean) + 1, len(self.mean) + 1))
        self.add_hessian(H, -1, beta)
        return H

    def add_hessian(self, H: Array, at: int, beta: float) -> None:
        """Add the second derivatives to those of other targets, as `add_gradient` does."""
        V, m = self.variance, self.mean
        k, variance, Vm = len(m), V.diagonal(), V @ m
        H[:k, :k] += alpha_hessian(V, m)
        V2 = np.einsum("ij,ij->i", V, V)
        H[:k, at] = H[at, :k] = 0.5 * (variance - V2) - m * Vm
        trace = k - 2 * variance.sum() + V2.sum()  # tr((I − ΣA)²)
        H[at, at] = 0.5 * (trace - beta * self.misfit - self.used) + m @ Vm


def alpha_gradient(variance: Array, mean: Array) -> Array:
    """∂L/∂log α of each weight, ½(1 − Σ̂_ii − μ̂_i²)."""
    gradient: Array = 0.5 * (1 - variance.diagonal() - mean**2)
    return gradient


def alpha_hessian(variance: Array, mean: Array) -> Array:
    """Second derivatives of L in the log α of the weights."""
    H: Array = variance * (0.5 * variance + np.multiply.outer(mean, mean))
    H.flat[:: len(mean) + 1] -= 0.5 * (variance.diagonal() + mean**2)
    return H


#: A unit-norm function whose S/β is below this lies in the span of the active ones.
RESOLUTION = 1e-12


@dataclass(frozen=True)
class CandidateFactors:
    """Sparsity and quality of every candidate, S_m = φᵀC⁻¹φ and Q_m = φᵀC⁻¹t (T&F eq. 24, 25).

    With C⁻¹ = β(I − QQᵀ) + βQ(I + DDᵀ)⁻¹Qᵀ both are sums of non-negative terms and a part outside
    the frame: nothing cancels, however collinear the functions.
    """

    S: Array
    Q: Array
    beta: float
    whitener: Array  # T, the lower factor of I + DDᵀ

    @classmethod
    def at(cls, frame: OneTarget, data: ReducedData, alpha: Array, beta: float) -> CandidateFactors:
        """Factors of all candidates for the given active functions and precisions."""
        within = cls._of(frame.coords, data, alpha, beta)
        S, Q = beta * frame.residual_norm2 + within.S, beta * frame.residual_dot + within.Q
        return cls(S, Q, beta, within.whitener)

    @classmethod
    def of_active(cls, data: ReducedData, alpha: Array, beta: float) -> CandidateFactors:
        """Factors of the active functions themselves: α_iγ_i = S_i and α_iμ_i = Q_i."""
        return cls._of(data.R, data, alpha, beta)

    @classmethod
    def _of(cls, coords: Array, data: ReducedData, alpha: Array, beta: float) -> CandidateFactors:
        """Factors of functions that lie within the frame at `coords`."""
        T = cholesky_of_gram(data.weighted(alpha, beta).T)
        W = solve_lower(T, coords)
        e = solve_lower_vector(T, data.c)
        return cls(beta * np.einsum("ij,ij->j", W, W), beta * (e @ W), beta, T)

    @property
    def floor(self) -> float:
        """S of a unit-norm function below which no digits are left."""
        return RESOLUTION * self.beta

    def block(self, coords: Array, residual: Array) -> Array:
        """S between some candidates, (b, b), given their parts within and outside the frame."""
        W = solve_lower(self.whitener, np.ascontiguousarray(coords))
        return self.beta * (residual.T @ residual + W.T @ W)

    def within(self, coords: Array, groups: Groups, outside: list[Array]) -> list[Array]:
        """S within groups of candidates of each size, shapes (n_groups, size, size).

        Given all candidates in the frame, and products of what is outside it.
        """
        W = solve_lower(self.whitener, coords)
        found = []
        for (_, members), gram in zip(groups.by_size, outside, strict=True):
            part = np.moveaxis(W[:, members], 0, 1)
            found.append(self.beta * (gram + np.swapaxes(part, 1, 2) @ part))
        return found
