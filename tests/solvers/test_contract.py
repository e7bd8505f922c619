"""What every solver promises: each row of `tests.rows.SOLVERS` through the same tests."""

import itertools

import numpy as np
import pytest

from relvec.likelihoods import Gaussian
from tests import problems, reference
from tests.rows import SOLVERS, name_of

KINDS = {
    "random": lambda center: problems.draw(np.random.default_rng(3), center, 40, 20),
    "smooth": lambda center: problems.smooth(center),
    "narrow": lambda center: problems.smooth(center, width=1.0, seed=1),
}


@pytest.fixture(params=itertools.product(KINDS, [False, True]), ids=lambda p: f"{p[0]} {p[1]}")
def problem(request):
    kind, center = request.param
    return KINDS[kind](center)


@pytest.fixture(params=SOLVERS, ids=name_of)
def solver(request):
    return request.param


@pytest.fixture(params=[None, 0.02], ids=["learnt", "known"])
def solution(request, solver, problem):
    noise = request.param and request.param * problem.t.var()
    return solver.solve(problem.design, problem.t[:, None], Gaussian(noise)), noise


def test_evidence_is_that_of_the_functions_and_precisions_returned(problem, solution):
    found, _ = solution
    expected = reference.log_evidence(
        problem.Phi[:, found.active],
        problem.t,
        found.alpha,
        1 / found.likelihood.noise_variance,
        fit_intercept=problem.center,
    )
    assert found.log_evidence == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_functions_are_few_ascending_and_finite(problem, solution):
    found, _ = solution
    assert 2 <= len(found.active) < problem.Phi.shape[1]
    assert (np.diff(found.active) > 0).all()
    assert (found.alpha > 0).all()
    assert np.isfinite(found.alpha).all()
    assert len(found.posterior.mean) == len(found.alpha) == len(found.well_determined)
    assert ((found.well_determined >= 0) & (found.well_determined <= 1)).all()


def test_known_noise_stays_and_unknown_noise_is_learnt(solution):
    found, noise = solution
    if noise is None:
        assert 0 < found.likelihood.noise_variance < np.inf
    else:
        assert found.likelihood.noise_variance == pytest.approx(noise, rel=1e-12)


def test_nothing_is_gained_by_moving_what_was_returned(problem, solution):
    """Precisions by a tenth, a function less, or any function more."""
    found, noise = solution
    active, alpha, beta = found.active, found.alpha, 1 / found.likelihood.noise_variance

    def evidence(active, alpha, beta):
        return reference.log_evidence(
            problem.Phi[:, active], problem.t, alpha, beta, fit_intercept=problem.center
        )

    for i, factor in itertools.product(range(len(active)), (0.9, 1 / 0.9)):
        moved = alpha * np.where(np.arange(len(alpha)) == i, factor, 1)
        assert evidence(active, moved, beta) < found.log_evidence + 0.01
    if noise is None:
        for factor in (0.9, 1 / 0.9):
            assert evidence(active, alpha, factor * beta) < found.log_evidence + 0.01
    for i in range(len(active)):
        fewer = np.delete(active, i), np.delete(alpha, i), beta
        assert evidence(*fewer) < found.log_evidence
    scale = np.linalg.norm(problem.contrasts @ problem.Phi, axis=0)
    for m in set(range(problem.Phi.shape[1])) - set(active):
        for value in scale[m] ** 2 * 10.0 ** np.arange(-3, 5) / problem.t.var():
            more = evidence([*active, m], [*alpha, value], beta)
            assert more < found.log_evidence + 0.05


@pytest.mark.parametrize("noise", [None, 0.01])
@pytest.mark.parametrize("center", [False, True])
def test_evidence_is_no_nat_under_a_top_down_fit(solver, center, noise):
    for seed in range(5):
        problem = problems.smooth(center, seed=seed)
        slow = reference.top_down(
            problem.Phi, problem.t, fit_intercept=center, noise_variance=noise
        )
        found = solver.solve(problem.design, problem.t[:, None], Gaussian(noise))
        assert found.log_evidence > slow.log_evidence - 1


def test_history_never_falls_and_ends_at_the_evidence_returned(problem, solution):
    found, _ = solution
    trace = np.array([row.log_evidence for row in found.history])
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()
    assert trace[-1] == pytest.approx(found.log_evidence, rel=1e-8, abs=1e-8)
    assert found.history[-1].n_active == len(found.active)
    assert found.history[-1].noise_variance == pytest.approx(found.likelihood.noise_variance)
    seconds = [row.seconds for row in found.history]
    assert seconds == sorted(seconds)
    assert len(found.history) <= found.n_iter


def test_status_says_how_it_ended(solution):
    found, _ = solution
    assert found.status.endswith(found.summary)
    assert not found.notes
