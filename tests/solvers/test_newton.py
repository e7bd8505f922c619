"""The climb: Newton steps and deletions from many models, held against the dense evidence."""

import numpy as np
import pytest

from relvec.evidence import ActiveSet, WeightPosterior
from relvec.solvers.newton import LEAST_FREEDOM, Model, Noise, climb
from tests import problems
from tests.problems import Problem

FREE = Noise(held=False, beta_max=1e8)
SEEDS = range(4)


def problem_and_model(seed, center, smooth):
    """Ten active functions with precisions from anywhere."""
    rng = np.random.default_rng(seed)
    problem = problems.smooth(center) if smooth else problems.draw(rng, center, 30, 20)
    active = rng.permutation(problem.Phi.shape[1])[:10]
    return problem, Model(active, 10.0 ** rng.uniform(-2, 3, 10), 10.0 ** rng.uniform(0, 4))


def ascend(problem, model, noise=FREE, tol=1e-10, max_steps=500):
    return climb(problem.frame(model.active), model, problem.n, noise, tol, max_steps)


starts = pytest.mark.parametrize(
    ("seed", "center", "smooth"),
    [(seed, center, smooth) for seed in SEEDS for center in (0, 1) for smooth in (0, 1)],
)


@starts
@pytest.mark.parametrize("tol", [1e-10, 0.1])
def test_no_step_lowers_the_evidence_and_no_deletion_costs_more_than_tol(seed, center, smooth, tol):
    problem, model = problem_and_model(seed, center, smooth)
    frame, before = problem.frame(model.active), -np.inf
    for _ in range(40):
        n_before = len(model.active)
        model, _, posterior = climb(frame, model, problem.n, FREE, tol, 1)
        deleted = n_before - len(model.active)
        assert posterior.log_evidence >= before - tol * deleted - 1e-9
        before = posterior.log_evidence


@starts
def test_climb_ends_at_a_maximum(seed, center, smooth):
    problem, model = problem_and_model(seed, center, smooth)
    model, _, posterior = ascend(problem, model)
    np.testing.assert_allclose(posterior.gradient(problem.n, model.beta), 0, atol=1e-4)
    at = np.log([*model.alpha, model.beta])
    top = problem.evidence(model.active, model.alpha, model.beta)
    assert top == pytest.approx(posterior.log_evidence, abs=1e-7)
    for step in 0.05 * np.vstack([np.eye(len(at)), -np.eye(len(at))]):
        *alpha, beta = np.exp(at + step)
        assert problem.evidence(model.active, alpha, beta) < top
    for i in range(len(model.active)):
        fewer = np.delete(model.active, i), np.delete(model.alpha, i)
        assert problem.evidence(*fewer, model.beta) < top


@starts
def test_the_maximum_is_a_fixed_point_of_mackays_updates(seed, center, smooth):
    """Eq. 16 to 18, of the contrasts with an intercept."""
    problem, model = problem_and_model(seed, center, smooth)
    model, _, _ = ascend(problem, model)
    mean, covariance = problem.posterior(model.active, model.alpha, model.beta)
    gamma = 1 - model.alpha * covariance.diagonal()
    residual = problem.target - problem.columns[:, model.active] @ mean
    np.testing.assert_allclose(gamma / mean**2, model.alpha, rtol=1e-3)
    updated = (problem.n - gamma.sum()) / (residual @ residual)
    assert updated == pytest.approx(model.beta, rel=1e-4)


@pytest.mark.parametrize("tol", [1e-10, 0.1])
@starts
def test_what_is_returned_belongs_together(seed, center, smooth, tol):
    problem, model = problem_and_model(seed, center, smooth)
    frame = problem.frame(model.active)
    model, data, posterior = climb(frame, model, problem.n, FREE, tol, 5)
    fresh = WeightPosterior.at(
        ActiveSet.from_frame(frame, model.active, problem.n), model.alpha, model.beta
    )
    np.testing.assert_array_equal(data.R, frame.coords[:, model.active])
    assert posterior.log_evidence == pytest.approx(fresh.log_evidence, abs=1e-8)
    np.testing.assert_allclose(posterior.mean, fresh.mean, atol=1e-6)
    np.testing.assert_allclose(posterior.variance, fresh.variance, atol=1e-6)


