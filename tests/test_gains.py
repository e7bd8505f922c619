"""What a function with several outputs is worth, against dense Gaussian models and fine grids.

A function with one output is tested in `test_evidence`.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from relvec._evidence.gains import (
    Block,
    best_addition,
    best_independent,
    deletion_cost,
    greedy_additions,
)
from relvec._numerics.groups import Groups
from tests.support.laplace import rise

#: Grid of log α on which ℓ is searched; its maxima are as wide as a logistic function or wider.
LOG_ALPHA = np.linspace(-25, 25, 5001)


def joint_block(S, Q):
    """Candidates whose weights for R outputs depend on each other: S (b, R, b, R), Q (b, R)."""
    groups = Groups(np.repeat(np.arange(len(Q)), Q.shape[1]))
    return Block(S.reshape(1, Q.size, Q.size).copy(), Q.reshape(1, -1), np.zeros((1, 1)), groups)


def best_by_grid(S, Q):
    """The highest place of a fine grid, improved between its neighbours; zero if none is higher."""
    value = rise(np.exp(LOG_ALPHA), S, Q)
    at = LOG_ALPHA[np.clip(value.argmax(), 1, len(value) - 2)]
    best = minimize_scalar(
        lambda x: -rise(np.exp([x]), S, Q)[0],
        bounds=(at - 0.01, at + 0.01),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return max(-best.fun, 0.0), np.exp(best.x)


def turned(rng, s, q):
    """S and Q with the eigenvalues s and, along the eigenvectors, the quality q."""
    axes = np.linalg.qr(rng.normal(size=(len(s), len(s))))[0]
    return (axes * s) @ axes.T, axes @ np.asarray(q)


def added(S, Q):
    gain, alpha = best_addition(np.array([S]), np.array([Q]), np.zeros(1))
    return gain[0], alpha[0]


def straight(rng, s, q):
    """The same along the axes, where eigenvalues keep their digits however they differ."""
    return np.diag(s), np.asarray(q)


def test_without_a_direction_that_has_digits_there_is_no_gain():
    gain, alpha = best_independent(np.zeros((3, 2)), np.ones((3, 2)), np.zeros(2))
    assert (gain == 0).all()
    assert np.isinf(alpha).all()


@pytest.mark.parametrize("outputs", [2, 3, 6])
@pytest.mark.parametrize(("spread", "lies"), [(0.3, turned), (2.0, turned), (5.0, straight)])
def test_best_addition_is_the_highest_place_of_a_grid(rng, outputs, spread, lies):
    """From candidates whose outputs are alike to those that differ by many orders of magnitude."""
    drawn = []
    for _ in range(40):
        s = np.exp(spread * rng.normal(size=outputs))
        drawn.append(lies(rng, s, np.sqrt(s) * np.exp(0.5 * spread * rng.normal(size=outputs))))
    S, Q = map(np.array, zip(*drawn, strict=True))
    gain, alpha = best_addition(S, Q, np.zeros(len(S)))
    expected = np.array([best_by_grid(*candidate) for candidate in drawn])
    np.testing.assert_allclose(gain, expected[:, 0], rtol=1e-9, atol=1e-7)
    clear = gain > 1e-3
    assert clear.sum() > 5
    np.testing.assert_allclose(alpha[clear], expected[clear, 1], rtol=1e-5)
    assert (np.isinf(alpha) == (gain == 0)).all()


def test_a_quality_that_is_less_than_the_sparsity_in_all_may_be_worth_nats(rng):
    """‖Q‖² = 14 < tr S = 101, and yet."""
    gain, alpha = added(*turned(rng, [1.0, 100.0], [14**0.5, 0.0]))
    assert gain == pytest.approx(1.8, abs=0.05)
    assert gain == pytest.approx(best_by_grid(*turned(rng, [1, 100], [14**0.5, 0]))[0], rel=1e-9)
    assert alpha < 1


@pytest.mark.parametrize(("first", "wide"), [(10.0, 0), (13.0, 0), (14.5, 1), (18.0, 1)])
def test_the_higher_of_two_maxima_is_found(rng, first, wide):
    """A wide prior suits the first output, a narrow one the second, and either may be higher."""
    S, Q = turned(rng, [1.0, 1e5], np.sqrt([first, 13e5]))
    value = rise(np.exp(LOG_ALPHA), S, Q)
    inner = value[1:-1]
    assert ((inner > value[:-2]) & (inner > value[2:])).sum() == 2
    gain, alpha = added(S, Q)
    expected = best_by_grid(S, Q)
    assert (alpha < 1) == wide
    assert gain == pytest.approx(expected[0], rel=1e-9)
    assert alpha == pytest.approx(expected[1], rel=1e-5)


@pytest.mark.parametrize("q2", [0.0, 0.5, 0.9999, 1.0001, 3.0, 1e6])
@pytest.mark.parametrize("outputs", [1, 2, 4])
def test_equal_outputs_have_the_closed_form_of_one(rng, outputs, q2):
    """With S = sI only the mean of q² counts: α = s²/(q² − s)."""
    s, direction = 5.0, rng.normal(size=outputs)
    Q = direction * np.sqrt(s * q2 * outputs) / np.linalg.norm(direction)
    gain, alpha = added(s * np.eye(outputs), Q)
    if q2 > 1:
        assert alpha == pytest.approx(s / (q2 - 1), rel=1e-4)
        expected = 0.5 * outputs * (q2 - 1 - np.log(q2))
        assert gain == pytest.approx(expected, rel=1e-6)
    else:
        assert (gain, alpha) == (0, np.inf)


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_direction_without_digits_counts_for_nothing(rng, outputs):
    s = np.full(outputs, 4.0)
    q = np.full(outputs, 6.0)
    s[0], q[0] = 1e-12, 1.0
    S, Q = turned(rng, s, q)
    floor = np.array([1e-9])
    gain, _ = best_addition(S[None], Q[None], floor)
    without, _ = best_addition(np.diag(s)[None], np.array([[0.0, *q[1:]]]), floor)
    assert gain == pytest.approx(without, rel=1e-6)


# Dense models


@dataclass(frozen=True)
class LinearPredictor:
    """Gaussian targets of several outputs a row, whose noise is correlated and differs by row."""

    Phi: np.ndarray
    t: np.ndarray
    noise: np.ndarray

    @classmethod
    def draw(cls, rng, n=12, m=6, outputs=3, size=3.0):
        Phi = rng.normal(size=(n, m)) + rng.normal(size=(n, 1))
        weights = size * rng.normal(size=(m, outputs)) * (np.arange(m) % 2 == 0)[:, None]
        noise = np.zeros((n * outputs, n * outputs))
        for row in range(n):
            root, at = (
                rng.normal(size=(outputs, outputs)),
                slice(row * outputs, (row + 1) * outputs),
            )
            noise[at, at] = root @ root.T + 0.3 * np.eye(outputs)
        t = (Phi @ weights).ravel() + np.linalg.cholesky(noise) @ rng.normal(size=n * outputs)
        return cls(Phi, t, noise)

    @property
    def outputs(self):
        return len(self.t) // len(self.Phi)

    def columns(self, active):
        return np.kron(self.Phi[:, active], np.eye(self.outputs))

    def covariance(self, active, alpha):
        columns = self.columns(active)
        return self.noise + (columns / np.repeat(alpha, self.outputs)) @ columns.T

    def evidence(self, active, alpha):
        return multivariate_normal.logpdf(self.t, cov=self.covariance(active, alpha))

    def factors(self, active, alpha, batch):
        """S between the candidates of a batch, (b, R, b, R), and Q."""
        precision = np.linalg.inv(self.covariance(active, alpha))
        columns, shape = self.columns(batch), (len(batch), self.outputs)
        S = (columns.T @ precision @ columns).reshape(*shape, *shape)
        return S, (columns.T @ precision @ self.t).reshape(shape)

    def posterior(self, active, alpha):
        """Covariance blocks times α and mean times √α of each function's weights."""
        columns, root = self.columns(active), np.repeat(np.sqrt(alpha), self.outputs)
        precision = np.linalg.inv(self.noise)
        V = np.linalg.inv(columns.T @ precision @ columns + np.diag(root**2))
        mean = root * (V @ columns.T @ precision @ self.t)
        each = np.arange(len(active))
        blocks = (V * np.outer(root, root)).reshape(len(each), self.outputs, len(each), -1)
        return blocks[each, :, each, :], mean.reshape(len(each), -1)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("outputs", [1, 2, 4])
