"""Evidence, posterior of the weights and the factors S and Q under Gaussian noise.

Everything is written in dimensionless quantities. With A = diag(α) and R the active functions'
columns in an orthonormal frame Q (Φ_A = QR), let

    D = √β R A^(-1/2),   Σ̂ = (I + DᵀD)⁻¹ = A^(1/2) Σ A^(1/2),   μ̂ = A^(1/2) μ.

The eigenvalues of Σ̂ lie in (0, 1], and neither units of t nor of a function's scale enter.
Equation numbers are those of Tipping (2001); "T&F" are Tipping & Faul (2003).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relvec._design.base import TargetFrame
from relvec._evidence.base import EvidenceState
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._numerics.groups import Groups
from relvec._numerics.linalg import inverse_root_of_gram, solve_lower, whitened
from relvec._numerics.priors import UNIFORM, Gamma
from relvec._numerics.typing import Array, Index

LOG_2PI = float(np.log(2 * np.pi))
#: A unit-norm function whose S/β is below this lies in the span of the active ones.
RESOLUTION = 1e-12
#: Numbers of candidates that are held beside those of the frame.
ENTRIES = 1 << 20


def bic_penalty(n_copies: float) -> float:
    """½ log N: nats that a function or a scale has to be worth, by Schwarz's criterion (1978)."""
    return 0.5 * float(np.log(n_copies))


@dataclass(frozen=True)
class ReducedData:
    """Active functions and targets in the coordinates of a frame."""

    R: Array  # (j, n_active), active functions in the frame, Φ_A = QR
    c: Array  # (n_targets, j), targets in the frame, Qᵀt
    residual_target: Array  # (n_targets,), ‖t‖² − ‖Qᵀt‖²
    n: float  # number of observations that count

    @classmethod
    def from_frame(cls, frame: TargetFrame, active: Index, n: float) -> ReducedData:
        """Take the columns of the active functions out of a frame that spans them."""
        c, residual = np.atleast_2d(frame.target), np.atleast_1d(frame.residual_target)
        return cls(frame.coords[:, active], c, residual, n)

    def keep(self, functions: Index) -> ReducedData:
        """Return the same of the active functions at some positions only."""
        return ReducedData(self.R[:, functions], self.c, self.residual_target, self.n)

    def misfit(self, mean: Array) -> Array:
        """Squared misfit ‖t − Φμ‖² of each target, given μ (n_targets, n_active)."""
        residual = self.c - mean @ self.R.T
        misfit: Array = self.residual_target + np.einsum("tj,tj->t", residual, residual)
        return misfit


class ExactState(EvidenceState):
    """Posterior of the weights, eq. 12 and 13, and the evidence, eq. 15, with the `prior` of β.

    The weights of different targets share α and nothing else: the evidence is the product of those
    of the targets, each with its own noise. Of each, `roots` has the upper triangular F (n_active,
    n_active) with Σ̂ = F Fᵀ.
    """

    def __init__(self, data: ReducedData, hyper: Hyperparameters, prior: Gamma = UNIFORM) -> None:
        self.data, self.hyper, self._prior = data, hyper, prior
        root_alpha, found = np.sqrt(hyper.each), dict[float, tuple[Array, Array]]()
        betas = hyper.beta.tolist()
        means, misfits = [], []
        log_evidence = 0.0 if prior.uniform else prior.log_prob(hyper.beta)  # eq. 36
        for beta, t, outside in zip(betas, data.c, data.residual_target.tolist(), strict=True):
            if not beta > 0:  # NaN is not, either
                raise ValueError(f"beta={hyper.beta}, expected noise precisions > 0")
            D, c = data.R * (math.sqrt(beta) / root_alpha), math.sqrt(beta) * t
            if beta not in found:
                root = inverse_root_of_gram(D)
                found[beta] = root, root @ root.T
            root, _ = found[beta]
            mean = root @ (root.T @ (c @ D))
            # Where noise is small even the squares of rounding errors count, and one step of
            # iterative refinement makes up for the digits that Σ̂ has lost.
            mean += root @ (root.T @ ((c - D @ mean) @ D - mean))
            residual = t - data.R @ (mean / root_alpha)
            misfit = outside + float(residual @ residual)
            # The data term βtᵀ(t − Φμ) is taken as β‖t − Φμ‖² + μᵀAμ, which is at its minimum and
            # so does not feel the rounding errors of μ to first order; with its −N/2·log 2π.
            penalised = beta * misfit + float(mean @ mean)
            # log|C| = −N log β + log|I + DᵀD|
            log_det = float(np.log(root.diagonal()).sum())
            log_evidence += 0.5 * (data.n * (math.log(beta) - LOG_2PI) - penalised) + log_det
            means.append(mean)
            misfits.append(misfit)
        self.roots = [found[beta][0] for beta in betas]
        variances = [found[beta][1] for beta in betas]
        self.variances = np.array(variances) if len(betas) > 1 else variances[0][None]
        self.means, self._misfit = np.array(means)[:, :, None], np.array(misfits)
        self.log_evidence = log_evidence

    @cached_property
    def noise_derivatives(self) -> tuple[Array, Array, Array]:
        """See `EvidenceState.noise_derivatives`; eq. 45. Two noises do not feel each other."""
        beta, misfit = self.hyper.beta, self.hyper.beta * self._misfit
        V, m = self.variances, self.means[:, :, 0]
        variance, Vm = V.diagonal(axis1=1, axis2=2), (V @ self.means)[:, :, 0]
        V2 = np.einsum("tij,tij->ti", V, V)
        k = m.shape[1]
        spent = variance.sum(axis=1)
        used = k - spent
        gradient = 0.5 * (self.data.n - misfit - used)
        mixed = 0.5 * (variance - V2) - m * Vm
        trace = k - 2 * spent + V2.sum(axis=1)  # tr((I − ΣA)²)
        second = 0.5 * (trace - misfit - used) + np.einsum("tk,tk->t", m, Vm)
        if not self._prior.uniform:
            gradient = gradient + self._prior.slope(beta)
            second = second + self._prior.curvature(beta)
        return gradient, mixed.T, second

    def misfit(self) -> Array:
        return self._misfit

    def used(self) -> Array:
        used: Array = self.means.shape[1] - np.trace(self.variances, axis1=1, axis2=2)
        return used

    def move(self, hyper: Hyperparameters) -> ExactState:
        return ExactState(self.data, hyper, self._prior)

    def keep(self, which: Index) -> ExactState:
        data = self.data.keep(self.hyper.functions(which))
        return ExactState(data, self.hyper.keep(which), self._prior)


