"""Gaussian noise against SciPy's density."""

import numpy as np
import pytest
from scipy.stats import norm

from relvec.likelihoods import Gaussian


@pytest.mark.parametrize("variance", [1e-6, 0.3, 1e8])
def test_log_prob_is_the_normal_density(variance, rng):
    t, y = rng.standard_normal((2, 20, 1)) * np.sqrt(variance)
    found = Gaussian(variance).log_prob(t, y)
    np.testing.assert_allclose(found, norm.logpdf(t, y, np.sqrt(variance))[:, 0], rtol=1e-12)


def test_log_prob_is_finite_far_out():
    expected = norm.logpdf(800.0, -800.0, 0.5)
    found = Gaussian(0.25).log_prob(np.array([[800.0]]), np.array([[-800.0]]))
    assert found == pytest.approx(expected)


def test_an_unknown_noise_has_no_density():
    one = np.ones((1, 1))
    with pytest.raises(ValueError, match="noise_variance has not been learnt"):
        Gaussian().log_prob(one, one)
    with pytest.raises(ValueError, match="noise_variance has not been learnt"):
        Gaussian().moments(one, one[None])
