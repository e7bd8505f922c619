"""Bases as transformers: scikit-learn's checks, tables out, and names that pass through."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import ARDRegression, BayesianRidge
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec import SparseBayesianRegressor
from relvec.basis import RBF, Bias, Columns, Concatenate, Fourier, Polynomial
from relvec.basis.effects import Effect
from tests.support.rows import BASES

TABLES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
#: For any number of inputs, which some rows of tests.support.rows are not.
ANY_INPUTS = Concatenate([Bias(), Columns(), RBF(gamma=0.5)])
FOR_ANY = [
    row
    for row in BASES
    if getattr(row, "labels", None) is None
    and np.ndim(getattr(row, "gamma", 0.0)) == 0
    and type(row) is not Effect
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([ANY_INPUTS if isinstance(row, Concatenate) else row for row in FOR_ANY])
def test_common_checks(estimator, check):
    check(estimator)


@pytest.fixture
def columns(rng):
    """Two named inputs."""
    return {"size": rng.uniform(20, 200, 40), "age": rng.uniform(0, 100, 40)}


@pytest.mark.parametrize("library", TABLES)
@pytest.mark.parametrize("basis", [RBF(gamma=0.5), Polynomial(2), Fourier(harmonics=1), ANY_INPUTS])
def test_functions_come_as_a_table_with_their_names(library, basis, columns):
    table = TABLES[library](columns)
    out = basis.set_output(transform=library).fit(table).transform(table)
    assert isinstance(out, TABLES[library])
    assert list(out.columns) == list(basis.get_feature_names_out())
    plain = basis.set_output(transform="default").transform(table)
    assert isinstance(plain, np.ndarray)
    assert_allclose(out.to_numpy(), plain)


def test_names_pass_through_pipelines_and_unions(columns):
    table = pd.DataFrame(columns)
    steps = make_pipeline(StandardScaler(), make_union(Polynomial(2), Columns()))
    assert list(steps.fit(table).get_feature_names_out()) == [
        *(f"polynomial__{name}" for name in ("size", "age", "size^2", "size age", "age^2")),
        "columns__size",
        "columns__age",
    ]


def test_names_of_nameless_inputs_may_be_given(columns):
    X = np.column_stack(list(columns.values()))
    scaled = make_pipeline(StandardScaler(), Columns()).fit(X)
    assert list(scaled.get_feature_names_out()) == ["x0", "x1"]
    assert list(scaled.get_feature_names_out(["size", "age"])) == ["size", "age"]
    with pytest.raises(ValueError, match=r"length equal to number of features \(2\), got 1"):
        Columns().fit(X).get_feature_names_out(["size"])
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        Columns().fit(pd.DataFrame(columns)).get_feature_names_out(["age", "size"])


def test_every_column_may_have_functions_of_its_own(columns, rng):
    table = pd.DataFrame(columns)
    y = np.sin(table["size"] / 30) + 0.01 * table["age"] + 0.1 * rng.standard_normal(40)
    apart = ColumnTransformer([("wave", RBF(gamma=1e-3), ["size"]), ("line", Columns(), ["age"])])
    model = make_pipeline(apart, SparseBayesianRegressor()).set_output(transform="pandas")
    kept = model.fit(table, y)[-1].summary().index
    assert "line__age" in kept
    assert any(name.startswith("wave__rbf") for name in kept)
    wave = RBF(gamma=[1e-3, 0.0]).fit(table).transform(table)
    assert_allclose(model[0].transform(table), np.column_stack([wave, table["age"]]))


def test_other_peoples_models_take_our_functions(columns):
    table = pd.DataFrame(columns)
    y = np.sin(table["size"] / 30)
    for model in (BayesianRidge(), ARDRegression()):
        fitted = make_pipeline(RBF(gamma=1e-3).set_output(transform="pandas"), model).fit(table, y)
        assert fitted.score(table, y) > 0.95
        assert list(fitted[-1].feature_names_in_) == list(fitted[0].get_feature_names_out())
