"""Laplace's method where the rows are elsewhere: it gets sums of blocks, and the same results."""

from dataclasses import replace

import numpy as np
import pytest

from relvec._design.base import EVERY
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.laplace import LaplaceEvidence
from relvec._evidence.variational import BoundEvidence
from relvec.likelihoods import Bernoulli
from tests.support import laplace
from tests.support.scattered import Scattered

SAME = {"rtol": 1e-10, "atol": 1e-10}
ACTIVE, ALPHA = np.array([4, 0, 2]), np.array([0.3, 2.0, 0.05])


def elsewhere(problem, kind=LaplaceEvidence):
    """The same inference with the rows in blocks of seven."""
    design = Scattered(problem.design)
    return kind(design, design.scatter(problem.t), problem.likelihood)


def assert_same(one, other):
    """Two points."""
    assert other.log_evidence == pytest.approx(one.log_evidence, rel=1e-12, abs=1e-10)
    for name in ("weights", "intercept", "mean", "variances"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name), **SAME, err_msg=name)
    for name in ("gradient", "evidence_gradient", "hessian", "deletion_costs"):
        found, expected = getattr(other, name)(), getattr(one, name)()
        np.testing.assert_allclose(found, expected, **SAME, err_msg=name)


def test_points_are_the_same(problem):
    here, there = problem.inference, elsewhere(problem)
    one, other = (inference.at(Hyperparameters(ACTIVE, ALPHA)) for inference in (here, there))
    assert_same(one, other)
    assert_same(one.keep(np.array([2, 0])), other.keep(np.array([2, 0])))
    moved = Hyperparameters(ACTIVE, 3 * ALPHA)
    assert_same(one.move(moved), other.move(moved))
    more = Hyperparameters(np.array([0, 5, 4]), ALPHA)
    assert_same(here.at(more, one.warm_start()), there.at(more, other.warm_start()))
    assert_same(*(inference.at(Hyperparameters.empty(1.0)) for inference in (here, there)))
    np.testing.assert_allclose(
        there.design.gather(there.function_slope(other)), here.function_slope(one), **SAME
    )


def test_scans_are_the_same(problem):
    scans = [
        inference.scores(inference.at(Hyperparameters(ACTIVE[:1], ALPHA[:1])))
        for inference in (problem.inference, elsewhere(problem))
    ]
    assert (scans[0].gain > 0).any()
    np.testing.assert_allclose(scans[1].gain, scans[0].gain, **SAME)
    for found, expected in zip(*(scores.factors(EVERY) for scores in scans), strict=True):
        np.testing.assert_allclose(found, expected, **SAME)
    batch = np.array([6, 5, 3, 1])
    (chosen, alpha), (expected, their_alpha) = (scores.additions(batch, 1e-3) for scores in scans)
    np.testing.assert_array_equal(chosen, expected)
    np.testing.assert_allclose(alpha, their_alpha, rtol=1e-9)


def test_what_is_reported_is_the_same(problem):
    one, other = (
        inference.finalize(Hyperparameters(ACTIVE, ALPHA))
        for inference in (problem.inference, elsewhere(problem))
    )
    assert other.log_evidence == pytest.approx(one.log_evidence, rel=1e-12, abs=1e-10)
    np.testing.assert_array_equal(other.active, one.active)
    for name in ("alpha", "well_determined"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-9)
    for name in ("mean", "root", "center", "level", "level_covariance"):
        found, expected = getattr(other.posterior, name), getattr(one.posterior, name)
        size = np.abs(expected).max(initial=1e-300)
        np.testing.assert_allclose(found / size, expected / size, **SAME, err_msg=name)


def test_bounds_are_the_same(center, rng):
    problem = laplace.draw(rng, Bernoulli(), center)
    found = []
    for inference in (
        BoundEvidence(problem.design, problem.t, Bernoulli()),
        elsewhere(problem, BoundEvidence),
    ):
        point = inference.at(Hyperparameters(ACTIVE, ALPHA))
        for _ in range(3):
            point = inference.at(point.hyper, point.warm_start())
        found.append(point)
    assert_same(*found)


def test_functions_that_differ_in_their_last_digits_are_told_apart_by_products_alone(rng, center):
    """Sums over blocks keep the digits that a sum of products has lost."""
    drawn = laplace.draw(rng, Bernoulli(), center, n=60)
    Phi = drawn.Phi[:, [0, 0, 5]] / np.abs(drawn.Phi[:, [0, 0, 5]]).max(axis=0)
    Phi[:, 1:] = Phi[:, :2] + 1e-7 * Phi[:, [2, 1]]
    near = replace(drawn, Phi=Phi)
    hyper = Hyperparameters(np.arange(3), np.full(3, 1e-9))
    one, other = (inference.at(hyper) for inference in (near.inference, elsewhere(near)))
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-6)
    expected = near.standard(hyper.active, hyper.alpha)
    assert one.log_evidence == pytest.approx(expected.log_evidence, abs=1e-4)


# Which candidates are looked at


@pytest.fixture
def wide(likelihood, rng):
    """Many candidates, of which a few are worth anything."""
    return laplace.draw(rng, likelihood, True, n=80, m=60)


def beside_nothing(inference):
    return inference.at(Hyperparameters.empty(1.0))


def test_few_are_looked_at_where_one_of_them_is_known_to_be_worth_it(wide):
    inference = elsewhere(wide)
    point, looked = beside_nothing(inference), inference.design.looked_at
    every = inference.scores(point, 0.03)
    best = np.sort(np.argsort(-every.gain)[:5])
    known = np.zeros(60)
    known[best] = 0.9 * every.gain[best]
    looked.clear()
    few = inference.scores(point, 0.03, known)
    assert looked == [5]
    np.testing.assert_allclose(few.gain[best], every.gain[best], rtol=1e-12)
    np.testing.assert_array_equal(few.known, few.gain)
    assert not np.delete(few.gain, best).any()


def test_all_are_looked_at_before_it_is_said_that_nothing_is_worth_it(wide):
    """What was known is wrong: the gains have changed since."""
    inference = elsewhere(wide)
    point, looked = beside_nothing(inference), inference.design.looked_at
    every = inference.scores(point)
    known = np.zeros(60)
    known[np.argsort(every.gain)[:5]] = 100.0
    worth = 0.5 * every.gain.max()
    looked.clear()
    found = inference.scores(point, worth, known)
    assert looked == [5, 60]
    np.testing.assert_allclose(found.gain, every.gain, rtol=1e-12)
    np.testing.assert_array_equal(found.known, found.gain)
    looked.clear()
    inference.scores(point, worth, np.zeros(60))
    assert looked == [60], "nothing is known to be worth a look"


def test_rows_at_hand_are_always_looked_at_as_a_whole(wide):
    inference = wide.inference
    scores = inference.scores(beside_nothing(inference), 0.03, np.zeros(60))
    assert scores.gain.any()
    assert scores.known is None
