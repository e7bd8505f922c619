"""The evidence of Gaussian noise against dense matrices, finite differences and mpmath."""

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from relvec._evidence.gains import Block, best_addition, greedy_additions
from relvec._evidence.gaussian import (
    CandidateFactors,
    ExactState,
    ReducedData,
)
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._numerics.groups import Groups
from relvec._numerics.linalg import cholesky_of_gram
from tests.support import problems, reference
from tests.support.differences import derivative
from tests.support.problems import Problem

ACTIVE = np.array([4, 0, 2, 7])
BETA = 30.0


@pytest.fixture(params=[False, True], ids=["no intercept", "intercept"])
def problem(request, rng):
    return problems.draw(rng, request.param)


@pytest.fixture
def alpha(rng):
    return 10.0 ** rng.uniform(-2, 2, len(ACTIVE))


def sparsity_and_quality(problem, active, alpha, beta):
    """S between all candidates, and Q, from the inverse of C."""
    precision = np.linalg.inv(problem.covariance(active, alpha, beta))
    return problem.columns.T @ precision @ problem.columns, problem.columns.T @ precision @ (
        problem.target
    )


def hyperparameters(alpha, beta):
    """Precisions of the active functions, whichever they are, and of the noise."""
    return Hyperparameters(np.arange(len(alpha)), alpha, beta)


def posterior(data, alpha, beta):
    return ExactState(data, hyperparameters(alpha, beta))


# The weight posterior


@pytest.mark.parametrize("beta", [1e-2, 1.0, 1e5])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_log_evidence_is_the_density_of_the_target(problem, alpha, count, beta):
    active, alpha = ACTIVE[:count], alpha[:count]
    found = posterior(problem.data(active), alpha, beta).log_evidence
    assert found == pytest.approx(problem.evidence(active, alpha, beta), rel=1e-9)


@pytest.mark.parametrize("beta", [1e-2, 1.0, 1e5])
def test_posterior_is_that_of_equations_12_and_13(problem, alpha, beta):
    found = posterior(problem.data(ACTIVE), alpha, beta)
    mean, covariance = problem.posterior(ACTIVE, alpha, beta)
    root = np.sqrt(alpha)
    np.testing.assert_allclose(found.mean[:, 0], root * mean, rtol=1e-9)
    np.testing.assert_allclose(found.variances[0], np.outer(root, root) * covariance, rtol=1e-9)
    residual = problem.target - problem.columns[:, ACTIVE] @ mean
    assert found.misfit()[0] == pytest.approx(residual @ residual, rel=1e-9)
    np.testing.assert_allclose(
        found.well_determined(), 1 - alpha * covariance.diagonal(), rtol=1e-9
    )


