"""Several targets with one α a function, against the densities of each by itself."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relvec._design import DenseDesign, Target
from relvec._evidence.exact import ExactEvidence
from relvec._evidence.gains import deletion_cost, kept_after_deletions
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.low_rank_start import MIN_SWEEPS, mackay_iterations
from relvec._evidence.noise import Noise
from relvec._numerics.priors import Gamma
from relvec.likelihoods import Gaussian
from relvec.solvers.newton import newton_ascent
from tests.support import problems
from tests.support.differences import derivative
from tests.support.problems import Problem

ACTIVE, ALPHA = np.array([7, 0, 5]), np.array([2.0, 0.5, 30.0])
BETA = np.array([60.0, 3e3, 8.0])


@pytest.fixture(params=[False, True], ids=["no intercept", "intercept"])
def parts(request, rng):
    """The same candidates with three targets, a problem each."""
    first = problems.draw(rng, request.param)
    others = [first.Phi @ rng.standard_normal(9) / 50 + rng.standard_normal(15) for _ in range(2)]
    return [Problem(first.Phi, t, first.center) for t in (first.t, *others)]


@pytest.fixture
def inference(parts):
    return together(parts)


def together(parts, likelihood=Gaussian()):  # noqa: B008
    return ExactEvidence(parts[0].design, np.column_stack([part.t for part in parts]), likelihood)


def evidence(parts, hyper):
    """Sum of the dense log densities."""
    pairs = zip(parts, hyper.beta, strict=True)
    return sum(part.evidence(hyper.active, hyper.alpha, beta) for part, beta in pairs)


def test_targets_are_standardised_one_by_one(parts):
    design = parts[0].design
    joint = Target.of(np.stack([part.t for part in parts], axis=1), design)
    for name in ("values", "center", "scale", "variance"):
        alone = np.stack([getattr(part.standard, name) for part in parts], axis=-1)
        assert_allclose(getattr(joint, name), alone, rtol=1e-14)


@pytest.mark.parametrize("copies", [None, np.arange(1.0, 16.0)])
def test_frames_of_the_targets_are_those_of_each_alone(parts, copies):
    design = DenseDesign(parts[0].Phi.copy(), center=parts[0].center, weights=copies)
    frame = design.frame(Target.of(np.stack([part.t for part in parts], axis=1), design))
    frame.span(np.array([1, 5]))
    frame.span(np.array([3]))
    for target, part in enumerate(parts):
        alone = design.frame(Target.of(part.t, design))
        alone.span(np.array([1, 5]))
        alone.span(np.array([3]))
        for name in ("coords", "residual_norm2"):
            assert_allclose(getattr(frame, name), getattr(alone, name), atol=1e-13, err_msg=name)
        for name in ("target", "residual_dot", "residual_target"):
            own = getattr(frame, name)[target]
            assert_allclose(own, getattr(alone, name), atol=1e-13, err_msg=name)


def test_evidence_and_posterior_are_those_of_every_target(parts, inference):
    hyper = Hyperparameters(ACTIVE, ALPHA, BETA)
    point = inference.at(hyper)
    assert point.log_evidence == pytest.approx(evidence(parts, hyper), rel=1e-10)
    for target, (part, beta) in enumerate(zip(parts, BETA, strict=True)):
        mean, covariance = part.posterior(ACTIVE, ALPHA, beta)
        assert_allclose(point.mean[:, target] / np.sqrt(ALPHA), mean, rtol=1e-8)
        own = point.variances[target] / np.sqrt(np.outer(ALPHA, ALPHA))
        assert_allclose(own, covariance, rtol=1e-8)
        determined = 1 - ALPHA * covariance.diagonal()
        assert_allclose(point.determined()[:, target], determined, rtol=1e-8)
        assert point.used()[target] == pytest.approx(determined.sum())


def test_equal_noises_share_a_factor_and_nothing_changes(inference):
    point = inference.at(Hyperparameters(ACTIVE, ALPHA, np.full(3, 60.0)))
    near = inference.at(Hyperparameters(ACTIVE, ALPHA, 60.0 * (1 + 1e-12 * np.arange(3))))
    assert point.roots[0] is point.roots[2]
    assert_allclose(point.mean, near.mean, rtol=1e-9)
    assert point.log_evidence == pytest.approx(near.log_evidence, rel=1e-9)


@pytest.mark.parametrize("prior", [Gamma(), Gamma(2.0, 0.01)])
def test_gradient_and_hessian_are_the_derivatives(parts, prior):
    inference = together(parts, Gaussian(precision_prior=prior))

    def at(logs):
        return inference.at(Hyperparameters(ACTIVE, np.exp(logs[:3]), np.exp(logs[3:])))

    logs = np.log([*ALPHA, *BETA])
    slope = derivative(lambda logs: at(logs).log_evidence, logs)
    assert_allclose(at(logs).gradient(), slope, rtol=1e-5, atol=1e-6)
    second = derivative(lambda logs: at(logs).gradient(), logs)
    assert_allclose(at(logs).hessian(), second, rtol=1e-6, atol=1e-7)
    assert_array_equal(at(logs).hessian()[3:, 3:][~np.eye(3, dtype=bool)], 0)


def test_function_slope_is_the_derivative_in_the_columns(parts):
    hyper = Hyperparameters(np.arange(9), np.geomspace(0.1, 30, 9), BETA)
    inference = together(parts).all_active()
    slope = inference.function_slope(inference.at(hyper))
    raw = hyper.alpha * parts[0].design.scale ** 2  # held, as the columns change

    def moved(n, m, by):
        Phi = parts[0].Phi.copy()
        Phi[n, m] += by
        pairs = [Problem(Phi, part.t, part.center) for part in parts]
        design = pairs[0].design
        return evidence(pairs, Hyperparameters(np.arange(9), raw / design.scale**2, BETA))

    for n, m in ((0, 0), (3, 4), (14, 8)):
        expected = derivative(partial(moved, n, m), 0.0, 1e-3 * parts[0].design.scale[m])
        assert slope[n, m] == pytest.approx(expected, rel=1e-5)


def test_gains_and_deletions_are_differences_of_the_evidence(parts, inference):
    hyper = Hyperparameters(ACTIVE, ALPHA, BETA)
    point, here = inference.at(hyper), evidence(parts, hyper)
    costs = point.deletion_costs()
    for i in range(3):
        fewer = hyper.keep(np.delete(np.arange(3), i))
        assert costs[i] == pytest.approx(here - evidence(parts, fewer), rel=1e-8)
    blocks = np.stack([np.diag(of_each) for of_each in point.variances.diagonal(0, 1, 2).T])
    assert_allclose(deletion_cost(blocks, point.mean), costs, rtol=1e-10)
    scores = inference.scores(point)
    grid = np.geomspace(1e-6, 1e9, 600)
    for m in np.setdiff1d(np.arange(9), ACTIVE):
        longer = [evidence(parts, hyper.add([m], [alpha])) for alpha in grid]
        assert scores.gain[m] == pytest.approx(max(0, max(longer) - here), rel=1e-2, abs=1e-4)


def test_additions_raise_the_evidence_by_their_gains(parts, inference):
    hyper = Hyperparameters(ACTIVE[:1], ALPHA[:1], BETA)
    scores = inference.scores(inference.at(hyper))
    best = scores.gain.argmax()
    chosen, alpha = scores.additions(np.array([1, best, 3]), 1e-3)
    one = hyper.add(chosen[:1], alpha[:1])
    assert chosen[0] == best
    risen = evidence(parts, one) - evidence(parts, hyper)
    assert risen == pytest.approx(scores.gain[best], rel=1e-6)
    assert evidence(parts, hyper.add(chosen, alpha)) >= evidence(parts, one)


def test_functions_go_as_with_each_posterior_recomputed(inference):
    """Where the data determine none of them, so that no digits are lost on the way."""
    hyper = Hyperparameters(np.arange(9), np.geomspace(1e1, 1e4, 9), np.array([5.0, 20.0, 1.0]))
    point = inference.at(hyper)
    which = kept_after_deletions(point.variances, point.means, hyper, 0.05)
    slow = point
    while slow.deletion_costs().min() < 0.05:
        rest = np.arange(len(slow.hyper.alpha)) != slow.deletion_costs().argmin()
        slow = slow.keep(np.flatnonzero(rest))
    assert 0 < len(which) < 8
    assert_array_equal(hyper.active[which], slow.hyper.active)


def test_climb_ends_where_the_evidence_of_all_is_level(parts, inference):
    begun = inference.at(Hyperparameters(np.array([0, 2, 5]), np.ones(3), np.full(3, 100.0)))
    top = newton_ascent(begun, inference.n, inference.noise, 1e-6, inference.thorough)
    assert_allclose(top.gradient(), 0, atol=1e-4)
    assert top.log_evidence > begun.log_evidence
    residuals = inference.n - top.used() - top.hyper.beta * top.misfit()  # eq. 18 of every noise
    assert_allclose(residuals, 0, atol=1e-3)


def test_noises_that_are_held_at_their_ceilings_do_not_move_the_others(inference):
    begun = inference.at(Hyperparameters(np.array([0, 2, 5]), np.ones(3), np.full(3, 5.0)))
    free = newton_ascent(begun, inference.n, inference.noise, 1e-6, inference.thorough)
    ceiling = np.array([free.hyper.beta[0] / 2, 1e8, 1e8])
    top = newton_ascent(begun, inference.n, Noise(False, ceiling), 1e-6, inference.thorough)
    assert top.hyper.beta[0] == ceiling[0]
    first = len(top.hyper.alpha)
    assert top.gradient()[first] > 1, "it wants to rise"
    assert_allclose(np.delete(top.gradient(), first), 0, atol=1e-4)


def test_sweeps_are_mackays_updates_with_the_sums_over_the_targets(parts):
    parts = [Problem(part.Phi[:, [0, 2, 5]], part.t, part.center) for part in parts]
    inference, every = together(parts), np.arange(3)
    frame = inference.design.frame(inference.target)
    frame.span(every)
    alpha, beta = np.full(3, 3.0), 100 / inference.target.variance
    every_one = Hyperparameters(every, alpha, beta)
    found = mackay_iterations(frame, every_one, inference.n, Noise(False, np.full(3, 1e8)))
    for _ in range(MIN_SWEEPS):
        moments = [p.posterior(every, alpha, b) for p, b in zip(parts, beta, strict=True)]
        gammas = np.array([1 - alpha * covariance.diagonal() for _, covariance in moments])
        means = np.array([mean for mean, _ in moments])
        residuals = [p.target - p.columns @ m for p, m in zip(parts, means, strict=True)]
        alpha = gammas.sum(axis=0) / (means**2).sum(axis=0)
        beta = (inference.n - gammas.sum(axis=1)) / np.array([r @ r for r in residuals])
    assert_array_equal(found.active, every)
    assert_allclose(found.alpha, alpha, rtol=1e-7)
    assert_allclose(found.beta, beta, rtol=1e-7)


def test_what_is_reported_is_of_the_raw_targets(parts, inference):
    accepted = inference.finalize(Hyperparameters(ACTIVE, ALPHA, BETA))
    alone = [
        part.exact().finalize(Hyperparameters(ACTIVE, ALPHA, beta))
        for part, beta in zip(parts, BETA, strict=True)
    ]
    for target, (posterior, one) in enumerate(zip(accepted.posterior.parts, alone, strict=True)):
        assert_allclose(accepted.alpha[target], one.alpha, rtol=1e-12)
        assert_allclose(accepted.well_determined[target], one.well_determined, rtol=1e-9)
        noise = accepted.likelihood.of_target(target).noise_variance
        assert noise == pytest.approx(one.likelihood.noise_variance, rel=1e-12)
        for name in ("mean", "root", "center", "level", "level_covariance"):
            assert_allclose(getattr(posterior, name), getattr(one.posterior, name), rtol=1e-9)
    assert accepted.log_evidence == pytest.approx(sum(one.log_evidence for one in alone), rel=1e-10)
    kept = DenseDesign(parts[0].Phi[:, accepted.active].copy(), center=parts[0].center)
    targets = np.column_stack([part.t for part in parts])
    again = ExactEvidence(kept, targets, accepted.likelihood).log_evidence(accepted.alpha)
    assert again == pytest.approx(accepted.log_evidence, rel=1e-10)
