"""Columns that share a precision: how users say which, and that a fit keeps them together."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from relvec import SparseBayesianClassifier, SparseBayesianRegressor
from relvec.rows import ParquetRows
from tests.support import needs
from tests.support.machines import answers, classes, counts

#: Groups of one to three columns, whose members do not lie side by side.
LABELS = np.array(["b", "a", "c", "b", "d", "a", "b", "e", "d", "f"])
pytestmark = pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")

ESTIMATORS = {
    "gaussian": (SparseBayesianRegressor(), lambda y: y),
    "student_t": (SparseBayesianRegressor(likelihood="student_t"), lambda y: y),
    "poisson": (SparseBayesianRegressor(likelihood="poisson"), counts),
    "two targets": (SparseBayesianRegressor(), lambda y: np.column_stack([y, y**2 / 3])),
    "two classes": (SparseBayesianClassifier(), classes(2)),
    "three classes": (SparseBayesianClassifier(), classes(3)),
    "one against the rest": (SparseBayesianClassifier(multi_class="ovr"), classes(3)),
}


@pytest.fixture(params=ESTIMATORS)
def case(request):
    estimator, target = ESTIMATORS[request.param]
    return clone(estimator), target


@pytest.fixture(name="X")
def columns(rng):
    return rng.standard_normal((90, 10)) * 10.0 ** rng.uniform(-2, 2, 10)


@pytest.fixture(name="y")
def target(X, rng):
    """Groups b and d matter."""
    z = X / X.std(axis=0)
    return (
        z[:, [0, 3, 6]] @ [1.0, -0.7, 0.5] + z[:, [4, 8]] @ [0.6, 0.9] + 0.4 * rng.normal(size=90)
    )


@pytest.mark.parametrize("solver", ["sequential", "em"])
def test_a_category_that_no_row_has_is_left_out_of_its_group(case, solver, X, y):
    estimator, target = case
    estimator.set_params(solver=solver)
    without = clone(estimator).set_params(groups=list(LABELS)).fit(X, target(y))
    longer = np.column_stack([X, np.zeros(len(X))])
    found = estimator.set_params(groups=[*LABELS, "b"]).fit(longer, target(y))
    assert_array_equal(found.relevance_, without.relevance_)
    assert_allclose(found.coef_[..., :10], without.coef_, rtol=1e-6, atol=1e-9)
    assert found.log_evidence(longer, target(y)) == pytest.approx(without.log_evidence_, rel=1e-9)


def test_a_group_of_one_column_is_the_column(case, X, y):
    estimator, target = case
    alone = clone(estimator).fit(X, target(y))
    grouped = estimator.set_params(groups=list("qwertyuiop")).fit(X, target(y))
    assert_array_equal(grouped.relevance_, alone.relevance_)
    assert_allclose(grouped.weight_precision_, alone.weight_precision_, rtol=1e-12)
    assert_allclose(grouped.dual_coef_, alone.dual_coef_, rtol=1e-12)
    assert grouped.log_evidence_ == pytest.approx(alone.log_evidence_, rel=1e-12)


def test_groups_are_kept_whole_with_one_precision(case, X, y):
    estimator, target = case
    model = estimator.set_params(groups=LABELS).fit(X, target(y))
    kept = LABELS[model.relevance_]
    assert set(kept) >= {"b"}
    assert_array_equal(model.relevance_, np.flatnonzero(np.isin(LABELS, kept)))
    for precisions in np.atleast_2d(model.weight_precision_):
        for group in set(kept):
            assert len(set(precisions[kept == group])) == 1


@pytest.mark.parametrize("solver", ["sequential", "fixed_point", "em", "variational"])
def test_every_solver_keeps_groups_whole(solver, X, y):
    model = SparseBayesianRegressor(groups=LABELS, solver=solver, max_iter=20_000).fit(X, y)
    kept = LABELS[model.relevance_]
    assert set(kept) >= {"b", "d"}
    assert_array_equal(model.relevance_, np.flatnonzero(np.isin(LABELS, kept)))
    for group in set(kept):
        assert_allclose(
            model.weight_precision_[kept == group], model.weight_precision_[kept == group][0]
        )


def test_the_names_of_groups_do_not_matter(case, X, y):
    estimator, target = case
    one = clone(estimator).set_params(groups=LABELS).fit(X, target(y))
    renamed = np.searchsorted(["f", "b", "e", "a", "c", "d"], LABELS, sorter=[3, 1, 4, 5, 2, 0])
    other = estimator.set_params(groups=(7 * renamed) % 11).fit(X, target(y))
    assert_array_equal(answers(other, X), answers(one, X))


def test_the_order_of_columns_does_not_matter(X, y, rng):
    order = rng.permutation(10)
    one = SparseBayesianRegressor(groups=LABELS).fit(X, y)
    other = SparseBayesianRegressor(groups=LABELS[order]).fit(X[:, order], y)
    assert other.log_evidence_ == pytest.approx(one.log_evidence_, rel=1e-10)
    assert_allclose(other.coef_, one.coef_[order], rtol=1e-6)


def test_a_mapping_says_the_same_as_labels(X, y):
    table = pd.DataFrame(X, columns=list("ABCDEFGHIJ"))
    one = SparseBayesianRegressor(groups=LABELS).fit(X, y)
    mapping = {"a": [1, 5], "b": [0, 3, 6], "d": [4, 8]}
    by_position = SparseBayesianRegressor(groups=mapping).fit(X, y)
    by_name = SparseBayesianRegressor(groups={"b": ["A", "D", "G"], "a": "BF", "d": ["E", "I"]})
    with pytest.raises(TypeError, match=r"groups\['a'\]='BF', expected a list"):
        by_name.fit(table, y)
    by_name.set_params(groups=by_name.groups | {"a": ["B", "F"]}).fit(table, y)
    for other in (by_position, by_name):
        assert_array_equal(other.coef_, one.coef_)
        assert_array_equal(other.group_relevance_.index, ["b", "d"])


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ("kinds", r"groups='kinds', expected None, 'categories'"),
        ([1, 2], r"groups has shape \(2,\), expected a label for each of the 10 columns"),
        (np.ones((10, 1)), r"groups has shape \(10, 1\)"),
        ([np.nan, *range(9)], r"groups\[0\]=nan, expected a label"),
        ({"g": [10]}, r"groups\['g'\] has 10, expected names of columns of X or positions"),
        ({"g": [True]}, r"groups\['g'\] has True"),
        ({"g": ["x"]}, r"groups\['g'\] has 'x', expected positions: X has no feature names"),
        ({"g": []}, r"groups\['g'\] is empty"),
        ({"g": [1, 2], "h": [2]}, r"groups has column 'x2' 2 times"),
        ({"x3": [1, 2]}, r"groups has a group 'x3', which is the name of a column outside it"),
        ("categories", r"groups='categories', expected X with feature names"),
    ],
)
def test_what_is_no_grouping_is_refused(groups, words, X, y):
    with pytest.raises(ValueError, match=words):
        SparseBayesianRegressor(groups=groups).fit(X, y)


def test_names_that_are_no_columns_are_refused(X, y):
    table = pd.DataFrame(X, columns=list("ABCDEFGHIJ"))
    with pytest.raises(ValueError, match=r"groups\['g'\] has 'Z', expected names of columns of X"):
        SparseBayesianRegressor(groups={"g": ["A", "Z"]}).fit(table, y)
    with pytest.raises(ValueError, match="expected two columns of zeros and ones"):
        SparseBayesianRegressor(groups="categories").fit(table, y)


# Categories


@pytest.fixture(name="houses")
def table_of_houses(rng):
    city = rng.choice(["Oslo", "New_York", "New_Delhi", "Rome"], 200)
    price = {"Oslo": 0.0, "New_York": 2.0, "New_Delhi": -2.0, "Rome": 1.0}
    table = pd.DataFrame(
        {
            "area_m2": rng.normal(100, 20, 200),
            "home_city": city,
            "home_kind": rng.choice(["flat", "house"], 200),
            "area_ft": rng.normal(1000, 200, 200),
        }
    )
    table["price"] = [price[each] for each in city] + table.area_m2 / 30 + rng.normal(size=200)
    return table


def test_indicators_of_a_category_are_a_group(houses):
    X, y = pd.get_dummies(houses.drop(columns="price")), houses.price
    model = SparseBayesianRegressor(groups="categories", tol=1e-6).fit(X, y)
    assert model.basis_.terms(model.feature_names_in_).count("home_city") == 4
    assert model.group_relevance_.n_functions["home_city"] == 4
    listed = {"city": [c for c in X if "city" in c], "kind": [c for c in X if "kind" in c]}
    other = SparseBayesianRegressor(groups=listed, tol=1e-6).fit(X, y)
    assert_array_equal(other.coef_, model.coef_)
    dropped = pd.get_dummies(houses.drop(columns="price"), drop_first=True)
    kept = SparseBayesianRegressor(groups="categories").fit(dropped, y)
    assert kept.group_relevance_.n_functions["home_city"] == 3


def test_indicators_of_a_pipeline_are_groups(houses):
    encoder = OneHotEncoder(sparse_output=False)
    columns = make_column_transformer(
        (encoder, ["home_city", "home_kind"]),
        remainder="passthrough",
        verbose_feature_names_out=True,
    ).set_output(transform="pandas")
    model = make_pipeline(columns, SparseBayesianRegressor(groups="categories"))
    model.fit(houses.drop(columns="price"), houses.price)
    assert "onehotencoder__home_city" in model[-1].group_relevance_.index


def test_weights_of_zero_do_not_make_columns_indicators(houses):
    """A row with two ones that does not count does not count."""
    X, y = pd.get_dummies(houses.drop(columns="price")).astype(float), houses.price
    weights = np.ones(200)
    weights[7], X.loc[7, ["home_city_Oslo", "home_city_Rome"]] = 0.0, 1.0
    model = SparseBayesianRegressor(groups="categories").fit(X, y, sample_weight=weights)
    assert model.group_relevance_.n_functions["home_city"] == 4
    model.fit(X, y)
    assert "home_city" not in model.group_relevance_.index


# Rows elsewhere, copies and tables


@pytest.mark.parametrize("where", ["blocks", "parts", "Dask", "files"])
def test_rows_that_are_not_in_memory(where, houses, tmp_path):
    X, y = pd.get_dummies(houses.drop(columns="price")).astype(float), houses.price
    whole = SparseBayesianRegressor(groups="categories").fit(X, y)
    other = SparseBayesianRegressor(groups="categories")
    if where == "blocks":
        other.set_params(memory_limit=1e3).fit(X, y)
    elif where == "parts":
        for rows in (slice(0, 120), slice(120, 200)):
            other.partial_fit(X[rows], y[rows])
    elif where == "Dask":
        dd = needs.library("dask.dataframe")
        other.fit(dd.from_pandas(X, npartitions=3), y.to_numpy())
    else:
        X.assign(price=y).to_parquet(tmp_path / "houses.parquet")
        rows = ParquetRows(tmp_path / "houses.parquet", columns=list(X))
        other.fit(rows, y.to_numpy())
    assert_array_equal(other.relevance_, whole.relevance_)
    assert_array_equal(other.group_relevance_.index, whole.group_relevance_.index)
    assert other.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-9)


def test_copies_and_stored_models_have_the_same_groups(X, y):
    model = SparseBayesianRegressor(groups={"a": [1, 5], "b": [0, 3, 6], "d": [4, 8]})
    assert clone(model).get_params()["groups"] == model.groups
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_frame_equal(again.group_relevance_, model.group_relevance_)
    pd.testing.assert_frame_equal(again.summary(), model.summary())
    assert_array_equal(again.predict(X), model.predict(X))


def test_the_table_of_functions_names_their_groups(X, y):
    model = SparseBayesianRegressor(groups=LABELS).fit(X, y)
    assert list(model.summary()["group"]) == list(LABELS[model.relevance_])
    assert "group" not in SparseBayesianRegressor().fit(X, y).summary()


@pytest.mark.parametrize("several", [False, True], ids=["one target", "two targets"])
def test_a_group_is_worth_what_the_evidence_loses_without_it(several, X, y):
    t = np.column_stack([y, y**2 / 3 + y]) if several else y
    model = SparseBayesianRegressor(groups=LABELS, fit_intercept=False).fit(X, t)
    table, kept = model.group_relevance_, LABELS[model.relevance_]
    targets = np.atleast_2d(t.T)
    precisions = np.broadcast_to(np.atleast_2d(model.weight_precision_), (len(targets), len(kept)))
    noises = np.atleast_1d(model.noise_variance_)
    for group in table.index:
        columns = [name for name in table if name.startswith("evidence")]
        for column, own, alpha, noise in zip(columns, targets, precisions, noises, strict=True):
            evidences = [
                multivariate_normal.logpdf(
                    own, cov=noise * np.eye(90) + (X[:, some] / prior) @ X[:, some].T
                )
                for some, prior in (
                    (model.relevance_, alpha),
                    (model.relevance_[kept != group], alpha[kept != group]),
                )
            ]
            assert table[column][group] == pytest.approx(evidences[0] - evidences[1], rel=1e-8)


def test_groups_count_the_weights_that_the_data_determine(case, X, y):
    estimator, target = case
    model = estimator.set_params(groups=LABELS).fit(X, target(y))
    table, kept = model.group_relevance_, LABELS[model.relevance_]
    assert list(table.index) == list(dict.fromkeys(kept))
    assert list(table.n_functions) == [int((kept == name).sum()) for name in table.index]
    found = table[[name for name in table if name.startswith("well_determined")]].to_numpy().T
    each = np.atleast_2d(model.well_determined_)
    expected = [[row[kept == name].sum() for name in table.index] for row in each]
    assert_allclose(found, expected, rtol=1e-12)
