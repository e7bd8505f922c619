"""Log density of observations, and models chosen by it."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVC, RVR, SparseBayesianRegressor, log_density
from tests.support.inputs import noisy_sinc
from tests.support.machines import counts

X, Y = noisy_sinc(60, seed=3, slope=0.1)
QUERY, SEEN = noisy_sinc(30, seed=4, slope=0.1)


@pytest.mark.parametrize("model", [RVR(), RVR(augment=True), SparseBayesianRegressor()])
def test_density_is_that_of_mean_and_std(model):
    model.fit(X, Y)
    expected = norm(*model.predict(QUERY, return_std=True)).logpdf(SEEN)
    np.testing.assert_allclose(model.predict_log_density(QUERY, SEEN), expected, rtol=1e-10)


def test_noise_known_by_row_takes_the_place_of_that_learnt():
    model, known = RVR().fit(X, Y), np.linspace(0.01, 2, 30)
    mean, band = model.predict_latent(QUERY, return_std=True)
    expected = norm(mean, np.sqrt(band**2 + known)).logpdf(SEEN)
    found = model.predict_log_density(QUERY, SEEN, noise_variance_per_row=known)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("multi_output", ["shared", "independent"])
def test_several_targets_have_a_density_each(multi_output):
    both = np.column_stack([Y, 3 * Y[::-1]])
    model = RVR(multi_output=multi_output).fit(X, both)
    seen = np.column_stack([SEEN, SEEN])
    expected = norm(*model.predict(QUERY, return_std=True)).logpdf(seen)
    found = model.predict_log_density(QUERY, seen)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert log_density(model, QUERY, seen) == pytest.approx(expected.sum(axis=1).mean())


@pytest.mark.parametrize("likelihood", ["gaussian", "student_t"])
def test_density_is_in_units_of_the_target(likelihood):
    plain = RVR(likelihood=likelihood).fit(X, Y)
    scaled = RVR(likelihood=likelihood).fit(X, 1000 * Y)
    found = scaled.predict_log_density(QUERY, 1000 * SEEN)
    expected = plain.predict_log_density(QUERY, SEEN) - np.log(1000)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_heavy_tails_find_an_outlier_more_probable():
    far = np.array([plain.predict(QUERY[:1])[0] + 5.0 for plain in [RVR().fit(X, Y)]])
    found = [
        RVR(likelihood=likelihood)
        .fit(X, np.r_[Y[:-2], [3.0, -3.0]])
        .predict_log_density(QUERY[:1], far)
        for likelihood in ("gaussian", "student_t")
    ]
    assert found[1] > found[0] + 5


def test_counts_have_probabilities():
    model = RVR(likelihood="poisson").fit(X, counts(Y))
    every = np.exp([model.predict_log_density(QUERY[:1], [k])[0] for k in range(500)])
    assert every.sum() == pytest.approx(1, abs=1e-9)
    with pytest.raises(ValueError, match="y has a minimum of -1"):
        model.predict_log_density(QUERY[:1], [-1])


def test_a_search_chooses_the_width_that_predicts():
    grid = {"rvr__gamma": [1e-6, 0.1, 0.5]}
    search = GridSearchCV(
        make_pipeline(StandardScaler(with_std=False), RVR()), grid, scoring=log_density, cv=5
    ).fit(X, Y)
    assert search.best_params_ == {"rvr__gamma": 0.1}
    machine, inputs = search.best_estimator_[-1], search.best_estimator_[:-1].transform(QUERY)
    expected = machine.predict_log_density(inputs, SEEN).mean()
    assert log_density(search.best_estimator_, QUERY, SEEN) == pytest.approx(expected)


def test_others_are_referred_to_their_own_score():
    with pytest.raises(TypeError, match="neg_log_loss"):
        log_density(RVC().fit(X, Y > 0), X, Y > 0)


@pytest.mark.parametrize(("y", "match"), [(SEEN[:-1], "30"), (np.full(30, np.nan), "y")])
def test_targets_are_checked(y, match):
    with pytest.raises(ValueError, match=match):
        RVR().fit(X, Y).predict_log_density(QUERY, y)
