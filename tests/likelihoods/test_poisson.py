"""Counts against mpmath far out, and their moments against a Gamma rate."""

import warnings

import mpmath
import numpy as np
import pytest
from scipy.stats import gamma
from sklearn.exceptions import ConvergenceWarning

from relvec import RVR
from relvec.likelihoods import Poisson
from tests.likelihoods.precise import derivatives
from tests.support.differences import derivative


def log_prob(t, y):
    return t * y - mpmath.exp(y) - mpmath.loggamma(t + 1)


@pytest.mark.parametrize("y", [-800.0, -30.0, -1.0, 0.0, 0.7, 6.0, 800.0])
@pytest.mark.parametrize("t", [0.0, 1.0, 17.0, 5000.0])
def test_values_and_derivatives_keep_their_digits(t, y):
    """At 800 the rate is beyond double precision, and infinite without a warning."""
    expected = derivatives(lambda y: log_prob(t, y), y, digits=800)
    row, spread = (np.array([[t]]), np.array([[y]])), np.array([[[1.7]]])
    found = Poisson()
    assert found.log_prob(*row)[0] == pytest.approx(expected[0], rel=1e-13, abs=1e-11)
    assert found.gradient(*row)[0, 0] == pytest.approx(expected[1], rel=1e-13, abs=1e-11)
    assert found.neg_hessian(*row)[0, 0, 0] == pytest.approx(-expected[2], rel=1e-14)
    slope = found.neg_hessian_gradient(*row, spread)[0, 0]
    assert slope == pytest.approx(-1.7 * expected[3], rel=1e-14)


@pytest.mark.parametrize("mean", [-20.0, -1.0, 3.0])
@pytest.mark.parametrize("variance", [1e-8, 0.3, 4.0, 1e6])
def test_moments_are_those_of_a_gamma_rate(mean, variance):
    """Its logarithm z has the density of shape·(z − e^(z − mean)): mode and curvature are right."""
    found = Poisson().moments(np.array([[mean]]), np.array([[[variance]]]))
    shape = 1 / variance
    rate = gamma(shape, scale=np.exp(mean) / shape)
    assert found[0][0, 0] == pytest.approx(rate.mean(), rel=1e-12)
    assert found[1][0, 0] == pytest.approx(rate.mean() + rate.var(), rel=1e-12)

    def log_density(z):
        return rate.logpdf(np.exp(z)) + z

    if 1e-3 < variance < 100:
        step = 1e-3 * min(1.0, variance**0.5)
        slope = derivative(log_density, mean, step)
        assert slope == pytest.approx(0, abs=1e-3 / variance**0.5)
        curvature = derivative(lambda z: derivative(log_density, z, step), mean, step)
        assert curvature == pytest.approx(-1 / variance, rel=1e-2)


@pytest.mark.parametrize("t", [[[-1.0], [2.0]], [[0.0], [0.0]]])
def test_targets_that_are_no_counts_are_refused(t):
    with pytest.raises(ValueError, match="y "):
        Poisson().check(np.array(t))


@pytest.mark.parametrize(("mean", "variance"), [(300.0, 0.0), (340.0, 1e-8), (-800.0, 1e300)])
def test_moments_are_finite_as_long_as_they_are_numbers(mean, variance):
    """The square of a rate may overflow where its variance does not."""
    found = Poisson().moments(np.array([[mean]]), np.array([[[variance]]]))
    rate = mpmath.exp(mean)
    expected = float(rate), float(rate + rate**2 * mpmath.mpf(variance))
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-12)
    joint = Poisson().joint_covariance(np.array([mean]), np.array([[variance]]))
    np.testing.assert_allclose(np.ravel(joint), expected[1], rtol=1e-12)


@pytest.mark.parametrize(("mean", "variance"), [(800.0, 0.0), (800.0, 1.0), (400.0, 1e-3)])
def test_counts_beyond_the_range_are_refused_by_name(mean, variance):
    with pytest.raises(OverflowError, match="log rates"):
        Poisson().moments(np.array([[mean], [0.0]]), np.array([[[variance]], [[1.0]]]))
    with pytest.raises(OverflowError, match="log rates"):
        Poisson().joint_covariance(np.array([mean, 0.0]), variance * np.eye(2))


def test_counts_of_any_size_keep_their_digits():
    """log t! and t·y are alike, and what is left of them small: exactly so by mpmath."""
    with mpmath.workdps(60):
        for t in (0.0, 0.3, 1.0, 7.0, 49.0, 50.0, 1e6, 1e12, 1e15):
            for away in (-1e-3, 1e-8, 0.5):
                y = float(np.log(max(t, 1.0))) + away
                exact = t * mpmath.mpf(y) - mpmath.exp(y) - mpmath.loggamma(mpmath.mpf(t) + 1)
                (found,) = Poisson().log_prob(np.array([[t]]), np.array([[y]]))
                # A rounding of y counts t times.
                tolerance = 1e-13 * (1 + abs(exact)) + t * abs(away) * 4 * np.spacing(y)
                assert abs(found - exact) < tolerance, (t, away)


@pytest.mark.parametrize("max_iter", [1, 1000])
def test_huge_counts_have_a_mode(max_iter):
    """Three rows of 10¹²: their evidence is a number, even after one pass."""
    y = np.array([999998159318.0, 999998737880.0, 1e12])
    model = RVR(likelihood="poisson", fit_intercept=False, max_iter=max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(np.full((3, 1), 1.76), y)
    assert np.isfinite(model.log_evidence_)
    np.testing.assert_allclose(model.predict([[1.76]]), y.mean(), rtol=1e-5)
