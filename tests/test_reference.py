"""The reference answers agree with each other before anything is compared with them."""

import numpy as np
import pytest

from relvec.datasets import make_sinc
from tests.support import reference
from tests.support.differences import derivative


@pytest.fixture
def problem():
    X, y = make_sinc(40, random_state=13)
    return np.exp(-((X - X.T) ** 2) / 9), y


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_three_ways_to_the_evidence_agree(problem, fit_intercept):
    Phi, y = problem
    rng = np.random.default_rng(0)
    for active in ([], [3, 17, 30]):
        model = Phi[:, active], y, rng.uniform(0.1, 10, len(active)), 50.0
        expected = reference.log_evidence_exact(*model, fit_intercept=fit_intercept)
        for route in (reference.log_evidence, reference.log_evidence_dense):
            assert route(*model, fit_intercept=fit_intercept) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_top_down_ends_where_the_evidence_is_stationary(problem, fit_intercept):
    Phi, y = problem
    fit = reference.top_down(Phi, y, fit_intercept=fit_intercept, tol=1e-8)
    assert fit.converged
    kept = Phi[:, fit.active]

    def evidence(log_values):
        *alpha, beta = np.exp(log_values)
        return reference.log_evidence(kept, y, alpha, beta, fit_intercept=fit_intercept)

    at = np.log([*fit.alpha, fit.beta])
    assert evidence(at) == pytest.approx(fit.log_evidence, rel=1e-12)
    np.testing.assert_allclose(derivative(evidence, at), 0, atol=1e-4)


def test_top_down_with_a_constant_ignores_the_level_of_the_target(problem):
    Phi, y = problem
    fit, shifted = (reference.top_down(Phi, y + c, fit_intercept=True) for c in (0, 5))
    np.testing.assert_array_equal(fit.active, shifted.active)
    np.testing.assert_allclose(shifted.predict(Phi) - fit.predict(Phi), 5, rtol=1e-6)


def test_top_down_holds_a_known_noise(problem):
    Phi, y = problem
    assert reference.top_down(Phi, y, noise_variance=0.02).beta == pytest.approx(50)
