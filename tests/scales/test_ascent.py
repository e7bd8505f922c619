"""The evidence by scales and precisions: its gradient, groups of precisions, irrelevant inputs."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from relvec._evidence.hyperparameters import Hyperparameters
from relvec._fitting.data import TrainingData
from relvec._fitting.problem import FitConfig, Problem
from relvec._fitting.scale_ascent import ScaledEvidence, may_vanish, theta_of
from relvec._fitting.scales import groups_by_kernel
from relvec._runner.runner import Runner
from relvec.basis import RBF, Centers, Columns, Concatenate
from relvec.likelihoods import Bernoulli, Gaussian
from relvec.solvers import Sequential
from tests.support.differences import derivative


@pytest.fixture(scope="module")
def rows():
    """Two inputs in different units, a smooth function of the first, and copies of the rows."""
    rng = np.random.RandomState(3)
    X = rng.uniform(-3, 3, (30, 2)) * [1.0, 10.0]
    return X, np.sin(X[:, 0]) + 0.02 * X[:, 1], rng.randint(1, 3, 30).astype(float)


def evidence_of(rows, likelihood, *, weights=None, intercept=True):
    """Two outputs that share the scales of a mixed basis, with precisions that functions share."""
    X, f, copies = rows
    noisy = f + 0.3 * np.random.RandomState(4).standard_normal(30)
    binary = isinstance(likelihood, Bernoulli)
    t = {"a": (noisy > 0.1) if binary else noisy, "b": (f < 0.3) if binary else 2 - noisy**2}
    basis = Concatenate([Columns(), RBF(gamma="ard")])
    basis.place(X, Centers.on(X, np.array([2, 7, 11, 25])), None)
    targets = {name: value.astype(float)[:, None] for name, value in t.items()}
    data = TrainingData(X, targets, intercept, copies if weights else None)
    problem = Problem(data, likelihood, FitConfig(lambda design: Sequential(), 1000), Runner())
    beta = np.ones(1) if binary else np.array([90.0])
    outputs = [
        Hyperparameters(np.array([0, 2, 3, 5]), np.exp([0.5, -0.7]), beta, np.array([0, 1, 1, 1])),
        Hyperparameters(np.array([1, 4]), np.exp([3.0, 0.2]), 0.5 * beta),
    ]
    return ScaledEvidence(problem, basis, outputs)


def value_at(evidence, coordinates):
    """Log evidence where θ is the first two, then log α and log β of the first output."""
    return evidence.at(*np.split(coordinates, [2, 5])).value()


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("likelihood", [Gaussian(), Bernoulli()], ids=["gaussian", "bernoulli"])
def test_gradient_in_every_coordinate(rows, likelihood, intercept, weights):
    """Scales, shared precisions, noise of each output: all as finite differences say."""
    evidence = evidence_of(rows, likelihood, weights=weights, intercept=intercept)
    found = evidence.gradient()[1]
    expected = derivative(lambda point: value_at(evidence, point), evidence.coordinates)
    if isinstance(likelihood, Bernoulli):  # there is no noise to move
        noises = [4, 7]
        assert not found[noises].any()
        found, expected = np.delete(found, noises), np.delete(expected, noises)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_value_is_the_evidence_of_dense_formulas(rows):
    """Without an intercept, log N(t; 0, σ²I + ΦA⁻¹Φᵀ) of the target in the units of its design."""
    evidence = evidence_of(rows, Gaussian(), intercept=False)
    targets, expected = evidence.problem.data.targets.values(), 0.0
    for hyper, t in zip(evidence.outputs, targets, strict=True):
        unit, Phi = t[:, 0] / np.linalg.norm(t), evidence.Phi[:, hyper.active]
        C = np.eye(30) / hyper.beta[0] + (Phi / hyper.alpha[hyper.group]) @ Phi.T
        expected += multivariate_normal(np.zeros(30), C).logpdf(unit)
    assert evidence.value() == pytest.approx(expected, rel=1e-10)


def test_ascent_rises_and_holds_what_it_is_told_to(rows):
    """An ascent ends higher than it began, and scales that are held stay."""
    evidence = evidence_of(rows, Gaussian())
    value, there = evidence.ascended(15)
    assert value > evidence.value() + 1
    assert value == pytest.approx(there.value(), rel=1e-10)
    held, stayed = evidence.ascended(15, theta=False)
    assert evidence.value() < held < value
    np.testing.assert_array_equal(theta_of(stayed.basis), theta_of(evidence.basis))


def test_without_a_scale_its_input_does_not_matter(rows):
    """A scale of zero is a kernel of the other inputs."""
    evidence = evidence_of(rows, Gaussian())
    fewer = evidence.at(np.array([evidence.theta[0], -np.inf]))
    kernel = fewer.basis.parts_[1]
    assert kernel.gamma_[1] == 0
    assert kernel.gamma_[0] == pytest.approx(evidence.basis.parts_[1].gamma_[0])
    assert len(theta_of(fewer.basis)) == 1
    moved = evidence.problem.data.X * [1.0, 0.0] + [0.0, 7.0]
    np.testing.assert_allclose(kernel.evaluate(moved)[:, 0].max(), 1.0, rtol=0.2)
    assert np.isfinite(fewer.value())


def test_the_last_input_of_a_kernel_stays():
    """Zero may become the scale of an input beside another, and no other value."""
    X = np.random.RandomState(0).standard_normal((5, 2)) * [1.0, 0.0]
    kernels = [RBF("evidence"), RBF("ard"), Columns(), RBF(0.1)]
    basis = Concatenate(kernels).fit(np.hstack([X, X[::-1]]))
    np.testing.assert_array_equal(may_vanish(basis), [False, True, True])
    assert not may_vanish(Concatenate(kernels[1:]).fit(X)).any()


def test_functions_of_a_kernel_share_a_precision():
    """One a kernel, never one of two, and one for each other function."""
    X = np.arange(6.0)[:, None]
    basis = Concatenate([RBF(gamma=1.0), Columns(), RBF(gamma=0.1)]).fit(X)
    np.testing.assert_array_equal(groups_by_kernel(basis).label, [0] * 6 + [1] + [2] * 6)
    fewer = basis.restrict(np.array([0, 2, 8, 9]))  # none of the columns
    np.testing.assert_array_equal(groups_by_kernel(fewer).label, [0, 0, 1, 1])
