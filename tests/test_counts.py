"""RVR(likelihood="poisson"): counts whose log rate is the function."""

import numpy as np
import pytest
from scipy.stats import gamma, nbinom, poisson
from sklearn.utils import get_tags

from relvec import RVR
from relvec.basis import RBF, Bias, Columns, Concatenate
from tests.support.inputs import noisy_sinc


def calls(n=60, seed=0, height=2.0):
    """Counts with a bump in their rate."""
    X = noisy_sinc(n)[0]
    rate = np.exp(height * np.exp(-((X[:, 0] / 3) ** 2)))
    return X, np.random.RandomState(seed).poisson(rate).astype(float)


QUERY = np.linspace(-12.0, 12.0, 9)[:, None]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", Concatenate([Bias(), RBF()])])
def test_counts_are_negative_binomial(kernel, fit_intercept):
    """Poisson with a Gamma rate whose logarithm has the mode and the curvature of the posterior."""
    X, y = calls()
    model = RVR(kernel=kernel, likelihood="poisson", fit_intercept=fit_intercept).fit(X, y)
    latent, band = model.predict_latent(QUERY, return_std=True)
    mean, std = model.predict(QUERY, return_std=True)
    uncertain = band > 1e-2  # elsewhere the shape of the Gamma has no digits
    assert uncertain.sum() > 5
    f, v = latent[uncertain], band[uncertain] ** 2
    expected = nbinom(1 / v, 1 / (1 + v * np.exp(f)))
    np.testing.assert_allclose(mean[uncertain], expected.mean(), rtol=1e-7)
    np.testing.assert_allclose(std[uncertain], expected.std(), rtol=1e-7)
    np.testing.assert_allclose(mean, np.exp(latent), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(QUERY), mean)
    np.testing.assert_array_equal(model.predict_latent(QUERY), latent)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_one_rate_has_its_conjugate_posterior():
    """With a flat prior on its logarithm a rate is Gamma with shape Σt and mean t̄."""
    y = np.array([3.0, 0.0, 4.0, 7.0, 1.0])
    model = RVR(likelihood="poisson").fit(np.ones((5, 1)), y)
    mean, covariance = model.predict(np.ones((2, 1)), return_cov=True)
    rate = gamma(y.sum(), scale=1 / 5)
    np.testing.assert_allclose(mean, rate.mean(), rtol=1e-9)
    expected = np.full((2, 2), rate.var()) + np.diag(mean)
    np.testing.assert_allclose(covariance, expected, rtol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_predictions_of_the_training_rows_sum_to_the_counts(weighted):
    """The intercept's derivative is zero at the mode."""
    X, y = calls()
    weights = np.arange(60) % 3 if weighted else np.ones(60)
    model = RVR(likelihood="poisson").fit(X, y, sample_weight=weights)
    assert weights @ model.predict(X) == pytest.approx(weights @ y, rel=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_log_rate_is_the_function_of_the_stored_weights(fit_intercept):
    X, y = calls()
    model = RVR(likelihood="poisson", fit_intercept=fit_intercept).fit(X, y)
    by_hand = model.basis_.transform(QUERY) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.predict_latent(QUERY), by_hand, rtol=1e-10, atol=1e-12)
    assert (model.intercept_ != 0) == fit_intercept


def test_samples_are_log_rates_of_the_posterior_and_counts_of_those_rates():
    X, y = calls()
    model, n = RVR(likelihood="poisson").fit(X, y), 40_000
    drawn, counts = (model.sample_y(QUERY, n, random_state=0, noise=k) for k in (False, True))
    assert drawn.shape == counts.shape == (len(QUERY), n)
    mean, std = model.predict_latent(QUERY, return_std=True)
    np.testing.assert_array_less(np.abs(drawn.mean(axis=1) - mean), 5 * std / np.sqrt(n))
    fourth = np.mean((drawn - mean[:, None]) ** 4, axis=1)
    np.testing.assert_array_less(np.abs(drawn.var(axis=1) - std**2), 5 * np.sqrt(fourth / n))
    assert (counts >= 0).all()
    np.testing.assert_array_equal(counts, np.round(counts))
    # The same draws of the log rate come first.
    surprise = (counts - np.exp(drawn)) / np.exp(drawn / 2)
    np.testing.assert_array_less(np.abs(surprise.mean(axis=1)), 5 / np.sqrt(n))
    np.testing.assert_allclose(surprise.var(axis=1), 1, atol=0.1)
    again = model.sample_y(QUERY, n, random_state=0, noise=True)
    np.testing.assert_array_equal(counts, again)


@pytest.mark.parametrize("proportion", [1, 7])
def test_a_rate_over_an_exposure_is_fitted_with_the_exposure_as_its_weight(proportion):
    """Counts of several equal periods, or their mean rate with the number of periods as weight."""
    X, _ = calls()
    draw = np.random.RandomState(1)
    periods = draw.randint(1, 5, len(X)) * proportion
    each = np.repeat(np.arange(len(X)), periods)
    counts = draw.poisson(np.exp(np.cos(X[each, 0] / 3)))
    rates = np.bincount(each, counts) / periods
    fixed = RVR(likelihood="poisson", centers=X[::6])
    by_period = fixed.fit(X[each], counts).predict_latent(QUERY, return_std=True)
    by_rate = fixed.fit(X, rates, sample_weight=periods).predict_latent(QUERY, return_std=True)
    np.testing.assert_allclose(by_rate, by_period, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_log_rates_do_not_depend_on_where_the_rows_are(kernel):
    X, y = calls()
    here = RVR(kernel=kernel, gamma=0.1, likelihood="poisson").fit(X, y)
    there = RVR(kernel=kernel, gamma=0.1, likelihood="poisson").fit(X + 1024, y)
    np.testing.assert_allclose(there.predict_latent(QUERY + 1024), here.predict_latent(QUERY))
    assert there.log_evidence_ == pytest.approx(here.log_evidence_, rel=1e-9)


def test_all_rates_grow_with_the_unit_of_exposure():
    """With an intercept, a rate per hour is one per minute times 60, at a 60th of the exposure."""
    X, y = calls()
    per_hour = RVR(likelihood="poisson").fit(X, y)
    per_minute = RVR(likelihood="poisson").fit(X, y / 60, sample_weight=np.full(len(X), 60))
    np.testing.assert_allclose(
        per_minute.predict_latent(X) + np.log(60), per_hour.predict_latent(X), atol=1e-5
    )
    np.testing.assert_allclose(60 * per_minute.predict(X), per_hour.predict(X), rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kernel", ["linear", Columns()], ids=str)
def test_a_log_linear_rate_is_recovered(kernel, seed):
    draw = np.random.RandomState(seed)
    X = draw.uniform(-1, 1, size=(400, 3))
    slopes, level = np.array([1.0, 0.0, -0.7]), 1.2
    y = draw.poisson(np.exp(X @ slopes + level))
    model = RVR(kernel=kernel, likelihood="poisson").fit(X, y)
    # Fisher information of slopes and level at the truth.
    joint = np.column_stack([X, np.ones(400)])
    information = joint.T @ (np.exp(X @ slopes + level)[:, None] * joint)
    error = np.sqrt(np.diag(np.linalg.inv(information)))
    found = np.append(model.coef_, model.intercept_)
    np.testing.assert_array_less(np.abs(found - np.append(slopes, level)), 4 * error)
    truth = X @ slopes + level
    latent, band = model.predict_latent(X, return_std=True)
    assert np.mean(((latent - truth) / band) ** 2) < 5


def test_error_bars_are_of_the_size_of_the_errors():
    """Over many draws; that the functions were chosen is not part of them, so not exactly."""
    squares = []
    for seed in range(30):
        X, y = calls(seed=seed)
        latent, band = RVR(gamma=0.1, likelihood="poisson").fit(X, y).predict_latent(X, True)
        squares.append(((latent - 2.0 * np.exp(-((X[:, 0] / 3) ** 2))) / band) ** 2)
    assert 0.5 < np.mean(squares) < 4


def test_counts_have_no_noise_variance():
    X, y = calls()
    model = RVR(likelihood="poisson").fit(X, y)
    assert not hasattr(model, "noise_variance_")
    with pytest.raises(AttributeError, match=r"noise_variance_.*likelihood"):
        _ = model.noise_variance_
    assert all(np.isnan(row.noise_variance) for row in model.history_)


def test_covariance_has_the_variances_on_its_diagonal():
    X, y = calls()
    model = RVR(likelihood="poisson").fit(X, y)
    mean, covariance = model.predict(QUERY, return_cov=True)
    single, std = model.predict(QUERY, return_std=True)
    np.testing.assert_allclose(mean, single, rtol=1e-12)
    np.testing.assert_allclose(covariance.diagonal(), std**2, rtol=1e-10)
    assert np.linalg.eigvalsh(covariance).min() > 0


@pytest.mark.parametrize("zeros", [0.5, 0.95])
def test_many_zeros_are_no_trouble(zeros):
    X, y = calls(200)
    y[np.random.RandomState(0).uniform(size=200) < zeros] = 0
    model = RVR(likelihood="poisson").fit(X, y)
    assert model.predict(X).sum() == pytest.approx(y.sum(), rel=0.1)


@pytest.mark.parametrize("n", [40, 150])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear_spline"])
def test_a_stretch_of_zeros_is_predicted_to_have_few_counts(kernel, n):
    """Its log rate may be anything far below zero, which the mean count must not follow upwards."""
    X = np.linspace(-8.0, 8.0, n)[:, None]
    y = np.random.RandomState(0).poisson(np.where(X[:, 0] > 1, 20.0, 0.0))
    mean, std = RVR(kernel=kernel, gamma=0.5, likelihood="poisson").fit(X, y).predict(X, True)
    none = X[:, 0] < -1
    assert mean[none].sum() < 3
    assert (std[none] < 2).all()
    assert mean.sum() == pytest.approx(y.sum(), rel=0.1)


def test_huge_counts_are_no_trouble():
    X, y = calls(height=18.0)
    model = RVR(likelihood="poisson", gamma=0.1).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(std).all()
    assert np.corrcoef(mean, y)[0, 1] > 0.99


def test_queries_with_rates_out_of_range_are_refused_and_their_logarithms_are_not():
    X = np.linspace(-1.0, 1.0, 60)[:, None]
    y = np.random.RandomState(0).poisson(np.exp(2 + X[:, 0]))
    model, far = RVR(kernel="linear", likelihood="poisson").fit(X, y), [[1e3], [-1e3]]
    for options in ({}, {"return_std": True}, {"return_cov": True}):
        with pytest.raises(OverflowError, match="log rates"):
            model.predict(far, **options)
    assert np.isfinite(model.predict_latent(far, return_std=True)).all()
    assert model.predict([[500.0]])[0] > 1e200  # without the variance, which is none


def test_only_counts_ask_for_targets_that_are_not_negative():
    assert get_tags(RVR(likelihood="poisson")).target_tags.positive_only
    assert not get_tags(RVR()).target_tags.positive_only


def test_score_is_r2_of_the_mean_count():
    X, y = calls()
    model = RVR(likelihood="poisson").fit(X, y)
    residual = y - model.predict(X)
    assert model.score(X, y) == pytest.approx(1 - residual @ residual / (len(y) * np.var(y)))


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
@pytest.mark.parametrize("weight", [1.0, 1e12, 1e25, 1e45])
def test_mode_is_found_where_a_nat_is_less_than_a_rounding_of_the_likelihood(weight):
    y = np.array([1316.0, 1316.0])
    model = RVR(likelihood="poisson").fit(np.ones((2, 1)), y, sample_weight=[weight, weight])
    log_prob = 2 * weight * poisson.logpmf(1316, 1316)
    assert model.log_evidence_ == pytest.approx(log_prob, rel=1e-12, abs=10 + np.log(weight))
    assert model.predict([[1.0]]) == pytest.approx(1316, rel=1e-9)


@pytest.mark.parametrize("solver", ["sequential", "fixed_point"])
def test_mode_of_very_large_counts_is_found(solver):
    """A count times its log rate is a million million, which all but cancels."""
    X = np.linspace(-1.0, 1.0, 10)[:, None]
    y = np.round(1e11 * np.exp(np.sin(3 * X[:, 0])))
    model = RVR(likelihood="poisson", kernel="laplacian", solver=solver, fit_intercept=False)
    model.fit(X, y)
    assert -1000 < model.log_evidence_ < -100
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-4)
