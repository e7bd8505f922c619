"""Counts that vary more than Poisson's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betaln
from scipy.stats import nbinom

from relvec._numerics.floats import SMALLEST
from relvec._numerics.typing import Array
from relvec.likelihoods.poisson import (
    STIRLING,
    Poisson,
    drawn,
    log_density_of_large,
    rate_of,
    with_offset,
)

#: Range in which the dispersion is learnt, from what cannot be told from none on, and the error of
#: its logarithm.
LEAST, MOST, DIGITS = 1e-8, 1e4, 1e-8
#: Logarithms of rates within the range of float64.
IN_RANGE = 700.0


@dataclass(frozen=True)
class NegativeBinomial(Poisson):
    """Counts of mean λ = e^y and variance λ + δλ²: those of a rate with a Gamma distribution.

    A second column of the targets is the logarithm of their exposure E, with λ = E e^y.

    Parameters
    ----------
    dispersion : float, default=1.0
        δ > 0: variance of the rate of one count in squared units of its mean. A fit learns it from
        there on. Near zero counts are Poisson's.

    Examples
    --------
    >>> from relvec.likelihoods import NegativeBinomial
    >>> print(NegativeBinomial(0.5).distribution(0.0).var().round(6))
    1.5
    """

    dispersion: float = 1.0

    def distribution(self, y: Array) -> Any:
        """Negative binomial, of mean e^y."""
        return nbinom(1 / self.dispersion, 1 / (1 + self.dispersion * rate_of(y)))

    def log_prob(self, t: Array, y: Array) -> Array:
        t, y = with_offset(t, y)
        z, shape = y + np.log(self.dispersion), 1 / self.dispersion
        some = np.maximum(t, SMALLEST)
        ways = np.where(t > 0, -np.log(some) - betaln(some, shape), 0.0)
        exact = ways - t * np.logaddexp(0, -z) - shape * np.logaddexp(0, z)
        large = (np.minimum(t, shape) >= STIRLING) & (np.abs(y) < IN_RANGE)
        rate = rate_of(np.where(large, y, 0.0))
        near = log_density_of_large(np.where(large, t, STIRLING), rate, rate * self.dispersion)
        log_prob: Array = np.where(large, near, exact).sum(axis=1)
        return log_prob

    def gradient(self, t: Array, y: Array) -> Array:
        """(t − λ)/(1 + δλ)."""
        t, y = with_offset(t, y)
        share, bounded = self._parts(y)
        return t * share - bounded

    def neg_hessian(self, t: Array, y: Array) -> Array:
        """(1 + δt)λ/(1 + δλ)²."""
        t, y = with_offset(t, y)
        share, bounded = self._parts(y)
        curvature: Array = (1 + self.dispersion * t) * share * bounded
        return curvature[:, :, None]

    def neg_hessian_gradient(self, t: Array, y: Array, variance: Array) -> Array:
        """(1 + δt)λ(1 − δλ)/(1 + δλ)³·h."""
        share, _ = self._parts(with_offset(t, y)[1])
        slope: Array = self.neg_hessian(t, y)[:, :, 0] * (2 * share - 1) * variance[:, :, 0]
        return slope

    def _parts(self, y: Array) -> tuple[Array, Array]:
        """1/(1 + δλ) and λ/(1 + δλ), which are finite for any λ."""
        with np.errstate(over="ignore"):
            share: Array = 1 / (1 + self.dispersion * rate_of(y))
        return share, 1 / (rate_of(-y) + self.dispersion)

    @property
    def hyper(self) -> dict[str, float]:
        """δ."""
        return {"dispersion": self.dispersion}

    def learn(self, t: Array, mean: Array, variance: Array, frequency: Array) -> Self:
        """See `Likelihood.learn`: by the second order of ⟨log p⟩ in y, as in the evidence."""

        def missed(log_dispersion: float) -> float:
            other = replace(self, dispersion=float(np.exp(log_dispersion)))
            value, _, weight = other.surrogate(t, mean, variance)
            expected = value - 0.5 * np.einsum("nrs,nsr->n", weight, variance)
            return -float(frequency @ expected)

        ends, options = np.log([LEAST, MOST]), {"xatol": DIGITS}
        found = minimize_scalar(missed, bounds=ends, method="bounded", options=options)
        return replace(self, dispersion=float(np.exp(found.x)))

    def excess(self, rate: Array, variance: Array) -> Array:
        """See `Poisson.excess`; the mean of the rate varies, and the rate about that."""
        return rate * (variance + self.dispersion * (1 + variance))

    def sample(self, y: Array, rng: np.random.RandomState) -> Array:
        shares = rng.gamma(1 / self.dispersion, self.dispersion, y.shape)
        return drawn(rate_of(y) * shares, rng)
