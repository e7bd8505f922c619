"""Modes, evidence and its slopes, and the candidates' factors: dense matrices and differences."""

from dataclasses import replace

import numpy as np
import pytest

from relvec._evidence.gains import best_addition, greedy_additions
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.mode import CLOSELY
from relvec.likelihoods import Bernoulli, Categorical, Poisson
from tests.support import laplace
from tests.support.differences import derivative
from tests.support.laplace import MODE, LatentProblem
from tests.test_gains import joint_block

ACTIVE = np.array([4, 0, 2])


@pytest.fixture
def hyper(rng):
    return Hyperparameters(ACTIVE, np.exp(rng.normal(size=3)) * 0.3)


@pytest.fixture
def point(problem, hyper):
    return problem.inference.at(hyper)


@pytest.fixture
def dense(problem, hyper):
    return problem.standard(hyper.active, hyper.alpha)


# The point


def test_mode_is_where_the_log_posterior_is_level(problem, hyper, point):
    """Σ slope φ = α w for every function and output, Σ slope = 0 for every level."""
    columns = problem.design.columns(ACTIVE)
    slope = problem.standard(ACTIVE, hyper.alpha).slope_at(
        columns @ point.weights + point.intercept
    )
    np.testing.assert_allclose(columns.T @ slope, hyper.alpha[:, None] * point.weights, **MODE)
    if problem.center:
        np.testing.assert_allclose(slope.sum(axis=0), 0, **MODE)
    else:
        assert not point.intercept.any()


def test_mode_and_variance_are_the_dense_ones(hyper, point, dense):
    root, outputs = np.sqrt(hyper.alpha)[:, None], dense.bend.outputs
    np.testing.assert_allclose(point.weights, dense.weights, **MODE)
    np.testing.assert_allclose(point.intercept, dense.level, **MODE)
    np.testing.assert_allclose(point.mean, root * dense.weights, **MODE)
    each = np.repeat(root, outputs)
    covariance = dense.bend.inverse[: len(each), : len(each)]
    np.testing.assert_allclose(point.variances[0], np.outer(each, each) * covariance, **MODE)
    determined = 1 - (each**2 * covariance.diagonal()).reshape(-1, outputs).mean(axis=1)
    np.testing.assert_allclose(point.well_determined(), determined, **MODE)


def test_log_evidence_is_the_dense_one(point, dense):
    assert point.log_evidence == pytest.approx(dense.log_evidence, abs=1e-6)


def test_a_mode_found_from_elsewhere_is_the_same(problem, hyper, point, rng):
    far = problem.inference.at(Hyperparameters(np.array([1, 2, 0, 6]), np.full(4, 1e-3)))
    for found in (
        problem.inference.at(hyper, far.warm_start()),
        problem.inference.at(replace(hyper, alpha=1e4 * hyper.alpha)).move(hyper),
        problem.inference.at(hyper.add(np.array([5]), np.array([0.1]))).keep(np.arange(3)),
    ):
        np.testing.assert_array_equal(found.hyper.active, ACTIVE)
        assert found.log_evidence == pytest.approx(point.log_evidence, abs=CLOSELY)
        np.testing.assert_allclose(found.weights, point.weights, rtol=1e-3, atol=1e-4)


def test_gradient_and_hessian_are_those_for_a_curvature_that_stays(problem, hyper, point):
    """Of the Gaussian evidence of the working targets y + B⁻¹ slope: −½ log|C| − ½ t̂ᵀC⁻¹t̂."""
    bend, slope = problem.standard(ACTIVE, hyper.alpha).bend, point.mode.gradient.ravel()
    y = bend.products(bend.joined, bend.joined) @ np.append(
        point.weights.ravel(), point.intercept if problem.center else []
    )
    seen = np.einsum("nra,nr->a", bend.joined, slope.reshape(len(point.mode.gradient), -1)) + y

    def evidence(log_alpha):
        at = replace(bend, alpha=np.exp(log_alpha))
        log_det = np.linalg.slogdet(at.matrix)[1] - log_alpha.sum() * bend.outputs
        return 0.5 * (seen @ at.inverse @ seen - log_det)

    expected = derivative(evidence, np.log(hyper.alpha))
    np.testing.assert_allclose(point.gradient(), expected, rtol=1e-6, atol=1e-7)
    curved = derivative(lambda at: derivative(evidence, at), np.log(hyper.alpha))
    np.testing.assert_allclose(point.hessian(), curved, rtol=1e-5, atol=1e-6)


