"""Gamma priors of precisions."""

import numpy as np
import pytest
from scipy.stats import gamma

from relvec._numerics.priors import UNIFORM, Gamma, check_weight_prior
from tests.support.differences import derivative

PRECISIONS = np.array([0.3, 1.0, 7.0])


@pytest.mark.parametrize(("shape", "rate"), [(2.5, 0.7), (1.0, 3.0)])
def test_density_is_that_of_the_logarithm_up_to_its_constant(shape, rate):
    """Of log α it is αp(α), eq. 35."""
    density = gamma.logpdf(PRECISIONS, shape, scale=1 / rate) + np.log(PRECISIONS)
    found = np.array([Gamma(shape, rate).log_prob(each) for each in PRECISIONS])
    np.testing.assert_allclose(np.diff(found), np.diff(density))


def test_all_scales_are_equally_likely_under_the_uniform_prior():
    assert UNIFORM.uniform
    assert UNIFORM.log_prob(PRECISIONS) == 0
    assert not UNIFORM.slope(PRECISIONS).any()


@pytest.mark.parametrize("rate", [0.7, np.array([0.1, 0.2, 3.0])])
def test_derivatives_are_those_of_finite_differences(rate):
    prior, x = Gamma(2.5, rate), np.log(PRECISIONS)
    slope = derivative(lambda x: prior.log_prob(np.exp(x)), x)
    np.testing.assert_allclose(prior.slope(PRECISIONS), slope, rtol=1e-6)
    second = derivative(lambda x: prior.slope(np.exp(x)), x)
    np.testing.assert_allclose(np.diag(prior.curvature(PRECISIONS)), second, rtol=1e-6, atol=1e-9)


def test_the_prior_of_another_unit_has_the_same_terms_but_for_a_constant():
    unit = np.array([1e-3, 1.0, 20.0])
    prior = Gamma(2.5, 0.7)
    other = prior.in_units(unit)
    difference = prior.log_prob(PRECISIONS) - other.log_prob(PRECISIONS / unit)
    assert difference == pytest.approx(2.5 * np.log(unit).sum())


@pytest.mark.parametrize("shape", [0.5, 3.0])
def test_priors_of_weights_need_a_rate_for_their_shape(shape):
    with pytest.raises(ValueError, match="shape without a rate"):
        check_weight_prior((shape, 0.0), "alpha_prior")
    assert check_weight_prior((0.0, 0.0), "alpha_prior").uniform
