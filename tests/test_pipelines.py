"""Functions of a model are those of the estimator in it, for its inputs and in units of its y."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import lognorm, norm
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)

import relvec
from relvec import RVC, RVR, EffectsRegressor, SparseBayesianRegressor
from relvec._assess.derivatives import slopes
from relvec._assess.targets import TargetChange

GRID = {"gamma": [0.3]}


def houses(n=90, seed=0):
    """A table of numbers and a category, and prices above zero."""
    rng = np.random.default_rng(seed)
    size, age = rng.uniform(20, 200, n), rng.uniform(0, 90, n)
    town = rng.choice(["here", "there"], n)
    price = 400 + 2 * size - age + 40 * (town == "here") + rng.normal(0, 10, n)
    return pd.DataFrame({"size": size, "age": age, "town": town}), pd.Series(price, name="price")


def prepared():
    return make_column_transformer(
        (StandardScaler(), ["size", "age"]),
        (OneHotEncoder(sparse_output=False), ["town"]),
        verbose_feature_names_out=False,
    )


X, Y = houses()
X_NEW, Y_NEW = houses(40, seed=1)
NAMES = ["size", "age", "town_here", "town_there"]


@pytest.fixture(scope="module")
def plain():
    """A regressor, and new rows as it takes them."""
    steps = prepared().fit(X)
    return RVR(gamma=0.3).fit(steps.transform(X), Y), steps.transform(X_NEW)


#: Models that do the same as `plain`, by what is around its regressor.
AROUND = {
    "pipeline": make_pipeline(prepared(), RVR(gamma=0.3)),
    "pipelines": make_pipeline(prepared(), make_pipeline(FunctionTransformer(), RVR(gamma=0.3))),
    "search": GridSearchCV(make_pipeline(prepared(), RVR()), {"rvr__gamma": [0.3]}, cv=3),
    "search in a pipeline": make_pipeline(prepared(), GridSearchCV(RVR(), GRID, cv=3)),
    "same target": TransformedTargetRegressor(make_pipeline(prepared(), RVR(gamma=0.3))),
    "search of targets in a pipeline": make_pipeline(
        prepared(),
        GridSearchCV(TransformedTargetRegressor(RVR()), {"regressor__gamma": [0.3]}, cv=3),
    ),
}


@pytest.mark.parametrize("around", AROUND)
def test_a_model_answers_as_the_estimator_in_it(around, plain):
    estimator, rows = plain
    model = clone(AROUND[around]).fit(X, Y)
    for found, expected in [
        (relvec.predict(model, X_NEW), estimator.predict(rows)),
        (relvec.predict(model, X_NEW, return_std=True), estimator.predict(rows, return_std=True)),
        (relvec.predict_interval(model, X_NEW, 0.8), estimator.predict_interval(rows, 0.8)),
        (
            relvec.predict_log_density(model, X_NEW, Y_NEW),
            estimator.predict_log_density(rows, Y_NEW),
        ),
        (
            relvec.calibrate(model, X_NEW, Y_NEW).predict_interval(X_NEW, 0.8),
            estimator.calibrate(rows, Y_NEW).predict_interval(rows, 0.8),
        ),
    ]:
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert relvec.log_density(model, X_NEW, Y_NEW) == pytest.approx(
        relvec.log_density(estimator, rows, Y_NEW), rel=1e-12
    )
    assert str(relvec.diagnose(model, X_NEW, Y_NEW)) == str(estimator.diagnose(rows, Y_NEW))
    found, expected = relvec.summary(model, X_NEW, Y_NEW), estimator.summary(rows, Y_NEW)
    assert found.facts["error"] == expected.facts["error"]
    np.testing.assert_allclose(found["weight"], expected["weight"], rtol=1e-9)


def test_an_estimator_that_is_frozen_is_found():
    model = make_pipeline(prepared(), RVR(gamma=0.3)).fit(X, Y)
    found = relvec.predict_interval(FrozenEstimator(model), X_NEW)
    np.testing.assert_array_equal(found, relvec.predict_interval(model, X_NEW))


@pytest.mark.parametrize("slope", [0.01, -250.0])
def test_scaled_targets_have_answers_in_their_own_units(slope, plain):
    estimator, rows = plain
    scaler = FunctionTransformer(lambda y: (y - 7) / slope, lambda z: 7 + slope * z)
    model = make_pipeline(
        prepared(), TransformedTargetRegressor(RVR(gamma=0.3), transformer=scaler)
    ).fit(X, Y)
    mean, std = estimator.predict(rows, return_std=True)
    np.testing.assert_allclose(
        relvec.predict(model, X_NEW, return_std=True), (mean, std), rtol=1e-6
    )
    np.testing.assert_allclose(
        relvec.predict_interval(model, X_NEW), estimator.predict_interval(rows), rtol=1e-6
    )
    found = relvec.predict_log_density(model, X_NEW, Y_NEW)
    np.testing.assert_allclose(found, norm(mean, std).logpdf(Y_NEW), atol=1e-6)
    calibrated = relvec.calibrate(model, X_NEW, Y_NEW)
    expected = estimator.calibrate(rows, Y_NEW)
    np.testing.assert_allclose(
        calibrated.predict(X_NEW, return_std=True), expected.predict(rows, True), rtol=1e-6
    )
    assert relvec.summary(model).facts["units"].startswith("those of y after FunctionTransformer")


def test_the_logarithm_of_a_target_makes_it_lognormal():
    model = TransformedTargetRegressor(
        make_pipeline(prepared(), RVR(gamma=0.3)), func=np.log, inverse_func=np.exp
    ).fit(X, Y)
    inner = model.regressor_
    mean, std = inner[-1].predict(inner[:-1].transform(X_NEW), return_std=True)
    law = lognorm(std, scale=np.exp(mean))
    np.testing.assert_allclose(
        relvec.predict_log_density(model, X_NEW, Y_NEW), law.logpdf(Y_NEW), rtol=1e-9
    )
    np.testing.assert_allclose(
        relvec.predict_interval(model, X_NEW, 0.9), law.interval(0.9), rtol=1e-9
    )
    lower, upper = relvec.calibrate(model, X_NEW, Y_NEW).predict_interval(X_NEW, 0.8)
    assert ((lower <= Y_NEW) & (upper >= Y_NEW)).sum() >= 0.8 * 41 - 1
    with pytest.raises(ValueError, match="is not linear"):
        relvec.predict(model, X_NEW, return_std=True)


def test_transformers_of_a_target_follow_each_other():
    inner = TransformedTargetRegressor(RVR(gamma=0.3), transformer=StandardScaler())
    model = TransformedTargetRegressor(
        make_pipeline(prepared(), inner), func=np.log, inverse_func=np.exp
    ).fit(X, Y)
    once = TransformedTargetRegressor(
        make_pipeline(prepared(), RVR(gamma=0.3)), func=np.log, inverse_func=np.exp
    ).fit(X, Y)
    for function in (relvec.predict_interval, lambda *a: relvec.predict_log_density(*a, Y_NEW)):
        np.testing.assert_allclose(function(model, X_NEW), function(once, X_NEW), rtol=1e-6)


@pytest.mark.parametrize(
    ("transformer", "derivative"),
    [
        (StandardScaler(), lambda fitted, y: np.full(len(y), 1 / fitted.scale_[0])),
        (MinMaxScaler(), lambda fitted, y: np.full(len(y), fitted.scale_[0])),
        (
            PowerTransformer("box-cox", standardize=False),
            lambda fitted, y: y ** (fitted.lambdas_[0] - 1),
        ),
    ],
)
def test_slopes_of_transformers_are_their_derivatives(transformer, derivative):
    y = np.linspace(0.2, 30, 50) ** 1.3
    change = TargetChange((transformer.fit(y[:, None]),))
    z = change.forward(y)
    np.testing.assert_allclose(change.back(z), y, rtol=1e-9)
    np.testing.assert_allclose(change.log_slope(z), np.log(derivative(transformer, y)), atol=1e-8)


def test_differences_find_derivatives_and_say_where_there_are_none():
    x = np.linspace(-2, 2, 81)[:, None]
    found, error = slopes(np.sinh, x)
    np.testing.assert_allclose(found, np.cosh(x), rtol=1e-10)
    assert error.max() < 1e-8
    _, error = slopes(lambda x: np.where(x > 0, 2 * x, x), x)
    assert np.flatnonzero(~(error < 1e-6)).tolist() == [40]


def test_changes_that_are_not_exact_are_refused():
    rows = np.linspace(-1, 1, 60)[:, None]
    noise = np.abs(np.random.default_rng(0).normal(0, 0.3, 60))
    y = (np.abs(rows[:, 0]) + noise) ** 2
    folded = TransformedTargetRegressor(
        RVR(), func=np.sqrt, inverse_func=np.square, check_inverse=False
    ).fit(rows, y)
    with pytest.raises(ValueError, match="not monotone"):
        relvec.predict_interval(folded, rows)
    ranks = TransformedTargetRegressor(
        RVR(), transformer=QuantileTransformer(n_quantiles=20, output_distribution="normal")
    ).fit(rows, y)
    with pytest.raises(ValueError, match="no derivative at y in rows"):
        relvec.predict_log_density(ranks, rows, y)
    logs = TransformedTargetRegressor(RVR(), func=np.log, inverse_func=np.exp).fit(rows, 1 + y)
    with pytest.raises(ValueError, match=r"y has no finite transform by .*log.* in row 3"):
        relvec.predict_log_density(logs, rows, np.where(np.arange(60) == 3, -1.0, y + 1))
    mixed = FunctionTransformer(lambda y: y @ [[1, 1], [0, 1]], lambda z: z @ [[1, -1], [0, 1]])
    both = np.column_stack([y, rows])
    pair = TransformedTargetRegressor(RVR(), transformer=mixed).fit(rows, both)
    with pytest.raises(ValueError, match="mixes the targets"):
        relvec.predict_interval(pair, rows)


def test_targets_of_several_columns_keep_their_order():
    both = np.column_stack([Y, 3 * Y + 5])
    model = TransformedTargetRegressor(
        make_pipeline(prepared(), SparseBayesianRegressor()), transformer=StandardScaler()
    ).fit(X, both)
    steps = prepared().fit(X)
    plain = SparseBayesianRegressor().fit(steps.transform(X), both)
    rows, seen = steps.transform(X_NEW), np.column_stack([Y_NEW, 3 * Y_NEW])
    np.testing.assert_allclose(
        relvec.predict_interval(model, X_NEW), plain.predict_interval(rows), rtol=1e-4
    )
    np.testing.assert_allclose(
        relvec.predict_log_density(model, X_NEW, seen),
        plain.predict_log_density(rows, seen),
        rtol=1e-3,
    )


def test_inputs_are_called_what_the_steps_call_them():
    linear = make_pipeline(prepared(), SparseBayesianRegressor()).fit(X, Y)
    assert set(relvec.summary(linear).index) <= set(NAMES)
    assert {"size", "age"} <= set(relvec.summary(linear).index)
    assert not hasattr(linear[-1], "feature_names_in_"), "the estimator is left as it was"
    effects = make_pipeline(prepared(), EffectsRegressor()).fit(X, Y)
    table = relvec.effects(effects)
    assert table.index[0] == "size"
    np.testing.assert_array_equal(table["share"], effects[-1].effects_["share"])
    uneven = make_pipeline(FunctionTransformer(feature_names_out="one-to-one"), RVR())
    uneven.fit(X[["size"]].assign(grams=1e6 * X["age"]), Y)
    (finding,) = (f for f in relvec.diagnose(uneven) if f.code == "scales_uneven")
    assert "spread of grams" in finding.fact
    at = relvec.summary(make_pipeline(prepared(), RVR(gamma=0.3)).fit(X, Y))["at"]
    assert at.iloc[0].startswith("size ")


def test_steps_without_names_leave_numbers():
    unnamed = make_pipeline(FunctionTransformer(np.asarray), SparseBayesianRegressor())
    summary = relvec.summary(unnamed.fit(X[["size", "age"]], Y))
    assert list(summary.index) == ["x0", "x1"]


def test_refits_are_of_the_whole_model(plain):
    model = make_pipeline(prepared(), RVR(gamma=0.3)).fit(X, Y)
    folds, scores = KFold(5), []
    for kept, left in folds.split(X):
        steps = prepared().fit(X.iloc[kept])
        fitted = RVR(gamma=0.3).fit(steps.transform(X.iloc[kept]), Y[kept])
        mean, std = fitted.predict(steps.transform(X.iloc[left]), return_std=True)
        scores.extend(np.abs(Y[left] - mean) / std)
    factor = np.sort(scores)[int(np.ceil(0.9 * (len(scores) + 1))) - 1]
    estimator, rows = plain
    mean, std = estimator.predict(rows, return_std=True)
    found = relvec.calibrate(model, X, Y, cv=folds).predict_interval(X_NEW, 0.9)
    np.testing.assert_allclose(found, [mean - factor * std, mean + factor * std], rtol=1e-9)


def test_a_calibrated_model_stays_as_it_is(tmp_path):
    model = make_pipeline(prepared(), RVR(gamma=0.3)).fit(X, Y)
    calibrated = relvec.calibrate(model, X_NEW, Y_NEW)
    before = calibrated.predict_interval(X, 0.8)
    relvec.save(calibrated, tmp_path / "model.skops")
    model.fit(X_NEW, 1000 + Y_NEW)
    np.testing.assert_array_equal(calibrated.predict_interval(X, 0.8), before)
    # Of scikit-learn up to 1.6, for columns that are chosen by name.
    columns = "sklearn.compose._column_transformer._RemainderColsList"
    again = relvec.load(tmp_path / "model.skops", trusted=[columns])
    np.testing.assert_allclose(again.predict_interval(X, 0.8), before, rtol=1e-12)


def test_sets_of_classes_are_those_of_the_classifier():
    labels = np.where(Y.median() < Y, "dear", "cheap")
    new = np.where(Y.median() < Y_NEW, "dear", "cheap")
    model = GridSearchCV(make_pipeline(prepared(), RVC()), {"rvc__gamma": [0.3]}, cv=3)
    model.fit(X, labels)
    rows = model.best_estimator_[:-1].transform
    found = relvec.calibrate(model, X_NEW, new).predict_set(X, 0.9)
    expected = model.best_estimator_[-1].calibrate(rows(X_NEW), new).predict_set(rows(X), 0.9)
    np.testing.assert_array_equal(found, expected)
    assert " % of labels on 40 rows" in relvec.summary(model, X_NEW, new).facts["error"]


def test_an_input_that_is_permuted_at_no_cost_comes_last():
    model = make_pipeline(prepared(), SparseBayesianRegressor()).fit(X, Y)
    noise = X_NEW.assign(noise=np.arange(40.0))[["noise", "size", "age", "town"]]
    table = relvec.importance(model, noise, Y_NEW, random_state=0)
    assert list(table.index) == ["size", "age", "town", "noise"]
    assert table.loc["noise"].to_list() == [0, 0]
    nats = relvec.importance(model, noise, Y_NEW, scoring=relvec.log_density, random_state=0)
    assert nats.loc["size", "importance"] > 1


@pytest.mark.parametrize(
    ("model", "function", "expected"),
    [
        (make_pipeline(StandardScaler(), LinearRegression()), relvec.diagnose, "an estimator"),
        (make_pipeline(StandardScaler(), RVR()), relvec.effects, "importance takes any"),
        (GridSearchCV(RVR(), GRID, refit=False, cv=2), relvec.summary, "refit=True"),
        (3, relvec.diagnose, "model is a int, expected an estimator"),
    ],
)
def test_models_of_others_are_refused(model, function, expected):
    if hasattr(model, "fit"):
        model.fit(X[["size", "age"]] / 100, Y)
    with pytest.raises(TypeError, match=expected):
        function(model)


def test_models_that_are_not_fitted_are_refused():
    for model in (RVR(), make_pipeline(StandardScaler(), RVR()), GridSearchCV(RVR(), GRID)):
        with pytest.raises(NotFittedError):
            relvec.summary(model)
    with pytest.raises(TypeError, match="model is a Pipeline that holds a RVC, expected a regress"):
        relvec.predict_interval(make_pipeline(StandardScaler(), RVC()).fit(X[["age"]], Y > 500), X)


def test_cells_that_a_step_refuses_are_named():
    model = make_pipeline(prepared(), RVR(gamma=0.3)).fit(X, Y)
    with pytest.raises(ValueError, match=r"'big'.*: row 1, column 'age' of X"):
        relvec.predict_interval(model, X_NEW.assign(age=["9", "big", *["7"] * 38]))
    with pytest.raises(ValueError, match=r"unknown categories .*: row 3, column 'town' of X"):
        relvec.diagnose(model, X_NEW.assign(town=["here"] * 3 + ["nowhere"] * 37))
    with pytest.raises(ValueError, match="X has 1 features"):
        relvec.predict(
            make_pipeline(StandardScaler(), RVR()).fit(X[["age", "size"]].to_numpy(), Y), [[1]]
        )


def test_counts_take_an_exposure_on_the_way():
    rng = np.random.default_rng(0)
    exposure = np.exp(rng.uniform(-1, 2, len(X)))
    seen = rng.poisson(exposure * Y / 100).astype(float)
    steps = prepared().fit(X)
    counted = SparseBayesianRegressor(likelihood="poisson").fit(
        steps.transform(X), seen, exposure=exposure
    )
    model, time = make_pipeline(steps, counted), np.linspace(0.5, 5, 40)
    rows, new = steps.transform(X_NEW), np.arange(40.0)
    np.testing.assert_array_equal(
        relvec.predict(model, X_NEW, return_std=True, exposure=time),
        counted.predict(rows, return_std=True, exposure=time),
    )
    np.testing.assert_array_equal(
        relvec.predict_interval(model, X_NEW, 0.8, exposure=time),
        counted.predict_interval(rows, 0.8, exposure=time),
    )
    assert relvec.log_density(model, X_NEW, new, exposure=time) == pytest.approx(
        counted.predict_log_density(rows, new, exposure=time).mean()
    )
    found = relvec.diagnose(model, X_NEW, new, exposure=time)
    assert [(one.code, one.numbers) for one in found] == [
        (one.code, one.numbers) for one in counted.diagnose(rows, new, time)
    ]
    told = relvec.summary(model, X_NEW, new, exposure=time).facts["error"]
    assert told == counted.summary(rows, new, time).facts["error"]
