"""The contract of likelihoods, on each row of `tests.support.rows.LIKELIHOODS`."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

from relvec.likelihoods import (
    Bernoulli,
    Categorical,
    Gaussian,
    NegativeBinomial,
    Poisson,
    StudentT,
)
from relvec.likelihoods.bernoulli import ExpectedLogistic, LogisticBound
from relvec.likelihoods.chi_squared import ChiSquared
from tests.support.differences import derivative
from tests.support.rows import LIKELIHOODS, name_of

#: All targets that a likelihood knows, and the measure of each.
GRID = np.linspace(-15, 15, 6001)
#: t = sinh(s) for a density whose tails are heavy.
STEPS = np.linspace(-12, 12, 6001)
#: t = e^s for a density without end at zero.
LOGS = np.linspace(-70, 8, 12_001)
SUPPORT = {
    Gaussian: (GRID[:, None], np.gradient(GRID)),
    Bernoulli: (np.array([[0.0], [1.0]]), np.ones(2)),
    LogisticBound: (np.array([[0.0], [1.0]]), np.ones(2)),
    ExpectedLogistic: (np.array([[0.0], [1.0]]), np.ones(2)),
    Categorical: (np.eye(4), np.ones(4)),
    Poisson: (np.arange(400.0)[:, None], np.ones(400)),
    NegativeBinomial: (np.arange(400.0)[:, None], np.ones(400)),
    ChiSquared: (np.exp(LOGS)[:, None], np.exp(LOGS) * np.gradient(LOGS)),
    StudentT: (np.sinh(STEPS)[:, None], np.cosh(STEPS) * np.gradient(STEPS)),
}
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(24)


@pytest.fixture(params=LIKELIHOODS, ids=name_of)
def likelihood(request):
    return request.param


@pytest.fixture
def support(likelihood):
    return SUPPORT[type(likelihood)]


@pytest.fixture
def row(likelihood, support, rng):
    """Some targets with outputs near zero."""
    t, _ = support
    t = t[rng.integers(0, min(len(t), 20), 30)] if len(t) < 1000 else rng.normal(size=(30, 1))
    t = np.abs(t) if likelihood.support.non_negative else t
    return t, rng.normal(size=(30, likelihood.n_outputs))


def test_density_sums_to_one(likelihood, support, rng):
    t, measure = support
    for y in rng.normal(size=(5, likelihood.n_outputs)):
        density = np.exp(likelihood.log_prob(t, np.tile(y, (len(t), 1))))
        assert density @ measure == pytest.approx(1, rel=1e-9)


def test_slope_is_the_derivative_of_the_log_density(likelihood, row):
    t, y = row
    expected = derivative(lambda y: likelihood.log_prob(t, y), y)
    np.testing.assert_allclose(likelihood.gradient(t, y), expected, atol=1e-7)


def test_curvature_is_minus_the_derivative_of_the_slope(likelihood, row):
    t, y = row
    expected = -derivative(lambda y: likelihood.gradient(t, y), y)
    found = likelihood.neg_hessian(t, y)
    np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_array_equal(found, np.swapaxes(found, 1, 2))


def test_curvature_slope_is_the_derivative_of_the_traced_curvature(likelihood, row, rng):
    t, y = row
    half = rng.normal(size=(30, likelihood.n_outputs, likelihood.n_outputs))
    spread = half @ np.swapaxes(half, 1, 2)

    def traced(y):
        return np.einsum("nrs,nsr->n", likelihood.neg_hessian(t, y), spread)

    found = likelihood.neg_hessian_gradient(t, y, spread)
    np.testing.assert_allclose(found, derivative(traced, y), atol=1e-7)


def test_curvature_is_nowhere_negative(likelihood, support, rng):
    """Or that of the surrogate is not, for outputs that are certain."""
    t = support[0][:2].repeat(50, axis=0)
    y = 30 * rng.normal(size=(100, likelihood.n_outputs))
    certain = np.zeros((100, likelihood.n_outputs, likelihood.n_outputs))
    curvature = likelihood.surrogate(t, y, certain).weight
    assert np.linalg.eigvalsh(curvature).min() >= -1e-12 * max(1, np.exp(y.max()))


def test_surrogate_has_the_slope_of_the_log_density_where_outputs_are_certain(likelihood, row):
    t, y = row
    certain = np.zeros((30, likelihood.n_outputs, likelihood.n_outputs))
    found = likelihood.surrogate(t, y, certain)
    np.testing.assert_allclose(found.gradient, likelihood.gradient(t, y), atol=1e-15)
    digits = 1e-7 if isinstance(likelihood, ExpectedLogistic) else 1e-12  # of its mixture
    np.testing.assert_allclose(found.value, likelihood.log_prob(t, y), rtol=digits)


@pytest.mark.parametrize(
    "likelihood", [row for row in LIKELIHOODS if not isinstance(row, Poisson)], ids=name_of
)
def test_moments_are_those_of_the_density_averaged_over_normal_outputs(likelihood, rng):
    """Counts have Gamma rates instead."""
    t, measure = SUPPORT[type(likelihood)]
    outputs = likelihood.n_outputs
    root = np.linalg.qr(rng.normal(size=(outputs, outputs)))[0] * 0.8
    mean, covariance = 0.4 * rng.normal(size=outputs), root @ root.T
    grid = np.stack(np.meshgrid(*[NODES] * outputs, indexing="ij"), axis=-1).reshape(-1, outputs)
    weight = np.prod(
        np.stack(np.meshgrid(*[WEIGHTS] * outputs, indexing="ij"), axis=-1), axis=-1
    ).ravel()
    weight, y = weight / weight.sum(), mean + grid @ root.T
    density = sum(
        w * np.exp(likelihood.log_prob(t, np.tile(at, (len(t), 1))))
        for w, at in zip(weight, y, strict=True)
        if w > 1e-14
    )
    expected = (density * measure) @ t
    spread = (density * measure) @ (t - expected) ** 2
    found = likelihood.moments(mean[None], covariance[None])
    # The softmax is averaged over a few hundred points; the others are exact.
    tolerance = {"abs": 2e-3} if outputs > 1 else {"rel": 1e-6}
    assert found[0][0] == pytest.approx(expected, **tolerance)
    assert found[1][0] == pytest.approx(spread, **tolerance)


def test_draws_have_the_moments_of_the_likelihood(likelihood, rng):
    y = np.tile(rng.normal(size=likelihood.n_outputs), (100_000, 1))
    drawn = likelihood.sample(y, np.random.RandomState(0))
    nothing = np.zeros((1, likelihood.n_outputs, likelihood.n_outputs))
    mean, variance = likelihood.moments(y[:1], nothing)
    error = np.sqrt(variance[0] / len(y))
    assert drawn.shape == (len(y), mean.shape[1])
    assert (np.abs(drawn.mean(axis=0) - mean[0]) < 5 * error).all()
    np.testing.assert_allclose(drawn.var(axis=0), variance[0], rtol=0.03)


def test_gaussian_density_is_integrated_finely_enough():
    """The grid that stands for all real targets."""
    assert trapezoid(np.exp(-0.5 * GRID**2), GRID) == pytest.approx(np.sqrt(2 * np.pi), rel=1e-12)
