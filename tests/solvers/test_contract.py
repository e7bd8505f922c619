"""What every solver promises: each row of `tests.support.rows.SOLVERS` through the same tests."""

import itertools
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pytest

from relvec._fitting.alternating import fit
from relvec.likelihoods import Gaussian
from relvec.solvers import EM, FixedPoint, Sequential, Variational
from relvec.solvers.backward import BackwardSolver
from tests.support import laplace, problems, reference
from tests.support.laplace import LIKELIHOODS, LatentProblem
from tests.support.problems import Problem
from tests.support.rows import SOLVERS, name_of

CENTER = [False, True]
#: Precisions that another function is tried at, for functions and outputs of unit size.
PRECISIONS = 10.0 ** np.arange(-4, 4)


@dataclass(frozen=True)
class Regression:
    """Gaussian noise, learnt or known, with the evidence of a dense covariance."""

    problem: Problem
    noise: float | None
    by_moving = 0.01

    @property
    def likelihood(self):
        return Gaussian(self.noise)

    @property
    def t(self):
        return self.problem.t[:, None]

    @property
    def unit(self):
        """Precisions of functions that are about as large as the target."""
        norms = np.linalg.norm(self.problem.contrasts @ self.problem.Phi, axis=0)
        return norms**2 / self.problem.t.var()

    def evidence(self, active, alpha, likelihood):
        Phi, beta = self.problem.Phi[:, active], 1 / likelihood.noise_variance
        center = self.problem.center
        return reference.log_evidence(Phi, self.problem.t, alpha, beta, fit_intercept=center)

    def rises(self, found, others):
        """What one of some functions more adds to the evidence, each at many precisions."""
        return [
            self.evidence([*found.active, m], [*found.alpha, alpha], found.likelihood)
            - found.log_evidence
            for m in others
            for alpha in self.unit[m] * PRECISIONS
        ]


@dataclass(frozen=True)
class Latent:
    """A likelihood of Laplace's method, with the evidence of the dense mode.

    Precisions end where eq. 16 holds, and functions are added by a gain, that both take the
    curvature as it is. The evidence itself, whose curvature moves with the mode, may rise a little
    beside it.
    """

    problem: LatentProblem
    by_moving = 0.05

    @property
    def likelihood(self):
        return self.problem.likelihood

    @property
    def t(self):
        return self.problem.t

    @cached_property
    def unit(self):
        """Precisions of functions that are about as large as the outputs."""
        return self.problem.design.scale**2

    def evidence(self, active, alpha, likelihood):
        return self.problem.dense(active, alpha).log_evidence

    def rises(self, found, others):
        """The same for the curvature of the mode that was found."""
        mode, columns = self.problem.dense(found.active, found.alpha), self.problem.Phi[:, others]
        S, Q = mode.bend.sparsity(columns), mode.quality(columns)
        return [
            rise
            for k, m in enumerate(others)
            for rise in laplace.rise(self.unit[m] * PRECISIONS, S[k, :, k, :], Q[k])
        ]


REGRESSION = {
    "random": lambda center: problems.draw(np.random.default_rng(3), center, 40, 20),
    "smooth": lambda center: problems.smooth(center),
    "narrow": lambda center: problems.smooth(center, width=1.0, seed=1),
}
LATENT = {
    "random": lambda *a: laplace.draw(np.random.default_rng(3), *a, n=60, m=20),
    "smooth": lambda *a: laplace.smooth(*a, n=40),
    "narrow": lambda *a: laplace.smooth(*a, n=40, width=0.7, seed=1),
}


def regression(kind, center, noise):
    problem = REGRESSION[kind](center)
    return Regression(problem, noise and noise * problem.t.var())


def latent(kind, center, likelihood):
    return Latent(LATENT[kind](likelihood, center))


def pairs():
    """Solvers with what they maximise: the evidence, or its nearest by Laplace's method."""
    for solver, (case, name) in itertools.product(SOLVERS, cases()):
        if isinstance(case, Regression) or not isinstance(solver, Variational):
            yield solver, case, f"{name}-{name_of(solver)}"


