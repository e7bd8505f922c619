"""predict_interval: quantiles of what a fitted regressor predicts."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nbinom, norm
from sklearn.exceptions import NotFittedError

from relvec import RVR, SparseBayesianRegressor
from tests.support.inputs import noisy_sinc
from tests.support.machines import counts

QUERY = np.linspace(-12.0, 12.0, 9)[:, None]
REGRESSORS = [RVR(), SparseBayesianRegressor()]


@pytest.fixture(params=REGRESSORS, ids=lambda row: type(row).__name__)
def model(request):
    X, y = noisy_sinc(60, seed=3, slope=0.1)
    return request.param.fit(X, y)


@pytest.mark.parametrize("coverage", [0.5, 0.95])
def test_interval_has_the_quantiles_of_mean_and_std(model, coverage):
    expected = norm(*model.predict(QUERY, return_std=True)).interval(coverage)
    np.testing.assert_allclose(model.predict_interval(QUERY, coverage), expected, rtol=1e-12)


def test_interval_covers_95_percent_unless_told_otherwise(model):
    np.testing.assert_array_equal(
        model.predict_interval(QUERY), model.predict_interval(QUERY, coverage=0.95)
    )


def test_noise_known_by_query_takes_the_place_of_that_learnt(model):
    known = np.linspace(0.0, 2.0, 9) ** 2 + 0.01
    mean, band = model.predict_latent(QUERY, return_std=True)
    expected = norm(mean, np.sqrt(band**2 + known)).interval(0.8)
    found = model.predict_interval(QUERY, 0.8, noise_variance_per_row=known)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("multi_output", ["shared", "independent"])
def test_several_targets_have_an_interval_each(multi_output):
    X, y = noisy_sinc(60, seed=3)
    both = RVR(multi_output=multi_output).fit(X, np.column_stack([y, 3 * y[::-1] + X[:, 0]]))
    lower, upper = both.predict_interval(QUERY, 0.8)
    assert lower.shape == upper.shape == (9, 2)
    expected = norm(*both.predict(QUERY, return_std=True)).interval(0.8)
    np.testing.assert_allclose([lower, upper], expected, rtol=1e-12)
    known = np.full(9, 0.5)
    lower, upper = both.predict_interval(QUERY, 0.8, noise_variance_per_row=known)
    std = both.predict(QUERY, return_std=True, noise_variance_per_row=known)[1]
    np.testing.assert_allclose(upper - lower, 2 * norm.ppf(0.9) * std, rtol=1e-12)


def test_counts_are_between_negative_binomial_quantiles():
    X, y = noisy_sinc(60, seed=3)
    model = RVR(likelihood="poisson").fit(X, counts(y))
    lower, upper = model.predict_interval(QUERY, 0.9)
    latent, band = model.predict_latent(QUERY, return_std=True)
    assert (band > 1e-3).all()  # the shape of the Gamma has digits
    expected = nbinom(1 / band**2, 1 / (1 + band**2 * np.exp(latent))).interval(0.9)
    np.testing.assert_array_equal([lower, upper], expected)
    with pytest.raises(ValueError, match="noise_variance_per_row"):
        model.predict_interval(QUERY, noise_variance_per_row=np.ones(9))


@pytest.mark.parametrize("unit", [1e-60, 1e-3, 1e60])
def test_ends_are_in_units_of_the_target(unit):
    X, y = noisy_sinc(60, seed=3)
    plain = RVR().fit(X, y).predict_interval(QUERY, 0.8)
    scaled = RVR().fit(X, unit * y).predict_interval(QUERY, 0.8)
    np.testing.assert_allclose(scaled, unit * np.array(plain), rtol=1e-5)


def test_data_frames_are_queries():
    X, y = noisy_sinc(60, seed=3)
    model = RVR().fit(pd.DataFrame(X, columns=["x"]), y)
    found = model.predict_interval(pd.DataFrame(QUERY, columns=["x"]))
    np.testing.assert_array_equal(found, RVR().fit(X, y).predict_interval(QUERY))


@pytest.mark.parametrize("coverage", [0, 1.0, -0.5, 95, True, float("nan")])
def test_coverage_that_is_no_probability_is_named(model, coverage):
    with pytest.raises(ValueError, match=rf"coverage={coverage!r}, expected a probability > 0 and"):
        model.predict_interval(QUERY, coverage)


@pytest.mark.parametrize("coverage", ["95%", None, [0.5, 0.8]])
def test_coverage_that_is_no_number_is_named(model, coverage):
    with pytest.raises(TypeError, match="coverage="):
        model.predict_interval(QUERY, coverage)


def test_interval_needs_a_fit():
    with pytest.raises(NotFittedError):
        RVR().predict_interval(QUERY)
