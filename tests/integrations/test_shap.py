"""Shapley values (SHAP) of the predictions."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, make_friedman1

from relvec import RVC, RVR, SparseBayesianRegressor
from tests.support import needs


@pytest.fixture(scope="module")
def shap():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it imports itself
        return needs.library("shap")


def test_columns_have_the_values_of_a_linear_model(shap):
    """w_d (x_d − mean of x_d) is the Shapley value where the model is linear."""
    X, y = make_friedman1(100, n_features=5, noise=1.0, random_state=0)
    model = SparseBayesianRegressor().fit(X, y)
    expected = model.coef_ * (X[:4] - X.mean(axis=0))
    assert_allclose(shap.LinearExplainer(model, X)(X[:4]).values, expected, atol=1e-10)
    any_order = shap.KernelExplainer(model.predict, X).shap_values(X[:4], silent=True)
    assert_allclose(any_order, expected, atol=1e-10)


def test_values_add_up_and_inputs_without_a_scale_have_none(shap):
    X, y = make_friedman1(120, n_features=6, noise=0.5, random_state=0)
    model = RVR(gamma="ard").fit(X, y)
    explainer = shap.KernelExplainer(model.predict, X[:40])
    values = explainer.shap_values(X[:5], silent=True)
    assert_allclose(values.sum(axis=1) + explainer.expected_value, model.predict(X[:5]))
    ignored = model.feature_relevance_ == 0
    assert ignored.any()
    assert_allclose(values[:, ignored], 0, atol=1e-10)
    assert (np.abs(values[:, ~ignored]).max(axis=0) > 0.1).all()


def test_values_of_probabilities_add_up_over_the_classes(shap):
    X, y = load_iris(return_X_y=True)
    model = RVC().fit(X, y)
    explainer = shap.KernelExplainer(model.predict_proba, X[::10])
    values = explainer.shap_values(X[::30], silent=True)
    assert_allclose(values.sum(axis=1) + explainer.expected_value, model.predict_proba(X[::30]))
    assert_allclose(values.sum(axis=2), 0, atol=1e-10)