def test_deletion_cost_is_the_fall_of_the_dense_evidence(rng, outputs, factor):
    problem, active = LinearPredictor.draw(rng, outputs=outputs), np.array([4, 0, 2, 5])
    alpha = factor * np.exp(rng.normal(size=4))
    cost = deletion_cost(*problem.posterior(active, alpha))
    with_all = problem.evidence(active, alpha)
    without = [problem.evidence(np.delete(active, i), np.delete(alpha, i)) for i in range(4)]
    np.testing.assert_allclose(cost, with_all - np.array(without), rtol=1e-8, atol=1e-9)


def test_best_addition_is_the_best_rise_of_the_dense_evidence(rng):
    problem, active, alpha = LinearPredictor.draw(rng), np.array([0]), np.array([0.5])
    batch = np.arange(1, 6)
    S, Q = problem.factors(active, alpha, batch)
    each = np.arange(len(batch))
    gain, best = best_addition(S[each, :, each, :], Q, np.zeros(len(batch)))
    before = problem.evidence(active, alpha)
    grid = np.exp(np.linspace(-6, 12, 300))
    for m, found, at in zip(batch, gain, best, strict=True):
        rise = max(problem.evidence([*active, m], [*alpha, value]) - before for value in grid)
        assert found == pytest.approx(max(rise, 0.0), abs=2e-3)
        if found:
            there = problem.evidence([*active, m], [*alpha, at]) - before
            assert there == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("threshold", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("outputs", [1, 2, 4])
def test_greedy_additions_are_each_the_exact_best(rng, outputs, threshold):
    """One at a time, with the factors of a dense covariance that has the earlier ones in it."""
    problem, batch = LinearPredictor.draw(rng, outputs=outputs), np.array([5, 3, 2, 1, 0])
    active, alpha, expected = [4], [2.0], []
    block = joint_block(*problem.factors(active, alpha, batch))
    chosen, at = greedy_additions(block, threshold)
    while len(expected) < len(batch):
        rest = [m for m in batch if m not in expected]
        S, Q = problem.factors(active, alpha, np.array(rest))
        worth = [best_by_grid(S[i, :, i], Q[i]) for i in range(len(rest))]
        best = int(np.argmax([gain for gain, _ in worth]))
        if worth[best][0] < threshold:
            break
        expected.append(rest[best])
        active, alpha = [*active, rest[best]], [*alpha, worth[best][1]]
    assert list(batch[chosen]) == expected
    np.testing.assert_allclose(at, alpha[1:], rtol=1e-4)


@pytest.mark.parametrize("outputs", [1, 3])
def test_greedy_additions_leave_copies_out(rng, outputs):
    """A function at its best precision leaves its copies nothing to add."""
    drawn = LinearPredictor.draw(rng, m=1, outputs=outputs)
    copies = LinearPredictor(drawn.Phi[:, [0, 0, 0]] * [1.0, -3.0, 0.1], drawn.t, drawn.noise)
    S, Q = copies.factors([], [], np.arange(3))
    chosen, _ = greedy_additions(joint_block(S, Q), 1e-3)
    assert len(chosen) == 1


@pytest.mark.parametrize("outputs", [1, 2, 5])
def test_outputs_that_share_a_precision_alone_are_a_special_case(rng, outputs):
    """A sparsity without entries between the outputs, in another axis of the rotation."""
    size = 6
    own = np.stack([X.T @ X for X in rng.standard_normal((outputs, 20, size))])
    Q = 10 * rng.standard_normal((outputs, size))
    S = np.zeros((size, outputs, size, outputs))
    for output in range(outputs):
        S[:, output, :, output] = own[output]
    gain, alpha = best_independent(own.diagonal(axis1=1, axis2=2).T, Q.T, np.zeros(outputs))
    each = np.arange(size)
    expected = best_addition(S[each, :, each], Q.T, np.zeros(size))
    np.testing.assert_allclose((gain, alpha), expected, rtol=1e-9)
    joint = greedy_additions(joint_block(S, Q.T), 0.1)
    chosen, at = greedy_additions(Block(own, Q, np.zeros((1, 1)), Groups(np.arange(size))), 0.1)
    assert len(chosen) > 1
    np.testing.assert_array_equal(chosen, joint[0])
    np.testing.assert_allclose(at, joint[1], rtol=1e-6)
