"""Moments and samples of a `Posterior`, and of fitted models, against dense formulas."""

import itertools

import numpy as np
import pytest

from relvec import RVR
from relvec._evidence.posterior import Posterior
from relvec.basis import Bias, Concatenate, LinearSpline
from tests.support.inputs import noisy_sinc

KERNELS = ["rbf", "laplacian", Concatenate([Bias(), LinearSpline()])]


@pytest.fixture(params=itertools.product([0, 1, 3], [1, 2]), ids=lambda p: f"{p[0]} x {p[1]}")
def posterior(request, rng):
    k, outputs = request.param
    return Posterior(
        mean=rng.standard_normal((k, outputs)),
        root=np.triu(rng.standard_normal((k * outputs, k * outputs))),
        center=rng.standard_normal((outputs, k * outputs)),
        level=rng.standard_normal(outputs),
        level_covariance=np.eye(outputs) + 0.3,
    )


class Standardised:
    """A source of normal draws whose sample means and covariances are exactly 0 and I."""

    def __init__(self, n_rows, n_samples):
        full = np.linalg.qr(np.vander(np.linspace(-1, 1, n_samples), increasing=True))[0]
        self._rows = iter(np.sqrt(n_samples) * full[:, 1:].T)

    def standard_normal(self, shape):
        return np.array([next(self._rows) for _ in range(shape[0])]).reshape(shape)


def dense(posterior, Phi):
    """Mean and covariance of all outputs of all rows, row after row."""
    outputs = len(posterior.level)
    away = np.kron(Phi, np.eye(outputs)) - np.tile(posterior.center, (len(Phi), 1))
    mean = np.tile(posterior.level, len(Phi)) + away @ posterior.mean.ravel()
    levels = np.kron(np.ones((len(Phi), len(Phi))), posterior.level_covariance)
    return mean, away @ posterior.root @ posterior.root.T @ away.T + levels


def test_moments_are_those_of_the_weights_and_the_level(posterior, rng):
    n_active, outputs = posterior.mean.shape
    Phi = rng.standard_normal((5, n_active))
    mean, covariance = dense(posterior, Phi)
    blocks = covariance.reshape(5, outputs, 5, outputs)
    np.testing.assert_allclose(posterior.covariance, posterior.root @ posterior.root.T)
    np.testing.assert_allclose(posterior.latent_mean(Phi).ravel(), mean)
    np.testing.assert_allclose(Phi @ posterior.mean + posterior.intercept, mean.reshape(5, -1))
    np.testing.assert_allclose(
        posterior.latent_covariance(Phi), blocks[range(5), :, range(5)], atol=1e-12
    )
    for output in range(outputs):
        joint = posterior.joint_covariance(Phi, output)
        np.testing.assert_allclose(joint, blocks[:, output, :, output], atol=1e-12)


def test_samples_have_exactly_the_moments_that_their_draws_have(posterior, rng):
    k, outputs = posterior.mean.shape
    n = 12
    Phi = rng.standard_normal((5, k))
    drawn = posterior.sample(Phi, n, Standardised((k + 1) * outputs, n))
    assert drawn.shape == (outputs, 5, n)
    mean, covariance = dense(posterior, Phi)
    by_row = drawn.transpose(1, 0, 2).reshape(-1, n)
    np.testing.assert_allclose(by_row.mean(axis=1), mean, atol=1e-12)
    np.testing.assert_allclose(np.cov(by_row, bias=True), covariance, atol=1e-12)


def test_without_an_intercept_the_level_is_zero(rng):
    nothing = np.zeros((1, 1))
    posterior = Posterior(np.ones((2, 1)), np.eye(2), np.zeros((1, 2)), np.zeros(1), nothing)
    samples = posterior.sample(np.zeros((3, 2)), 4, np.random.RandomState(0))
    np.testing.assert_array_equal(samples, np.zeros((1, 3, 4)))


def test_at_the_centre_only_the_level_is_uncertain(rng):
    posterior = Posterior(
        np.ones((2, 1)), np.eye(2), np.array([[3.0, 4.0]]), np.array([0.7]), np.array([[0.3]])
    )
    assert posterior.latent_mean(posterior.center) == pytest.approx(0.7)
    assert posterior.latent_covariance(posterior.center) == pytest.approx(0.3)


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
