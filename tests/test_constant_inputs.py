"""Columns of X that vary by rounding only are constants, for every function made of them."""

import numpy as np
import pytest

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor
from relvec._design import ArrayBlocks
from relvec._fitting.data import ConstantInputs
from relvec.basis import RBF, Columns, FunctionColumns, Laplacian, Polynomial
from relvec.exceptions import RoundingWarning
from tests.support.covering import covering

N = 120
LOST = {
    "two values": lambda r: r.choice([1e-22, 1.01e-22], N),
    "about zero": lambda r: 1e-22 * r.standard_normal(N),
    "roundings of 0.1": lambda r: r.choice([0.0, 2.0**-56], N),
    "roundings of 1": lambda r: 1e-16 * r.standard_normal(N),
}
ROUNDED = {
    "of 5": lambda r: 5 + 2.0**-50 * r.integers(0, 3, N),
    "of 1e-22": lambda r: 1e-22 * (1 + 2.0**-51 * r.integers(0, 3, N)),
    "not at all": lambda r: np.full(N, 3.0),
}
MODELS = {
    "columns": lambda: SparseBayesianRegressor(),
    "linear": lambda: RVR("linear"),
    "beside a kernel": lambda: RVR(["rbf", Columns()]),
    "products": lambda: RVR(Polynomial(2)),
    "products beside a kernel": lambda: RVR(["rbf", Polynomial(3, interaction_only=True)]),
    "a width each": lambda: RVR(gamma="ard"),
    "a product of one's own": lambda: RVR([FunctionColumns(lambda X: X[:, :1] * X), Columns()]),
}


def table(r, column):
    X = np.column_stack([r.standard_normal((N, 2)), column(r)])
    return X, X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.1 * r.standard_normal(N)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
@pytest.mark.parametrize(("column", "model", "unit"), covering(LOST, MODELS, [1e-30, 1.0, 1e30]))
def test_predictions_do_not_rest_on_columns_that_are_lost_beside_others(column, model, unit):
    for seed in range(2):
        X, y = table(np.random.default_rng(seed), LOST[column])
        fitted, moved = MODELS[model]().fit(unit * X, y), X.copy()
        moved[:, 2] = 2e-4
        np.testing.assert_allclose(
            fitted.predict(unit * moved), fitted.predict(unit * X), atol=1e-3
        )


@pytest.mark.parametrize("column", ROUNDED.values(), ids=ROUNDED)
def test_products_with_constant_columns_are_no_candidates(column, rng):
    X, y = table(rng, column)
    fitted, moved = RVR(Polynomial(2)).fit(X, y), X.copy()
    moved[:, 2] *= 2
    assert not any("x2" in name for name in fitted.basis_.names())
    np.testing.assert_array_equal(fitted.predict(moved), fitted.predict(X))


def test_the_fit_is_that_without_the_column(rng):
    X, y = table(rng, LOST["about zero"])
    with pytest.warns(RoundingWarning, match="^values of x2 are rounding"):
        fitted = RVR(["rbf", Polynomial(2)], gamma=0.5).fit(X, y)
    other = RVR(["rbf", Polynomial(2)], gamma=0.5).fit(X[:, :2], y)
    assert fitted.log_evidence_ == pytest.approx(other.log_evidence_, abs=1e-6)
    assert fitted.diagnose().codes == [RoundingWarning.code]


@pytest.mark.parametrize("scale", [1e-22, 1e-140])
def test_small_columns_count_where_nothing_is_larger(scale, rng):
    x = rng.standard_normal((N, 2))
    y = x[:, 0] + 0.1 * rng.standard_normal(N)
    model = SparseBayesianRegressor().fit(scale * x, y)
    assert model.coef_[0] * scale == pytest.approx(1, abs=0.05)


def test_units_count_as_long_as_no_column_is_lost_beside_the_next(rng):
    Z, u = rng.standard_normal((N, 4)), 10.0 ** np.array([-20, -8, 6, 20])
    y = Z.sum(axis=1) + 0.1 * rng.standard_normal(N)
    np.testing.assert_allclose(SparseBayesianRegressor().fit(Z * u, y).coef_ * u, 1, atol=0.1)


def test_a_large_constant_makes_no_column_small(rng):
    x = rng.standard_normal(N)
    X = np.column_stack([1e-10 * x, np.full(N, 1e10)])
    fitted = SparseBayesianRegressor().fit(X, x + 0.1 * rng.standard_normal(N))
    assert fitted.coef_[0] == pytest.approx(1e10, rel=0.05)


def test_rows_without_weight_do_not_count(rng):
    X, y = table(rng, LOST["about zero"])
    X[0, 2], weights = 1.0, np.r_[0.0, np.ones(N - 1)]
    with pytest.warns(RoundingWarning, match="x2"):
        fitted = SparseBayesianRegressor().fit(X, y, sample_weight=weights)
    assert 2 not in fitted.relevance_
    assert not len(ConstantInputs.of(X.min(axis=0), X.max(axis=0)).lost)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RoundingWarning")
@pytest.mark.parametrize("kind", [*LOST.values(), *ROUNDED.values()], ids=[*LOST, *ROUNDED])
def test_rows_out_of_memory_are_fitted_alike(kind, rng):
    X, y = table(rng, kind)
    model = RVR(["rbf", Polynomial(2)], gamma=0.5, centers=X[:10])
    there, here = (model.fit(rows, y).predict(X) for rows in (ArrayBlocks(X, 50), X))
    np.testing.assert_allclose(there, here, atol=1e-6)


@pytest.mark.parametrize("model", [RVC(Polynomial(2)), SparseBayesianClassifier()], ids=repr)
def test_classes(model, rng):
    X, y = table(rng, LOST["two values"])
    with pytest.warns(RoundingWarning, match="x2"):
        fitted = model.fit(X, y > 0)
    moved = X.copy()
    moved[:, 2] = 2e-4
    np.testing.assert_allclose(fitted.predict_proba(moved), fitted.predict_proba(X), atol=1e-3)


# Functions whose values at all rows are rounding

CENTERS = np.array([[-1.0], [0.0], [1.0], [8.0], [-12.0], [60.0]])


@pytest.mark.parametrize("where", ["in memory", "block by block", "in parts"])
@pytest.mark.parametrize(
    "kernel",
    [RBF(), Laplacian(gamma=9.0), RBF() + Laplacian(gamma=9.0), RBF() * RBF(), [RBF(), Columns()]],
    ids=["rbf", "laplacian", "sum", "product", "beside others"],
)
def test_centres_out_of_reach_carry_no_function(kernel, where, rng):
    X = rng.uniform(-1, 1, (80, 1))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(80)
    model = RVR(kernel, centers=CENTERS)
    if where == "in parts":
        model.partial_fit(X, y)
    else:
        model.fit(X if where == "in memory" else ArrayBlocks(X, 30), y)
    assert not (np.abs(model.relevance_vectors_) > 7).any()
    assert np.abs(model.predict(CENTERS[3:])).max() < 1e3


def test_centres_out_of_reach_keep_their_numbers(rng):
    X = rng.uniform(-1, 1, (80, 1))
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(80)
    model = RVR(RBF(gamma=1.0), centers=CENTERS[::-1]).fit(X, y)
    assert set(model.relevance_) <= {3, 4, 5}
    np.testing.assert_array_equal(CENTERS[::-1][model.relevance_], model.relevance_vectors_)
