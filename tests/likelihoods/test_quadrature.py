"""Predictions by quadrature, the defaults of a likelihood, against closed forms and mpmath."""

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from relvec.likelihoods import (
    Bernoulli,
    Gaussian,
    Interval,
    Poisson,
    RegressionLikelihood,
    StudentT,
)
from relvec.likelihoods.base import Likelihood
from relvec.likelihoods.quadrature import covariances, expectation, least
from tests.support.rows import LIKELIHOODS, name_of

NUMBERS = [Gaussian(0.3), Gaussian(1e-4), StudentT(0.3, 7.0), StudentT(2.0, 3.0)]
MEAN = np.array([[0.0], [-2.0], [30.0], [0.4]])
VARIANCE = np.array([0.0, 1e-6, 0.5, 3.0]).reshape(-1, 1, 1)
TARGETS = np.array([[0.1], [-2.5], [31.0], [-3.0]])
default = RegressionLikelihood


@pytest.mark.parametrize("likelihood", NUMBERS, ids=str)
def test_closed_forms_are_those_of_the_quadrature(likelihood):
    at = MEAN, VARIANCE
    both = zip(likelihood.moments(*at), default.moments(likelihood, *at), strict=True)
    for found, expected in both:
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    for coverage in (0.1, 0.95):
        ends = likelihood.interval(*at, coverage), default.interval(likelihood, *at, coverage)
        np.testing.assert_allclose(*ends, rtol=1e-8, atol=3e-8)  # one is interpolated
    density = likelihood.predictive_log_density(TARGETS, *at)
    expected = default.predictive_log_density(likelihood, TARGETS, *at)
    np.testing.assert_allclose(density, expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        likelihood.log_prob(TARGETS, MEAN), default.log_prob(likelihood, TARGETS, MEAN), rtol=1e-11
    )


@pytest.mark.parametrize("likelihood", NUMBERS, ids=str)
def test_joint_covariance_is_that_of_the_quadrature(likelihood, rng):
    root = rng.normal(size=(4, 3))
    at = MEAN[:, 0], root @ root.T
    found, expected = likelihood.joint_covariance(*at), default.joint_covariance(likelihood, *at)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_counts_agree_with_a_normal_log_rate_as_far_as_it_is_known():
    """Their rates are Gamma: the same to first order in the variance of the log rate."""
    likelihood, mean = Poisson(), np.log([[0.2], [3.0], [50.0]])
    counts = np.array([[1.0], [2.0], [55.0]])
    apart = []
    for variance in (1e-3, 1e-4):
        at = mean, np.full((3, 1, 1), variance)
        both = [
            np.hstack([*of.moments(likelihood, *at), density[:, None]]) / [[0.2], [3.0], [50.0]]
            for of in (Poisson, default)
            for density in [of.predictive_log_density(likelihood, counts, *at)]
        ]
        apart.append(np.abs(both[0] - both[1]))
    assert (apart[0] < 0.1).all()
    np.testing.assert_allclose(apart[1], 0.1 * apart[0], rtol=0.2, atol=1e-6)
    known = mean, np.zeros((3, 1, 1))
    for coverage in (0.5, 0.95):
        ends = likelihood.interval(*known, coverage), default.interval(likelihood, *known, coverage)
        np.testing.assert_array_equal(*ends)
    drawn = default.sample(likelihood, np.full((50_000, 1), mean[1, 0]), np.random.RandomState(0))
    assert drawn.mean() == pytest.approx(3, abs=0.05)
    assert (drawn == np.round(drawn)).all()


def test_probability_of_a_class_is_the_average_of_the_logistic_function():
    mean, variance = MEAN[[0, 1, 3]], VARIANCE[[1, 2, 3]]
    found = Bernoulli().mean_probabilities(mean, variance)[:, 1:]
    np.testing.assert_allclose(found, expectation(expit, mean, variance[:, 0]), atol=3e-9)


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=name_of)
def test_third_derivatives_are_those_of_central_differences(likelihood, rng):
    t = likelihood.sample(rng.normal(size=(30, likelihood.n_outputs)), np.random.RandomState(0))
    y = rng.normal(size=(30, likelihood.n_outputs))
    half = rng.normal(size=(30, likelihood.n_outputs, likelihood.n_outputs))
    variance = half @ np.swapaxes(half, 1, 2)
    variance[0] = 0.0
    found = Likelihood.neg_hessian_gradient(likelihood, t, y, variance)
    expected = likelihood.neg_hessian_gradient(t, y, variance)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


# The rules themselves


