"""What every likelihood promises: each row of `tests.rows.LIKELIHOODS` through the same tests."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

from tests.rows import LIKELIHOODS, name_of

#: Latent values: their mean, their variance, and points and weights that integrate over both.
MEAN, VARIANCE = 0.4, 0.7
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
LATENT = MEAN + np.sqrt(VARIANCE) * NODES
TARGETS = np.linspace(-15, 15, 6001)


@pytest.fixture(params=LIKELIHOODS, ids=name_of)
def predictive(request):
    """Likelihood, and its density of a new target by quadrature over the latent value."""
    density = np.exp(request.param.log_prob(TARGETS[:, None], LATENT))
    return request.param, density @ WEIGHTS / WEIGHTS.sum()


def test_density_integrates_to_one(predictive):
    assert trapezoid(predictive[1], TARGETS) == pytest.approx(1, rel=1e-10)


def test_moments_are_those_of_the_predictive_density(predictive):
    likelihood, density = predictive
    mean, variance = likelihood.moments(np.array([MEAN]), np.array([VARIANCE]))
    expected = trapezoid(TARGETS * density, TARGETS)
    assert mean == pytest.approx(expected, rel=1e-10)
    spread = trapezoid((TARGETS - expected) ** 2 * density, TARGETS)
    assert variance == pytest.approx(spread, rel=1e-10)
