"""Student-t noise: its surrogate is a lower bound, and its learnt parameters are a maximum."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import digamma
from scipy.stats import gamma, norm
from scipy.stats import t as student

from relvec.likelihoods import StudentT
from relvec.likelihoods.student_t import LEAST_DEGREES, MOST_DEGREES
from tests.support.differences import derivative

NOISE = StudentT(0.3, 4.5)


@pytest.mark.parametrize("residual", [0.0, 1e-8, 0.7, 30.0, 1e9])
@pytest.mark.parametrize("noise", [NOISE, StudentT(1e-12, 3.0), StudentT(4.0, MOST_DEGREES)])
def test_density_is_scipys(residual, noise):
    found = noise.log_prob(np.array([[residual]]), np.zeros((1, 1)))[0]
    expected = student.logpdf(residual, noise.degrees_of_freedom, scale=noise.scale2**0.5)
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("z", [0.0, 0.5, 6.0])
def test_density_is_that_of_the_mixture(z):
    nu = NOISE.degrees_of_freedom
    scales = gamma(nu / 2, scale=2 / nu)
    mixed = quad(lambda u: norm.pdf(z, scale=u**-0.5) * scales.pdf(u), 0, np.inf)[0]
    assert NOISE.log_density(np.array([z**2]))[0] == pytest.approx(np.log(mixed), rel=1e-8)


def test_bound_collects_all_terms_of_a_scale():
    """½⟨log u⟩ − ½ log⟨u⟩ − KL(q(u) ‖ p(u)), with the divergence by quadrature."""
    nu, z2 = NOISE.degrees_of_freedom, 5.0
    q, prior = gamma((nu + 1) / 2, scale=2 / (nu + z2)), gamma(nu / 2, scale=2 / nu)
    apart = quad(lambda u: q.pdf(u) * (q.logpdf(u) - prior.logpdf(u)), 0, np.inf)[0]
    mean_log = digamma((nu + 1) / 2) - np.log((nu + z2) / 2)
    found = NOISE.above_gaussian(np.array([z2]), precision := NOISE.row_precision(np.array([z2])))
    assert precision[0] == pytest.approx(q.mean())
    assert found[0] == pytest.approx(0.5 * (mean_log - np.log(q.mean())) - apart, rel=1e-8)


@pytest.mark.parametrize("touching", [0.0, 0.4, 1.0, 30.0])
def test_surrogate_touches_the_density_and_is_nowhere_above_it(touching):
    precision = NOISE.row_precision(np.array([touching]))
    apart = NOISE.above_gaussian(np.linspace(0, 100, 401), precision)
    at = NOISE.above_gaussian(np.array([touching]), precision)
    assert (apart >= at - 1e-12).all()
    assert apart.max() > at + 0.1


def test_expected_squares_are_those_of_normal_predictors():
    """⟨(t − y)²⟩/σ² = ((t − m)² + v)/σ²."""
    t, mean, variance = np.array([[2.0], [0.5]]), np.array([[1.5], [0.5]]), np.array([0.0, 0.6])
    found = NOISE.expected_square(t, mean, variance[:, None, None])
    np.testing.assert_allclose(found, [0.25 / 0.3, 0.6 / 0.3])


@pytest.mark.parametrize("weighted", [False, True])
def test_learnt_noise_is_a_stationary_point(weighted, rng):
    z2 = student.rvs(5.0, size=400, random_state=3) ** 2
    copies = rng.uniform(0.5, 2, 400) if weighted else np.ones(400)
    found = StudentT(0.1, 20.0).learnt(z2 / 0.1, copies)
    assert LEAST_DEGREES < found.degrees_of_freedom < MOST_DEGREES

    def value(logs):
        noise = StudentT(*np.exp(logs))
        return copies @ noise.log_prob_at(z2 / noise.scale2)

    place = np.log([found.scale2, found.degrees_of_freedom])
    np.testing.assert_allclose(derivative(value, place), 0, atol=1e-4)
    for step in 1e-2 * np.eye(2):
        assert max(value(place + step), value(place - step)) < value(place)


def test_learnt_noise_of_copies_and_of_weights_is_the_same(rng):
    z2, copies = student.rvs(4.0, size=50, random_state=1) ** 2, rng.integers(1, 4, 50)
    weighted = StudentT().learnt(z2, copies.astype(float))
    copied = StudentT().learnt(z2.repeat(copies), np.ones(copies.sum()))
    assert weighted.scale2 == pytest.approx(copied.scale2, rel=1e-9)
    assert weighted.degrees_of_freedom == pytest.approx(copied.degrees_of_freedom, rel=1e-6)


def test_gaussian_residuals_have_the_most_degrees_and_no_scale_is_under_its_floor():
    z2 = norm.ppf((np.arange(500) + 0.5) / 500) ** 2
    assert StudentT().learnt(z2, np.ones(500)).degrees_of_freedom > 0.99 * MOST_DEGREES
    floored = StudentT(5.0, least_scale2=3.0).learnt(z2 / 5, np.ones(500))
    assert floored.scale2 == pytest.approx(3.0)


@pytest.mark.parametrize("size", [1e-100, 1.0, 1e100])
def test_units_do_not_matter_to_learnt_noise(size):
    z2 = student.rvs(4.0, size=50, random_state=1) ** 2
    here, there = (StudentT(s).learnt(z2, np.ones(50)) for s in (1.0, size))
    assert there.scale2 == pytest.approx(size * here.scale2, rel=1e-9)
    assert there.degrees_of_freedom == pytest.approx(here.degrees_of_freedom, rel=1e-7)


@pytest.mark.parametrize("noise", [NOISE, StudentT(2.0, LEAST_DEGREES), StudentT(1.0, 200.0)])
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0, 50.0])
def test_interval_holds_its_coverage_of_noise_and_output_together(noise, share):
    """By averaging the noise's distribution over the output, on a fine grid."""
    variance = share * noise.scale2
    steps = np.linspace(-9, 9, 20_001)
    weights = norm.pdf(steps) / norm.pdf(steps).sum()
    of_noise = student(noise.degrees_of_freedom, scale=noise.scale2**0.5)
    for coverage in (0.5, 0.8, 0.95, 0.999):
        ends = noise.interval(np.full((1, 1), 2.0), np.full((1, 1, 1), variance), coverage)
        low, high = (float(end[0, 0]) - 2 for end in ends)
        y = steps * variance**0.5
        held = weights @ (of_noise.cdf(high - y) - of_noise.cdf(low - y))
        assert low == pytest.approx(-high, rel=1e-14)
        assert held == pytest.approx(coverage, abs=2e-5)


def test_variance_is_infinite_up_to_two_degrees_of_freedom():
    assert StudentT(1.0, 2.0).noise_variance == np.inf
    assert StudentT(2.0, 4.0).noise_variance == pytest.approx(4.0)
    joint = StudentT(1.0, 2.0).joint_covariance(np.zeros(2), np.full((2, 2), 0.5))
    np.testing.assert_array_equal(joint, [[np.inf, 0.5], [0.5, np.inf]])
