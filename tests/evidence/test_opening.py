"""The low-rank start: what its frame spans, where it begins, and MacKay's updates."""

import numpy as np
import pytest

from relvec._evidence.low_rank_start import (
    MAX_RANK,
    MIN_SWEEPS,
    low_rank_frame,
    low_rank_starts,
    mackay_iterations,
    shared_precision_maxima,
    spanned_functions,
)
from relvec._evidence.noise import Noise
from tests.support import problems
from tests.support.problems import Problem

FREE, FIRST_BETA = Noise(held=False, beta_max=1e8), 3000.0


def of_rank(rng, rank, n_functions, n_samples=60):
    Phi = rng.standard_normal((n_samples, rank)) @ rng.standard_normal((rank, n_functions))
    return Problem(Phi, Phi[:, 0] + rng.standard_normal(n_samples), False)


@pytest.mark.parametrize("rank", [1, 5, 15])
def test_frame_of_few_directions_spans_every_function(rng, rank):
    problem = of_rank(rng, rank, 30)
    frame = low_rank_frame(problem.design, problem.standard)
    assert len(frame.target) == rank
    gram = problem.columns.T @ problem.columns
    np.testing.assert_allclose(frame.coords.T @ frame.coords, gram, atol=1e-12)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("width", [2.0, 3.0, 6.0])
def test_frame_neglects_no_more_than_a_share_of_any_function(center, width):
    problem = problems.smooth(center, n=150, width=width)
    frame = low_rank_frame(problem.design, problem.standard)
    gram = problem.columns.T @ problem.columns
    assert np.abs(gram - frame.coords.T @ frame.coords).max() < 1e-8


@pytest.mark.parametrize("rank", [16, 30])
def test_more_directions_than_half_the_functions_are_not_few(rng, rank):
    problem = of_rank(rng, rank, 30)
    assert low_rank_frame(problem.design, problem.standard) is None


def test_more_directions_than_allowed_are_not_few(rng):
    size = MAX_RANK + 10
    problem = Problem(np.tile(np.eye(size), 3), rng.standard_normal(size), False)
    assert low_rank_frame(problem.design, problem.standard) is None


def test_functions_that_vanish_do_not_count(rng):
    columns = np.eye(12)[:, :8]
    problem = Problem(np.hstack([columns, np.zeros((12, 20))]), rng.standard_normal(12), False)
    assert low_rank_frame(problem.design, problem.standard) is None


def test_without_directions_there_is_no_start(rng):
    problem = of_rank(rng, 3, 30)
    frame = problem.design.frame(problem.standard)
    assert shared_precision_maxima(frame, problem.n, FREE) == ()


def mackay(problem, noise_held_at, sweeps):
    """Eq. 16 to 18 with dense inverses, every function kept."""
    every = np.arange(problem.Phi.shape[1])
    alpha = np.full(len(every), float(len(every)))
    beta = noise_held_at or FIRST_BETA
    for _ in range(sweeps):
        mean, covariance = problem.posterior(every, alpha, beta)
        gamma = 1 - alpha * covariance.diagonal()
        residual = problem.target - problem.columns @ mean
        alpha = gamma / mean**2
        beta = noise_held_at or (problem.n - gamma.sum()) / (residual @ residual)
    return alpha, beta


@pytest.mark.parametrize("held_at", [None, 300.0], ids=["learnt", "known"])
@pytest.mark.parametrize("center", [False, True])
def test_sweeps_are_mackays_updates(rng, center, held_at):
    Phi = rng.standard_normal((40, 5)) * [1, 10, 1, 0.1, 1]
    t = Phi @ [1.0, -0.2, 3.0, 10.0, -2.0] + 0.3 * rng.standard_normal(40)
    problem = Problem(Phi, t, center)
    noise = Noise(held=True, beta_max=held_at) if held_at else FREE
    frame = problem.frame(range(5))
    begun = spanned_functions(frame.coords, frame.groups, 5.0, np.array([held_at or FIRST_BETA]))
    found = mackay_iterations(frame, begun, problem.n, noise)
    alpha, beta = mackay(problem, held_at, MIN_SWEEPS)
    assert list(found.active) == list(range(5))
    np.testing.assert_allclose(found.alpha, alpha, rtol=1e-9)
    assert found.beta == pytest.approx(beta, rel=1e-9)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("noise", [FREE, Noise(held=True, beta_max=500.0)])
