"""The sequential solver: closed forms, starts, limits, diagnoses and its table."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from relvec import RVR
from relvec._evidence import evidence_model
from relvec._evidence.exact import ExactEvidence
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._fitting.alternating import fit
from relvec._runner import Runner
from relvec.exceptions import EmptyModelWarning, NoiseFloorWarning, PrecisionWarning
from relvec.likelihoods import Gaussian
from relvec.solvers import Sequential
from tests.support import inputs, problems
from tests.support.problems import Problem


def solve(problem, noise_variance=None, **parameters):
    return fit(
        Gaussian(noise_variance), Sequential(**parameters), problem.design, problem.t[:, None]
    )


# Closed forms


def orthogonal(rng, n=40, m=25):
    """Orthogonal columns of different norms, with weights from far over to far under the noise."""
    Q = np.linalg.qr(rng.standard_normal((n, m)))[0]
    weights = np.logspace(1.5, -1.5, m) * rng.choice([-1, 1], m)
    return Problem(Q * 10.0 ** rng.uniform(-3, 3, m), Q @ weights + rng.standard_normal(n), False)


@pytest.mark.parametrize("noise_variance", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("seed", range(3))
def test_orthogonal_functions_have_their_closed_form(noise_variance, seed):
    """Each has s = β‖φ‖² and q = βφᵀt, whichever others are in; it stays iff q² > s."""
    problem = orthogonal(np.random.default_rng(seed))
    s = (problem.Phi**2).sum(axis=0) / noise_variance
    q = problem.Phi.T @ problem.t / noise_variance
    found = solve(problem, noise_variance, tol=1e-9)
    kept = np.flatnonzero(q**2 > s)
    assert 3 < len(kept) < 25
    np.testing.assert_array_equal(found.active, kept)
    np.testing.assert_allclose(found.alpha, (s**2 / (q**2 - s))[kept], rtol=1e-4)
    np.testing.assert_allclose(
        found.posterior.mean[:, 0], (q / s)[kept] * (1 - s / q**2)[kept], rtol=1e-4
    )


@pytest.mark.parametrize("tol", [0.03, 0.5, 3.0])
def test_orthogonal_functions_stay_that_are_worth_tol(rng, tol):
    problem = orthogonal(rng)
    s, q = (problem.Phi**2).sum(axis=0), problem.Phi.T @ problem.t
    gain = 0.5 * (q**2 / s - 1 - np.log(q**2 / s))
    found = solve(problem, 1.0, tol=tol)
    np.testing.assert_array_equal(found.active, np.flatnonzero((q**2 > s) & (gain > tol)))


@pytest.mark.parametrize("noise_variance", [1.0, None])
def test_copies_of_functions_are_left_out(rng, noise_variance):
    once = orthogonal(rng)
    copied = Problem(np.hstack([once.Phi, -3 * once.Phi, once.Phi]), once.t, False)
    one, many = solve(once, noise_variance), solve(copied, noise_variance)
    assert len(set(many.active % 25)) == len(many.active)
    assert set(many.active % 25) == set(one.active)
    assert many.log_evidence == pytest.approx(one.log_evidence, abs=1e-3)


@pytest.mark.parametrize("center", [False, True])
def test_copies_of_smooth_functions_are_left_out(center):
    once = problems.smooth(center)
    copied = Problem(np.hstack([once.Phi, once.Phi]), once.t, center)
    many = solve(copied)
    assert len(set(many.active % 40)) == len(many.active)
    assert many.log_evidence == pytest.approx(solve(once).log_evidence, abs=0.5)


# Starts and limits


@pytest.mark.parametrize("noise_variance", [None, 0.01])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("width", [0.8, 3.0])
def test_more_starts_have_no_less_evidence(width, center, noise_variance):
    for seed in range(3):
        problem = problems.smooth(center, width=width, seed=seed)
        evidence = [solve(problem, noise_variance, n_starts=n).log_evidence for n in (1, 2, 3, 6)]
        assert (np.diff(evidence) >= -1e-6).all()


def test_starts_are_compared_by_their_evidence_less_the_penalty():
    """Many of 500 columns seem to explain twenty rows better than the two that made them."""
    X, y = inputs.more_columns_than_rows()
    problem = Problem(X, y, True)
    by_evidence, penalised = (
        solve(problem, tol=6.0, n_starts=3, multiplicity_penalty=penalty)
        for penalty in (0.0, np.log(500))
    )
    assert by_evidence.log_evidence > penalised.log_evidence + 10
    np.testing.assert_array_equal(penalised.active, [3, 77])
    assert set(penalised.active) < set(by_evidence.active)


def test_no_start_after_the_first_neglects_a_part_of_the_functions():
    """Where few directions nearly span the dictionary, what is left may be the signal."""
    problem, solver = problems.smooth(True), Sequential(n_starts=2)
    model = evidence_model(Gaussian(), problem.design, problem.t[:, None])
    assert model.low_rank_starts()
    state = solver.init(model)
    while not state.endings:
        assert not solver.done(state)
        state = solver.step(model, state)
    assert not model.refine(Hyperparameters.empty(1.0)), "nothing is neglected any more"


def test_starts_from_the_best_model_hold_its_noise_at_half_and_at_twice():
    problem, solver = problems.smooth(True), Sequential(n_starts=6)
    model = evidence_model(Gaussian(), problem.design, problem.t[:, None])
    state, factors = solver.init(model), []
    while not solver.done(state):
        before, state = state, solver.step(model, state)
        if len(state.endings) > max(len(before.endings), 2) and "hold" in state.stages:
            best = max(state.endings, key=lambda ending: ending.log_evidence)
            if len(state.hyper.alpha) == len(best.hyper.alpha):
                factors.append(float(state.hyper.beta[0] / best.hyper.beta[0]))
    assert sorted(set(factors)) == pytest.approx([0.5, 2.0])


@pytest.mark.parametrize("gamma", [0.5, 3.0])
@pytest.mark.parametrize("noise_variance", [None, 0.01])
def test_mirror_images_have_mirrored_predictions(gamma, noise_variance):
    """Of two points with an intercept both functions say the same, and neither may be preferred."""
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    y = np.repeat([0.0, 1.0], 5) + 0.05 * np.tile([1.0, -1.0, 0.5, -0.5, 0.0], 2)
    model = RVR(gamma=gamma, noise_variance=noise_variance).fit(X, y)
    at = np.linspace(-1, 2, 7)[:, None]
    np.testing.assert_allclose(model.predict(1 - at), 1 - model.predict(at), rtol=1e-9, atol=1e-9)
    alone = RVR(gamma=gamma, noise_variance=noise_variance, centers=[[0.0]]).fit(X, y)
    assert model.log_evidence_ == pytest.approx(alone.log_evidence_, rel=1e-9)


@pytest.mark.parametrize("noise_variance", [None, 0.01])
@pytest.mark.parametrize("width", [0.8, 3.0])
def test_max_iter_ends_the_search_wherever_it_is(width, noise_variance):
    problem = problems.smooth(True, width=width)
    enough = solve(problem, noise_variance).n_iter
    for max_iter in range(1, enough + 3):
        found = solve(problem, noise_variance, max_iter=max_iter)
        assert found.n_iter <= max_iter
        assert np.isfinite(found.log_evidence)
        assert len(found.history) >= 1
        stopped = bool(found.warnings) and isinstance(found.warnings[0], ConvergenceWarning)
        assert stopped == found.status.text.startswith("stopped")
        if max_iter != enough:  # where the last pass allowed is the one that ends the search anyway
            assert stopped == (max_iter < enough)


@pytest.mark.parametrize("tol", [1e-12, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("width", [0.5, 3.0, 30.0])
def test_any_tolerance_ends(width, tol):
    found = solve(problems.smooth(True, width=width), tol=tol)
    assert found.n_iter < 1000


@pytest.mark.parametrize("width", [0.5, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("noise_variance", [None, 1e-2, 1e-6])
@pytest.mark.parametrize("center", [False, True])
def test_history_never_falls_within_a_start(width, noise_variance, center):
    for seed in range(3):
        problem = problems.smooth(center, width=width, seed=seed)
        found = solve(problem, noise_variance, n_starts=2)
        trace = np.array([row.log_evidence for row in found.history])
        assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()
        assert len({row.start for row in found.history}) == 1


def test_functions_are_found_whatever_the_unit_of_the_target():
    plain = problems.smooth(True)
    evidence = solve(plain).log_evidence
    for unit in (2.0**-60, 2.0**60):
        found = solve(Problem(plain.Phi, unit * plain.t, True))
        np.testing.assert_array_equal(found.active, solve(plain).active)
        assert found.log_evidence + plain.n * np.log(unit) == pytest.approx(evidence, rel=1e-9)


# Diagnoses


def test_noise_free_targets_are_reported():
    problem = problems.smooth(True)
    free = Problem(problem.Phi, problem.Phi[:, [10, 25]] @ [1.0, -2.0], True)
    (note,) = solve(free).warnings
    assert isinstance(note, NoiseFloorWarning)
    assert "set noise_variance" in str(note)
    assert not solve(free, 1e-3).warnings, "a known noise is none of the solver's business"


def test_interpolation_is_reported():
    magnitudes = 10.0 ** np.linspace(-2, 2, 40)
    (note,) = solve(Problem(np.eye(40), magnitudes, True)).warnings
    assert isinstance(note, NoiseFloorWarning)
    assert "wider kernel" in str(note) or "interpolated" in str(note)


def test_as_many_functions_as_rows_have_to_be_worth_a_nat_each():
    """A function a row explains noise by less than a nat each, and far more in all than none."""
    noise = np.random.default_rng(0).standard_normal(40)
    problem = Problem(np.eye(40), noise, False)
    alone = replace(Sequential(), n_starts=1)
    model = evidence_model(Gaussian(), problem.design, problem.t[:, None])
    every = Hyperparameters(np.arange(40), np.full(40, 40.0), model.first_beta)
    from_all = alone.solve(model, every)
    assert len(from_all.active) > 20, "a search that begins where it was told to goes nowhere else"
    found = solve(problem)
    assert found.log_evidence < from_all.log_evidence - 1
    assert found.log_evidence - len(found.active) > from_all.log_evidence - len(from_all.active)
    assert len(found.active) < 4
    assert found.status.starts == 2


def test_functions_that_are_worth_more_than_a_nat_each_stay(rng):
    problem = Problem(np.eye(40), 10.0 ** rng.uniform(-2, 2, 40), False)
    found = solve(problem)
    assert len(found.active) > 30
    assert found.status.starts == 1


def test_penalised_functions_are_deleted_with_the_others_free():
    """At fixed noise a column of noise may look worth a price that it is not worth at another."""
    X, y = inputs.more_columns_than_rows()
    problem, penalty = Problem(X, y, True), np.log(500)
    found = solve(problem, tol=penalty, n_starts=3, multiplicity_penalty=penalty)
    for left_out in range(len(found.active)):
        fewer = Problem(X[:, np.delete(found.active, left_out)], y, True)
        assert solve(fewer, tol=0.03).log_evidence < found.log_evidence - penalty


@pytest.mark.parametrize("noise_variance", [None, 100.0])
def test_models_without_functions_are_reported(rng, noise_variance):
    problem = Problem(rng.standard_normal((30, 1)), np.ones(30) + 1e-3 * np.arange(30) % 2, True)
    found = solve(problem, noise_variance)
    assert not len(found.active)
    (note,) = found.warnings
    assert isinstance(note, EmptyModelWarning)
    assert "constant" in str(note)


def test_evidence_that_the_search_only_believed_in_is_reported(monkeypatch):
    accept = ExactEvidence.finalize

    def less(self, hyper):
        accepted = accept(self, hyper)
        return replace(accepted, log_evidence=accepted.log_evidence - 2)

    monkeypatch.setattr(ExactEvidence, "finalize", less)
    (note,) = solve(problems.smooth(True)).warnings
    assert isinstance(note, PrecisionWarning)
    assert "digits were lost" in str(note)


def test_status_says_how_the_search_ended():
    problem = problems.smooth(True)
    stopped = solve(problem, max_iter=2)
    assert (stopped.status.code, stopped.warnings[0].code) == ("max_iter", "not_converged")
    assert str(stopped.warnings[0]).startswith("stopped after max_iter=2")
    one = solve(problem)
    assert one.status.text == f"converged after {one.n_iter} passes from one start"
    assert (one.status.starts, one.status.agreed) == (1, 0), "there is none to agree with"
    three = solve(problem, n_starts=3).status
    assert (three.code, three.starts) == ("converged", 3)
    assert three.text.endswith(f": {three.agreed} of 3 starts within 1 nat of the best")
    assert 1 <= three.agreed <= 3


# The table


def test_verbose_prints_a_row_a_pass(capsys):
    solve(problems.smooth(True))
    assert not capsys.readouterr().out
    problem = problems.smooth(True)
    t, runner = problem.t[:, None], Runner(verbose=1)
    found = fit(Gaussian(), Sequential(), problem.design, t, runner=runner)
    title, *rows = capsys.readouterr().out.splitlines()
    for word in ("pass", "start", "evidence", "functions", "noise", "seconds"):
        assert word in title
    assert len(found.history) <= len(rows) <= found.n_iter
    number, start, evidence, functions, noise, _ = rows[-1].split()
    last = found.history[-1]
    assert int(number) <= found.n_iter
    assert (int(start), int(functions)) == (last.start, last.n_active)
    assert float(evidence) == pytest.approx(last.log_evidence, abs=1e-3)
    assert float(noise) == pytest.approx(last.noise_variance**0.5, rel=1e-4)


@pytest.mark.parametrize("n_starts", [2, 4])
@pytest.mark.parametrize("width", [0.8, 3.0])
def test_max_iter_counts_the_passes_of_all_starts(width, n_starts):
    problem = problems.smooth(True, width=width)
    for max_iter in (1, 2, 5):
        assert solve(problem, n_starts=n_starts, max_iter=max_iter).n_iter <= max_iter
