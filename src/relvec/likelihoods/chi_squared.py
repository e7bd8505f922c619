"""Squares of Gaussian noise, given the logarithm of its variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.stats import gamma

from relvec._numerics.typing import Array
from relvec.likelihoods.base import RegressionLikelihood
from relvec.likelihoods.support import Interval


@dataclass(frozen=True)
class ChiSquared(RegressionLikelihood):
    """p(t | y) of t = e^y z² with z from N(0, 1): noise of log variance y, squared."""

    support: ClassVar[Interval] = Interval(0.0, low_inclusive=False)

    def distribution(self, y: Array) -> Any:
        """Gamma, of shape ½ and mean e^y."""
        return gamma(0.5, scale=2 * np.exp(y))

    def log_prob(self, t: Array, y: Array) -> Array:
        """−½[log 2πt + y + te^−y]."""
        log_prob: Array = -0.5 * (np.log(2 * np.pi * t) + y + t * np.exp(-y)).sum(axis=1)
        return log_prob

    def gradient(self, t: Array, y: Array) -> Array:
        """½(te^−y − 1)."""
        return 0.5 * (t * np.exp(-y) - 1)

    def neg_hessian(self, t: Array, y: Array) -> Array:
        """½te^−y."""
        return 0.5 * (t * np.exp(-y))[:, :, None]

    def moments(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Moments of log-normal scales: ⟨e^y⟩ = e^(mean + h/2), and ⟨3e^2y⟩ less its square."""
        average = np.exp(mean + 0.5 * covariance[:, 0])
        return average, average**2 * (3 * np.exp(covariance[:, 0]) - 1)

    def neg_hessian_gradient(self, t: Array, y: Array, variance: Array) -> Array:
        """−½te^−y·h."""
        return -0.5 * t * np.exp(-y) * variance[:, :, 0]
