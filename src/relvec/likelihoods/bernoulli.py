"""Two classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit, ndtr

from relvec._numerics.typing import Array
from relvec.likelihoods.base import ClassLikelihood, Surrogate

#: σ(y) = Σ p_i Φ(s_i y) to nine digits: the scale mixture of normals of Monahan and Stefanski
#: (1992, Handbook of the Logistic Distribution, table 20.8), which a normal y integrates exactly.
MIXTURE_WEIGHTS = np.array(
    [
        0.003246343272134,
        0.051517477033972,
        0.195077912673858,
        0.315569823632818,
        0.274149576158423,
        0.131076880695470,
        0.027912418727972,
        0.001449567805354,
    ]
)
MIXTURE_SCALES = np.array(
    [
        1.365340806296348,
        1.059523971016916,
        0.830791313765644,
        0.650732166639391,
        0.508135425366489,
        0.396313345166341,
        0.308904252267995,
        0.238212616409306,
    ]
)


@dataclass(frozen=True)
class Bernoulli(ClassLikelihood):
    """p(t | y) = σ(y)ᵗ (1 − σ(y))¹⁻ᵗ with σ(y) = 1/(1 + e⁻ʸ) and t either 0 or 1, eq. 23."""

    def log_prob(self, t: Array, y: Array) -> Array:
        log_prob: Array = -np.logaddexp(0.0, np.where(t > 0, -y, y)).sum(axis=1)
        return log_prob

    def gradient(self, t: Array, y: Array) -> Array:
        """Target less σ(y)."""
        sign = np.where(t > 0, 1.0, -1.0)
        gradient: Array = sign * expit(-sign * y)
        return gradient

    def neg_hessian(self, t: Array, y: Array) -> Array:
        """σ(y)(1 − σ(y)), eq. 25."""
        neg_hessian: Array = (expit(y) * expit(-y))[:, :, None]
        return neg_hessian

    def neg_hessian_gradient(self, t: Array, y: Array, variance: Array) -> Array:
        """σ(1 − σ)(1 − 2σ)·h."""
        gradient: Array = -expit(y) * expit(-y) * np.tanh(0.5 * y) * variance[:, :, 0]
        return gradient

    def bound(self) -> LogisticBound:
        """Jaakkola and Jordan's."""
        return LogisticBound()

    def check(self, t: Array) -> None:
        """Both classes occur."""
        if t.min() == t.max():
            raise ValueError("y holds 1 class, expected 2 classes")

    def probabilities(self, y: Array) -> Array:
        """Probabilities of classes 0 and 1."""
        return np.hstack([expit(-y), expit(y)])

    def mean_probabilities(self, mean: Array, covariance: Array) -> Array:
        """The same averaged over linear predictors, to nine digits."""
        variance = covariance[:, 0]
        below = -np.abs(mean)
        # σ(y) = e^y σ(−y), and e^y shifts the mean of a normal y by its variance. Of the two means
        # that with the larger part of σ is left to the mixture, which has no digits far below zero.
        exponent = below + 0.5 * variance
        shifted = np.exp(np.minimum(exponent, 0.0)) * _mixture(-below - variance, variance)
        rare = np.where(exponent < 0, shifted, _mixture(below, variance))
        return np.where(mean < 0, np.hstack([1 - rare, rare]), np.hstack([rare, 1 - rare]))

    def moments(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Probability of class 1, and variance of its indicator."""
        p = self.mean_probabilities(mean, covariance)
        return p[:, 1:], p[:, 1:] * p[:, :1]

    def sample(self, y: Array, rng: np.random.RandomState) -> Array:
        drawn: Array = (rng.random_sample(y.shape) < expit(y)).astype(np.float64)
        return drawn


@dataclass(frozen=True)
class LogisticBound(Bernoulli):
    """Two classes, with Jaakkola and Jordan's lower bound (2000) for a surrogate.

    log σ(z) ≥ log σ(ξ) + (z − ξ)/2 − λ(ξ)(z² − ξ²) with λ(ξ) = tanh(ξ/2)/4ξ, for z = y where t = 1
    and −y where t = 0. It touches best at ξ² = ⟨y²⟩.
    """

    def surrogate(self, t: Array, mean: Array, variance: Array) -> Surrogate:
        square = mean**2 + variance[:, 0]
        xi, slope = np.sqrt(square), np.full(mean.shape, 0.125)
        np.divide(np.tanh(xi / 2), 4 * xi, out=slope, where=xi > 0)
        value = log_expit(xi) - xi / 2 + (t - 0.5) * mean + slope * variance[:, 0]
        return Surrogate(value[:, 0], t - 0.5 - 2 * slope * mean, 2 * slope[:, :, None])


@dataclass(frozen=True)
class ExpectedLogistic(Bernoulli):
    """Two classes, with the expectation of log p and of its derivatives for a surrogate.

    The Gaussian posterior that follows from it is, once it agrees with the moments that it was made
    for, the nearest one in Kullback and Leibler's divergence (Opper and Archambeau 2009). To nine
    digits, as `Bernoulli.mean_probabilities`.
    """

    def surrogate(self, t: Array, mean: Array, variance: Array) -> Surrogate:
        """See `Likelihood.surrogate`."""
        sign, spread = np.where(t > 0, 1.0, -1.0), variance[:, 0]
        slope = MIXTURE_SCALES / np.sqrt(1 + MIXTURE_SCALES**2 * spread)
        u, share = -slope * sign * mean, MIXTURE_WEIGHTS[:, None] / MIXTURE_WEIGHTS.sum()
        density = np.exp(-0.5 * u**2) / np.sqrt(2 * np.pi)
        gradient, weight = sign * (ndtr(u) @ share), (slope * density) @ share
        # E log(1 + e^z) = Σ p_i E[z Φ(s_i z) + φ(s_i z)/s_i] for z = −y where t = 1
        value = -((u * ndtr(u) + density) / slope) @ share + 0.5 * weight * spread
        return Surrogate(value[:, 0], gradient, weight[:, :, None])


def _mixture(mean: Array, variance: Array) -> Array:
    """E σ(y) of a normal y by the mixture."""
    terms = ndtr(MIXTURE_SCALES * mean / np.sqrt(1 + MIXTURE_SCALES**2 * variance))
    expectation: Array = terms @ MIXTURE_WEIGHTS[:, None] / MIXTURE_WEIGHTS.sum()
    return expectation
