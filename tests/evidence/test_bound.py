"""Jaakkola and Jordan's bound of the logistic likelihood."""

from dataclasses import replace

import numpy as np
import pytest

from relvec._design import DenseDesign
from relvec._evidence import evidence_model
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.variational import SurrogateRows, packed
from relvec.likelihoods import Bernoulli, Categorical, Poisson
from relvec.likelihoods.bernoulli import LogisticBound
from tests.support import laplace
from tests.support.differences import derivative

ROWS = SurrogateRows(1)


@pytest.fixture
def t(rng):
    return rng.integers(0, 2, (30, 1)).astype(float)


def touching(t, xi):
    """Bounds of some rows, which touch at ξ: expanded about zero, and about ξ."""
    square, zero = np.square(xi)[:, :, None], np.zeros_like(xi)
    return packed(LogisticBound(), t, zero, square), packed(LogisticBound(), t, xi, 0 * square)


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.3, 4.0, 700.0])
def test_no_output_has_more_than_its_likelihood_and_one_of_either_sign_has_it(t, rng, size):
    for bounds in touching(t, np.full((30, 1), size)):
        for y in rng.normal(0, 5, (20, 30, 1)):
            assert (ROWS.log_prob(bounds, y) <= Bernoulli().log_prob(t, y) + 1e-9).all()
        for y in (np.full((30, 1), size), np.full((30, 1), -size)):
            bound, exact = ROWS.log_prob(bounds, y), Bernoulli().log_prob(t, y)
            np.testing.assert_allclose(bound, exact, rtol=1e-12, atol=1e-12 * (1 + size))


def test_derivatives_are_those_of_finite_differences(t, rng):
    y = rng.normal(0, 2, (30, 1))
    for bounds in touching(t, rng.uniform(0, 3, (30, 1))):
        by_y = derivative(lambda y, at=bounds: ROWS.log_prob(at, y), y)
        np.testing.assert_allclose(ROWS.gradient(bounds, y), by_y, rtol=1e-6, atol=1e-8)
        second = derivative(lambda y, at=bounds: ROWS.gradient(at, y), y)
        np.testing.assert_allclose(ROWS.neg_hessian(bounds, y), -second, rtol=1e-8)
        assert not ROWS.neg_hessian_gradient(bounds, y, np.ones((30, 1, 1))).any()


@pytest.mark.parametrize("center", [False, True])
def test_a_bound_touches_best_at_the_mean_square_of_its_output(center, rng):
    """No other ξ has a greater expected log-likelihood bound under the same posterior."""
    problem = laplace.draw(rng, Bernoulli(), center)
    inference = evidence_model(Bernoulli().bound(), problem.design, problem.t)
    point = inference.at(inference.hyper_of(1 / problem.design.weight_unit**2))
    warm = point.warm_start()
    mean, variance = warm.mean, warm.variance
    best = np.sqrt(mean**2 + variance[:, 0])

    def expected(xi):
        bounds, _ = touching(problem.t, xi)
        return (
            ROWS.log_prob(bounds, mean).sum()
            - 0.5 * (ROWS.neg_hessian(bounds, mean) * variance).sum()
        )

    assert expected(best) == pytest.approx(
        (LogisticBound().surrogate(problem.t, mean, variance).value).sum()
        - 0.5 * (LogisticBound().surrogate(problem.t, mean, variance).weight * variance).sum()
    )
    for step in 1e-3 * rng.standard_normal((20, *best.shape)):
        assert expected(best + step) < expected(best)
    slope = derivative(lambda xi: expected(xi[:, None]), best[:, 0])
    np.testing.assert_allclose(slope, 0, atol=5e-7)


@pytest.mark.parametrize("likelihood", [Categorical(3), Poisson()])
def test_other_likelihoods_are_refused_by_name_with_what_serves_them(likelihood):
    name = type(likelihood).__name__
    with pytest.raises(ValueError, match=rf"variational.*{name}.*ovr.*fixed_point"):
        likelihood.bound()


@pytest.mark.parametrize("center", [False, True])
def test_functions_that_share_a_precision_have_the_derivatives_of_the_bound(center, rng):
    """It is exact where the bounds touch, so gradient and Hessian are those of differences."""
    problem = laplace.draw(rng, Bernoulli(), center)
    labels = np.array([0, 0, 1, 2, 2, 2, 3])
    design = DenseDesign(problem.Phi.copy(), center=center, groups=labels)
    inference = evidence_model(Bernoulli().bound(), design, problem.t)
    hyper = Hyperparameters(np.arange(6), np.array([0.5, 2.0, 0.1]), group=labels[:6])
    warm = inference.at(hyper).warm_start()

    def at(log_alpha):
        return inference.at(replace(hyper, alpha=np.exp(log_alpha)), warm)

    place = np.log(hyper.alpha)
    found = at(place)
    slope = derivative(lambda log_alpha: at(log_alpha).log_evidence, place, step=1e-2)
    np.testing.assert_allclose(found.gradient(), slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.evidence_gradient(), slope, rtol=1e-6, atol=1e-7)
    curved = derivative(lambda log_alpha: at(log_alpha).gradient(), place, step=1e-2)
    np.testing.assert_allclose(found.hessian(), curved, rtol=1e-5, atol=1e-6)
    fewer = found.keep(np.array([0, 2]))
    fresh = inference.at(hyper.keep(np.array([0, 2])), warm)
    assert fewer.log_evidence == pytest.approx(fresh.log_evidence, abs=1e-7)
    cost = found.log_evidence - fewer.log_evidence
    assert found.deletion_costs()[1] == pytest.approx(cost, abs=1e-7)
