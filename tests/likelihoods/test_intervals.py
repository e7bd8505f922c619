"""Central intervals of new targets, against the distributions that they are quantiles of."""

import numpy as np
import pytest
from scipy.stats import gamma, nbinom, norm, poisson

from relvec.likelihoods import Gaussian, Poisson
from relvec.likelihoods.poisson import count_interval
from tests.support.rows import LIKELIHOODS, name_of

COVERAGES = [0.01, 0.5, 0.8, 0.95, 0.999]
NUMBERS = [row for row in LIKELIHOODS if hasattr(row, "interval")]


def as_counts(rate, excess, coverage):
    """Interval of counts with this mean and this share above the variance of a Poisson one."""
    return count_interval(rate, excess, np.sqrt(rate * (1 + excess)), coverage)


@pytest.mark.parametrize("coverage", COVERAGES)
def test_gaussian_interval_has_normal_quantiles(coverage, rng):
    mean, variance = rng.normal(size=(9, 1)), rng.uniform(0, 2, size=(9, 1))
    found = Gaussian(0.3).interval(mean, variance[:, None], coverage)
    expected = norm(mean, np.sqrt(variance + 0.3)).interval(coverage)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_gaussian_interval_keeps_its_digits_close_to_certainty():
    """1 − 2⁻⁵⁰ is a float, and half of what is missing has a quantile of its own."""
    coverage = 1 - 2.0**-50
    _, upper = Gaussian(1.0).interval(np.zeros((1, 1)), np.zeros((1, 1, 1)), coverage)
    np.testing.assert_allclose(upper, norm.isf(2.0**-51), rtol=1e-12)


@pytest.mark.parametrize("coverage", COVERAGES)
def test_counts_have_quantiles_of_a_negative_binomial_distribution(coverage, rng):
    rate = 10 ** rng.uniform(-4, 7, (300, 1))
    variance = 10 ** rng.uniform(-6, 1, (300, 1))
    lower, upper = Poisson().interval(np.log(rate), variance[:, None], coverage)
    counts = nbinom(1 / variance, 1 / (1 + rate * variance))
    tail = 0.5 * (1 - coverage)
    np.testing.assert_array_equal(lower, counts.ppf(tail))
    np.testing.assert_array_equal(upper, counts.isf(tail))


@pytest.mark.parametrize("coverage", COVERAGES)
@pytest.mark.parametrize(("rate", "variance"), [(0.3, 0.5), (4.0, 0.1), (30.0, 1.5)])
def test_counts_are_poisson_with_a_gamma_rate(rate, variance, coverage):
    """Both tails by quadrature over the rate, just inside the ends and at them."""
    log_rate, spread = np.log([[rate]]), np.array([[[variance]]])
    lower, upper = (end.item() for end in Poisson().interval(log_rate, spread, coverage))
    rates = gamma(1 / variance, scale=rate * variance)

    x = np.exp(np.linspace(*np.log([rates.ppf(1e-14), rates.isf(1e-14)]), 4001))
    weights = rates.pdf(x) * x * np.log(x[1] / x[0])
    assert weights.sum() == pytest.approx(1, abs=1e-12)

    def averaged(probabilities):
        return weights @ probabilities

    tail = 0.5 * (1 - coverage)
    assert averaged(poisson.cdf(lower - 1, x)) < tail <= averaged(poisson.cdf(lower, x))
    assert averaged(poisson.sf(upper, x)) <= tail
    assert averaged(poisson.sf(upper - 1, x)) > tail or upper == 0


@pytest.mark.parametrize("excess", [0.0, 1e-30, 1e-15])
def test_counts_of_a_known_rate_are_poisson(excess):
    rate = np.array([1e-200, 0.01, 0.7, 3.0, 200.0, 1e5])
    lower, upper = as_counts(rate, np.full_like(rate, excess), 0.95)
    np.testing.assert_array_equal([lower, upper], poisson(rate).interval(0.95))


@pytest.mark.parametrize("log_variance", [-30, -15, -9, -4, 0])
@pytest.mark.parametrize("log_rate", [6, 10, 15])
def test_many_counts_are_within_reach(log_rate, log_variance):
    """The tails beyond the ends, where a whole count is nothing: normal, or those of the rate."""
    rate, variance = 10.0**log_rate, 10.0**log_variance
    ends = np.array(as_counts(np.array([rate]), np.array([rate * variance]), 0.95))[:, 0]
    std = np.sqrt(rate + rate**2 * variance)
    known = norm(rate, std) if log_variance < -4 else gamma(1 / variance, scale=rate * variance)
    np.testing.assert_allclose(known.cdf(ends), [0.025, 0.975], atol=1e-3)


def test_no_counts_are_expected_at_a_rate_of_zero():
    zero = np.zeros(3)
    lower, upper = as_counts(zero, zero, 0.95)
    np.testing.assert_array_equal([lower, upper], np.zeros((2, 3)))


def test_counts_that_float64_does_not_hold_are_refused():
    with pytest.raises(OverflowError, match=r"9\.1e\+15.*9007199254740992"):
        as_counts(np.array([3.0, 9.1e15]), np.zeros(2), 0.95)


@pytest.mark.parametrize("likelihood", NUMBERS, ids=name_of)
def test_interval_widens_with_its_coverage(likelihood, rng):
    mean, half = rng.normal(size=(12, 1)), rng.normal(size=(12, 1, 1))
    ends = [likelihood.interval(mean, half**2, c) for c in np.linspace(0.02, 0.98, 13)]
    lower, upper = np.swapaxes(ends, 0, 1)
    assert (lower <= upper).all()
    assert (np.diff(lower, axis=0) <= 0).all()
    assert (np.diff(upper, axis=0) >= 0).all()
    assert (lower[-1] < lower[0]).any()
    assert (upper[-1] > upper[0]).all()


@pytest.mark.parametrize("likelihood", NUMBERS, ids=name_of)
@pytest.mark.parametrize("coverage", [0.5, 0.95])
def test_interval_of_a_known_output_holds_its_share_of_draws(likelihood, coverage):
    """At least that of whole numbers, and not all."""
    n = 100_000
    y = np.full((n, 1), 1.5)
    drawn = likelihood.sample(y, np.random.RandomState(0))
    lower, upper = likelihood.interval(y[:1], np.zeros((1, 1, 1)), coverage)
    share = ((lower <= drawn) & (drawn <= upper)).mean()
    error = 5 * np.sqrt(coverage * (1 - coverage) / n)
    assert share > coverage - error
    assert ((lower < drawn) & (drawn < upper)).mean() < coverage + error


@pytest.mark.parametrize("likelihood", NUMBERS, ids=name_of)
def test_errors_scale_with_a_finite_spread(likelihood):
    mean, covariance = np.full((3, 1), 0.4), np.array([0.0, 0.5, 2.0]).reshape(3, 1, 1)
    spread = likelihood.error_scale(mean, covariance)
    assert spread.shape == (3, 1)
    assert np.isfinite(spread).all()
    assert (np.diff(spread, axis=0) > 0).all()
