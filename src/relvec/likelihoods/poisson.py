"""Counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import betainc, betaincc, betaln, gammaln, xlog1py, xlogy
from scipy.stats import poisson

from relvec._numerics.checks import check_squares
from relvec._numerics.floats import EPSILON, SMALLEST
from relvec._numerics.typing import Array
from relvec.likelihoods.base import RegressionLikelihood
from relvec.likelihoods.quadrature import least
from relvec.likelihoods.support import Interval

#: Rates above this overflow the integers that counts are drawn as.
LARGEST_RATE = 9e18
#: Counts from which Stirling's series has all digits.
STIRLING = 50.0
#: Up to which five terms of the series of log(1 + x) have all digits.
NEAR_ZERO = 1e-3
#: Up to which float64 has all integers.
LARGEST = 2.0**53


@dataclass(frozen=True)
class Poisson(RegressionLikelihood):
    """p(t | y) = λᵗ e^(−λ) / t! with the rate λ = e^y, infinite where that overflows.

    A second column of the targets is the logarithm of their exposure E, with λ = E e^y.
    """

    mean_depends_on_variance: ClassVar[bool] = False
    takes_offset: ClassVar[bool] = True
    support: ClassVar[Interval] = Interval(0.0, integer=True)

    def distribution(self, y: Array) -> Any:
        """Poisson, of rate e^y."""
        return poisson(rate_of(y))

    def log_prob(self, t: Array, y: Array) -> Array:
        t, y = with_offset(t, y)
        # Of counts of 10¹², t·y − λ − log t! would lose what a step towards the mode gains.
        excess = y - np.log(np.where(t > 0, t, 1.0))
        with np.errstate(over="ignore", invalid="ignore"):  # zero times infinity is not taken
            below = np.where(t > 0, t * (np.expm1(excess) - excess), np.exp(y))
        log_prob: Array = (_log_prob_at_mode(t) - below).sum(axis=1)
        return log_prob

    def gradient(self, t: Array, y: Array) -> Array:
        """Target less λ."""
        t, y = with_offset(t, y)
        return t - rate_of(y)

    def neg_hessian(self, t: Array, y: Array) -> Array:
        """λ."""
        t, y = with_offset(t, y)
        return rate_of(y)[:, :, None]

    def neg_hessian_gradient(self, t: Array, y: Array, variance: Array) -> Array:
        """λ·h."""
        t, y = with_offset(t, y)
        return rate_of(y) * variance[:, :, 0]

    def moments(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Moments of a count whose rate has a Gamma posterior, the mode and curvature of y given.

        That is what the posterior of a rate without functions is. A normal y would give rates of
        e^(mean + variance/2), without bound where no count says how small a rate is.
        """
        rate = rate_of(mean)
        with np.errstate(over="ignore", invalid="ignore"):
            variance = rate + rate * self.excess(rate, covariance[:, 0])
        return rate, _finite(variance, mean)

    def excess(self, rate: Array, variance: Array) -> Array:
        """Variance of a count over its mean, less one, if its log rate has a variance."""
        return rate * variance

    def joint_covariance(self, mean: Array, covariance: Array) -> Array:
        """Covariance of the rates, to first order, and the variance of a count on the diagonal."""
        rate = rate_of(mean)
        with np.errstate(over="ignore", invalid="ignore"):
            joint = rate[:, None] * (rate * covariance)
            own = rate + rate * self.excess(rate, covariance.diagonal())
        joint.flat[:: len(mean) + 1] = own
        return _finite(joint, mean)

    def interval(self, mean: Array, covariance: Array, coverage: float) -> tuple[Array, Array]:
        """Quantiles of the negative binomial distribution, which counts of a Gamma rate have."""
        rate, variance = self.moments(mean, covariance)
        excess = self.excess(rate, covariance[:, 0])
        return count_interval(rate, excess, np.sqrt(variance), coverage)

    def predictive_log_density(self, t: Array, mean: Array, covariance: Array) -> Array:
        """Log probability under the negative binomial distribution."""
        rate = rate_of(mean)
        return count_log_density(t, rate, self.excess(rate, covariance[:, 0]))[:, 0]

    def sample(self, y: Array, rng: np.random.RandomState) -> Array:
        return drawn(rate_of(y), rng)

    def check(self, t: Array) -> None:
        """Counts are not negative, not all zero, and have squares in the range of float64."""
        super().check(t[:, :1])
        with np.errstate(over="ignore"):  # which is refused
            check_squares((t[:, 0] * t[:, 0]).sum())
        if not t[:, 0].any():
            raise ValueError("y is zero in every row, expected a positive count")


def with_offset(t: Array, y: Array) -> tuple[Array, Array]:
    """Counts (n_samples, 1), and the logarithm of their rates with the offset if there is one."""
    return t[:, :1], y + t[:, 1:].sum(axis=1, keepdims=True)


def _finite(variance: Array, log_rate: Array) -> Array:
    """Return the variance, unless it, or the rate that it is at least, is out of range."""
    if not np.isfinite(variance).all():
        raise OverflowError(
            "predicted counts at these rows of X, with log rates of up to "
            f"{log_rate.max():.4g}, or their variances exceed the range of float64; predict_latent "
            "gives the log rates"
        )
    return variance


