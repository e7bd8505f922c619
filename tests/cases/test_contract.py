"""Faults of the estimator's interface that users met."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

from relvec import RVR
from tests.support import inputs
from tests.support.covering import covering
from tests.support.machines import MACHINES, answers, at_the_mode


def gaussian(X, Z):
    """exp(-|x - z|^2 / 2) by direct differences."""
    return np.exp(-0.5 * np.square(X[:, None] - Z[None]).sum(axis=2))


@pytest.mark.parametrize("n", [17, 45])
def test_refit_equals_a_fresh_fit_and_leaves_the_parameters(n, machine):
    (X, y), (Z, t) = inputs.noisy_sinc(30, seed=61), inputs.noisy_sinc(n, seed=62)
    model = machine.make()
    before = model.get_params()
    assert model.fit(X, machine.target(y)) is model
    model.fit(Z, machine.target(t))
    fresh = machine.make().fit(Z, machine.target(t))
    assert model.get_params() == before
    np.testing.assert_array_equal(model.relevance_, fresh.relevance_)
    np.testing.assert_array_equal(model.dual_coef_, fresh.dual_coef_)
    assert model.log_evidence_ == fresh.log_evidence_
    assert vars(model).keys() == vars(fresh).keys()


def test_fit_of_a_linear_kernel_leaves_no_coef_behind(machine):
    X, y = inputs.noisy_sinc(30, seed=61, slope=0.1)
    y = machine.target(y)
    model = machine.make(kernel="linear").fit(X, y)
    assert model.coef_.shape == (*model.dual_coef_.shape[:-1], 1)
    model.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(model, "coef_")


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
@pytest.mark.parametrize(
    ("machine", "n", "kernel", "fit_intercept"),
    covering(MACHINES, [1, 2, 3], ["rbf", "linear", "linear_spline"], [True, False]),
    indirect=["machine"],
)
def test_very_few_rows_give_a_finite_model_or_name_their_number(n, kernel, fit_intercept, machine):
    X, y = inputs.three_rows()
    model = machine.make(kernel=kernel, fit_intercept=fit_intercept)
    try:
        model.fit(X[:n], machine.target(y[:n]))
    except ValueError as refusal:
        told = re.search(r"\b1 sample|n_samples\s*=\s*1\b|\b1 class\b", str(refusal))
        if n > 1 or not told:
            raise
    else:
        assert np.isfinite(answers(model, X)).all()


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")  # the class between
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_coef_of_a_linear_kernel_reproduces_the_function(fit_intercept, machine):
    X, y = inputs.offset_plane()
    X, y = (X, y) if fit_intercept else (X - 5, y - y.mean())
    model = machine.make(kernel="linear", fit_intercept=fit_intercept)
    model.fit(X, machine.target(y))
    assert model.coef_.shape == (*model.dual_coef_.shape[:-1], 3)
    assert model.coef_.any()
    by_hand = X @ model.coef_.T + model.intercept_
    if is_classifier(model):
        function = at_the_mode(model).decision_function(X).reshape(by_hand.shape)
    else:
        function = model.predict_latent(X)
    np.testing.assert_allclose(function, by_hand, rtol=1e-9, atol=1e-9)


def test_coef_of_a_linear_kernel_is_the_slope():
    assert RVR(kernel="linear").fit(*inputs.offset_plane()).coef_ == pytest.approx(
        [1, 0, -2], abs=0.05
    )


def test_own_kernel_function_equals_the_built_in_one(machine):
    X, y = inputs.noisy_sinc(30, seed=66)
    y, seen = machine.target(y), []

    def watched(A, B):
        seen.append((A.ndim, B.ndim))
        return gaussian(A, B)

    own, built_in = machine.make(kernel=watched).fit(X, y), machine.make(gamma=0.5).fit(X, y)
    np.testing.assert_allclose(own.predict(X), built_in.predict(X), atol=1e-8)
    assert own.log_evidence_ == pytest.approx(built_in.log_evidence_, abs=1e-8)
    assert set(seen) == {(2, 2)}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda X, Z: gaussian(X, Z)[:, 0],
        lambda X, Z: gaussian(X, Z)[:, 1:],
        lambda X, Z: gaussian(X, Z)[:, :, None],
        lambda X, Z: 1.0,
    ],
    ids=["vector", "too narrow", "three axes", "scalar"],
)
def test_own_kernel_function_of_the_wrong_shape_is_refused(wrong, machine):
    X, y = inputs.noisy_sinc(30, seed=66)
    with pytest.raises(ValueError, match=r"(?s)kernel.*shape"):
        machine.make(kernel=wrong).fit(X, machine.target(y))


def test_precomputed_kernel_equals_the_kernel_it_holds(machine):
    X, y = inputs.noisy_sinc(30, seed=67)
    y, query = machine.target(y), np.linspace(-7.0, 7.0, 5)[:, None]
    held = machine.make(kernel="precomputed").fit(gaussian(X, X), y)
    built_in = machine.make(gamma=0.5).fit(X, y)
    np.testing.assert_allclose(
        answers(held, gaussian(query, X)), answers(built_in, query), rtol=1e-6, atol=1e-7
    )
    np.testing.assert_array_equal(held.relevance_, built_in.relevance_)


def test_precomputed_kernel_is_split_on_both_sides_in_cross_validation(machine):
    X, y = inputs.noisy_sinc(30, seed=67)
    y, precomputed = machine.target(y), machine.make(kernel="precomputed")
    assert get_tags(precomputed).input_tags.pairwise
    assert not get_tags(machine.make()).input_tags.pairwise
    held = cross_val_score(precomputed, gaussian(X, X), y, cv=3, error_score="raise")
    built_in = cross_val_score(machine.make(gamma=0.5), X, y, cv=3, error_score="raise")
    np.testing.assert_allclose(held, built_in, rtol=1e-6)


def test_precomputed_kernel_of_the_wrong_shape_is_refused(machine):
    X, y = inputs.noisy_sinc(30, seed=67)
    y, K = machine.target(y), gaussian(X, X)
    with pytest.raises(ValueError, match=r"(?s)square.*\(30, 10\)|\(30, 10\).*square"):
        machine.make(kernel="precomputed").fit(K[:, :10], y)
    model = machine.make(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match=r"(?s)29.*30|30.*29"):
        model.predict(K[:, 1:])


@pytest.mark.parametrize(
    ("machine", "kernel", "dtype"),
    covering(MACHINES, ["rbf", "linear", "linear_spline"], [np.float64, np.float32]),
    indirect=["machine"],
)
def test_read_only_arrays_are_used_and_left_alone(kernel, dtype, machine):
    X, y = inputs.noisy_sinc(40, seed=69, slope=0.1)
    X, y, weights = X.astype(dtype), machine.target(y).astype(dtype), np.ones(40, dtype)
    copies = X.copy(), y.copy(), weights.copy()
    for array in (X, y, weights):
        array.setflags(write=False)
    model = machine.make(kernel=kernel).fit(X, y, sample_weight=weights)
    answers(model, X)
    model.log_evidence(X, y)
    for array, copy in zip((X, y, weights), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_column_names_are_kept_and_their_order_is_checked(machine):
    X, y = inputs.difference_of_two_columns()
    table = pd.DataFrame(X, columns=["width", "height"])
    model = machine.make().fit(table, machine.target(y))
    assert list(model.feature_names_in_) == ["width", "height"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["height", "width"]])
    with pytest.warns(UserWarning, match="valid feature names"):
        bare = model.predict(X)
    np.testing.assert_array_equal(bare, model.predict(table))


class ArrayShapes(pickle.Pickler):
    """A pickler that notes the shape of every array that it meets."""

    def __init__(self, file):
        super().__init__(file)
        self.shapes = []

    def reducer_override(self, obj):
        if isinstance(obj, np.ndarray):
            self.shapes.append(obj.shape)
        return NotImplemented


@pytest.mark.parametrize(("kernel", "n"), [("rbf", 300), ("poly", 600)])
def test_saved_model_is_small_and_holds_no_training_matrix(kernel, n, machine, tmp_path):
    X, y = inputs.ten_columns_of_sinc(n)
    model = machine.make(kernel=kernel).fit(X, machine.target(y))
    path = tmp_path / "model.pickle"
    with path.open("wb") as file:
        pickler = ArrayShapes(file)
        pickler.dump(model)
    assert path.stat().st_size < 100 * 1024
    assert pickler.shapes
    assert not any(len(X) in shape for shape in pickler.shapes)
    loaded = pickle.loads(path.read_bytes())
    np.testing.assert_array_equal(answers(loaded, X), answers(model, X))


def test_precomputed_model_holds_no_kernel_matrix(machine):
    X, y = inputs.noisy_sinc(500, seed=71)
    model = machine.make(kernel="precomputed").fit(gaussian(X, X), machine.target(y))
    assert len(pickle.dumps(model)) < 100 * 1024


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("parameters", [{"augment": True}, {"kernel": "precomputed"}], ids=str)
def test_sparse_input_is_refused_by_name_where_all_rows_are_needed(parameters, form, machine):
    X, y = inputs.mostly_zero()
    X = X @ X.T if "kernel" in parameters else X
    assert not get_tags(machine.make(**parameters)).input_tags.sparse
    with pytest.raises(ValueError, match=r"(?i)sparse"):
        machine.make(**parameters).fit(form(X), machine.target(y))


@pytest.mark.parametrize("noise_variance", [1e-4, 0.04, 4.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear_spline"])
@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_noise_that_is_known_stays_as_given(kernel, noise_variance):
    X, y = inputs.noisy_sinc(40, noise=0.2, seed=74)
    model = RVR(kernel=kernel, noise_variance=noise_variance).fit(X, y)
    assert model.noise_variance_ == noise_variance
    std = model.predict(np.linspace(-9.0, 9.0, 31)[:, None], return_std=True)[1]
    assert (std >= np.sqrt(noise_variance)).all()
    np.testing.assert_allclose([row.noise_variance for row in model.history_], noise_variance)
