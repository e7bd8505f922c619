"""What is reported of a model is recomputed from its functions, in the users' units."""

import mpmath
import numpy as np
import pytest

from relvec._evidence.exact import ExactEvidence
from relvec._evidence.gaussian import ExactState, ReducedData
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._numerics.priors import Gamma
from relvec.likelihoods import Gaussian
from tests.support import problems
from tests.support.differences import derivative
from tests.support.problems import Problem
from tests.support.reference import log_evidence_dense

ACTIVE = np.array([7, 0, 5])


@pytest.fixture(params=[False, True], ids=["no intercept", "intercept"])
def problem(request, rng):
    return problems.draw(rng, request.param)


@pytest.fixture
def accepted(problem):
    return problem.exact().finalize(Hyperparameters(ACTIVE, np.array([2.0, 0.5, 30.0]), 60.0))


def test_functions_come_in_ascending_order(problem, accepted):
    order = np.argsort(ACTIVE)
    np.testing.assert_array_equal(accepted.active, ACTIVE[order])
    unit = problem.design.scale[accepted.active] / problem.standard.scale
    np.testing.assert_allclose(accepted.alpha, np.array([2.0, 0.5, 30.0])[order] * unit**2)
    assert accepted.likelihood.noise_variance == pytest.approx(problem.standard.scale**2 / 60)


def test_evidence_is_that_of_the_raw_columns_and_target(problem, accepted):
    expected = log_evidence_dense(
        problem.Phi[:, accepted.active],
        problem.t,
        accepted.alpha,
        1 / accepted.likelihood.noise_variance,
        fit_intercept=problem.center,
    )
    assert accepted.log_evidence == pytest.approx(expected, rel=1e-9)


def test_posterior_is_that_of_the_raw_columns_and_target(problem, accepted):
    columns, beta = (
        problem.contrasts @ problem.Phi[:, accepted.active],
        1 / accepted.likelihood.noise_variance,
    )
    covariance = np.linalg.inv(beta * columns.T @ columns + np.diag(accepted.alpha))
    mean = beta * covariance @ columns.T @ (problem.contrasts @ problem.t)
    np.testing.assert_allclose(accepted.posterior.mean[:, 0], mean, rtol=1e-8)
    np.testing.assert_allclose(accepted.posterior.covariance, covariance, rtol=1e-8)
    np.testing.assert_allclose(
        accepted.well_determined, 1 - accepted.alpha * covariance.diagonal(), rtol=1e-8
    )
    assert accepted.posterior.level == (pytest.approx(problem.t.mean()) if problem.center else 0)
    level_variance = accepted.likelihood.noise_variance / len(problem.t) if problem.center else 0
    assert accepted.posterior.level_covariance == pytest.approx(level_variance)


def test_users_units_lead_back_to_the_same_evidence(problem, accepted):
    kept = Problem(problem.Phi[:, accepted.active], problem.t, problem.center)
    again = kept.exact(accepted.likelihood.noise_variance).log_evidence(accepted.alpha)
    assert again == pytest.approx(accepted.log_evidence, rel=1e-12)


# A prior of the noise precision


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_evidence_includes_the_prior_of_the_noise_in_the_users_units(problem, scale):
    scaled = Problem(problem.Phi, problem.t * scale, problem.center)
    hyper = Hyperparameters(ACTIVE, np.array([2.0, 0.5, 30.0]), 60.0)
    prior = Gamma(3.0, 40.0 * scale**2)
    plain = scaled.exact().finalize(hyper)
    found = ExactEvidence(
        scaled.design, scaled.t[:, None], Gaussian(precision_prior=prior)
    ).finalize(hyper)
    beta = 1 / plain.likelihood.noise_variance
    terms = prior.shape * np.log(beta) - prior.rate * beta
    assert found.log_evidence == pytest.approx(plain.log_evidence + terms, rel=1e-9)
    kept = Problem(scaled.Phi[:, found.active], scaled.t, problem.center)
    again = ExactEvidence(kept.design, kept.t[:, None], found.likelihood).log_evidence(found.alpha)
    assert again == pytest.approx(found.log_evidence, rel=1e-12)


def test_derivatives_include_the_prior_of_the_noise(problem):
    """Finite differences of eq. 36 with its terms c log β − dβ."""
    prior = Gamma(3.0, 40.0)
    inference = ExactEvidence(problem.design, problem.t[:, None], Gaussian(precision_prior=prior))

    def at(log_precisions):
        values = np.exp(log_precisions)
        return inference.at(Hyperparameters(ACTIVE, values[:-1], values[-1]))

    x = np.log([2.0, 0.5, 30.0, 60.0])
    slope = derivative(lambda x: at(x).log_evidence, x)
    np.testing.assert_allclose(at(x).gradient(), slope, rtol=1e-5, atol=1e-7)
    second = derivative(lambda x: at(x).gradient(), x)
    np.testing.assert_allclose(at(x).hessian(), second, rtol=1e-5, atol=1e-7)


def test_precisions_beyond_double_precision_are_refused(problem):
    far = Problem(problem.Phi * 2.0**600, problem.t, problem.center)
    with pytest.raises(OverflowError, match="rescale"):
        far.exact().finalize(Hyperparameters(np.array([0, 1]), np.ones(2), 40.0))


def test_the_empty_model_has_a_level_and_an_evidence(problem):
    empty = problem.exact().finalize(Hyperparameters.empty(40.0))
    expected = log_evidence_dense(
        problem.Phi[:, []],
        problem.t,
        np.empty(0),
        1 / empty.likelihood.noise_variance,
        fit_intercept=problem.center,
    )
    assert empty.log_evidence == pytest.approx(expected, rel=1e-12)
    at = np.empty((3, 0))
    level = problem.t.mean() if problem.center else 0.0
    np.testing.assert_allclose(empty.posterior.latent_mean(at), level)
    np.testing.assert_allclose(
        empty.posterior.latent_covariance(at)[:, 0, 0],
        empty.likelihood.noise_variance * problem.center / 15,
    )


@pytest.mark.parametrize("seed", [0, 2, 4, 5])
def test_weights_of_small_noise_have_all_their_digits(seed):
    """Where functions are alike, Σ̂ has lost half of its digits, and one refinement gains them."""
    rng, beta = np.random.default_rng(seed), 1e8
    Phi = rng.standard_normal((8, 4))
    Phi[:, 1::2] = Phi[:, ::2] + 1e-3 * Phi[:, 1::2]
    R, c = np.linalg.qr(Phi / np.linalg.norm(Phi, axis=0))[1], rng.standard_normal(4)
    data = ReducedData(R, c[None], np.zeros(1), 8.0)
    found = ExactState(data, Hyperparameters(np.arange(4), np.ones(4), np.full(1, beta)))
    with mpmath.workdps(60):
        D = mpmath.sqrt(beta) * mpmath.matrix(R.tolist())
        t = mpmath.sqrt(beta) * mpmath.matrix(c.tolist())
        exact = mpmath.lu_solve(D.T * D + mpmath.eye(4), D.T * t)
    expected = np.array([float(weight) for weight in exact])
    size = np.abs(expected).max()
    np.testing.assert_allclose(found.means[0, :, 0], expected, rtol=0, atol=1e-12 * size)
