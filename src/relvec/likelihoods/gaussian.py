"""Gaussian noise of one variance: the likelihood for which everything is exact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relvec.likelihoods.base import Array, Likelihood

#: Least share of the variance of the targets that is noise (SparseBayes has β ≤ 1e6/var t).
NOISE_FLOOR = 1e-6


@dataclass(frozen=True)
class Gaussian(Likelihood):
    """p(t | y) = N(t; y, σ²), eq. 1 to 4.

    Parameters
    ----------
    noise_variance : float or None
        σ² in squared units of the target. None while it is still to be learnt.
    """

    noise_variance: float | None = None

    def _variance(self) -> float:
        if self.noise_variance is None:
            raise ValueError("noise_variance has not been learnt yet, expected a number")
        return self.noise_variance

    def log_prob(self, t: Array, y: Array) -> Array:
        """Log density of each target, shape (n_samples,)."""
        variance = self._variance()
        log_prob: Array = -0.5 * (np.log(2 * np.pi * variance) + (t - y) ** 2 / variance)
        return log_prob

    def moments(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Mean and variance of a new target, eq. 21 and 22."""
        return mean, variance + self._variance()
