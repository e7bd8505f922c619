"""Classifiers, and models of counts, inside scikit-learn's own estimators and searches."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from relvec import RVC, RVR
from tests.support.inputs import clouds, noisy_border, unbalanced

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


@pytest.fixture(params=[2, 3])
def problem(request):
    """Rows and text labels of two or three classes that overlap."""
    X, y = clouds(*[20, 15, 18][: request.param])
    return X, np.array(["oak", "elm", "ash"])[y]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: CalibratedClassifierCV(model, cv=FOLDS),
        lambda model: CalibratedClassifierCV(model, cv=FOLDS, method="isotonic", ensemble=False),
        OneVsRestClassifier,
        lambda model: VotingClassifier(
            [("sparse", model), ("linear", LogisticRegression())], voting="soft"
        ),
        lambda model: VotingClassifier([("sparse", model), ("linear", LogisticRegression())]),
        lambda model: StackingClassifier([("sparse", model)], LogisticRegression(), cv=FOLDS),
        lambda model: BaggingClassifier(model, n_estimators=3, random_state=0),
        lambda model: make_pipeline(StandardScaler(), model),
    ],
    ids=["sigmoid", "isotonic", "rest", "soft", "hard", "stack", "bag", "pipeline"],
)
def test_estimators_of_classifiers_take_it(wrap, problem):
    X, y = problem
    model = wrap(RVC()).fit(X, y)
    assert list(model.classes_) == sorted(set(y))
    assert model.score(X, y) > 0.9
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(X)
        assert p.shape == (len(X), len(model.classes_))
        np.testing.assert_allclose(p.sum(axis=1), 1)


def test_one_against_one_takes_it():
    X, y = clouds(20, 20, 20)
    assert OneVsOneClassifier(RVC()).fit(X, y).score(X, y) > 0.9


def test_several_targets_are_several_machines():
    X, y = noisy_border()
    both = MultiOutputClassifier(RVC()).fit(X, np.column_stack([y, 1 - y]))
    np.testing.assert_array_equal(both.predict(X)[:, 0], RVC().fit(X, y).predict(X))
    counts = MultiOutputRegressor(RVR(likelihood="poisson")).fit(X, np.column_stack([y, 2 * y]))
    assert counts.predict(X).shape == (len(X), 2)


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba", "decision_function"])
def test_out_of_fold_predictions_come_in_the_order_of_the_classes(method, problem):
    X, y = problem
    predicted = cross_val_predict(RVC(), X, y, cv=FOLDS, method=method)
    expected = np.empty_like(predicted)
    for train, test in FOLDS.split(X, y):
        expected[test] = getattr(RVC().fit(X[train], y[train]), method)(X[test])
    np.testing.assert_array_equal(predicted, expected)


@pytest.mark.parametrize(
    ("scoring", "least"), [("accuracy", 0.9), ("neg_log_loss", -0.3), ("roc_auc_ovr", 0.95)]
)
def test_scorers_read_its_probabilities(scoring, least, problem):
    X, y = problem
    assert cross_val_score(RVC(), X, y, cv=FOLDS, scoring=scoring).mean() > least


def test_search_over_kernels_widths_and_ways(problem):
    X, y = problem
    grid = [
        {"kernel": ["rbf"], "gamma": [1e-3, 0.3, 1e3], "multi_class": ["multinomial", "ovr"]},
        {"kernel": ["linear"], "class_weight": [None, "balanced"]},
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of widths that are no good
        search = GridSearchCV(RVC(), grid, cv=FOLDS, scoring="neg_log_loss").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_.get("gamma") != 1e3
    best = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(search.predict_proba(X), best.predict_proba(X))


def test_the_threshold_of_a_rare_class_can_be_tuned():
    X, y = unbalanced()
    tuned = TunedThresholdClassifierCV(RVC(), scoring="balanced_accuracy", cv=FOLDS).fit(X, y)
    assert tuned.best_threshold_ < 0.5
    np.testing.assert_array_equal(
        tuned.predict(X), RVC().fit(X, y).predict_proba(X)[:, 1] >= tuned.best_threshold_
    )


@pytest.mark.parametrize(
    ("model", "labels"),
    [(RVC(), [0, 1, 0, 1, 2]), (RVR(likelihood="poisson"), [0, 1, 2, 1, 3])],
    ids=["classes", "counts"],
)
def test_weights_are_routed_to_fit(model, labels):
    X, _ = noisy_border(60)
    y = np.array(labels)[np.argsort(np.argsort(X[:, 0])) // 12]
    weights, folds = np.arange(60) % 3 + 1.0, KFold(3, shuffle=True, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(model).set_fit_request(sample_weight=True)
        routed = cross_validate(
            asked.set_score_request(sample_weight=True),
            X,
            y,
            params={"sample_weight": weights},
            cv=folds,
            return_estimator=True,
            error_score="raise",
        )["estimator"]
        with pytest.raises(ValueError, match="sample_weight"):
            cross_validate(clone(model), X, y, params={"sample_weight": weights}, cv=folds)
    for fitted, (train, _) in zip(routed, folds.split(X), strict=True):
        alone = clone(model).fit(X[train], y[train], sample_weight=weights[train])
        np.testing.assert_array_equal(fitted.dual_coef_, alone.dual_coef_)


def test_score_takes_weights():
    X, y = noisy_border()
    model, weights = RVC().fit(X, y), np.arange(80) % 2
    right = model.predict(X) == y
    assert model.score(X, y, sample_weight=weights) == pytest.approx(right[1::2].mean())
    assert model.score(X, y) == pytest.approx(right.mean())


@pytest.mark.parametrize("step", [StandardScaler(), FunctionTransformer()], ids=["scaled", "as is"])
def test_tables_run_through_a_pipeline_with_their_names(step):
    X, y = clouds(20, 20, 20)
    table = pd.DataFrame(X, columns=["width", "height"])
    target = pd.Series(y).map({0: "oak", 1: "elm", 2: "ash"}).astype("category")
    model = make_pipeline(step, RVC()).set_output(transform="pandas").fit(table, target)
    assert list(model[-1].feature_names_in_) == ["width", "height"]
    assert list(model.classes_) == ["ash", "elm", "oak"]
    assert isinstance(model.predict(table), np.ndarray)
    assert log_loss(target, model.predict_proba(table), labels=model.classes_) < 0.3
