"""Leave-one-out densities against posteriors refitted without the row, and against the evidence."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from relvec import RVR
from relvec._evidence.posterior import Posterior
from relvec._fitting.residuals import learnt_variances, left_out
from relvec._fitting.result import FittedOutput
from relvec.likelihoods import Gaussian
from relvec.likelihoods.gaussian import normal_log_density
from tests.support import inputs


def refitted(model, X, y, copies, noise, row):
    """Log density of a row's target under the posterior of all else, α and noise as they are.

    The intercept is a last column without a prior; everything by dense inverses.
    """
    Phi, alpha = model.basis_.transform(X), model.weight_precision_
    if model.fit_intercept:
        Phi, alpha = np.column_stack([Phi, np.ones(len(X))]), np.append(alpha, 0.0)
    counted = copies.astype(float)
    counted[row] -= min(1.0, counted[row])
    H = (Phi.T * (counted / noise)) @ Phi + np.diag(alpha)
    mean = np.linalg.solve(H, Phi.T @ (counted / noise * y))
    variance = noise[row] + Phi[row] @ np.linalg.solve(H, Phi[row])
    return norm.logpdf(y[row], Phi[row] @ mean, np.sqrt(variance))


def found(model, X, y, noise, weights=None):
    Phi = model.basis_.transform(X)
    residual, variance = left_out(model.fit_result_, Phi, y[:, None], noise, weights)
    return normal_log_density(residual, variance)[:, 0]


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
def test_it_is_the_refit_without_the_row(kernel, fit_intercept):
    X, y = inputs.noisy_sinc(slope=0.1)
    model = RVR(kernel, gamma=0.3, fit_intercept=fit_intercept).fit(X, y + 2)
    noise, once = np.full(len(y), model.noise_variance_), np.ones(len(y))
    expected = [refitted(model, X, y + 2, once, noise, row) for row in range(len(y))]
    assert_allclose(found(model, X, y + 2, noise), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_one_copy_is_left_out_and_a_part_of_one_goes_whole(fit_intercept):
    X, y = inputs.noisy_sinc()
    copies = np.array([1.0, 3.0, 0.4, 2.5] * 10)
    model = RVR(gamma=0.3, fit_intercept=fit_intercept).fit(X, y, sample_weight=copies)
    noise = np.full(len(y), model.noise_variance_)
    expected = [refitted(model, X, y, copies, noise, row) for row in range(len(y))]
    assert_allclose(found(model, X, y, noise, copies), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_every_row_has_the_noise_that_is_known(fit_intercept):
    X, y = inputs.noisy_sinc()
    noise = np.linspace(0.005, 0.05, len(y))
    model = RVR(gamma=0.3, fit_intercept=fit_intercept).fit(X, y, noise_variance_per_row=noise)
    expected = [refitted(model, X, y, np.ones(len(y)), noise, row) for row in range(len(y))]
    assert_allclose(found(model, X, y, noise), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_every_row_has_the_noise_that_was_learnt(fit_intercept):
    rng = np.random.default_rng(1)
    X = np.sort(rng.uniform(0, 1, (100, 1)), axis=0)
    y = np.sin(6 * X[:, 0]) + (0.1 + X[:, 0]) * rng.standard_normal(100)
    model = RVR(gamma=10, noise="learnt", fit_intercept=fit_intercept).fit(X, y)
    noise = learnt_variances(model.fit_result_, X)
    assert noise[-1, 0] > 2 * noise[0, 0]
    expected = [refitted(model, X, y, np.ones(100), noise[:, 0], row) for row in range(100)]
    assert_allclose(found(model, X, y, noise), expected, rtol=1e-7, atol=1e-7)


def test_copies_are_rows():
    X, y = inputs.noisy_sinc(20)
    copies = np.arange(20) % 3 + 1
    model = RVR(gamma=0.3).fit(X, y, sample_weight=copies)
    noise = np.full(20, model.noise_variance_)
    weighted = found(model, X, y, noise, copies.astype(float))
    repeated = found(
        model, np.repeat(X, copies, axis=0), np.repeat(y, copies), noise.repeat(copies)
    )
    assert_allclose(np.repeat(weighted, copies), repeated, rtol=1e-12)


def test_the_only_row_of_an_intercept_is_told_by_nothing():
    alone = Posterior(np.empty((0, 1)), np.empty((0, 0)), np.empty((1, 0)), np.ones(1), np.eye(1))
    output = FittedOutput(np.arange(0), alone, Gaussian(1.0), np.ones(0), np.ones(0))
    residual, variance = left_out(
        SimpleNamespace(outputs=[output]), np.empty((1, 0)), np.ones((1, 1))
    )
    assert residual == 0
    assert variance == np.inf
    assert normal_log_density(residual, variance) == -np.inf


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_chain_of_left_out_rows_is_the_evidence(fit_intercept):
    """log p(t) = Σ log p(t_n | t_1 … t_n−1); the contrasts of a flat intercept add ½ log N."""
    X, y = inputs.noisy_sinc(8)
    model = RVR(gamma=0.2, fit_intercept=fit_intercept, noise_variance=0.01).fit(X, y)
    first = 1 if fit_intercept else 0
    n, total = len(y), 0.5 * np.log(len(y)) if fit_intercept else 0.0
    noise = np.full(n, 0.01)
    for last in range(first, n):
        seen = np.arange(n) <= last
        total += refitted(model, X[seen], y[seen], np.ones(last + 1), noise[seen], last)
    assert model.log_evidence_ == pytest.approx(total, rel=1e-8)
