"""Counts that vary more than Poisson's: against scipy.stats, mpmath and Poisson's at the limit."""

from typing import ClassVar

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import gamma, nbinom

from relvec import RVR, SparseBayesianRegressor
from relvec.likelihoods import NegativeBinomial, Poisson, RegressionLikelihood
from tests.likelihoods.precise import derivatives
from tests.support import laplace

COUNTS = np.arange(12.0)[:, None]


def overdispersed(n=300, dispersion=0.5, seed=0, exposure=None):
    """Counts of two columns, of which one matters."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    rate = np.exp(1.5 + 0.7 * X[:, 0]) * (1 if exposure is None else exposure)
    return X, rng.poisson(rate * rng.gamma(1 / dispersion, dispersion, n)).astype(float)


@pytest.mark.parametrize("dispersion", [1e-8, 3.0])
@pytest.mark.parametrize("y", [-800.0, 4.0, 800.0])
@pytest.mark.parametrize("t", [0.0, 5e9])
def test_values_and_derivatives_keep_their_digits(t, y, dispersion):
    r = 1 / mpmath.mpf(dispersion)

    def depends(y):
        rate = mpmath.exp(y)
        return t * mpmath.log(rate / (r + rate)) + r * mpmath.log(r / (r + rate))

    expected = derivatives(depends, y, digits=400)
    with mpmath.workdps(50):
        ways = mpmath.loggamma(t + r) - mpmath.loggamma(r) - mpmath.loggamma(t + mpmath.mpf(1))
        expected[0] = float(ways + depends(mpmath.mpf(y)))
    row, spread = (np.array([[t]]), np.array([[y]])), np.array([[[1.7]]])
    found = NegativeBinomial(dispersion)
    assert found.log_prob(*row)[0] == pytest.approx(expected[0], rel=1e-9, abs=1e-7)
    assert found.gradient(*row)[0, 0] == pytest.approx(expected[1], rel=1e-9, abs=1e-9)
    assert found.neg_hessian(*row)[0, 0, 0] == pytest.approx(-expected[2], rel=1e-12)
    slope = found.neg_hessian_gradient(*row, spread)[0, 0]
    assert slope == pytest.approx(-1.7 * expected[3], rel=1e-9, abs=1e-300)


def test_certain_rates_have_the_distribution_of_scipy():
    found, y = NegativeBinomial(0.3), np.full((12, 1), 1.1)
    known, nothing = nbinom(1 / 0.3, 1 / (1 + 0.3 * np.exp(1.1))), np.zeros((12, 1, 1))
    assert_allclose(found.log_prob(COUNTS, y), known.logpmf(COUNTS[:, 0]), rtol=1e-10)
    assert_allclose(
        found.predictive_log_density(COUNTS, y, nothing), known.logpmf(COUNTS[:, 0]), rtol=1e-10
    )
    assert_allclose(found.moments(y, nothing)[1], known.var())
    assert_allclose(found.interval(y, nothing, 0.9), [[[end]] * 12 for end in known.interval(0.9)])


def test_moments_are_those_of_a_gamma_rate_and_near_the_quadrature_of_a_small_variance():
    """Of a rate with the mode and curvature of the posterior in its logarithm, as Poisson's."""
    likelihood, mean, variance = NegativeBinomial(0.4), np.array([[0.7]]), np.array([[[0.2]]])
    rate = gamma(1 / 0.2, scale=0.2 * np.exp(0.7))
    average, spread = likelihood.moments(mean, variance)
    assert_allclose(average, rate.mean())
    assert_allclose(spread, rate.mean() + 0.4 * (rate.var() + rate.mean() ** 2) + rate.var())
    own = likelihood.joint_covariance(mean[0], variance[0])
    assert_allclose(own, spread)
    for of in ("moments", "predictive_log_density"):
        given = (COUNTS,) if of == "predictive_log_density" else ()
        rows = np.repeat(mean, 12, axis=0), np.full((12, 1, 1), 1e-6)
        default = getattr(RegressionLikelihood, of)(likelihood, *given, *rows)
        assert_allclose(getattr(likelihood, of)(*given, *rows), default, rtol=1e-5)


def test_without_dispersion_counts_are_those_of_poisson():
    y, spread = np.linspace(-2, 3, 12)[:, None], np.full((12, 1, 1), 0.3)
    near, limit = NegativeBinomial(1e-9), Poisson()
    assert_allclose(near.log_prob(COUNTS, y), limit.log_prob(COUNTS, y), rtol=1e-6)
    assert_allclose(near.moments(y, spread), limit.moments(y, spread), rtol=1e-7)


@pytest.mark.parametrize("center", [False, True])
def test_evidence_is_the_dense_formula(center, rng):
    problem = laplace.draw(rng, NegativeBinomial(0.5), center)
    alpha = np.geomspace(0.5, 2.0, 7) / np.square(np.linalg.norm(problem.Phi, axis=0))
    dense = problem.dense(np.arange(7), alpha)
    assert problem.inference.log_evidence(alpha) == pytest.approx(dense.log_evidence, rel=1e-9)


@pytest.mark.parametrize("dispersion", [0.1, 2.0])
def test_dispersion_is_recovered_with_exposures(dispersion):
    exposure = np.random.default_rng(9).uniform(0.5, 4, 300)
    X, y = overdispersed(dispersion=dispersion, exposure=exposure)
    model = SparseBayesianRegressor(likelihood="negative_binomial")
    model.fit(X, y, exposure=exposure)
    found = model.fit_result_.outputs[0].likelihood.dispersion
    assert abs(np.log(found / dispersion)) < 0.4
    assert model.coef_[0] == pytest.approx(0.7, abs=0.3)
    lower, upper = model.predict_interval(X, 0.9, exposure=exposure)
    assert 0.86 < np.mean((lower <= y) & (y <= upper)) < 0.97
    poisson = SparseBayesianRegressor(likelihood="poisson").fit(X, y, exposure=exposure)
    assert model.log_evidence_ > poisson.log_evidence_ + 10


def test_counts_of_poisson_have_next_to_no_dispersion():
    X, y = overdispersed(dispersion=1e-9)
    model = RVR("linear", likelihood="negative_binomial").fit(X, y)
    found = model.fit_result_.outputs[0].likelihood
    assert found.dispersion < 0.02
    alone = RVR("linear", likelihood="poisson").fit(X, y)
    assert model.log_evidence_ == pytest.approx(alone.log_evidence_, abs=1.0)
    assert model.summary().facts["dispersion"] == f"{found.dispersion:.4g}"


class Known(NegativeBinomial):
    """The same of a dispersion that is not learnt."""

    hyper: ClassVar[dict[str, float]] = {}


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_huge_counts_have_a_mode():
    """A first step towards it ends where the curvature is next to nothing, on the other side."""
    y = np.array([999998159318.0, 999998737880.0, 1e12])
    model = RVR(likelihood=Known(0.02)).fit(np.full((3, 1), 1.76), y)
    assert model.intercept_ == pytest.approx(np.log(y.mean()), rel=1e-9)
