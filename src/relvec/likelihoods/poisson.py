"""Counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from relvec.likelihoods.base import Array, Likelihood


@dataclass(frozen=True)
class Poisson(Likelihood):
    """p(t | y) = λᵗ e^(−λ) / t! with the rate λ = e^y."""

    def log_prob(self, t: Array, y: Array) -> Array:
        """Log probability of each row's count; −∞ where the rate overflows."""
        with np.errstate(over="ignore"):
            log_prob: Array = (t * y - np.exp(y) - gammaln(t + 1)).sum(axis=1)
        return log_prob

    def slope(self, t: Array, y: Array) -> Array:
        """Target less λ."""
        return t - np.exp(y)

    def curvature(self, t: Array, y: Array) -> Array:
        """λ."""
        return np.exp(y)[:, :, None]

    def curvature_slope(self, t: Array, y: Array, spread: Array) -> Array:
        """λ·h."""
        slope: Array = np.exp(y) * spread[:, :, 0]
        return slope

    def moments(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Moments of a count whose rate is log-normal."""
        variance = covariance[:, 0]
        with np.errstate(over="ignore"):
            rate = np.exp(mean + 0.5 * variance)
            return rate, rate + rate**2 * np.expm1(variance)

    def sample(self, y: Array, rng: np.random.RandomState) -> Array:
        """Counts."""
        return rng.poisson(np.exp(y)).astype(np.float64)

    def check(self, t: Array) -> None:
        """Counts are not negative, and not all zero."""
        if t.min() < 0:
            raise ValueError(f"y has a minimum of {t.min():g}, expected counts >= 0")
        if not t.any():
            raise ValueError("y is zero in every row, expected a positive count")