def cases():
    for kind, center, noise in itertools.product(REGRESSION, CENTER, [None, 0.02]):
        yield regression(kind, center, noise), f"{kind}-{center}-{noise}"
    for kind, center, likelihood in itertools.product(LATENT, CENTER, LIKELIHOODS):
        yield latent(kind, center, likelihood), f"{kind}-{center}-{name_of(likelihood)}"


@pytest.fixture(scope="module", params=[pytest.param(pair, id=name) for *pair, name in pairs()])
def pair(request):
    return request.param


@pytest.fixture(scope="module")
def case(pair):
    return pair[1]


@pytest.fixture(scope="module")
def found(pair, case):
    return fit(case.likelihood, pair[0], case.problem.design, case.t)


@pytest.fixture(params=SOLVERS, ids=name_of)
def solver(request):
    return request.param


def test_evidence_is_that_of_the_functions_and_precisions_returned(case, found):
    expected = case.evidence(found.active, found.alpha, found.likelihood)
    digits = 1e-6 if isinstance(case, Latent) else 1e-9
    assert found.log_evidence == pytest.approx(expected, rel=digits, abs=digits)


def test_functions_are_few_ascending_and_finite(case, found):
    assert 1 <= len(found.active) < case.problem.Phi.shape[1]
    assert (np.diff(found.active) > 0).all()
    assert (found.alpha > 0).all()
    assert np.isfinite(found.alpha).all()
    assert len(found.posterior.mean) == len(found.alpha) == len(found.well_determined)
    assert np.isfinite(found.posterior.mean).all()
    assert ((found.well_determined >= 0) & (found.well_determined <= 1)).all()


@pytest.mark.parametrize("noise", [None, 0.02], ids=["learnt", "known"])
def test_known_noise_stays_and_unknown_noise_is_learnt(solver, noise):
    case = regression("smooth", True, noise)
    found = fit(case.likelihood, solver, case.problem.design, case.t)
    if noise is None:
        assert 0 < found.likelihood.noise_variance < np.inf
    else:
        assert found.likelihood.noise_variance == pytest.approx(case.noise, rel=1e-12)


def test_nothing_is_gained_by_moving_the_precisions(pair, case, found):
    """By a tenth; or, where the updates of Laplace's method come to rest, eq. 16 holds."""
    if isinstance(case, Latent) and isinstance(pair[0], BackwardSolver):
        mode = case.problem.dense(found.active, found.alpha)
        variance = mode.bend.inverse.diagonal()[: mode.bend.n_weights].reshape(mode.weights.shape)
        gamma = (1 - found.alpha[:, None] * variance).sum(axis=1)
        np.testing.assert_allclose(found.alpha * (mode.weights**2).sum(axis=1), gamma, atol=1e-2)
        return
    each = np.arange(len(found.alpha))
    for i, factor in itertools.product(each, (0.9, 1 / 0.9)):
        moved = found.alpha * np.where(each == i, factor, 1)
        with_it = case.evidence(found.active, moved, found.likelihood)
        assert with_it < found.log_evidence + case.by_moving


@pytest.mark.parametrize("kind", REGRESSION)
@pytest.mark.parametrize("center", CENTER)
def test_nothing_is_gained_by_moving_noise_that_was_learnt(solver, kind, center):
    case = regression(kind, center, None)
    found = fit(case.likelihood, solver, case.problem.design, case.t)
    for factor in (0.9, 1 / 0.9):
        moved = Gaussian(found.likelihood.noise_variance * factor)
        with_it = case.evidence(found.active, found.alpha, moved)
        assert with_it < found.log_evidence + case.by_moving


def test_nothing_is_gained_by_a_function_less(case, found):
    for i in range(len(found.active)):
        fewer = np.delete(found.active, i), np.delete(found.alpha, i)
        assert case.evidence(*fewer, found.likelihood) < found.log_evidence


def test_nothing_is_gained_by_a_function_more(case, found):
    others = sorted(set(range(case.problem.Phi.shape[1])) - set(found.active))
    assert max(case.rises(found, others)) < 0.05


@cache
def top_down_evidence(center, noise, seed):
    problem = problems.smooth(center, seed=seed)
    return reference.top_down(
        problem.Phi, problem.t, fit_intercept=center, noise_variance=noise
    ).log_evidence


