"""Quantiles and probabilities of counts whose rate has a Gamma distribution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, betaln, xlog1py

from relvec._numerics.floats import EPSILON, SMALLEST
from relvec._numerics.typing import Array

#: Up to which float64 has all integers.
LARGEST = 2.0**53


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
            f"counts of {mean.max():.4g} are above {LARGEST:.0f}, from which on float64 leaves "
            "integers out"
        )
    # Below a rounding nobody can tell a rate from a known one.
    tail, excess = 0.5 * (1 - coverage), np.maximum(excess, EPSILON)
    shape, share = np.maximum(mean / excess, SMALLEST), excess / (1 + excess)
    bound = np.ceil(mean + std * np.sqrt((1 - tail) / tail))  # no less, by Cantelli's inequality

    def up_to(counts: Array) -> Array:
        # Of share and 1 − share, take the one that is small, with all of its digits.
        few = betaincc(counts + 1, shape, share)
        probability: Array = np.where(excess < 1, few, betainc(shape, counts + 1, 1 / (1 + excess)))
        return probability

    def above(counts: Array) -> Array:
        few = betainc(counts + 1, shape, share)
        probability: Array = np.where(
            excess < 1, few, betaincc(shape, counts + 1, 1 / (1 + excess))
        )
        return probability

    lower = _least(lambda counts: up_to(counts) >= tail, bound)
    return lower, _least(lambda counts: above(counts) <= tail, bound)


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
    rare = counts * (np.log(excess) - np.log1p(excess))
    log_density: Array = ways + rare - xlog1py(shape, excess)
    return log_density


def _least(holds: Callable[[Array], NDArray[np.bool_]], upper: Array) -> Array:
    """Least counts for which something holds that holds for all above, as for `upper`."""
    lower = np.full_like(upper, -1.0)
    while True:
        middle = np.floor(lower + 0.5 * (upper - lower))
        open_ = (lower < middle) & (middle < upper)
        if not open_.any():
            return upper
        found = holds(np.maximum(middle, 0.0))
        upper = np.where(open_ & found, middle, upper)
        lower = np.where(open_ & ~found, middle, lower)
