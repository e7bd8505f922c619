"""Inputs whose kernel or design matrix has far less rank than columns."""

import numpy as np
import pytest
from sklearn.base import is_classifier

from relvec import RVR
from relvec.basis import Columns
from tests.support import inputs
from tests.support.machines import answers, plug_in


@pytest.mark.parametrize("n", [50, 300, 1000])
def test_linear_kernel_of_rank_two(n):
    X, y = inputs.plane(n)
    model = RVR(kernel="linear").fit(X, y)
    assert len(model.relevance_) <= 10
    assert model.score(X, y) > 0.98
    np.testing.assert_allclose(model.coef_, [1.0, -0.5], atol=0.1)


@pytest.mark.parametrize("degree", [2, 3])
def test_polynomial_kernel_of_low_rank(degree):
    X, y = inputs.plane(200)
    model = RVR(kernel="poly", degree=degree, coef0=1.0).fit(X, y)
    assert len(model.relevance_) <= 10
    assert model.score(X, y) > 0.98


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "linear_spline", "poly"])
def test_at_most_one_of_equal_rows_is_kept(kernel, machine):
    X, y = inputs.four_equal_rows()
    model = machine.make(kernel=kernel).fit(X, machine.target(y))
    assert np.isin(model.relevance_rows_, range(4)).sum() <= 1
    assert np.isfinite(answers(model, X)).all()


@pytest.mark.parametrize("copies", [2, 5])
def test_repeated_data_keep_one_function_a_place(copies, machine):
    X, y = inputs.noisy_sinc(40, seed=24)
    y = machine.target(y)
    model = machine.make().fit(np.tile(X, (copies, 1)), np.tile(y, copies))
    places = model.relevance_rows_ % 40
    assert len(set(places)) == len(places)
    assert model.score(X, y) > 0.8


def test_parallel_columns_share_one_effect():
    X, y = inputs.parallel_columns()
    model = RVR(kernel=Columns()).fit(X, y)
    coef = np.zeros(4)
    coef[model.relevance_] = model.dual_coef_
    assert coef[0] + coef[1] + 2 * coef[3] == pytest.approx(1.5, abs=0.05)
    assert model.score(X, y) > 0.99


@pytest.mark.filterwarnings("ignore::relvec.exceptions.NoiseFloorWarning")
@pytest.mark.parametrize("kernel", ["rbf", "linear", Columns()])
def test_more_columns_than_rows(kernel, machine):
    X, y = inputs.more_columns_than_rows()
    model = machine.make(kernel=kernel).fit(X, machine.target(y))
    assert 1 <= len(model.relevance_) <= 20
    assert np.isfinite(answers(model, X)).all()


@pytest.mark.filterwarnings("ignore::relvec.exceptions.NoiseFloorWarning")
def test_two_of_many_columns_are_found():
    X, y = inputs.more_columns_than_rows()
    model = RVR(kernel=Columns()).fit(X, y)
    strongest = model.relevance_[np.argsort(-np.abs(model.dual_coef_))[:2]]
    assert set(strongest) == {3, 77}


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")  # the class between
def test_constant_column_has_no_weight(machine):
    X, y = inputs.one_constant_column()
    y = machine.target(y)
    model = machine.make(kernel=Columns()).fit(X, y)
    assert list(model.relevance_) == [1]
    np.testing.assert_array_equal(model.coef_.T[0], 0.0)
    assert model.score(X, y) > 0.8
    assert machine.make(kernel="linear").fit(X, y).score(X, y) > 0.8


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid", "linear", Columns()])
def test_rows_that_are_all_equal_predict_the_mean(kernel, machine):
    X, y = np.full((25, 2), 3.0), machine.target(inputs.one_constant_column()[1])
    model = machine.make(kernel=kernel, gamma="scale").fit(X, y)
    assert np.isfinite(answers(model, X)).all()
    mean = (y[:, None] == model.classes_).mean(axis=0) if is_classifier(model) else y.mean()
    np.testing.assert_allclose(plug_in(model, X), np.broadcast_to(mean, (25, *mean.shape)))


def test_linear_kernel_of_centred_columns():
    X, y = inputs.centred_columns()
    assert RVR(kernel="linear").fit(X, y).score(X, y) > 0.95


@pytest.mark.filterwarnings("ignore::relvec.exceptions.NoiseFloorWarning")
@pytest.mark.parametrize("gamma", [1e-8, 1e-4, 1e-2])
def test_nearly_equal_columns_of_a_wide_kernel(gamma):
    """Columns that differ in their last digits: the evidence must be that of the stored numbers."""
    X, y = inputs.noisy_sinc(60, seed=22)
    model = RVR(gamma=gamma).fit(X, y)
    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_, rel=1e-8)
    assert np.isfinite(model.predict(X, return_std=True)).all()
    assert model.score(X, y) >= -1e-6
