"""Solvers that begin with all functions: closed forms, the final check, limits and hyperpriors."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from relvec._evidence import evidence_model
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._fitting.alternating import fit
from relvec._numerics.priors import Gamma
from relvec.exceptions import EmptyModelWarning, NoiseFloorWarning
from relvec.likelihoods import Bernoulli, Gaussian
from relvec.solvers import EM, FixedPoint, Sequential, Variational
from relvec.solvers.backward import BackwardSolver
from tests.support import laplace, problems, reference
from tests.support.differences import derivative
from tests.support.problems import Problem

SOLVERS = [FixedPoint(max_iter=100_000), EM(max_iter=100_000), Variational(max_iter=100_000)]


@pytest.fixture(params=SOLVERS, ids=lambda solver: type(solver).__name__)
def solver(request):
    return request.param


def solve(solver, problem, likelihood=None):
    return fit(likelihood or Gaussian(), solver, problem.design, problem.t[:, None])


# Closed forms


def orthogonal(seed, n=40, m=24):
    """Orthogonal columns of different norms, with q²/s from 10³ to 10⁻³ under noise of 1."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    ratio = 10.0 ** np.linspace(3, -3, m)
    weights = np.sqrt(ratio) * rng.choice([-1, 1], m)
    t = Q @ np.append(weights, rng.standard_normal(n - m))
    return Problem(Q[:, :m] * 10.0 ** rng.uniform(-3, 3, m), t, False)


@pytest.mark.parametrize("solver", [Sequential(), *SOLVERS], ids=lambda s: type(s).__name__)
def test_orthogonal_functions_have_their_closed_form(solver):
    """A function stays where q² > s, with α = s²/(q² − s); others do not raise the evidence."""
    for seed in range(3):
        problem = orthogonal(seed)
        s, q = (problem.Phi**2).sum(axis=0), problem.Phi.T @ problem.t
        found = solve(replace(solver, tol=1e-10), problem, Gaussian(1.0))
        kept = np.flatnonzero(q**2 > s)
        assert len(kept) == 12
        np.testing.assert_array_equal(found.active, kept)
        np.testing.assert_allclose(found.alpha, (s**2 / (q**2 - s))[kept], rtol=1e-6)
        residual = problem.t - problem.Phi[:, kept] @ found.posterior.mean[:, 0]
        left = np.setdiff1d(np.arange(24), kept)
        outside = problem.Phi[:, left].T @ residual
        assert (outside**2 < s[left]).all()  # App. B.1: ∂L/∂α > 0 at α = ∞


@pytest.mark.parametrize("prior", [(0.0, 0.0), (0.0, 3.0), (2.0, 3.0)])
def test_one_weight_has_the_best_precision_of_all(solver, prior, rng):
    """Eq. 36 of one function under known noise, over all α."""
    phi = rng.standard_normal((30, 1))
    problem = Problem(phi, 1.5 * phi[:, 0] + rng.standard_normal(30), False)
    a, b = prior

    def objective(log_alpha):
        alpha = np.exp([log_alpha])
        evidence = reference.log_evidence_dense(phi, problem.t, alpha, 1.0)
        return float(evidence + a * log_alpha - b * alpha[0])

    best = minimize_scalar(lambda x: -objective(x), bounds=(-10, 10), options={"xatol": 1e-10})
    found = solve(replace(solver, tol=1e-9, alpha_prior=Gamma(a, b)), problem, Gaussian(1.0))
    assert np.log(found.alpha) == pytest.approx(best.x, abs=1e-5)
    assert found.log_evidence == pytest.approx(-best.fun, rel=1e-9)


# The final check


def test_a_function_that_left_and_would_raise_the_evidence_comes_back(solver, monkeypatch):
    """App. B.1: here everything is far from all there is."""
    problem = orthogonal(0)
    inference = problem.exact(1.0)
    few = Hyperparameters(np.array([5, 20]), np.full(2, 10.0), inference.noise.beta_max)
    monkeypatch.setattr(BackwardSolver, "first_hyper", lambda self, model: few)
    s, q2 = (problem.Phi**2).sum(axis=0), (problem.Phi.T @ problem.t) ** 2
    gain = np.where(q2 > s, 0.5 * (q2 / s - 1 - np.log(q2 / s)), 0.0)
    active = set(solver.solve(inference).active)
    assert set(np.flatnonzero(gain > solver.tol)) <= active
    assert active <= set(np.flatnonzero(gain > 0))


def test_nothing_comes_back_where_no_precision_is_infinite(solver):
    """Footnote 7: with b > 0 weights become small, and functions stay."""
    problem = orthogonal(0)
    unit = 1 / (problem.Phi**2).sum(axis=0)
    scaled = Problem(problem.Phi * np.sqrt(unit), problem.t, False)
    found = solve(replace(solver, alpha_prior=Gamma(0.0, 0.01)), scaled, Gaussian(1.0))
    assert len(found.active) == 24
    assert found.alpha.max() < 1e3


