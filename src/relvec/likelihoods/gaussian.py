"""Gaussian noise of one variance: the likelihood for which everything is exact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm

from relvec._numerics.priors import UNIFORM, Gamma
from relvec._numerics.typing import Array
from relvec.likelihoods.base import RegressionLikelihood


@dataclass(frozen=True)
class Gaussian(RegressionLikelihood):
    """p(t | y) = N(t; y, σ²), eq. 1 to 4.

    Parameters
    ----------
    noise_variance : float, ndarray of shape (n_targets,) or (n_samples, 1), or None
        σ² in squared units of the target, or of each, or of the target in each row. None while it
        is still to be learnt.
    precision_prior : Gamma
        Prior of 1/σ², its rate in squared units of the target.
    least_variance : float
        Floor of σ² where it is learnt, in squared units of the target; a share of the variance of
        the target is another.
    """

    noise_variance: float | Array | None = None
    precision_prior: Gamma = UNIFORM
    least_variance: float = 0.0
    mean_depends_on_variance: ClassVar[bool] = False
    quadratic: ClassVar[bool] = True

    def of_target(self, target: int) -> Gaussian:
        """Noise of one of several targets."""
        variance = self._variance()
        if not isinstance(variance, np.ndarray):
            return self
        return replace(self, noise_variance=float(variance[target]))

    def times(self, relative: Array) -> Gaussian:
        """Noise of rows whose variances are those `relative` to this one, shape (n_samples, 1)."""
        return replace(self, noise_variance=self._variance() * relative)

    def _variance(self) -> float | Array:
        if self.noise_variance is None:
            raise ValueError("noise_variance has not been learnt yet, expected a number")
        return self.noise_variance

    def distribution(self, y: Array) -> Any:
        """Normal, with the linear predictor for its mean."""
        return norm(y, np.sqrt(self._variance()))

    def log_prob(self, t: Array, y: Array) -> Array:
        log_prob: Array = normal_log_density(t - y, self._variance()).sum(axis=1)
        return log_prob

    def gradient(self, t: Array, y: Array) -> Array:
        """(t − y)/σ²."""
        return (t - y) / self._variance()

    def neg_hessian(self, t: Array, y: Array) -> Array:
        """1/σ²."""
        neg_hessian = np.empty((*y.shape, 1))
        neg_hessian[:, :, 0] = 1 / self._variance()
        return neg_hessian

    def neg_hessian_gradient(self, t: Array, y: Array, variance: Array) -> Array:
        """Zero: 1/σ² is the same everywhere."""
        return np.zeros_like(y)

    def bound(self) -> Gaussian:
        """Itself: it is quadratic."""
        return self

    def moments(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Mean and variance of a new target, eq. 21 and 22."""
        return mean, covariance[:, 0] + self._variance()

    def joint_covariance(self, mean: Array, covariance: Array) -> Array:
        """The noise of every target is its own."""
        return covariance + self._variance() * np.eye(len(mean))

    def interval(self, mean: Array, covariance: Array, coverage: float) -> tuple[Array, Array]:
        """Normal quantiles, with the variance of eq. 22."""
        mean, variance = self.moments(mean, covariance)
        return normal_interval(mean, np.sqrt(variance), coverage)

    def predictive_log_density(self, t: Array, mean: Array, covariance: Array) -> Array:
        """Normal, with the variance of eq. 22."""
        mean, variance = self.moments(mean, covariance)
        return normal_log_density(t - mean, variance)[:, 0]

    def sample(self, y: Array, rng: np.random.RandomState) -> Array:
        return y + np.sqrt(self._variance()) * rng.standard_normal(y.shape)


def normal_interval(mean: Array, std: Array, coverage: float) -> tuple[Array, Array]:
    """Ends of the central interval of a normal distribution."""
    # 1 − coverage has all its digits where coverage is close to one; (1 + coverage)/2 has not.
    half = -ndtri(0.5 * (1 - coverage)) * std
    return mean - half, mean + half


def normal_log_density(error: Array, variance: float | Array) -> Array:
    """Logarithm of the density of N(0, variance), −∞ where squared errors exceed float64."""
    with np.errstate(over="ignore"):
        square = (error / np.sqrt(variance)) ** 2
    return -0.5 * (np.log(2 * np.pi * variance) + square)
