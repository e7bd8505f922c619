"""ONNX graphs of models, run by ONNX Runtime and compared with what they predict."""

import sys

import numpy as np
import pandas
import pytest
import skl2onnx
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from relvec import RVC, RVR
from relvec.datasets import make_sinc
from relvec.exceptions import EmptyModelWarning
from relvec.export import register, to_c, to_onnx
from tests.export.bounds import bounds
from tests.export.graph import run
from tests.export.problems import CLASSES, HOSTILE, NUMBERS, columns, diabetes, fitted, iris, sinc


@pytest.mark.parametrize("problem", NUMBERS)
def test_mean_and_std_are_those_of_predict(problem):
    model, X = fitted(problem)
    mean, std = map(columns, model.predict(X, return_std=True))
    of_mean, of_std = run(to_onnx(model, X, return_std=True), X)
    scale = 1e-10 * np.abs(mean).max(axis=0)
    assert of_mean.dtype == of_std.dtype == np.float64
    assert (np.abs(of_mean - mean) <= scale).all()
    assert (np.abs(of_std - std) <= scale).all()


@pytest.mark.parametrize("problem", NUMBERS)
def test_single_precision_is_off_by_roundings_of_the_terms(problem):
    model, X = fitted(problem)
    mean, std = map(columns, model.predict(X, return_std=True))
    X = X.astype(np.float32)
    of_mean, of_std = run(to_onnx(model, X, return_std=True), X)
    most_of_mean, most_of_std = bounds(model, X)
    assert of_mean.dtype == of_std.dtype == np.float32
    assert (np.abs(of_mean - mean) <= most_of_mean).all()
    assert (np.abs(of_std - std) <= most_of_std).all()


@pytest.mark.parametrize("problem", NUMBERS)
def test_double_precision_inside_leaves_the_rounding_of_the_result(problem):
    model, X = fitted(problem)
    if hasattr(model, "steps"):
        model, X = model[-1], model[:-1].transform(X).astype(np.float32)
    X = X.astype(np.float32)
    mean, std = map(columns, model.predict(X.astype(np.float64), return_std=True))
    of_mean, of_std = run(to_onnx(model, X, return_std=True, double=True), X)
    rounding = np.finfo(np.float32).eps
    np.testing.assert_allclose(of_mean, mean, rtol=rounding, atol=1e-12 * np.abs(mean).max())
    np.testing.assert_allclose(of_std, std, rtol=rounding)


