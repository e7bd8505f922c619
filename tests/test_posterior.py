"""Moments and samples of a `Posterior`, and of fitted models, against dense formulas."""

import numpy as np
import pytest

from relvec import RVR
from relvec.basis import Bias, Concatenate, LinearSpline
from relvec.posterior import Posterior
from tests.cases.inputs import noisy_sinc

KERNELS = ["rbf", "laplacian", Concatenate([Bias(), LinearSpline()])]


@pytest.fixture(params=[0, 1, 3], ids=lambda k: f"{k} functions")
def posterior(request, rng):
    k = request.param
    return Posterior(
        mean=rng.standard_normal(k),
        root=np.triu(rng.standard_normal((k, k))),
        center=rng.standard_normal(k),
        level=0.7,
        level_variance=0.3,
    )


class Standardised:
    """A source of normal draws whose sample means and covariances are exactly 0 and I."""

    def __init__(self, n_functions, n_samples):
        full = np.linalg.qr(np.vander(np.linspace(-1, 1, n_samples), increasing=True))[0]
        self._blocks = iter(
            np.sqrt(n_samples) * rows.T
            for rows in (full[:, 1 : n_functions + 1], full[:, n_functions + 1])
        )

    def standard_normal(self, shape):
        block = next(self._blocks)
        assert block.shape == (shape if isinstance(shape, tuple) else (shape,))
        return block


def test_moments_are_those_of_the_weights_and_the_level(posterior, rng):
    Phi = rng.standard_normal((5, len(posterior.mean)))
    away = Phi - posterior.center
    covariance = away @ posterior.root @ posterior.root.T @ away.T + 0.3
    np.testing.assert_allclose(posterior.covariance, posterior.root @ posterior.root.T)
    np.testing.assert_allclose(posterior.latent_mean(Phi), 0.7 + away @ posterior.mean)
    np.testing.assert_allclose(posterior.latent_covariance(Phi), covariance)
    np.testing.assert_allclose(posterior.latent_variance(Phi), covariance.diagonal())


def test_samples_have_exactly_the_moments_that_their_draws_have(posterior, rng):
    k, n = len(posterior.mean), 8
    Phi = rng.standard_normal((5, k))
    drawn = posterior.sample(Phi, n, Standardised(k, n))
    assert drawn.shape == (5, n)
    np.testing.assert_allclose(drawn.mean(axis=1), posterior.latent_mean(Phi))
    np.testing.assert_allclose(np.cov(drawn, bias=True), posterior.latent_covariance(Phi))


def test_at_the_centre_only_the_level_is_uncertain(posterior):
    at = posterior.center[None, :]
    assert posterior.latent_mean(at) == pytest.approx(0.7)
    assert posterior.latent_variance(at) == pytest.approx(0.3)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=["rbf", "laplacian", "spline and bias"])
def test_eliminated_intercept_equals_a_constant_with_a_flat_prior(kernel, fit_intercept, weighted):
    """One dense system for all weights, in which the constant has precision zero."""
    X, y = noisy_sinc(30, seed=2, slope=0.05)
    weights = np.arange(30) % 3 if weighted else np.ones(30)
    model = RVR(kernel=kernel, gamma=0.1, noise_variance=0.01, fit_intercept=fit_intercept)
    model.fit(X, y, sample_weight=weights if weighted else None)
    query = np.linspace(-9, 9, 7)[:, None]
    columns = [
        np.column_stack([np.ones(len(rows)), model.basis_.transform(rows)])[:, 1 - fit_intercept :]
        for rows in (X, query)
    ]
    train, test = columns
    alpha = np.append([0.0] * fit_intercept, model.weight_precision_)
    beta = 1 / model.noise_variance_
    H = beta * train.T @ (weights[:, None] * train) + np.diag(alpha)
    mean = np.linalg.solve(H, beta * train.T @ (weights * y))
    covariance = np.linalg.inv(H)
    np.testing.assert_allclose(model.predict(query), test @ mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.dual_coef_, mean[int(fit_intercept) :], rtol=1e-6)
    np.testing.assert_allclose(
        model.predict(query, return_cov=True)[1],
        test @ covariance @ test.T + np.eye(7) / beta,
        rtol=1e-7,
        atol=1e-9,
    )
    assert model.intercept_ == pytest.approx(mean[0] if fit_intercept else 0.0, rel=1e-7)


@pytest.mark.parametrize("kernel", KERNELS, ids=["rbf", "laplacian", "spline and bias"])
def test_mean_at_the_weighted_centre_is_the_weighted_mean_of_the_targets(kernel):
    X, y = noisy_sinc(30, seed=2)
    weights = np.arange(30) % 3
    model = RVR(kernel=kernel, gamma=0.1, noise_variance=0.01)
    model.fit(X, y, sample_weight=weights)
    assert np.average(model.predict(X), weights=weights) == pytest.approx(
        np.average(y, weights=weights), rel=1e-12
    )
