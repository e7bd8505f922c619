"""What is reported of a model by Laplace's method: dense matrices in the users' units."""

from dataclasses import replace

import numpy as np
import pytest

from relvec._evidence.hyperparameters import Hyperparameters
from tests.support import laplace
from tests.support.laplace import MODE

ACTIVE, ORDER = np.array([6, 0, 2]), [1, 2, 0]
ALPHA = np.array([2.0, 0.5, 0.02])


@pytest.fixture
def problem(likelihood, center, rng):
    """Columns of all sizes, which an offset of their own size moves off zero."""
    drawn = laplace.draw(rng, likelihood, center)
    moved = drawn.Phi + np.abs(drawn.Phi).max(axis=0) * rng.normal(size=7)
    return replace(drawn, Phi=moved, copies=rng.uniform(0.5, 2, len(moved)))


@pytest.fixture
def accepted(problem):
    return problem.inference.finalize(Hyperparameters(ACTIVE, ALPHA))


@pytest.fixture
def dense(problem, accepted):
    return problem.dense(accepted.active, accepted.alpha)


def test_functions_come_in_ascending_order_with_precisions_in_the_users_units(problem, accepted):
    np.testing.assert_array_equal(accepted.active, ACTIVE[ORDER])
    size = problem.Phi - problem.center * np.average(problem.Phi, axis=0, weights=problem.copies)
    norm2 = problem.copies @ size**2
    np.testing.assert_allclose(accepted.alpha, (ALPHA * norm2[ACTIVE])[ORDER], rtol=1e-10)
    assert accepted.likelihood == problem.likelihood


def test_evidence_is_the_dense_one_and_leads_back(problem, accepted, dense):
    assert accepted.log_evidence == pytest.approx(dense.log_evidence, abs=1e-6)
    kept = replace(problem, Phi=problem.Phi[:, accepted.active])
    again = kept.inference.log_evidence(accepted.alpha)
    assert again == pytest.approx(accepted.log_evidence, abs=1e-9)
    assert problem.inference.user_evidence(again) == again


def test_weights_and_intercept_are_the_dense_ones(problem, accepted, dense):
    posterior, size = accepted.posterior, np.abs(dense.weights).max(axis=1, keepdims=True)
    np.testing.assert_allclose(posterior.mean / size, dense.weights / size, **MODE)
    np.testing.assert_allclose(posterior.intercept, dense.level, rtol=1e-4, atol=1e-4)
    each = dense.bend.n_weights
    scale = np.sqrt(dense.bend.inverse.diagonal()[:each])
    found, expected = posterior.covariance, dense.bend.inverse[:each, :each]
    unit = np.outer(scale, scale)
    np.testing.assert_allclose(found / unit, expected / unit, **MODE)
    np.testing.assert_allclose(posterior.root, np.triu(posterior.root))
    variance = (accepted.alpha.repeat(dense.bend.outputs) * expected.diagonal()).reshape(3, -1)
    np.testing.assert_allclose(accepted.well_determined, 1 - variance.mean(axis=1), **MODE)


def test_outputs_anywhere_have_the_mean_and_covariance_of_the_joint_posterior(
    problem, accepted, dense, rng
):
    """The level's uncertainty and how it goes with that of the weights are part of both."""
    Phi = problem.Phi[:, accepted.active] * rng.uniform(-2, 2, (len(problem.t), 1))
    mean = dense.bend.rows(Phi) @ dense.joint
    np.testing.assert_allclose(accepted.posterior.latent_mean(Phi), mean, rtol=1e-4, atol=1e-4)
    found, expected = accepted.posterior.latent_covariance(Phi), dense.bend.spread(Phi)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
    for output in range(dense.bend.outputs):
        X = dense.bend.rows(Phi)[:, output]
        joint = accepted.posterior.joint_covariance(Phi, output)
        scale = np.abs(joint).max()
        np.testing.assert_allclose(joint / scale, X @ dense.bend.inverse @ X.T / scale, **MODE)


def test_level_is_where_it_is_independent_of_the_weights(problem, accepted, dense):
    posterior, each = accepted.posterior, dense.bend.n_weights
    if not problem.center:
        for nothing in (posterior.center, posterior.level, posterior.level_covariance):
            assert not nothing.any()
        return
    there = np.hstack([posterior.center, np.eye(dense.bend.outputs)])
    with_weights = there @ dense.bend.inverse
    scale = np.sqrt(dense.bend.inverse.diagonal())
    spread = with_weights @ there.T
    np.testing.assert_allclose(posterior.level_covariance, spread, rtol=1e-5, atol=1e-9)
    correlation = with_weights / scale / np.sqrt(spread.diagonal())[:, None]
    np.testing.assert_allclose(correlation[:, :each], 0, atol=1e-5)
    np.testing.assert_allclose(posterior.level, there @ dense.joint, rtol=1e-5, atol=1e-6)


def test_a_model_without_functions_predicts_the_average(problem, likelihood):
    """With an intercept; a likelihood's mean at its mode is that of the targets."""
    empty = problem.inference.finalize(Hyperparameters.empty(1.0))
    assert empty.log_evidence == pytest.approx(problem.dense([], []).log_evidence, abs=1e-6)
    level = empty.posterior.latent_mean(np.empty((1, 0)))
    outputs = likelihood.n_outputs
    mean = likelihood.moments(level, np.zeros((1, outputs, outputs)))[0][0]
    expected = np.average(problem.t, axis=0, weights=problem.copies)
    if not problem.center:
        assert not level.any()
    else:
        np.testing.assert_allclose(mean, expected, rtol=1e-6)


def test_precisions_beyond_double_precision_are_refused(problem):
    far = replace(problem, Phi=problem.Phi * 2.0**600)
    with pytest.raises(OverflowError, match="rescale"):
        far.inference.finalize(Hyperparameters(ACTIVE, ALPHA))


def test_a_function_that_is_constant_on_new_rows_adds_nothing_beside_an_intercept(problem):
    """Its α no longer matters; without an intercept it is a function like any other."""
    same = replace(problem, Phi=np.column_stack([problem.Phi[:, 0], np.full(len(problem.t), 3.0)]))
    alone = replace(problem, Phi=problem.Phi[:, :1])
    found = [same.inference.log_evidence(np.array([2.0, alpha])) for alpha in (0.1, 10.0)]
    if problem.center:
        expected = alone.inference.log_evidence(np.array([2.0]))
        assert found == pytest.approx([expected, expected], abs=1e-9)
    else:
        assert abs(found[0] - found[1]) > 0.01
