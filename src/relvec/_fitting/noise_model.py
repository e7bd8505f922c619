"""Gaussian noise whose log variance is a sparse function of the inputs, as it was learnt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from relvec._evidence.posterior import Posterior
from relvec._numerics.checks import of_rows
from relvec._numerics.compact import Compact
from relvec._numerics.typing import Array, Index
from relvec.basis import Basis
from relvec.solvers import Solution


@dataclass(frozen=True)
class LearntNoise(Compact):
    """Posterior of g, where noise has the variance σ²e^g(x), eq. R11.

    The mean of ⟨e^g⟩ over the training rows is one, so that σ² is the mean variance there.
    """

    basis: Basis  # kept functions of g
    posterior: Posterior  # their weights and the intercept of g
    alpha: Array  # (n_functions,), prior precision of the weights
    well_determined: Array  # (n_functions,), γ of eq. 17
    divergence: float  # of the posterior from the prior, above that of a constant g, eq. R13

    @classmethod
    def of(
        cls,
        basis: Basis,
        posterior: Posterior,
        alpha: Array,
        well_determined: Array,
        X: Array,
        weights: Array | None,
    ) -> Self:
        """Noise with a level of g that the training rows X, with their frequencies, set."""
        n = float(len(X) if weights is None else weights.sum())
        divergence = _divergence(posterior, alpha, n)
        found = cls(basis, posterior, alpha, well_determined, divergence)
        mean, variance = found.log_moments(X)
        log_variance = mean + 0.5 * variance
        largest = log_variance.max()
        level = largest + np.log(np.average(np.exp(log_variance - largest), weights=weights))
        return replace(found, posterior=replace(posterior, level=posterior.level - level))

    @property
    def columns(self) -> Index:
        """Functions of the basis that it uses: all."""
        return np.arange(len(self.alpha))

    def log_moments(self, X: Array) -> tuple[Array, Array]:
        """Posterior mean and variance of g at rows, shapes (n_samples,)."""
        mean, variance = of_rows(self._log_moments, X).T
        return mean, variance

    def _log_moments(self, X: Array) -> Array:
        Phi = self.basis.values(X)
        mean, variance = self.posterior.latent_mean(Phi), self.posterior.latent_covariance(Phi)
        variance = variance[:, 0, 0]
        for position, beyond in self.basis.unspanned(X).items():
            variance = variance + beyond / self.alpha[position]
        return np.stack([mean[:, 0], variance], axis=1)

    def relative_variance(self, X: Array) -> Array:
        """⟨e^g⟩ at rows, shape (n_samples,): variance of a new target's noise in units of σ²."""
        mean, variance = self.log_moments(X)
        with np.errstate(over="ignore"):
            relative: Array = np.exp(mean + 0.5 * variance)
        if not np.isfinite(relative).all():
            raise OverflowError(
                "the variance of the noise at these rows of X exceeds the range of float64: they "
                "are far from those of the fit"
            )
        return relative

    def relative_precision(self, X: Array) -> Array:
        """⟨e^−g⟩ at rows, shape (n_samples,): what a row counts in the posterior of the weights."""
        mean, variance = self.log_moments(X)
        return np.exp(0.5 * variance - mean)

    def std_error(self, X: Array) -> Array:
        """Standard deviation of e^(g/2) at rows as a share of √⟨e^g⟩, shape (n_samples,)."""
        _, variance = self.log_moments(X)
        return np.sqrt(-np.expm1(-0.25 * variance))

    def cost(self, X: Array, weights: Array | None) -> float:
        """Nats by which the bound is below the evidence at the precisions of the rows, eq. R13."""
        _, variance = self.log_moments(X)
        spread = float(variance.sum() if weights is None else weights @ variance)
        return self.divergence + 0.25 * spread


@dataclass(frozen=True)
class NoisySolution(Solution):
    """Function that was found with noise that varies; its evidence is the bound of eq. R13."""

    noise: LearntNoise


def _divergence(posterior: Posterior, alpha: Array, n: float) -> float:
    """Divergence of the posterior of g from its prior, above that of a constant g of n rows."""
    square = posterior.mean[:, 0] ** 2 + np.einsum("ij,ij->i", posterior.root, posterior.root)
    log_root = np.log(np.abs(posterior.root.diagonal())).sum()
    of_weights = 0.5 * (alpha @ square - len(alpha) - np.log(alpha).sum()) - log_root
    of_level = -0.5 * (1 + np.log(0.5 * n * posterior.level_covariance[0, 0]))
    return float(of_weights + of_level)