@pytest.mark.parametrize("std", [1e-3, 0.7, 4.0])
def test_expectations_are_mpmaths(std):
    """Of functions that grow, and of one as narrow as a hundredth of the distribution."""
    mean, variance = np.array([[0.3]]), np.array([[std**2]])
    grown = expectation(lambda y: np.exp(2 * y), mean, variance)
    assert grown.item() == pytest.approx(np.exp(0.6 + 2 * std**2), rel=1e-11)
    narrow = expectation(
        lambda y, t: norm.logpdf(t, y, 0.01 * std),
        mean,
        variance,
        np.array([[0.3 + 1.3 * std]]),
        log=True,
    )
    expected = norm.logpdf(0.3 + 1.3 * std, 0.3, std * np.sqrt(1 + 1e-4))
    assert narrow.item() == pytest.approx(expected, rel=1e-10)
    with mpmath.workdps(30):
        flat = mpmath.quad(
            lambda z: mpmath.exp(-(z**2) / 2) / (1 + mpmath.exp(-(0.3 + std * z))),
            [-12, -4, 0, 4, 12],
        ) / mpmath.sqrt(2 * mpmath.pi)
    assert expectation(expit, mean, variance).item() == pytest.approx(float(flat), rel=1e-11)


def test_functions_too_narrow_for_it_are_refused_by_name():
    def narrow(y):
        return norm.logpdf(y, 0.0, 1e-6)

    with pytest.raises(ArithmeticError, match="standard deviation is 1;"):
        expectation(narrow, np.full((1, 1), 0.3), np.ones((1, 1)), log=True)


def test_covariances_of_functions_of_two_normal_variables(rng):
    mean, root = rng.normal(size=4), 0.5 * rng.normal(size=(4, 4))
    covariance = root @ root.T
    found = covariances(np.exp, mean, covariance)
    rate = np.exp(mean + 0.5 * covariance.diagonal())
    expected = np.multiply.outer(rate, rate) * np.expm1(covariance)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    constant = covariances(np.exp, np.zeros(2), np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert constant[1].tolist() == [0.0, 0.0]


def test_least_value_is_found_to_the_last_digit_and_among_integers():
    upper, below = np.array([[10.0], [10.0]]), np.array([[-1.0], [-1.0]])
    bound = np.array([[np.pi], [-0.5]])
    found = least(lambda t: t >= bound, below, upper, integer=False)
    np.testing.assert_allclose(found, bound, rtol=1e-15)
    found = least(lambda t: t >= bound, below, upper, integer=True)
    np.testing.assert_array_equal(found, [[4.0], [0.0]])


def test_interval_of_the_default_holds_its_share():
    class Exponential(Gaussian):
        """Not Gaussian at all, but for its derivatives, which are not asked for."""

        def distribution(self, y):
            from scipy.stats import expon

            return expon(scale=np.exp(y))

    likelihood, at = Exponential(1.0), (np.array([[0.5]]), np.array([[[0.8]]]))
    lower, upper = (end.item() for end in default.interval(likelihood, *at, 0.9))
    density = norm(0.5, np.sqrt(0.8))
    below = quad(lambda y: density.pdf(y) * -np.expm1(-lower * np.exp(-y)), -12, 13, epsabs=1e-13)
    above = quad(lambda y: density.pdf(y) * np.exp(-upper * np.exp(-y)), -12, 13, epsabs=1e-13)
    assert below[0] == pytest.approx(0.05, rel=1e-9)
    assert above[0] == pytest.approx(0.05, rel=1e-9)


# Support


@pytest.mark.parametrize(
    ("support", "words"),
    [
        (Interval(), "numbers"),
        (Interval(0.0, integer=True), "counts >= 0"),
        (Interval(0.0, low_inclusive=False), "numbers > 0"),
        (Interval(0.0, 1.0, high_inclusive=False), "numbers >= 0 and < 1"),
    ],
)
def test_a_support_says_what_it_holds(support, words):
    assert str(support) == words
    assert support.non_negative == (words != "numbers")


@pytest.mark.parametrize(
    ("support", "t", "message"),
    [
        (Interval(0.0), [-1.0, 2.0], "y has a minimum of -1, expected numbers >= 0"),
        (Interval(0.0, low_inclusive=False), [0.0], "y has a minimum of 0, expected numbers > 0"),
        (Interval(0.0, 1.0), [0.0, 1.5], "y has a maximum of 1.5, expected numbers >= 0 and <= 1"),
        (Interval(high=1.0, high_inclusive=False), [1.0], "y has a maximum of 1, expected"),
    ],
)
def test_targets_outside_are_refused_by_name(support, t, message):
    with pytest.raises(ValueError, match=message):
        support.check(np.array(t)[:, None])
    support.check(np.array([[0.5]]))
