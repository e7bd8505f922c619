"""Gaussian noise against SciPy's density and its own integral."""

import numpy as np
import pytest
from scipy.stats import norm

from relvec.likelihoods import Gaussian


@pytest.mark.parametrize("variance", [1e-6, 0.3, 1e8])
def test_log_prob_is_the_normal_density(variance, rng):
    t, y = rng.standard_normal((2, 20)) * np.sqrt(variance)
    found = Gaussian(variance).log_prob(t, y)
    np.testing.assert_allclose(found, norm.logpdf(t, y, np.sqrt(variance)), rtol=1e-12)


def test_log_prob_is_finite_far_out():
    expected = norm.logpdf(800.0, -800.0, 0.5)
    assert Gaussian(0.25).log_prob(np.array([800.0]), np.array([-800.0])) == pytest.approx(expected)


def test_an_unknown_noise_has_no_density():
    for method in (Gaussian().log_prob, Gaussian().moments):
        with pytest.raises(ValueError, match="noise_variance has not been learnt"):
            method(np.zeros(1), np.ones(1))
