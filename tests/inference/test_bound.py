"""Jaakkola and Jordan's bound of the logistic likelihood."""

import numpy as np
import pytest

from relvec.inference.bound import BoundRows, bound
from relvec.inference.mode import Rows
from relvec.likelihoods import Bernoulli, Categorical, Poisson
from tests import laplace


@pytest.fixture
def rows(rng):
    t = rng.integers(0, 2, (30, 1)).astype(float)
    return Rows(Bernoulli(), t, rng.uniform(0.5, 3, 30), has_intercept=True)


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.3, 4.0, 700.0])
def test_no_output_has_more_than_its_likelihood_and_one_of_either_sign_has_it(rows, rng, size):
    bounded = BoundRows(rows, np.full((30, 1), size))
    for y in rng.normal(0, 5, (20, 30, 1)):
        assert bounded.log_prob(y) <= rows.log_prob(y) + 1e-9
    for y in (np.full((30, 1), size), np.full((30, 1), -size)):
        assert bounded.log_prob(y) == pytest.approx(rows.log_prob(y), rel=1e-12)


def test_derivatives_are_those_of_finite_differences(rows, rng):
    bounded, y = BoundRows(rows, rng.uniform(0, 3, (30, 1))), rng.normal(0, 2, (30, 1))
    slope, curvature = bounded.slope(y), bounded.curvature(y)
    for n, step in enumerate(1e-4 * np.eye(30)[:, :, None]):
        by_y = (bounded.log_prob(y + step) - bounded.log_prob(y - step)) / 2e-4
        assert slope[n, 0] == pytest.approx(by_y, rel=1e-6, abs=1e-8)
        bend = (bounded.slope(y + step) - bounded.slope(y - step))[n, 0] / 2e-4
        assert curvature[n, 0, 0] == pytest.approx(-bend, rel=1e-8)
    assert not bounded.curvature_slope(y, np.ones((30, 1, 1))).any()


@pytest.mark.parametrize("center", [False, True])
def test_a_bound_touches_best_at_the_mean_square_of_its_output(center, rng):
    """No other ξ has a greater expected log-likelihood bound under the same posterior."""
    problem = laplace.draw(rng, Bernoulli(), center)
    inference = bound(Bernoulli(), problem.design, problem.t)
    point = inference.point(inference.model_of(1 / problem.design.weight_unit**2))
    best = point.tightened()
    mean, spread = point.outputs.y, point.bend.spread()[:, 0, 0]

    def expected(xi):
        at = BoundRows(point.outputs.rows, xi)
        return at.log_prob(mean) - 0.5 * at.curvature(mean)[:, 0, 0] @ spread

    for step in 1e-3 * rng.standard_normal((20, *best.xi.shape)):
        assert expected(best.xi + step) < expected(best.xi)
    slope = [(expected(best.xi + h) - expected(best.xi - h)) for h in 1e-4 * np.eye(50)[:, :, None]]
    np.testing.assert_allclose(slope, 0, atol=1e-10)


@pytest.mark.parametrize("likelihood", [Categorical(3), Poisson()])
def test_other_likelihoods_are_refused_by_name_with_what_serves_them(likelihood, rng):
    problem = laplace.draw(rng, likelihood, True)
    name = type(likelihood).__name__
    with pytest.raises(ValueError, match=rf"variational.*{name}.*ovr.*fixed_point"):
        bound(likelihood, problem.design, problem.t)