def _log_prob_at_mode(t: Array) -> Array:
    """Log probability of a count at its own rate, t log t − t − log t!."""
    exact = xlogy(t, t) - t - gammaln(t + 1)
    large = np.maximum(t, STIRLING)
    stirling = -0.5 * np.log(2 * np.pi * large) - _rest_of_stirling(large)
    return np.where(t < STIRLING, exact, stirling)


def _rest_of_stirling(large: Array) -> Array:
    """Log Γ(t + 1) less (t + ½) log t − t + ½ log 2π, for t of `STIRLING` or more."""
    inverse = 1 / large
    rest: Array = inverse * (1 / 12 - inverse**2 * (1 / 360 - inverse**2 / 1260))
    return rest


def rate_of(y: Array) -> Array:
    """Return e^y, infinite where that overflows."""
    with np.errstate(over="ignore"):
        rate: Array = np.exp(y)
    return rate


def drawn(rate: Array, rng: np.random.RandomState) -> Array:
    """Draw counts of Poisson's distribution."""
    if rate.max(initial=0.0) > LARGEST_RATE:
        raise OverflowError(f"a rate of {rate.max():.3g} is too large to draw counts from")
    return rng.poisson(rate).astype(np.float64)


# The negative binomial distribution by the excess of its variance over its mean. In scipy.stats it
# takes p = 1/(1 + excess), which has lost the excess near the Poisson distribution: quantiles of
# 10¹⁰ counts are off by 75 at an excess of 10⁻⁸, log probabilities by any factor below.


def count_interval(mean: Array, excess: Array, std: Array, coverage: float) -> tuple[Array, Array]:
    """Central interval of counts that are negative binomial.

    The lower end is the least count up to which there is half of 1 − `coverage`, the upper end the
    least above which there is no more than that.

    Parameters
    ----------
    mean : ndarray
        Of the counts.
    excess : ndarray
        Variance over the mean, less one: zero for a Poisson distribution.
    std : ndarray
        Standard deviation of the counts.
    coverage : float
        Probability of the interval.
    """
    if mean.max(initial=0.0) > LARGEST:
        raise OverflowError(
            f"counts of {mean.max():.4g} at these rows of X are above {LARGEST:.0f}, from which on "
            "float64 leaves integers out"
        )
    # Below a rounding nobody can tell a rate from a known one.
    tail, excess = 0.5 * (1 - coverage), np.maximum(excess, EPSILON)
    shape, share = np.maximum(mean / excess, SMALLEST), excess / (1 + excess)
    bound = np.ceil(mean + std * np.sqrt((1 - tail) / tail))  # no less, by Cantelli's inequality
    few, below = excess < 1, np.full_like(bound, -1.0)

    # Of share and 1 − share, take the one that is small, with all of its digits.
    def cdf(t: Array) -> Array:
        other = betainc(shape, t + 1, 1 / (1 + excess))
        cdf: Array = np.where(few, betaincc(t + 1, shape, share), other)
        return cdf

    def sf(t: Array) -> Array:
        other = betaincc(shape, t + 1, 1 / (1 + excess))
        sf: Array = np.where(few, betainc(t + 1, shape, share), other)
        return sf

    lower = least(lambda t: cdf(t) >= tail, below, bound, integer=True)
    return lower, least(lambda t: sf(t) <= tail, below, bound, integer=True)


def count_log_density(counts: Array, mean: Array, excess: Array) -> Array:
    """Log probability of counts that are negative binomial.

    Parameters
    ----------
    counts : ndarray
        At which.
    mean, excess : ndarray
        See `count_interval`.
    """
    excess = np.maximum(excess, EPSILON)
    shape = np.maximum(mean / excess, SMALLEST)
    some = np.maximum(counts, SMALLEST)
    ways = np.where(counts > 0, -np.log(some) - betaln(some, shape), 0.0)
    rare = -counts * np.log1p(1 / excess)
    exact = ways + rare - xlog1py(shape, excess)
    large = np.minimum(counts, shape) >= STIRLING
    near = log_density_of_large(np.where(large, counts, STIRLING), mean, excess)
    log_density: Array = np.where(large, near, exact)
    return log_density


def log_density_of_large(t: Array, mean: Array, excess: Array) -> Array:
    """The same for counts and shapes of `STIRLING` or more, as Loader (2000) has the binomial.

    What is left of it where Stirling's series takes the place of every factorial is two sums of
    squares, which lose no digits beside each other.
    """
    r = np.maximum(mean / excess, STIRLING)
    ratio, share = (r + t) / (r + mean), r / (r + t)
    of_shape = r * _above_log((t - mean) / (r + mean), ratio)
    of_count = t * _above_log((mean - t) / t / (1 + excess), mean / t * ratio)
    rests = _rest_of_stirling(r + t) - _rest_of_stirling(r) - _rest_of_stirling(t)
    level = 0.5 * (np.log(2 * np.pi * t) - np.log(share))
    log_density: Array = rests - of_shape - of_count - level
    return log_density


def _above_log(x: Array, ratio: Array) -> Array:
    """Return x − log r of the ratio r = 1 + x, by its series where that has lost digits."""
    near = np.where(np.abs(x) < NEAR_ZERO, x, 0.0)
    series = near**2 * (1 / 2 - near * (1 / 3 - near * (1 / 4 - near * (1 / 5 - near / 6))))
    log = np.where(x > -0.5, np.log1p(np.maximum(x, -0.5)), np.log(ratio))
    above: Array = np.where(np.abs(x) < NEAR_ZERO, series, x - log)
    return above
