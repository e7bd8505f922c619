"""Two classes against mpmath: far out, and averaged over a normal output."""

import mpmath
import numpy as np
import pytest

from relvec.likelihoods import Bernoulli
from tests.likelihoods.precise import derivatives

OUTPUTS = [-800.0, -40.0, -3.0, -1e-9, 0.0, 0.7, 36.0, 800.0]
MEANS = [0.0, 0.01, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0]
VARIANCES = [0.0, 1e-6, 1e-2, 0.3, 1.0, 4.0, 30.0, 200.0, 300.0, 500.0, 1e3, 1e4, 1e6]


def log_prob(t, y):
    return -mpmath.log1p(mpmath.exp(y if t == 0 else -y))


@pytest.mark.parametrize("y", OUTPUTS)
@pytest.mark.parametrize("t", [0.0, 1.0])
def test_values_and_derivatives_keep_their_digits(t, y):
    """Each as a number of its own: a probability of e^-40 has as many digits as one of a half."""
    expected = derivatives(lambda y: log_prob(t, y), y)
    row, spread = (np.array([[t]]), np.array([[y]])), np.array([[[1.7]]])
    found = Bernoulli()
    assert found.log_prob(*row)[0] == pytest.approx(expected[0], rel=1e-14)
    assert found.gradient(*row)[0, 0] == pytest.approx(expected[1], rel=1e-14)
    assert found.neg_hessian(*row)[0, 0, 0] == pytest.approx(-expected[2], rel=1e-14)
    slope = found.neg_hessian_gradient(*row, spread)[0, 0]
    assert slope == pytest.approx(-1.7 * expected[3], rel=1e-13)


@pytest.mark.parametrize("y", OUTPUTS)
def test_probabilities_of_both_classes_keep_their_digits(y):
    found = Bernoulli().probabilities(np.array([[y]]))[0]
    expected = [float(mpmath.exp(log_prob(t, y))) for t in (0, 1)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def averaged(mean, variance):
    """E σ(y) for y ~ N(mean, variance), mean <= 0, by quadrature between the places that matter."""
    mean, variance = mpmath.mpf(mean), mpmath.mpf(variance)
    if not variance:
        return 1 / (1 + mpmath.exp(-mean))
    sd, peak = mpmath.sqrt(variance), min(mean + variance, mpmath.mpf(0))
    low, high = mean - 14 * sd, peak + 14 * sd
    places = {low, high, mean, *(peak + k * sd for k in (-8, -4, -2, 0, 2, 4, 8))}
    places |= {mpmath.mpf(y) for y in (-40, -12, -3, 0, 3, 12, 40)}
    panels = sorted(y for y in places if low <= y <= high)
    total = mpmath.quad(
        lambda y: mpmath.exp(-((y - mean) ** 2) / (2 * variance)) / (1 + mpmath.exp(-y)), panels
    )
    return total / mpmath.sqrt(2 * mpmath.pi * variance)


@pytest.mark.parametrize("mean", MEANS)
def test_mean_probabilities_are_those_of_the_integral_however_small(mean):
    """So that the log loss of a surprise is right too."""
    variance = np.array(VARIANCES)
    at = np.full((len(variance), 1), -mean), variance[:, None, None]
    exact = [averaged(-mean, value) for value in VARIANCES]
    expected = np.array([[1 - p, p] for p in exact], dtype=float)
    found = Bernoulli().mean_probabilities(*at)
    np.testing.assert_allclose(found, expected, rtol=5e-5, atol=0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-9)


def test_classes_swap_with_the_sign_of_the_output():
    mean, variance = (grid.reshape(-1, 1) for grid in np.meshgrid(MEANS, VARIANCES))
    found = Bernoulli().mean_probabilities(mean, variance[:, None])
    swapped = Bernoulli().mean_probabilities(-mean, variance[:, None])
    np.testing.assert_allclose(found, swapped[:, ::-1], rtol=1e-15)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_allclose(found[mean[:, 0] == 0], 0.5, rtol=1e-15)