@dataclass(frozen=True)
class CandidateFactors:
    """Sparsity and quality of every candidate, S_m = φᵀC⁻¹φ and Q_m = φᵀC⁻¹t (T&F eq. 24, 25).

    With C⁻¹ = β(I − QQᵀ) + βQ(I + DDᵀ)⁻¹Qᵀ both are sums of non-negative terms and a part outside
    the frame: nothing cancels, however collinear the functions.
    """

    S: Array  # (n_targets, n_candidates)
    Q: Array
    beta: Array  # (n_targets,)
    whiteners: list[Array]  # (j, j), lower factor of I + DDᵀ, of each target

    @classmethod
    def at(cls, frame: TargetFrame, data: ReducedData, hyper: Hyperparameters) -> CandidateFactors:
        """Factors of all candidates beside the active functions."""
        within, beta = cls.inside(frame.coords, data, hyper), hyper.beta[:, None]
        S = beta * frame.residual_norm2 + within.S
        Q = beta * np.atleast_2d(frame.residual_dot) + within.Q
        return cls(S, Q, hyper.beta, within.whiteners)

    @classmethod
    def inside(cls, coords: Array, data: ReducedData, hyper: Hyperparameters) -> CandidateFactors:
        """Factors of functions that lie within the frame at `coords`.

        Of the active functions themselves α_iγ_i = S_i and α_iμ_i = Q_i.
        """
        S, Q, whiteners = [], [], []
        for beta, c in zip(hyper.beta.tolist(), data.c, strict=True):
            root, n_candidates = (data.R * np.sqrt(beta / hyper.each)).T, coords.shape[1]
            T, _, e = whitened(root, coords[:, :0], c)
            s, q = np.empty(n_candidates), np.empty(n_candidates)
            size = max(1, ENTRIES // max(1, len(coords)))
            for begin in range(0, n_candidates, size):
                some = slice(begin, begin + size)
                W = solve_lower(T, coords[:, some])
                s[some], q[some] = np.einsum("ij,ij->j", W, W), e @ W
            S.append(beta * s)
            Q.append(beta * q)
            whiteners.append(T)
        return cls(np.array(S), np.array(Q), hyper.beta, whiteners)

    @property
    def floor(self) -> Array:
        """S of a unit-norm function below which no digits are left, shape (n_targets,)."""
        return RESOLUTION * self.beta

    def block(self, coords: Array, residual: Array) -> Array:
        """S between some candidates, (n_targets, b, b), by their parts in and beside the frame."""
        coords, outside = np.ascontiguousarray(coords), residual.T @ residual
        parts = (solve_lower(T, coords) for T in self.whiteners)
        products: Array = np.array([outside + W.T @ W for W in parts])
        return self.beta[:, None, None] * products

    def within(self, coords: Array, groups: Groups, outside: list[Array]) -> list[Array]:
        """S within groups of candidates of each size, shapes (n_targets, n_groups, size, size).

        Given all candidates in the frame, and products of what is outside it.
        """
        parts = np.stack([solve_lower(T, coords) for T in self.whiteners])
        found = []
        for (_, members), gram in zip(groups.by_size, outside, strict=True):
            W = np.moveaxis(parts[:, :, members], 1, 2)
            inside = np.swapaxes(W, 2, 3) @ W
            found.append(self.beta[:, None, None, None] * (gram + inside))
        return found