def test_gradient_equals_differences_of_the_dense_evidence(problem, alpha):
    found = posterior(problem.data(ACTIVE), alpha, BETA).gradient()
    expected = derivative(
        lambda at: problem.evidence(ACTIVE, np.exp(at[:-1]), np.exp(at[-1])),
        np.log([*alpha, BETA]),
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("beta", [0.1, BETA, 1e4])
def test_hessian_equals_differences_of_the_gradient(problem, alpha, beta):
    data = problem.data(ACTIVE)

    def gradient(at):
        values, beta = np.exp(at[:-1]), np.exp(at[-1])
        return posterior(data, values, beta).gradient()

    found = posterior(data, alpha, beta).hessian()
    expected = derivative(gradient, np.log([*alpha, beta]))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
    np.testing.assert_array_equal(found, found.T)


def test_posterior_without_functions_has_a_gradient_in_the_noise_alone(problem):
    found = posterior(problem.data([]), np.empty(0), BETA)
    np.testing.assert_allclose(found.gradient(), [(problem.n - BETA) / 2])
    np.testing.assert_allclose(found.hessian(), [[-BETA / 2]])


# Additions and deletions


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
def test_deletion_cost_is_the_fall_of_the_dense_evidence(problem, alpha, factor):
    """Which is negative for most functions where the prior is too wide."""
    alpha = alpha * factor
    cost = posterior(problem.data(ACTIVE), alpha, BETA).deletion_costs()
    with_all = problem.evidence(ACTIVE, alpha, BETA)
    without = [
        problem.evidence(np.delete(ACTIVE, i), np.delete(alpha, i), BETA) for i in range(len(alpha))
    ]
    np.testing.assert_allclose(cost, with_all - np.array(without), atol=1e-11)
    assert (cost.mean() < 0) == (factor < 1)


@pytest.mark.parametrize("also", [[], [1, 8], [1, 3, 5, 6, 8]], ids=["none", "some", "every"])
def test_candidate_factors_equal_the_inverse_of_the_covariance(problem, alpha, also):
    """Whichever candidates the frame spans besides the active ones."""
    frame = problem.frame(ACTIVE, also)
    data = ReducedData.from_frame(frame, ACTIVE, problem.n)
    found = CandidateFactors.at(frame, data, hyperparameters(alpha, BETA))
    S, Q = sparsity_and_quality(problem, ACTIVE, alpha, BETA)
    np.testing.assert_allclose(found.S[0], S.diagonal(), rtol=1e-10)
    np.testing.assert_allclose(found.Q[0], Q, rtol=1e-9, atol=1e-11)
    batch = np.array([8, 3, 0, 1])
    block = found.block(frame.coords[:, batch], frame.residual(batch))
    np.testing.assert_allclose(block[0], S[np.ix_(batch, batch)], rtol=1e-9, atol=1e-11)


def test_factors_of_active_functions_follow_from_their_posterior(problem, alpha):
    """With s, q as if the function were out: s = 1/Σ_ii − α_i and q = μ_i/Σ_ii."""
    data = problem.data(ACTIVE)
    found = CandidateFactors.inside(data.R, data, hyperparameters(alpha, BETA))
    S, Q = found.S[0], found.Q[0]
    mean, covariance = problem.posterior(ACTIVE, alpha, BETA)
    variance = covariance.diagonal()
    np.testing.assert_allclose(S / alpha, 1 - alpha * variance, rtol=1e-9)
    np.testing.assert_allclose(Q / alpha, mean, rtol=1e-9)
    np.testing.assert_allclose(alpha * S / (alpha - S), 1 / variance - alpha, rtol=1e-9)
    np.testing.assert_allclose(alpha * Q / (alpha - S), mean / variance, rtol=1e-9)
    for i, place in enumerate(ACTIVE):
        out = sparsity_and_quality(problem, np.delete(ACTIVE, i), np.delete(alpha, i), BETA)
        assert alpha[i] * S[i] / (alpha[i] - S[i]) == pytest.approx(out[0][place, place], rel=1e-9)


def test_addition_gain_is_the_best_rise_of_the_dense_evidence(problem, alpha):
    frame, data = problem.frame(ACTIVE), problem.data(ACTIVE)
    factors = CandidateFactors.at(frame, data, hyperparameters(alpha, BETA))
    gain, _ = best_addition(factors.S[0][:, None, None], factors.Q[0][:, None], np.zeros(9))
    before = problem.evidence(ACTIVE, alpha, BETA)

    def rise(log_alpha, m):
        return problem.evidence([*ACTIVE, m], [*alpha, np.exp(log_alpha)], BETA) - before

    outside = [1, 3, 5, 6, 8]
    for m in outside:
        best = minimize_scalar(lambda at, m=m: -rise(at, m), bounds=(-10, 30), method="bounded")
        assert gain[m] == pytest.approx(-best.fun, abs=1e-8)
    assert gain[outside].min() == 0 < gain[outside].max(), "the draw has both kinds"


def greedy_by_brute_force(problem, active, alpha, beta, batch, threshold):
    """Each time the best of the batch by the dense evidence, at α = s²/(q² − s)."""
    active, alpha, chosen, at = list(active), list(alpha), [], []
    while True:
        S, Q = sparsity_and_quality(problem, active, alpha, beta)
        before, best = problem.evidence(active, alpha, beta), (threshold, None, None)
        for m in set(batch) - set(chosen):
            if Q[m] ** 2 > S[m, m]:
                value = S[m, m] ** 2 / (Q[m] ** 2 - S[m, m])
                after = problem.evidence([*active, m], [*alpha, value], beta)
                best = max(best, (after - before, m, value))
        if best[1] is None:
            return chosen, at
        chosen.append(best[1])
        at.append(best[2])
        active, alpha = [*active, best[1]], [*alpha, best[2]]


def added(block, Q, threshold):
    """Greedy additions of functions with one output."""
    floor = np.array([1e-12 * block.diagonal().max()])
    groups = Groups(np.arange(len(Q)))
    return greedy_additions(Block(block[None], Q[None], floor, groups), threshold)


@pytest.mark.parametrize("threshold", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("beta", [BETA, 3e3])
def test_greedy_additions_are_each_the_exact_best(problem, beta, threshold):
    active, alpha, batch = ACTIVE[:1], np.ones(1), np.array([8, 5, 3, 2, 1, 0])
    frame = problem.frame(active)
    factors = CandidateFactors.at(
        frame, ReducedData.from_frame(frame, active, problem.n), hyperparameters(alpha, beta)
    )
    block = factors.block(frame.coords[:, batch], frame.residual(batch))
    chosen, at = added(block[0], factors.Q[0, batch], threshold)
    expected = greedy_by_brute_force(problem, active, alpha, beta, batch, threshold)
    assert list(batch[chosen]) == expected[0]
    np.testing.assert_allclose(at, expected[1], rtol=1e-8)


def test_greedy_additions_leave_copies_out(rng):
    Phi, source = rng.standard_normal((30, 3)), np.array([0, 1, 0, 2, 1])
    copies = Problem(Phi[:, source] * [1, 1, -3, 1, 0.1], Phi.sum(axis=1), False)
    frame = copies.frame()
    factors = CandidateFactors.at(frame, copies.data([]), hyperparameters(np.empty(0), 1e3))
    block = factors.block(frame.coords, frame.residual(np.arange(5)))
    chosen, _ = added(block[0], factors.Q[0], 1e-3)
    assert sorted(source[chosen]) == [0, 1, 2]


# Digits


def nearly_collinear(gap):
    """Two functions that differ by `gap`, and a third; nothing is rescaled."""
    x = np.linspace(0.0, 1.0, 12)
    first, other = np.sin(3 * x), np.cos(5 * x)
    return Problem(np.column_stack([first, first + gap * other, x**2]), first - other, False)


def exact_sparsity(problem, beta, digits=60):
    """S/β of function 1 with function 0 active at α = 1, in many digits."""
    with mpmath.workdps(digits):
        columns = [[mpmath.mpf(v) for v in column] for column in problem.Phi[:, :2].T.tolist()]
        first, second = ([v / mpmath.norm(c) for v in c] for c in columns)
        inside = mpmath.fdot(first, second)
        return float(1 - inside**2 * beta / (1 + mpmath.mpf(beta)))


@pytest.mark.parametrize("beta", [1e2, 1e8, 1e14])
@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
def test_sparsity_of_a_near_copy_keeps_its_digits(gap, beta):
    """As a difference of Gram terms it would have none left at 1e-8 and less."""
    problem = nearly_collinear(gap)
    frame = problem.frame([0])
    data = ReducedData.from_frame(frame, np.array([0]), problem.n)
    factors = CandidateFactors.at(frame, data, hyperparameters(np.ones(1), beta))
    expected = exact_sparsity(problem, beta)
    near = np.array([1])
    block = factors.block(frame.coords[:, near], frame.residual(near))
    assert block[0, 0, 0] / beta == pytest.approx(expected, rel=1e-15 / gap)
    assert factors.S[0, 1] / beta == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("beta", [1e2, 1e6, 1e10, 1e14])
@pytest.mark.parametrize("gap", [1e-4, 1e-7, 1e-10])
def test_evidence_of_nearly_collinear_functions_keeps_its_digits(gap, beta):
    problem, every = nearly_collinear(gap), np.arange(3)
    alpha = np.array([1e-3, 1.0, 1e3])
    norm = np.linalg.norm(problem.Phi, axis=0)
    size = np.linalg.norm(problem.t)
    exact = reference.log_evidence_exact(
        problem.Phi, problem.t, alpha * (norm / size) ** 2, beta / size**2
    )
    found = posterior(problem.data(every), alpha, beta).log_evidence
    assert problem.exact().user_evidence(found) == pytest.approx(exact, rel=1e-8, abs=1e-8)


def test_the_factor_of_a_gram_matrix_falls_back_on_the_square_root():
    """Where I + DᵀD is no longer positive definite in float64."""
    root = 1e9 * nearly_collinear(1e-7).Phi
    with mpmath.workdps(60):
        D = mpmath.matrix(root.tolist())
        expected = mpmath.log(mpmath.det(mpmath.eye(3) + D.T * D))
    factor = cholesky_of_gram(root)
    assert 2 * np.log(factor.diagonal()).sum() == pytest.approx(float(expected), rel=1e-9)