def test_gradient_is_zero_where_mackays_updates_stay(problem):
    """Eq. 16, the α of several outputs shared."""
    active, mode = laplace.top_down(problem, tol=1e-4)
    alpha = mode.alpha / problem.design.scale[active] ** 2
    found = problem.inference.at(Hyperparameters(active, alpha))
    assert len(active)
    np.testing.assert_allclose(found.gradient(), 0, atol=1e-3)
    assert found.log_evidence == pytest.approx(mode.log_evidence, abs=1e-6)


def test_evidence_slope_is_the_derivative_of_the_evidence(problem, hyper, point):
    """Of the evidence of Laplace's method itself, whose curvature moves with the mode."""

    def evidence(log_alpha):
        return problem.inference.at(replace(hyper, alpha=np.exp(log_alpha))).log_evidence

    expected = derivative(evidence, np.log(hyper.alpha), 1e-2)
    found = point.evidence_gradient()
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.abs(found - point.gradient()).max() > 1e-3, "a curvature that stays is another slope"


# The candidates


def test_factors_are_the_dense_ones(problem, point, dense):
    columns = problem.design.columns(slice(None))
    S, Q, _, floor = problem.inference.scores(point).factors(slice(None))
    every = np.arange(len(S))
    expected = dense.bend.sparsity(columns)[every, :, every, :]
    np.testing.assert_allclose(S, expected, **MODE)
    np.testing.assert_allclose(Q, dense.quality(columns), **MODE)
    assert (floor < 1e-6 * np.einsum("mrr->m", S)).all()


def test_slope_of_a_candidate_at_infinite_precision(problem, hyper, point):
    """½(‖Q‖² − tr S) − ½Qᵀu is ∂L/∂(1/α): forward differences of the evidence with it added."""
    outside = np.array([1, 3, 5, 6])
    S, Q, u = (f[outside] for f in problem.inference.scores(point).factors(slice(None))[:3])
    found = 0.5 * (np.einsum("mr,mr->m", Q, Q - u) - np.einsum("mrr->m", S))

    def rise(m, inverse):
        more = hyper.add(np.array([m]), np.array([1 / inverse]))
        return problem.inference.at(more).log_evidence - point.log_evidence

    for m, s, slope in zip(outside, np.einsum("mrr->m", S), found, strict=True):
        step = 1e-3 / s
        values = np.array([rise(m, k * step) for k in range(1, 6)])
        # Forward differences of fifth order, of a function that is zero at zero.
        expected = values @ [5, -5, 10 / 3, -5 / 4, 1 / 5] / step
        assert slope == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_gain_is_that_of_the_factors(problem):
    point = problem.inference.at(Hyperparameters(ACTIVE[:1], np.ones(1)))
    scores = problem.inference.scores(point)
    S, Q, _, floor = scores.factors(slice(None))
    expected, _ = best_addition(S, Q, floor)
    expected[ACTIVE[0]] = 0.0
    np.testing.assert_allclose(scores.gain, expected, rtol=1e-9)
    assert (scores.gain > 0).any()


@pytest.mark.parametrize(
    ("likelihood", "seed", "active", "candidate"),
    [
        (Bernoulli(), 19, [4, 0, 2], 6),
        (Poisson(), 18, [0], 3),
        (Categorical(3), 25, [4, 0, 2], 3),
    ],
    ids=str,
)
def test_a_candidate_is_worth_nothing_where_the_evidence_itself_falls(
    likelihood, seed, active, candidate
):
    """Though a curvature that stays promises a rise from infinite precision on."""
    problem = laplace.draw(np.random.default_rng(seed), likelihood, True)
    hyper = Hyperparameters(np.array(active), np.full(len(active), 0.1))
    point = problem.inference.at(hyper)
    scores = problem.inference.scores(point)
    S, Q, _, _ = scores.factors(slice(None))
    assert Q[candidate] @ Q[candidate] > np.trace(S[candidate])
    for precision in np.trace(S[candidate]) * 10.0 ** np.arange(-2, 5):
        more = hyper.add(np.array([candidate]), np.array([precision]))
        assert problem.inference.at(more).log_evidence < point.log_evidence
    assert scores.gain[candidate] == 0


