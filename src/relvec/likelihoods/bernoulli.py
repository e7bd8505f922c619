"""Two classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

from relvec._numerics.typing import Array
from relvec.likelihoods.base import ClassLikelihood

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
        """Log probability of each row's class."""
        log_prob: Array = -np.logaddexp(0.0, np.where(t > 0, -y, y)).sum(axis=1)
        return log_prob

    def slope(self, t: Array, y: Array) -> Array:
        """Target less σ(y)."""
        slope: Array = np.where(t > 0, expit(-y), -expit(y))
        return slope

    def curvature(self, t: Array, y: Array) -> Array:
        """σ(y)(1 − σ(y)), eq. 25."""
        curvature: Array = (expit(y) * expit(-y))[:, :, None]
        return curvature

    def curvature_slope(self, t: Array, y: Array, spread: Array) -> Array:
        """σ(1 − σ)(1 − 2σ)·h."""
        slope: Array = -expit(y) * expit(-y) * np.tanh(0.5 * y) * spread[:, :, 0]
        return slope

    def check(self, t: Array) -> None:
        """Both classes occur."""
        if t.min() == t.max():
            raise ValueError("y holds 1 class, expected 2 classes")

    def probabilities(self, y: Array) -> Array:
        """Probabilities of classes 0 and 1."""
        return np.hstack([expit(-y), expit(y)])

    def mean_probabilities(self, mean: Array, covariance: Array) -> Array:
        """The same averaged over outputs, to nine digits."""
        variance = covariance[:, 0]
        below = -np.abs(mean)
        # σ(y) = e^y σ(−y), and e^y shifts the mean of a normal y by its variance. Of the two means
        # that with the larger part of σ is left to the mixture, which has no digits far below zero.
        exponent = below + 0.5 * variance
        shifted = np.exp(np.minimum(exponent, 0.0)) * _mixture(-below - variance, variance)
        rare = np.where(exponent < 0, shifted, _mixture(below, variance))
        p: Array = np.where(mean < 0, np.hstack([1 - rare, rare]), np.hstack([rare, 1 - rare]))
        return p

    def moments(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Probability of class 1, and variance of its indicator."""
        p = self.mean_probabilities(mean, covariance)
        return p[:, 1:], p[:, 1:] * p[:, :1]

    def sample(self, y: Array, rng: np.random.RandomState) -> Array:
        """Zeros and ones."""
        drawn: Array = (rng.random_sample(y.shape) < expit(y)).astype(np.float64)
        return drawn


def _mixture(mean: Array, variance: Array) -> Array:
    """E σ(y) of a normal y by the mixture."""
    terms = ndtr(MIXTURE_SCALES * mean / np.sqrt(1 + MIXTURE_SCALES**2 * variance))
    expectation: Array = terms @ MIXTURE_WEIGHTS[:, None] / MIXTURE_WEIGHTS.sum()
    return expectation
