"""The start from all functions of one precision, against dense matrices and on patterns."""

import numpy as np
import pytest

from relvec import RVC, RVR
from relvec._evidence.laplace_start import OUTPUT_VARIANCES, FrameModel, shared_precision_start
from relvec._evidence.low_rank_start import MIN_SWEEPS
from relvec.likelihoods import Bernoulli, Poisson
from tests.support import laplace

ONE_OUTPUT = pytest.mark.parametrize("likelihood", [Bernoulli(), Poisson()], ids=repr)
COPIES = pytest.mark.parametrize("copies", [False, True])


def independent(rng, likelihood, center, copies, m=4):
    """Functions that are all needed, and a frame that spans them."""
    Phi = rng.standard_normal((120, m)) * [1, 10, 0.1, 1]
    t = laplace.targets(likelihood, Phi @ [1.0, -0.15, 8.0, 1.0])
    counts = rng.integers(1, 4, 120).astype(float) if copies else None
    problem = laplace.LatentProblem(Phi, t, likelihood, center, counts)
    frame = problem.design.frame(problem.design.target(t[:, 0]))
    frame.span(np.arange(m))
    return problem, FrameModel.of(problem.design, t, likelihood, frame)


@ONE_OUTPUT
@COPIES
def test_evidence_in_a_frame_is_that_of_the_functions(rng, likelihood, center, copies):
    problem, model = independent(rng, likelihood, center, copies)
    alpha = np.exp(rng.normal(size=4))
    mode = model.mode(model.coords / np.sqrt(alpha), np.zeros((4, 1)), np.zeros(1))
    dense = problem.standard(range(4), alpha)
    assert mode.log_evidence == pytest.approx(dense.log_evidence, rel=1e-6)


@ONE_OUTPUT
@COPIES
def test_updates_from_the_best_shared_precision_are_mackays(rng, likelihood, center, copies):
    problem, model = independent(rng, likelihood, center, copies)
    per_row = problem.design.norm2.sum() / problem.design.total_weight
    shared = [np.full(4, per_row / variance) for variance in OUTPUT_VARIANCES]
    alpha = max(shared, key=lambda each: problem.standard(range(4), each).log_evidence)
    for _ in range(MIN_SWEEPS):
        dense = problem.standard(range(4), alpha)
        weights, variance = dense.joint[:4], dense.bend.inverse.diagonal()[:4]
        alpha = (1 - alpha * variance) / weights**2
    found = shared_precision_start(model, np.ones(1))
    assert list(found.active) == list(range(4))
    np.testing.assert_allclose(found.alpha, alpha, rtol=1e-5)


@ONE_OUTPUT
@COPIES
def test_evidence_of_fewer_functions_than_directions(rng, likelihood, center, copies):
    problem, model = independent(rng, likelihood, center, copies)
    alpha = np.exp(rng.normal(size=2))
    mode = model.mode(model.coords[:, :2] / np.sqrt(alpha), np.zeros((2, 1)), np.zeros(1))
    dense = problem.standard(range(2), alpha)
    assert mode.log_evidence == pytest.approx(dense.log_evidence, rel=1e-6)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_updates_that_leave_no_function_end():
    """Counts of one each: their log rate is zero without any function."""
    X = np.random.RandomState(0).normal(size=(2, 1))
    model = RVR(likelihood="poisson", fit_intercept=False).fit(X, [1.0, 1.0])
    np.testing.assert_array_equal(model.predict_latent(X), 0.0)


def stripes(n, frequency):
    x = np.linspace(-10, 10, n)[:, None]
    return x, (np.sin(frequency * x[:, 0]) > 0).astype(int)


def rings(n):
    X = np.random.RandomState(0).normal(size=(n, 2)) * 1.5
    return X, (np.linalg.norm(X, axis=1) % 2 > 1).astype(int)


def checkerboard(n):
    X = np.random.RandomState(0).uniform(0, 4, (n, 2))
    return X, np.floor(X).sum(axis=1).astype(int) % 2


@pytest.mark.parametrize(
    ("X", "labels"),
    [stripes(100, 1.0), stripes(200, 1.2), stripes(400, 1.0), rings(400), checkerboard(400)],
    ids=["stripes", "narrow stripes", "many rows", "rings", "checkerboard"],
)
def test_patterns_that_no_single_function_shows_are_found(X, labels):
    model = RVC().fit(X, labels)
    Phi = np.exp(-model.gamma_ * ((X[:, None] - X) ** 2).sum(axis=2))
    problem = laplace.LatentProblem(Phi, labels[:, None].astype(float), Bernoulli(), True)
    per_row = problem.design.norm2.sum() / len(X)
    shared = max(
        problem.inference.log_evidence(per_row / variance * problem.design.scale**-2.0)
        for variance in OUTPUT_VARIANCES
    )
    assert model.log_evidence_ > shared
    assert model.score(X, labels) > 0.95


def test_counts_of_stripes_are_found():
    x, high = stripes(200, 1.0)
    counts = np.random.RandomState(0).poisson(np.where(high, 8.0, 0.5))
    model = RVR(likelihood="poisson").fit(x, counts)
    assert np.mean((model.predict(x) > 3) == high) > 0.95