@pytest.mark.parametrize("noise", [None, 0.01])
@pytest.mark.parametrize("center", CENTER)
def test_evidence_is_no_nat_under_a_top_down_fit(solver, center, noise):
    for seed in range(5):
        problem = problems.smooth(center, seed=seed)
        found = fit(Gaussian(noise), solver, problem.design, problem.t[:, None])
        assert found.log_evidence > top_down_evidence(center, noise, seed) - 1


@pytest.mark.slow
@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=name_of)
@pytest.mark.parametrize("center", CENTER)
def test_most_evidence_of_five_starts_is_no_nat_under_a_top_down_fit(center, likelihood):
    """Of eq. 16 with the curvature of each new mode; both have local optima.

    Several outputs have no opening from all functions at once, and get stuck more often.
    """
    several, shortfall = Sequential(n_starts=5), []
    for seed in range(10):
        problem = laplace.smooth(likelihood, center, n=40, width=0.7, seed=seed)
        _, slow = laplace.top_down(problem, max_iter=1000)
        found = fit(likelihood, several, problem.design, problem.t)
        shortfall.append(slow.log_evidence - found.log_evidence)
    assert (np.array(shortfall) < 1).sum() >= (8 if likelihood.n_outputs == 1 else 5)


def test_history_never_falls_where_that_is_promised(pair, case, found):
    """Updates of all precisions promise it of the evidence itself, and MacKay's not even there."""
    if isinstance(pair[0], FixedPoint) or (isinstance(pair[0], EM) and isinstance(case, Latent)):
        return
    trace = np.array([row.log_evidence for row in found.history])
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()


def test_history_ends_at_the_model_returned(pair, found):
    assert len({row.start for row in found.history}) == 1
    if not isinstance(pair[0], Variational):  # whose bound is more than evidence
        believed = found.history[-1].log_evidence
        assert believed == pytest.approx(found.log_evidence, rel=1e-8, abs=1e-8)
    assert found.history[-1].n_active == len(found.active)
    noise = getattr(found.likelihood, "noise_variance", np.nan)
    assert found.history[-1].noise_variance == pytest.approx(noise, nan_ok=True)
    seconds = [row.seconds for row in found.history]
    assert np.isfinite(seconds).all()
    assert seconds == sorted(seconds)
    assert len(found.history) <= found.n_iter


def test_status_says_how_it_ended(found):
    assert found.status.code == "converged"
    assert found.status.text.startswith("converged after ")
    assert not found.warnings


def test_a_state_goes_on_with_an_evidence_model_that_has_not_seen_its_passes(pair, case, found):
    """Solvers hold nothing, and what evidence models hold can be had again.

    A new one takes over after each of the first passes, and then after pass 16, 32, ...
    """
    solver = pair[0]

    def model():
        return solver.evidence_model(case.likelihood, case.problem.design, case.t)

    first = model()
    state, passes = solver.init(first), 0
    while not solver.done(state):
        state, passes = solver.step(first, state), passes + 1
        if passes <= 10 or passes.bit_count() == 1:
            first = model()
            solver.restore(first, state)
    resumed = solver.result(first, state)
    np.testing.assert_array_equal(resumed.active, found.active)
    np.testing.assert_allclose(resumed.alpha, found.alpha, rtol=1e-6)
    assert resumed.log_evidence == pytest.approx(found.log_evidence, rel=1e-9, abs=1e-9)
    assert resumed.n_iter == found.n_iter == passes


def test_a_restored_evidence_model_has_the_digits_of_the_one_that_made_the_passes(solver):
    """Where no function is neglected any more, the next pass believes the same to rounding."""
    case = regression("smooth", True, None)

    def model():
        return solver.evidence_model(case.likelihood, case.problem.design, case.t)

    first, compared = model(), 0
    state = solver.init(first)
    while not solver.done(state):
        new = model()
        solver.restore(new, state)
        exact = getattr(state, "exact", True) or state.updates is not None
        state, other = solver.step(first, state), solver.step(new, state)
        if exact and state.history:
            found, expected = (each.history[-1].log_evidence for each in (other, state))
            assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)
            compared += 1
    assert compared
