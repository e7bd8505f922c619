"""The climb: Newton steps and deletions from many models, held against the dense evidence."""

from dataclasses import replace

import numpy as np
import pytest

from relvec._evidence.base import AscentLimits
from relvec._evidence.gaussian import ExactState
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.noise import Noise
from relvec.solvers.newton import newton_ascent, polish
from tests.support import problems
from tests.support.problems import Problem

FREE = Noise(held=False, beta_max=1e8)
SEEDS = range(4)


def problem_and_model(seed, center, smooth):
    """Ten active functions with precisions from anywhere."""
    rng = np.random.default_rng(seed)
    problem = problems.smooth(center) if smooth else problems.draw(rng, center, 30, 20)
    active = rng.permutation(problem.Phi.shape[1])[:10]
    return problem, Hyperparameters(
        active, 10.0 ** rng.uniform(-2, 3, 10), 10.0 ** rng.uniform(0, 4)
    )


def point_at(problem, hyper):
    return ExactState(problem.data(hyper.active), hyper)


def ascend(problem, hyper, noise=FREE, tol=1e-10, max_steps=500):
    return newton_ascent(
        point_at(problem, hyper), problem.n, noise, tol, AscentLimits(max_steps, 1e-6)
    )


starts = pytest.mark.parametrize(
    ("seed", "center", "smooth"),
    [(seed, center, smooth) for seed in SEEDS for center in (0, 1) for smooth in (0, 1)],
)


@starts
@pytest.mark.parametrize("tol", [1e-10, 0.1])
def test_no_step_lowers_the_evidence_and_no_deletion_costs_more_than_tol(seed, center, smooth, tol):
    problem, hyper = problem_and_model(seed, center, smooth)
    point, before = point_at(problem, hyper), -np.inf
    for _ in range(40):
        n_before = len(point.hyper.active)
        point = newton_ascent(point, problem.n, FREE, tol, AscentLimits(1, 1e-6))
        deleted = n_before - len(point.hyper.active)
        assert point.log_evidence >= before - tol * deleted - 1e-9
        before = point.log_evidence


@starts
def test_climb_ends_at_a_maximum(seed, center, smooth):
    problem, hyper = problem_and_model(seed, center, smooth)
    point = ascend(problem, hyper)
    hyper = point.hyper
    np.testing.assert_allclose(point.gradient(), 0, atol=1e-4)
    at = np.log([*hyper.alpha, *hyper.beta])
    top = problem.evidence(hyper.active, hyper.alpha, hyper.beta)
    assert top == pytest.approx(point.log_evidence, abs=1e-7)
    for step in 0.05 * np.vstack([np.eye(len(at)), -np.eye(len(at))]):
        *alpha, beta = np.exp(at + step)
        assert problem.evidence(hyper.active, alpha, beta) < top
    for i in range(len(hyper.active)):
        fewer = np.delete(hyper.active, i), np.delete(hyper.alpha, i)
        assert problem.evidence(*fewer, hyper.beta) < top


@starts
def test_the_maximum_is_a_fixed_point_of_mackays_updates(seed, center, smooth):
    """Eq. 16 to 18, of the contrasts with an intercept."""
    problem, hyper = problem_and_model(seed, center, smooth)
    hyper = ascend(problem, hyper).hyper
    mean, covariance = problem.posterior(hyper.active, hyper.alpha, hyper.beta)
    gamma = 1 - hyper.alpha * covariance.diagonal()
    residual = problem.target - problem.columns[:, hyper.active] @ mean
    np.testing.assert_allclose(gamma / mean**2, hyper.alpha, rtol=1e-3)
    updated = (problem.n - gamma.sum()) / (residual @ residual)
    assert updated == pytest.approx(hyper.beta, rel=1e-4)