def test_sweeps_leave_independent_functions(center, noise):
    problem = problems.smooth(center, n=80)
    doubled = Problem(np.hstack([problem.Phi, 2 * problem.Phi]), problem.t, center)
    frame = low_rank_frame(doubled.design, doubled.standard)
    hyper = low_rank_starts(frame, doubled.n, noise)[0]
    assert 3 <= len(hyper.active) <= len(frame.target)
    assert np.linalg.matrix_rank(frame.coords[:, hyper.active], tol=1e-8) == len(hyper.active)
    assert len(set(hyper.active % 80)) == len(hyper.active), "no function beside its copy"
    assert (hyper.alpha > 0).all()
    assert np.isfinite(hyper.alpha).all()
    assert 1 <= hyper.beta <= noise.beta_max


def test_equal_functions_leave_one(rng):
    Phi = np.repeat(rng.standard_normal((20, 1)), 8, axis=1)
    problem = Problem(Phi, Phi[:, 0] + 0.1 * rng.standard_normal(20), False)
    frame = low_rank_frame(problem.design, problem.standard)
    (hyper,) = low_rank_starts(frame, problem.n, FREE)
    assert len(hyper.active) == 1


def test_a_target_with_nothing_to_explain_leaves_no_function(rng):
    problem = Problem(rng.standard_normal((20, 2)) @ rng.standard_normal((2, 9)), np.ones(20), True)
    frame = low_rank_frame(problem.design, problem.standard)
    (hyper,) = low_rank_starts(frame, problem.n, FREE)
    assert not len(hyper.active)


def fast_sine(cycles=3.0):
    """A sine of several periods, as functions as wide as the range of its rows span it."""
    x = np.linspace(-1, 1, 60)
    noise = 0.05 * np.random.default_rng(0).standard_normal(60)
    return Problem(
        np.exp(-3 * np.subtract.outer(x, x) ** 2), np.sin(np.pi * cycles * x) + noise, True
    )


@pytest.mark.parametrize("noise", [FREE, Noise(held=True, beta_max=20.0)], ids=["learnt", "known"])
@pytest.mark.parametrize("problem", [problems.smooth(True), fast_sine(2.0)], ids=["smooth", "fast"])
def test_one_precision_for_all_functions_begins_at_maxima_of_its_evidence(problem, noise):
    every = np.arange(problem.Phi.shape[1])

    def evidence(log_alpha, log_beta):
        alpha = np.full(len(every), np.exp(log_alpha))
        return problem.evidence(every, alpha, float(np.exp(log_beta)))

    frame = low_rank_frame(problem.design, problem.standard)
    maxima = shared_precision_maxima(frame, problem.n, noise)
    heights = []
    for start in maxima:
        assert len(set(start.alpha)) == 1
        alpha, beta = np.log(start.alpha[0]), np.log(start.beta[0])
        heights.append(evidence(alpha, beta))
        for step in (-1.0, 1.0):  # a little more than between the places that are looked at
            # no signal at all may be a little better still than the least that is looked at
            assert evidence(alpha + step, beta) < heights[-1] + 0.01
            if not noise.held:
                assert evidence(alpha, beta + step) < heights[-1]
                assert evidence(alpha + step, beta + step) < heights[-1]
    assert heights == sorted(heights, reverse=True)


def test_a_sine_of_several_periods_is_spanned_and_found():
    """What is fast beside the width of the functions is a small part of each."""
    problem = fast_sine()
    frame = low_rank_frame(problem.design, problem.standard)
    assert frame.residual_target < 1.5 * 60 * 0.05**2 / problem.standard.scale**2
    found = low_rank_starts(frame, problem.n, FREE)
    noise = [problem.standard.scale * start.beta[0] ** -0.5 for start in found]
    assert min(noise) == pytest.approx(0.05, rel=0.3)