@pytest.mark.parametrize("problem", CLASSES)
def test_labels_and_probabilities_are_those_of_the_model(problem):
    model, X = fitted(problem)
    label, probability = run(to_onnx(model, X), X)
    np.testing.assert_allclose(probability, model.predict_proba(X), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(label, model.predict(X))


@pytest.mark.parametrize("problem", CLASSES)
def test_probabilities_in_single_precision(problem):
    model, X = fitted(problem)
    X32 = X.astype(np.float32)
    _, probability = run(to_onnx(model, X32), X32)
    assert probability.dtype == np.float32
    np.testing.assert_allclose(probability, model.predict_proba(X), rtol=0, atol=1e-5)


def test_zipmap_and_nocl_do_what_they_do_for_other_classifiers():
    register()
    model, X = fitted(iris)
    X = X.astype(np.float32)  # of which alone a map can be made
    _, maps = run(skl2onnx.to_onnx(model, X[:1]), X[:5])
    expected = model.predict_proba(X[:5])
    np.testing.assert_allclose([list(row.values()) for row in maps], expected, atol=1e-6)
    assert list(maps[0]) == model.classes_.tolist()
    named = RVC(gamma=0.1).fit(X, np.array(["b", "c", "a"])[np.arange(150) // 50])
    code, _ = run(skl2onnx.to_onnx(named, X[:1], options={RVC: {"nocl": True, "zipmap": False}}), X)
    np.testing.assert_array_equal(named.classes_[code], named.predict(X))


@pytest.mark.parametrize("opset", [15, 18])
def test_earlier_sets_of_operators_compute_the_same(opset):
    register()
    model, X = fitted(iris)
    options = {RVC: {"zipmap": False}}
    _, p = run(skl2onnx.to_onnx(model, X[:1], options=options, target_opset=opset), X)
    np.testing.assert_allclose(p, model.predict_proba(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_of_classes_are_labels_whatever_they_hold(name):
    X = np.arange(20.0)[:, None]
    model = RVC(gamma=0.1).fit(X, np.repeat([name, "b"], 10))
    graph = to_onnx(model, X)
    np.testing.assert_array_equal(run(graph, X)[0], model.predict(X))
    everything_else = graph.SerializeToString().replace(name.encode(), b"")
    assert b"injected" not in everything_else


def test_whole_numbers_and_truths_are_inputs_too():
    X = np.arange(40)[:, None] % 7
    model = RVR(gamma=0.1).fit(X, np.sin(X[:, 0]) + np.tile([0.1, -0.1], 20))
    (mean,) = run(to_onnx(model, X), X)
    np.testing.assert_allclose(mean[:, 0], model.predict(X), atol=1e-5)


def test_models_inside_others_are_converted():
    register()
    X, y = make_sinc(60, noise_scale=0.1, random_state=0)
    X = X.astype(np.float32)  # which the converters of these keep to
    steps = make_pipeline(StandardScaler(), PolynomialFeatures(2), RVR(gamma=1.0))
    voting = VotingRegressor([("one", RVR(gamma=0.1)), ("two", steps)]).fit(X, y)
    (mean,) = run(skl2onnx.to_onnx(voting, X[:1]), X)
    np.testing.assert_allclose(mean[:, 0], voting.predict(X), atol=1e-5)
    search = GridSearchCV(RVR(), {"gamma": [0.1, 0.2]}, cv=2).fit(X, y)
    (mean,) = run(skl2onnx.to_onnx(search, X[:1]), X)
    np.testing.assert_allclose(mean[:, 0], search.predict(X), atol=1e-5)


def test_tables_have_an_input_for_every_column_and_unknown_categories_are_none():
    from onnxruntime import InferenceSession

    rng = np.random.default_rng(0)
    table = pandas.DataFrame(
        {"size": rng.normal(size=120), "colour": rng.choice(["red", "blue", "green"], 120)}
    )
    encoder = OneHotEncoder(handle_unknown="warn", sparse_output=False)
    prepared = ColumnTransformer([("n", StandardScaler(), ["size"]), ("c", encoder, ["colour"])])
    target = np.sin(table["size"]) + (table["colour"] == "red") + 0.1 * rng.normal(size=120)
    model = make_pipeline(prepared, RVR()).fit(table, target)
    session = InferenceSession(to_onnx(model, table, return_std=True).SerializeToString())
    new = table[:5].assign(colour=["red", "blue", "green", "none of them", "red"])
    inputs = {name: new[[name]].to_numpy() for name in new}
    with pytest.warns(match="unknown categories"):
        expected = np.stack(model.predict(new, return_std=True))
    np.testing.assert_allclose(np.hstack(session.run(None, inputs)).T, expected, atol=1e-10)
    assert model[0].named_transformers_["c"].handle_unknown == "warn"


def test_the_columns_of_a_table_are_one_input_of_an_estimator():
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"size": rng.normal(size=60), "count": rng.integers(0, 5, 60)})
    model = RVR().fit(
        table, np.sin(table["size"]) + 0.1 * table["count"] + 0.1 * rng.normal(size=60)
    )
    graph = to_onnx(model, table)
    assert [each.name for each in graph.graph.input] == ["X"]
    (mean,) = run(graph, table.to_numpy())
    np.testing.assert_allclose(mean[:, 0], model.predict(table), rtol=1e-10)
    whole = table[["count"]]
    model.fit(whole, table["count"] ** 2 + rng.normal(size=60))
    (mean,) = run(to_onnx(model, whole), whole.to_numpy(float))
    np.testing.assert_allclose(mean[:, 0], model.predict(whole), rtol=1e-10)


def test_a_model_without_functions_predicts_every_row():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    with pytest.warns(EmptyModelWarning):
        model = RVR(tol=1e6).fit(X, y)
    for found, expected in zip(
        run(to_onnx(model, X, return_std=True), X), model.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_allclose(found, expected[:, None])


def test_the_graph_is_written_to_the_path(tmp_path):
    model, X = fitted(sinc)
    graph = to_onnx(model, X, tmp_path / "sinc.onnx")
    assert (tmp_path / "sinc.onnx").read_bytes() == graph.SerializeToString()


def test_numbers_that_single_precision_does_not_hold_are_told():
    X, y = make_sinc(50, noise_scale=0.1, random_state=0)
    model = RVR(gamma=0.1).fit(X, 1e40 * y)
    with pytest.raises(ValueError, match="float32"):
        to_onnx(model, X.astype(np.float32))
    with pytest.raises(ValueError, match="C float"):
        to_c(model, real="float")


def test_augmented_models_are_refused():
    X, y = make_sinc(50, noise_scale=0.1, random_state=0)
    with pytest.raises(ValueError, match="augment=True"):
        to_onnx(RVR(gamma=0.1, augment=True).fit(X, y), X)


def test_the_extra_is_named_where_skl2onnx_is_missing(monkeypatch):
    model, X = fitted(diabetes)
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match=r"needs skl2onnx.*relvec\[onnx\]"):
        to_onnx(model, X)