@pytest.mark.parametrize("tol", [1e-10, 0.1])
@starts
def test_what_is_returned_belongs_together(seed, center, smooth, tol):
    problem, hyper = problem_and_model(seed, center, smooth)
    point = ascend(problem, hyper, tol=tol, max_steps=5)
    fresh = point_at(problem, point.hyper)
    assert point.log_evidence == pytest.approx(fresh.log_evidence, abs=1e-8)
    np.testing.assert_allclose(point.mean, fresh.mean, atol=1e-6)
    np.testing.assert_allclose(point.variances, fresh.variances, atol=1e-6)


@pytest.mark.parametrize("center", [False, True])
def test_held_noise_stays_while_precisions_move(center):
    problem, hyper = problem_and_model(1, center, smooth=True)
    point = ascend(problem, hyper, Noise(held=True, beta_max=hyper.beta))
    assert point.hyper.beta == hyper.beta
    np.testing.assert_allclose(point.gradient()[:-1], 0, atol=1e-4)


@pytest.mark.parametrize("center", [False, True])
def test_noise_of_a_noise_free_target_stops_at_its_floor(center, rng):
    Phi = rng.standard_normal((30, 4))
    problem = Problem(Phi, Phi[:, :2] @ [1.0, 2.0], center)
    for beta in (1e2, 1e4, 1e6):
        begin = Hyperparameters(np.arange(4), np.ones(4), beta)
        hyper = ascend(problem, begin, Noise(held=False, beta_max=1e6)).hyper
        assert hyper.beta == 1e6
        assert {0, 1} <= set(hyper.active)


@pytest.mark.parametrize("center", [False, True])
def test_without_functions_the_noise_is_the_whole_target(center):
    """The maximum of N log β − β‖t‖² is at N, and the target has unit norm."""
    problem = problems.smooth(center)
    point = ascend(problem, Hyperparameters.empty(1e4))
    assert point.hyper.beta == pytest.approx(problem.n, rel=1e-6)
    assert point.log_evidence == pytest.approx(problem.evidence([], [], problem.n))


def test_of_two_copies_one_is_left(rng):
    """Each alone costs nothing while the other stands in for it."""
    Phi = rng.standard_normal((20, 1))
    problem = Problem(Phi[:, [0, 0]], Phi[:, 0] + 0.1 * rng.standard_normal(20), False)
    hyper = ascend(problem, Hyperparameters(np.arange(2), np.ones(2), 10.0), tol=1e-3).hyper
    assert len(hyper.active) == 1


def test_functions_with_nothing_to_explain_are_deleted(rng):
    Phi = rng.standard_normal((40, 5))
    Phi[:, 1:] -= np.outer(Phi[:, 0], Phi[:, 0] @ Phi[:, 1:]) / (Phi[:, 0] @ Phi[:, 0])
    problem = Problem(Phi, 3 * Phi[:, 0], False)
    hyper = ascend(problem, Hyperparameters(np.arange(5), np.ones(5), 1e3)).hyper
    assert list(hyper.active) == [0]


@starts
def test_a_model_at_rest_settles_where_it_does_from_near_by(seed, center, smooth):
    problem, hyper = problem_and_model(seed, center, smooth)
    at_rest = ascend(problem, hyper)
    settled = polish(at_rest, problem.n, FREE, 1.0, 10)
    rng = np.random.default_rng(seed)
    near = replace(
        settled.hyper,
        alpha=settled.hyper.alpha * np.exp(1e-4 * rng.standard_normal(len(settled.hyper.alpha))),
    )
    again = polish(point_at(problem, near), problem.n, FREE, 1.0, 10)
    np.testing.assert_allclose(again.hyper.alpha, settled.hyper.alpha, rtol=1e-8)
    np.testing.assert_allclose(again.hyper.beta, settled.hyper.beta, rtol=1e-8)
    assert settled.log_evidence == pytest.approx(at_rest.log_evidence, abs=1e-6)


def test_a_model_that_is_not_at_rest_stays_as_it_is():
    problem, hyper = problem_and_model(0, True, False)
    point = point_at(problem, hyper)
    assert np.abs(point.gradient()).max() > 1e-3
    assert polish(point, problem.n, FREE, 1e-3, 10) is point