def test_a_function_without_any_weight_leaves(solver):
    """Its MacKay update is infinite at once."""
    problem = orthogonal(0)
    t = (
        problem.t
        - problem.Phi[:, 3] * (problem.Phi[:, 3] @ problem.t) / (problem.Phi[:, 3] ** 2).sum()
    )
    found = solve(solver, Problem(problem.Phi, t, False), Gaussian(1.0))
    assert 3 not in found.active
    assert {0, 1, 2, 4} <= set(found.active)


# Limits and diagnoses


def test_only_one_start_is_offered(solver):
    with pytest.raises(ValueError, match=r"n_starts=2.*all functions"):
        replace(solver, n_starts=2)


@pytest.mark.parametrize("likelihood", [Gaussian(), Bernoulli()], ids=["noise", "classes"])
def test_max_iter_ends_the_fit_wherever_it_is(solver, likelihood):
    if isinstance(likelihood, Bernoulli):
        problem = laplace.smooth(likelihood, True, n=30)
        design, t = problem.design, problem.t
    else:
        problem = problems.smooth(True, n=30)
        design, t = problem.design, problem.t[:, None]
    enough = fit(likelihood, solver, design, t).n_iter
    for max_iter in (1, 2, enough // 2, enough, enough + 1):
        found = fit(likelihood, replace(solver, max_iter=max_iter), design, t)
        assert found.n_iter == min(max_iter, enough)
        assert np.isfinite(found.log_evidence)
        stopped = bool(found.warnings) and isinstance(found.warnings[0], ConvergenceWarning)
        assert stopped == found.status.text.startswith("stopped") == (max_iter < enough)


def test_noise_free_targets_are_reported(solver):
    problem = problems.smooth(True)
    free = Problem(problem.Phi, problem.Phi[:, [10, 25]] @ [1.0, -2.0], True)
    (note,) = solve(replace(solver, max_iter=2000), free).warnings
    assert isinstance(note, NoiseFloorWarning)
    assert not solve(solver, free, Gaussian(1e-3)).warnings


def test_models_without_functions_are_reported(solver, rng):
    problem = Problem(rng.standard_normal((30, 1)), np.ones(30) + 1e-3 * np.arange(30) % 2, True)
    found = solve(solver, problem, Gaussian(100.0))
    (note,) = found.warnings
    assert isinstance(note, EmptyModelWarning)
    assert not len(found.active)


@pytest.mark.parametrize("factor", [2.0**-60, 2.0**60])
def test_units_change_nothing(solver, factor):
    """With the rates of the priors in the units of weights and target."""
    plain, k = problems.smooth(True), np.array([factor, 1.0])
    prior = Gamma(0.5, 1e-3)
    one = replace(solver, alpha_prior=prior)
    expected = solve(one, plain, Gaussian(precision_prior=Gamma(2.0, 0.1)))
    for by_t, by_phi in (k, k[::-1]):
        weights = (by_t / by_phi) ** 2
        scaled = Problem(plain.Phi * by_phi, plain.t * by_t, True)
        noise = Gaussian(precision_prior=Gamma(2.0, 0.1 * by_t**2))
        other = replace(solver, alpha_prior=Gamma(0.5, 1e-3 * weights))
        found = solve(other, scaled, noise)
        np.testing.assert_array_equal(found.active, expected.active)
        np.testing.assert_allclose(found.alpha * weights, expected.alpha, rtol=1e-6)
        assert found.likelihood.noise_variance == pytest.approx(
            expected.likelihood.noise_variance * by_t**2, rel=1e-6
        )


# Hyperpriors


def regular(center):
    """Columns of unit norm, of which some have weights of about 40."""
    problem = problems.draw(np.random.default_rng(3), center, 40, 6)
    return Problem(problem.Phi / np.linalg.norm(problem.Phi, axis=0), problem.t, center)


def dense_objective(problem, solver, found, beta_prior):
    """Eq. 36 with dense matrices, in the users' units, over log α and then log β."""
    Phi = problem.Phi[:, found.active]
    alpha_prior = solver.alpha_prior

    def objective(x):
        alpha, beta = np.exp(x[:-1]), np.exp(x[-1])
        evidence = reference.log_evidence(Phi, problem.t, alpha, beta, fit_intercept=problem.center)
        terms = alpha_prior.shape * np.log(alpha).sum() - alpha_prior.rate * alpha.sum()
        return evidence + terms + beta_prior.shape * x[-1] - beta_prior.rate * beta

    return objective, np.log([*found.alpha, 1 / found.likelihood.noise_variance])


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize(
    ("alpha_prior", "beta_prior"),
    [(Gamma(), Gamma(4.0, 30.0)), (Gamma(0.5, 100.0), Gamma()), (Gamma(0.0, 50.0), Gamma(3.0))],
)
def test_the_objective_is_that_of_the_paper_and_at_rest(solver, alpha_prior, beta_prior, center):
    """Finite differences of eq. 36 with dense matrices."""
    problem = regular(center)
    solver = replace(solver, tol=1e-8, alpha_prior=alpha_prior)
    found = solve(solver, problem, Gaussian(precision_prior=beta_prior))
    objective, x = dense_objective(problem, solver, found, beta_prior)
    assert found.log_evidence == pytest.approx(objective(x), rel=1e-9)
    np.testing.assert_allclose(derivative(objective, x), 0, atol=1e-5)


@pytest.mark.parametrize("alpha_prior", [Gamma(0.5, 100.0), Gamma(0.0, 50.0)])
def test_precisions_and_noise_are_those_of_the_updates(solver, alpha_prior):
    """Eq. 44, 46, 48 and 50 with dense matrices, which all hold where eq. 36 is at rest."""
    problem = regular(False)
    c, d = 4.0, 30.0
    solver = replace(solver, tol=1e-9, alpha_prior=alpha_prior)
    found = solve(solver, problem, Gaussian(precision_prior=Gamma(c, d)))
    Phi, alpha, variance = (
        problem.Phi[:, found.active],
        found.alpha,
        found.likelihood.noise_variance,
    )
    covariance = np.linalg.inv(Phi.T @ Phi / variance + np.diag(alpha))
    mean = covariance @ Phi.T @ problem.t / variance
    gamma, a, b = 1 - alpha * covariance.diagonal(), alpha_prior.shape, alpha_prior.rate
    misfit = ((problem.t - Phi @ mean) ** 2).sum()
    np.testing.assert_allclose(alpha, (gamma + 2 * a) / (mean**2 + 2 * b), rtol=1e-5)
    square = mean**2 + covariance.diagonal()
    np.testing.assert_allclose(alpha, (1 + 2 * a) / (square + 2 * b), rtol=1e-5)
    by_mackay = (misfit + 2 * d) / (40 - gamma.sum() + 2 * c)
    by_em = (misfit + variance * gamma.sum() + 2 * d) / (40 + 2 * c)
    assert variance == pytest.approx(by_mackay, rel=1e-6)
    assert variance == pytest.approx(by_em, rel=1e-6)


def test_a_prior_of_precisions_that_targets_share_is_refused(solver):
    problem = problems.smooth(True)
    several = replace(solver, alpha_prior=Gamma(0.0, 1.0))
    with pytest.raises(ValueError, match=r"alpha_prior.*multi_output='independent'"):
        fit(Gaussian(), several, problem.design, np.column_stack([problem.t, problem.t**2]))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha_prior", [Gamma(), Gamma(0.0, 1e-3), Gamma(0.5, 1e-2)])
@pytest.mark.parametrize("solver", SOLVERS[1:], ids=["EM", "Variational"])
def test_no_pass_lowers_the_objective(solver, alpha_prior, seed):
    problem = problems.smooth(seed % 2 == 0, n=30, width=[0.8, 3.0][seed % 2], seed=seed)
    prior = Gamma(*[(0.0, 0.0), (2.0, 0.05)][seed % 2])
    found = solve(
        replace(solver, alpha_prior=alpha_prior), problem, Gaussian(precision_prior=prior)
    )
    trace = np.array([row.log_evidence for row in found.history])
    assert len(trace) > 10
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()


def test_a_pass_is_not_at_rest_where_the_noise_alone_has_to_move(rng):
    problem = Problem(rng.standard_normal((20, 1)), rng.standard_normal(20), False)
    model, solver = evidence_model(Gaussian(), problem.design, problem.t[:, None]), FixedPoint()
    best = np.array([20.0])  # the search scales targets to unit norm
    for beta, at_rest in [(best, True), (0.5 * best, False)]:
        state = replace(solver.init(model), hyper=Hyperparameters.empty(beta))
        after, _ = solver.update(model, state, rest=0.1)
        assert after.at_rest == at_rest
        np.testing.assert_allclose(after.hyper.beta, best)


class Thinned:
    """A posterior with three functions of which two are worth less than `tol`, by themselves.

    Without both the evidence is less by `loss`, and it may fall by `allowed` whatever goes.
    """

    def __init__(self, loss, allowed):
        self.log_evidence, self.allowed_decrease, self.loss = -10.0, allowed, loss
        self.hyper = Hyperparameters(np.arange(3), np.ones(3), np.ones(1))
        self.variances = 0.9 * np.eye(3)[None]
        self.means = np.array([[0.1, 3.0, 0.2]])[:, :, None]

    def keep(self, kept):
        np.testing.assert_array_equal(kept, [1])
        fewer = Thinned(0.0, self.allowed_decrease)
        fewer.log_evidence = self.log_evidence - self.loss
        return fewer


@pytest.mark.parametrize("allowed", [0.0, 0.5])
@pytest.mark.parametrize(("share", "goes"), [(-1.0, True), (0.99, True), (1.01, False)])
def test_thinning_costs_tol_a_function_at_most(allowed, share, goes):
    """Together functions may be worth more than each, as near copies of one another are."""
    solver = FixedPoint(tol=0.1)
    here = Thinned(share * (2 * solver.tol + allowed), allowed)
    assert (solver._without_copies(here) is not here) == goes
