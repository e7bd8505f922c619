"""Jaakkola and Jordan's bound of the logistic likelihood."""

import numpy as np
import pytest

from relvec._design import DenseDesign
from relvec._evidence.rows import Rows, Terms
from relvec._evidence.variational import bound, bounded
from relvec.likelihoods import Bernoulli, Categorical, Poisson
from tests.support import laplace
from tests.support.differences import derivative


@pytest.fixture
def rows(rng):
    t, weights = rng.integers(0, 2, (30, 1)).astype(float), rng.uniform(0.5, 3, 30)
    design = DenseDesign(np.ones((30, 1)), center=False, weights=weights)
    return Rows(design, Terms(Bernoulli()), (t, weights))


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.3, 4.0, 700.0])
def test_no_output_has_more_than_its_likelihood_and_one_of_either_sign_has_it(rows, rng, size):
    below = bounded(rows, np.full((30, 1), size))

    def both(y):
        return [part.terms.log_prob(y, *part.given) for part in (below, rows)]

    for y in rng.normal(0, 5, (20, 30, 1)):
        bound, exact = both(y)
        assert bound <= exact + 1e-9
    for y in (np.full((30, 1), size), np.full((30, 1), -size)):
        bound, exact = both(y)
        assert bound == pytest.approx(exact, rel=1e-12)


def test_derivatives_are_those_of_finite_differences(rows, rng):
    bound, y = bounded(rows, rng.uniform(0, 3, (30, 1))), rng.normal(0, 2, (30, 1))
    terms, given = bound.terms, bound.given
    slope, curvature = terms.slope(y, *given), terms.curvature(y, *given)
    by_y = derivative(lambda y: terms.log_prob(y[:, None], *given), y[:, 0])
    np.testing.assert_allclose(slope[:, 0], by_y, rtol=1e-6, atol=1e-8)
    second = derivative(lambda y: terms.slope(y, *given), y)
    np.testing.assert_allclose(curvature, -second, rtol=1e-8)
    assert not terms.curvature_slope(y, np.ones((30, 1, 1)), *given).any()


@pytest.mark.parametrize("center", [False, True])
def test_a_bound_touches_best_at_the_mean_square_of_its_output(center, rng):
    """No other ξ has a greater expected log-likelihood bound under the same posterior."""
    problem = laplace.draw(rng, Bernoulli(), center)
    inference = bound(Bernoulli(), problem.design, problem.t)
    point = inference.at(inference.hyper_of(1 / problem.design.weight_unit**2))
    best, here = point.warm_start().xi, point.outputs
    mean, spread = here.y, point.bend.reach.spread(here.Phi)[:, 0, 0]

    def expected(xi):
        at = bounded(here.rows, xi)
        curvature = at.terms.curvature(mean, *at.given)
        return at.terms.log_prob(mean, *at.given) - 0.5 * curvature[:, 0, 0] @ spread

    for step in 1e-3 * rng.standard_normal((20, *best.shape)):
        assert expected(best + step) < expected(best)
    slope = derivative(lambda xi: expected(xi[:, None]), best[:, 0])
    np.testing.assert_allclose(slope, 0, atol=5e-7)


@pytest.mark.parametrize("likelihood", [Categorical(3), Poisson()])
def test_other_likelihoods_are_refused_by_name_with_what_serves_them(likelihood, rng):
    problem = laplace.draw(rng, likelihood, True)
    name = type(likelihood).__name__
    with pytest.raises(ValueError, match=rf"variational.*{name}.*ovr.*fixed_point"):
        bound(likelihood, problem.design, problem.t)
