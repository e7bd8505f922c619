"""Predictions of RVR: the ways to ask for them agree with one another and with the formulas."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score

from relvec import RVR
from relvec.basis import RBF, Bias, Columns, Concatenate
from tests.support.inputs import noisy_sinc

KERNELS = ["rbf", "laplacian", "linear", "poly", "sigmoid", "linear_spline"]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kernel", [*KERNELS, Concatenate([Bias(), Columns(), RBF()])])
def test_the_ways_to_predict_agree(kernel, fit_intercept):
    X, y = noisy_sinc(50, seed=5, slope=0.1)
    model = RVR(kernel=kernel, fit_intercept=fit_intercept).fit(X, y)
    query = np.linspace(-9.0, 9.0, 23)[:, None]
    mean = model.predict(query)
    from_weights = model.basis_.transform(query) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(mean, from_weights, rtol=1e-10, atol=1e-10)
    assert (model.intercept_ != 0) == fit_intercept

    with_std, std = model.predict(query, return_std=True)
    with_cov, covariance = model.predict(query, return_cov=True)
    np.testing.assert_allclose(with_std, mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(with_cov, mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(std, np.sqrt(np.diag(covariance)), rtol=1e-9)
    np.testing.assert_allclose(covariance, covariance.T, rtol=1e-9, atol=1e-15)

    latent, band = model.predict_latent(query, return_std=True)
    np.testing.assert_allclose(latent, mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.predict_latent(query), latent)
    np.testing.assert_allclose(band**2 + model.noise_variance_, std**2, rtol=1e-10)

    residual = model.basis_.transform(query) - fit_intercept * model.basis_.transform(X).mean(
        axis=0
    )
    by_hand = np.einsum("ij,jk,ik->i", residual, model.weight_covariance_, residual)
    by_hand += fit_intercept * model.noise_variance_ / len(X)
    np.testing.assert_allclose(band**2, by_hand, rtol=1e-6, atol=1e-12)

    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_, rel=1e-8)
    assert model.log_evidence(X, y + 0.5 * (-1.0) ** np.arange(50)) < model.log_evidence_ - 10


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_samples_have_the_moments_of_the_prediction(fit_intercept):
    X, y = noisy_sinc(50, seed=6)
    model = RVR(fit_intercept=fit_intercept).fit(X, y)
    query, n = np.linspace(-7.0, 7.0, 6)[:, None], 20_000
    mean, with_noise = model.predict(query, return_cov=True)
    without = with_noise - model.noise_variance_ * np.eye(len(query))
    for noise, covariance in ((False, without), (True, with_noise)):
        drawn = model.sample_y(query, n, random_state=0, noise=noise)
        assert drawn.shape == (len(query), n)
        spread = np.sqrt(np.diag(covariance))
        np.testing.assert_array_less(np.abs(drawn.mean(axis=1) - mean), 5 * spread / np.sqrt(n))
        np.testing.assert_array_less(
            np.abs(np.cov(drawn) - covariance), 5 * np.sqrt(2 / n) * np.outer(spread, spread)
        )
    one = model.sample_y(query, random_state=1)
    assert one.shape == (len(query), 1)
    np.testing.assert_array_equal(one, model.sample_y(query, random_state=1))
    assert not np.array_equal(one, model.sample_y(query, random_state=2))


def test_score_and_cross_validation_use_r2():
    X, y = noisy_sinc(60, seed=8)
    model = RVR().fit(X, y)
    residual = y - model.predict(X)
    assert model.score(X, y) == pytest.approx(1 - residual @ residual / (len(y) * np.var(y)))
    assert cross_val_score(RVR(), X, y, cv=KFold(4, shuffle=True, random_state=0)).min() > 0.5


def test_many_rows_of_few_functions_are_fitted_alike_whatever_is_stored(rng, monkeypatch):
    X = rng.standard_normal((3000, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(3000)
    centers = X[:90]
    few = RVR(centers=centers).fit(X, y)
    monkeypatch.setattr("relvec._fitting.data.SMALL", np.inf)
    stored = RVR(centers=centers).fit(X, y)
    blocks = RVR(centers=centers, memory_limit=1.0).fit(X, y)
    for model in (few, blocks):
        np.testing.assert_array_equal(model.relevance_, stored.relevance_)
        np.testing.assert_allclose(model.predict(X), stored.predict(X), atol=1e-8)