@pytest.mark.parametrize(("here", "elsewhere"), [(6, 9), (7, 12), (8, 16)])
def test_several_outputs_may_be_worth_nats_though_not_at_infinite_precision(here, elsewhere):
    """A function for a rare class, beside two that are equally common: ‖Q‖² is less than tr S."""
    codes = np.arange(1000) % 2
    codes[:here], codes[100 : 100 + elsewhere] = 2, 2
    indicator = (np.arange(1000) < 100).astype(float)[:, None]
    problem = LatentProblem(indicator, np.eye(3)[codes], Categorical(3), True)
    nothing = problem.inference.at(Hyperparameters.empty(1.0))
    scores = problem.inference.scores(nothing)
    S, Q, _, _ = scores.factors(slice(None))
    assert Q[0] @ Q[0] < np.trace(S[0])
    with_it = [
        problem.inference.at(Hyperparameters(np.array([0]), np.array([alpha]))).log_evidence
        for alpha in np.exp(np.linspace(-6, 1, 30))
    ]
    assert max(with_it) > nothing.log_evidence + 0.5
    assert scores.gain[0] > 0.5


def test_additions_are_each_the_best_for_the_curvature_of_the_point(problem, point, dense):
    """Given the earlier ones."""
    batch = np.array([6, 5, 3, 1])
    columns = problem.design.columns(batch)
    S, Q = dense.bend.sparsity(columns), dense.quality(columns)
    for threshold in (1e-3, 0.5):
        expected, alpha = greedy_additions(joint_block(S, Q), threshold)
        chosen, found = problem.inference.scores(point).additions(batch, threshold)
        np.testing.assert_array_equal(chosen, batch[expected])
        np.testing.assert_allclose(found, alpha, rtol=1e-5)


# What must not matter


def test_units_of_the_columns_change_nothing(problem, hyper):
    factor = 2.0 ** np.arange(-30, 40, 10)
    moved = replace(problem, Phi=problem.Phi * factor)
    one, other = (p.inference.at(hyper) for p in (problem, moved))
    assert other.log_evidence == one.log_evidence
    np.testing.assert_array_equal(other.weights, one.weights)
    user = hyper.alpha * problem.design.scale[ACTIVE] ** 2
    expected = problem.dense(ACTIVE, user).log_evidence
    assert one.log_evidence == pytest.approx(expected, abs=1e-6)


def test_offsets_of_the_columns_change_nothing_beside_an_intercept(rng, likelihood):
    problem = laplace.draw(rng, likelihood, True)
    moved = replace(problem, Phi=problem.Phi + 3 * np.abs(problem.Phi).max(axis=0))
    hyper = Hyperparameters(ACTIVE, np.ones(3))
    one, other = (p.inference.at(hyper) for p in (problem, moved))
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-6)
    np.testing.assert_allclose(other.weights, one.weights, **MODE)


def test_weights_are_copies_of_rows(rng, likelihood, center):
    problem = laplace.draw(rng, likelihood, center)
    copies = rng.integers(1, 4, len(problem.t))
    weighted = replace(problem, copies=copies.astype(float))
    repeated = replace(
        problem, Phi=np.repeat(problem.Phi, copies, axis=0), t=np.repeat(problem.t, copies, axis=0)
    )
    hyper = Hyperparameters(ACTIVE, np.array([0.3, 2.0, 0.1]))
    one, other = (p.inference.at(hyper) for p in (weighted, repeated))
    assert weighted.inference.n == repeated.inference.n
    assert one.log_evidence == pytest.approx(other.log_evidence, rel=1e-12)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one.variances[0], other.variances[0], rtol=1e-8, atol=1e-10)
    scans = weighted.inference.scores(one), repeated.inference.scores(other)
    for left, right in zip(*(scores.factors(slice(None)) for scores in scans), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(scans[0].gain, scans[1].gain, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_a_likelihood_to_a_power_is_one_of_weighted_rows(rng, likelihood, center, power):
    """The precisions stay those of the columns as they are standardised without the power."""
    problem = laplace.draw(rng, likelihood, center)
    weighted = replace(problem, copies=np.full(len(problem.t), power))
    alpha = np.array([0.3, 2.0, 0.1])
    found = problem.inference.at(Hyperparameters(ACTIVE, alpha, power))
    expected = weighted.dense(ACTIVE, alpha * problem.design.scale[ACTIVE] ** 2)
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-6)
    scores = problem.inference.scores(found)
    S, Q, _, _ = scores.factors(slice(None))
    columns, every = problem.design.columns(slice(None)), np.arange(7)
    np.testing.assert_allclose(Q, expected.quality(columns), **MODE)
    dense_S = expected.bend.sparsity(columns)[every, :, every, :]
    np.testing.assert_allclose(S, dense_S, **MODE)
