"""Regressors inside scikit-learn's own estimators and searches."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.random import RandomState
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.metrics import make_scorer, r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, learning_curve
from sklearn.multioutput import RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor
from relvec.basis import Columns

FOLDS = KFold(3, shuffle=True, random_state=0)
REGRESSORS = {
    "kernels": RVR(gamma=0.3),
    "mixed": RVR(["linear_spline", Columns()]),
    "outliers": RVR(gamma=0.3, likelihood="student_t"),
    "columns": SparseBayesianRegressor(),
}


def surface(n=80, seed=0):
    """A smooth function of the first two of three inputs, with noise of known size by row."""
    draw = RandomState(seed)
    X = draw.uniform(-2, 2, (n, 3))
    variances = 10.0 ** draw.uniform(-3, -1, n)
    return X, np.sin(X[:, 0]) + X[:, 1] + np.sqrt(variances) * draw.standard_normal(n), variances


@pytest.fixture(params=REGRESSORS)
def model(request):
    return clone(REGRESSORS[request.param])


def test_a_vote_is_the_mean_of_the_models(model):
    X, y, _ = surface()
    vote = VotingRegressor([("sparse", model), ("line", LinearRegression())]).fit(X, y)
    both = [clone(model).fit(X, y).predict(X), LinearRegression().fit(X, y).predict(X)]
    assert_allclose(vote.predict(X), np.mean(both, axis=0))


# A bag holds rows twice and thrice.
@pytest.mark.filterwarnings("ignore::relvec.exceptions.NoiseFloorWarning")
def test_bags_and_stacks_take_it(model):
    X, y, _ = surface()
    bag = BaggingRegressor(model, n_estimators=3, random_state=0).fit(X, y)
    stack = StackingRegressor([("sparse", model)], LinearRegression(), cv=FOLDS).fit(X, y)
    assert bag.score(X, y) > 0.7
    assert stack.score(X, y) > 0.7


def test_a_chain_hands_predictions_on(model):
    X, y, _ = surface()
    after = y + X[:, 2] + 0.3 * RandomState(1).standard_normal(len(y))
    chain = RegressorChain(model).fit(X, np.column_stack([y, after])).predict(X)
    first = clone(model).fit(X, y).predict(X)
    second = clone(model).fit(np.column_stack([X, y]), after)
    assert_allclose(chain[:, 0], first)
    assert_allclose(chain[:, 1], second.predict(np.column_stack([X, first])))


def test_targets_may_be_transformed(model):
    X, y, _ = surface()
    scaled = TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp).fit(X, np.exp(y))
    assert_allclose(scaled.predict(X), np.exp(clone(model).fit(X, y).predict(X)))


def test_every_fold_is_predicted_by_the_others(model):
    X, y, _ = surface()
    predicted = cross_val_predict(model, X, y, cv=FOLDS)
    for train, test in FOLDS.split(X):
        alone = clone(model).fit(X[train], y[train]).predict(X[test])
        assert_array_equal(predicted[test], alone)


def test_learning_curves_rise(model):
    X, y, _ = surface(160)
    _, _, scores = learning_curve(model, X, y, cv=FOLDS, train_sizes=[20, 100])
    few, many = scores.mean(axis=1)
    assert many > few


def test_importance_by_permutation_agrees_with_the_learnt_scales():
    X, y, _ = surface(120)
    model = RVR(gamma="ard").fit(X, y)
    importance = permutation_importance(model, X, y, random_state=0).importances_mean
    assert importance[:2].min() > 0.1
    assert model.feature_relevance_[2] == importance[2] == 0


def test_partial_dependence_on_a_column_is_its_line():
    X, y, _ = surface()
    model = SparseBayesianRegressor().fit(X, y)
    found = partial_dependence(model, X, [1])
    slope = np.polyfit(found["grid_values"][0], found["average"][0], 1)[0]
    assert slope == pytest.approx(model.coef_[1])


@pytest.mark.filterwarnings("ignore::relvec.exceptions.NoiseFloorWarning")
@pytest.mark.parametrize("name", ["sample_weight", "noise_variance_per_row"])
def test_what_goes_with_the_rows_is_routed_through_searches_and_pipelines(name):
    X, y, variances = surface()
    rows = variances if name == "noise_variance_per_row" else 1.0 + np.arange(len(y)) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        machine = RVR().set_fit_request(**{name: True})
        scaler = StandardScaler()
        if name == "sample_weight":
            scaler.set_fit_request(sample_weight=False)
        search = GridSearchCV(
            make_pipeline(scaler, machine),
            {"rvr__gamma": [1e-2, 1.0]},
            cv=FOLDS,
            scoring=make_scorer(r2_score).set_score_request(sample_weight=False),
            error_score="raise",
        ).fit(X, y, **{name: rows})
        with pytest.raises(ValueError, match=name):
            GridSearchCV(RVR(), {"gamma": [1.0]}, cv=FOLDS).fit(X, y, **{name: rows})
    Z = StandardScaler().fit_transform(X)
    alone = RVR(gamma=search.best_params_["rvr__gamma"]).fit(Z, y, **{name: rows})
    assert_array_equal(search.predict(X), alone.predict(Z))
    assert alone.log_evidence_ != RVR(gamma=alone.gamma).fit(Z, y).log_evidence_


def test_error_bars_come_through_a_pipeline_and_routed_noise_widens_them():
    X, y, variances = surface()
    with sklearn.config_context(enable_metadata_routing=True):
        asked = RVR().set_predict_request(return_std=True, noise_variance_per_row=True)
        model = make_pipeline(StandardScaler(), asked).fit(X, y)
        mean, wide = model.predict(X, return_std=True, noise_variance_per_row=100 * variances)
        same, narrow = model.predict(X, return_std=True, noise_variance_per_row=variances)
    assert_array_equal(mean, same)
    assert_allclose(wide**2 - narrow**2, 99 * variances)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_summaries_name_what_a_pipeline_hands_on(library):
    X, y, _ = surface()
    table = pd.DataFrame(X, columns=["width", "height", "depth"])
    scaler = StandardScaler().set_output(transform=library)
    model = make_pipeline(scaler, SparseBayesianRegressor()).fit(table, y)
    assert set(model[-1].summary().index) >= {"width", "height"}


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (RVR(), "regressor"),
        (SparseBayesianRegressor(), "regressor"),
        (RVC(), "classifier"),
        (SparseBayesianClassifier(), "classifier"),
    ],
)
def test_tags_say_what_is_taken(estimator, kind):
    tags = get_tags(estimator)
    assert tags.estimator_type == kind
    assert tags.target_tags.required
    assert not tags.non_deterministic
    assert tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert tags.target_tags.multi_output == (kind == "regressor")
    if kind == "classifier":
        assert tags.classifier_tags.multi_class
        assert not tags.classifier_tags.multi_label