@pytest.mark.parametrize("center", [False, True])
def test_held_noise_stays_while_precisions_move(center):
    problem, model = problem_and_model(1, center, smooth=True)
    moved, _, posterior = ascend(problem, model, Noise(held=True, beta_max=model.beta))
    assert moved.beta == model.beta
    np.testing.assert_allclose(posterior.gradient(problem.n, model.beta)[:-1], 0, atol=1e-4)


@pytest.mark.parametrize("center", [False, True])
def test_noise_of_a_noise_free_target_stops_at_its_floor(center, rng):
    Phi = rng.standard_normal((30, 4))
    problem = Problem(Phi, Phi[:, :2] @ [1.0, 2.0], center)
    for beta in (1e2, 1e4, 1e6):
        model, _, _ = ascend(problem, Model(np.arange(4), np.ones(4), beta), Noise(False, 1e6))
        assert model.beta == 1e6
        assert {0, 1} <= set(model.active)


@pytest.mark.parametrize("center", [False, True])
def test_without_functions_the_noise_is_the_whole_target(center):
    """The maximum of N log β − β‖t‖² is at N, and the target has unit norm."""
    problem = problems.smooth(center)
    model, _, posterior = ascend(problem, Model(np.empty(0, dtype=np.intp), np.empty(0), 1e4))
    assert model.beta == pytest.approx(problem.n, rel=1e-6)
    assert posterior.log_evidence == pytest.approx(problem.evidence([], [], problem.n))


def test_of_two_copies_one_is_left(rng):
    """Each alone costs nothing while the other stands in for it."""
    Phi = rng.standard_normal((20, 1))
    problem = Problem(Phi[:, [0, 0]], Phi[:, 0] + 0.1 * rng.standard_normal(20), False)
    model, _, _ = ascend(problem, Model(np.arange(2), np.ones(2), 10.0), tol=1e-3)
    assert len(model.active) == 1


def test_functions_with_nothing_to_explain_are_deleted(rng):
    Phi = rng.standard_normal((40, 5))
    Phi[:, 1:] -= np.outer(Phi[:, 0], Phi[:, 0] @ Phi[:, 1:]) / (Phi[:, 0] @ Phi[:, 0])
    problem = Problem(Phi, 3 * Phi[:, 0], False)
    model, _, _ = ascend(problem, Model(np.arange(5), np.ones(5), 1e3))
    assert list(model.active) == [0]


# What may be done to the noise


def posterior_with(freedom, n=10):
    """A posterior that leaves some of `n` observations free."""
    used = n - freedom
    return WeightPosterior((1 - used / n) * np.eye(n), np.zeros(n), 1.0, 0.0)


def test_noise_moves_up_or_down_unless_held():
    enough = posterior_with(freedom=5)
    for slope in (-1.0, 1.0):
        assert FREE.may_move(1.0, slope, 10, enough)
        assert not Noise(held=True, beta_max=1e8).may_move(1.0, slope, 10, enough)


@pytest.mark.parametrize(
    ("beta", "freedom"), [(1e8, 5), (1.0, 0.9 * LEAST_FREEDOM * 10)], ids=["ceiling", "freedom"]
)
def test_noise_shrinks_neither_below_its_floor_nor_without_freedom(beta, freedom):
    assert not FREE.may_move(beta, 1.0, 10, posterior_with(freedom))
    assert FREE.may_move(beta, -1.0, 10, posterior_with(freedom))


def test_noise_precision_is_that_of_equation_18_within_its_bounds():
    assert FREE.precision(freedom=8.0, misfit=0.1) == pytest.approx(80.0)
    assert FREE.precision(freedom=8.0, misfit=0.0) == FREE.beta_max
    assert FREE.precision(freedom=8.0, misfit=1e-12) == FREE.beta_max
    assert FREE.precision(freedom=1e-9, misfit=0.5) == 1.0


def test_noise_is_released_to_its_known_value_or_under_its_ceiling():
    assert Noise(held=True, beta_max=50.0).released(3.0) == 50.0
    assert FREE.released(3.0) == 3.0
    assert FREE.released(1e9) == FREE.beta_max
