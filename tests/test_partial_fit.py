"""Rows that come in parts against one fit of all of them."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from relvec import RVR, SparseBayesianRegressor
from relvec.datasets import make_sinc
from relvec.exceptions import EmptyModelWarning

N = 300
CENTERS = np.linspace(-10, 10, 40)[:, None]


def data(n_targets=None):
    X, y = make_sinc(N, noise_scale=0.1, random_state=3)
    if n_targets is not None:
        y = np.column_stack([y * (k + 1) + X[:, 0] * (k == 1) for k in range(n_targets)])
    return X, y


def in_parts(model, X, y, weights=None, parts=10):
    for rows in np.array_split(np.arange(len(X)), parts):
        model.partial_fit(X[rows], y[rows], None if weights is None else weights[rows])
    return model


def assert_same(one, other, X, tolerance=1e-8):
    assert_array_equal(one.relevance_, other.relevance_)
    assert_allclose(one.log_evidence_, other.log_evidence_, atol=tolerance * N)
    for a, b in zip(
        one.predict(X, return_std=True), other.predict(X, return_std=True), strict=True
    ):
        assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("weighted", [False, True], ids=["once", "weights"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"fit_intercept": False},
        {"noise_variance": 0.01},
        {"solver": "fixed_point"},
        {"solver": "variational"},
        {"kernel": "laplacian"},
        {"beta_prior": (2.0, 0.1)},
        {"n_starts": 2},
    ],
    ids=str,
)
def test_ten_parts_are_one_fit(parameters, weighted):
    X, y = data()
    weights = np.random.RandomState(0).randint(0, 3, N).astype(float) if weighted else None
    model = RVR(centers=CENTERS, gamma=0.3, tol=0.5, **parameters)
    whole = clone(model).fit(X, y, sample_weight=weights)
    assert_same(in_parts(model, X, y, weights), whole, X)
    assert model.n_samples_fit_ == N


@pytest.mark.parametrize("multi_output", ["shared", "independent"])
def test_several_targets_come_in_parts(multi_output):
    X, y = data(2)
    model = RVR(centers=CENTERS, gamma=0.3, tol=0.5, multi_output=multi_output)
    assert_same(in_parts(clone(model), X, y), model.fit(X, y), X)


def test_a_constant_target_has_a_machine_of_its_own():
    X, y = data(2)
    y[:, 0] = 7.0
    model = RVR(centers=CENTERS, gamma=0.3, tol=0.5)
    with pytest.warns(EmptyModelWarning, match="target 0"):
        whole = clone(model).fit(X, y)
    with pytest.warns(EmptyModelWarning, match="target 0"):
        model.partial_fit(X, y)
    assert_allclose(model.predict(X), whole.predict(X), atol=1e-8)


def test_the_first_part_chooses_centres_and_gamma():
    X, y = data()
    model = in_parts(RVR(), X, y, parts=5)
    first = X[:60]
    assert_allclose(model.gamma_, 1 / first.var())
    whole = RVR(centers=first, gamma=model.gamma_).fit(X, y)
    assert_allclose(model.log_evidence_, whole.log_evidence_, atol=0.5)
    assert set(model.relevance_vectors_[:, 0]) <= set(first[:, 0])


def test_a_learnt_scale_is_learnt_from_the_first_part():
    X, y = data()
    model = RVR(gamma="evidence").partial_fit(X[:100], y[:100])
    alone = RVR(gamma="evidence").fit(X[:100], y[:100])
    assert_allclose(model.gamma_, alone.gamma_, rtol=1e-6)
    gamma = model.gamma_
    assert model.partial_fit(X[100:], y[100:]).gamma_ == gamma
    assert model.feature_relevance_.shape == (1,)


def test_columns_are_charged_for_in_parts_as_in_one_fit(rng):
    X = rng.standard_normal((N, 12))
    y = X[:, 3] - 2 * X[:, 7] + 0.5 * rng.standard_normal(N)
    whole = SparseBayesianRegressor().fit(X, y)
    assert_same(in_parts(SparseBayesianRegressor(), X, y), whole, X)


def test_products_of_many_candidates_find_the_model_of_the_rows(rng):
    X = rng.standard_normal((900, 4))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(900)
    model = RVR(centers=X[:600], gamma=0.5)
    assert_same(in_parts(clone(model), X, y, parts=3), model.fit(X, y), X, tolerance=1e-6)


def test_chunks_of_an_iterator_are_parts():
    X, y = data()
    weights = np.random.RandomState(0).randint(1, 3, N).astype(float)
    parts = np.array_split(np.arange(N), 4)
    model = RVR(centers=CENTERS, gamma=0.3).fit_chunks((X[p], y[p], weights[p]) for p in parts)
    whole = RVR(centers=CENTERS, gamma=0.3).fit(X, y, sample_weight=weights)
    assert_same(model, whole, X)


def test_fit_forgets_the_parts_before_it():
    X, y = data()
    model = RVR(centers=CENTERS, gamma=0.3).partial_fit(X, 5 * y).fit(X[:200], y[:200])
    again = RVR(centers=CENTERS, gamma=0.3).fit(X[:200], y[:200])
    assert_same(model, again, X, tolerance=1e-12)
    model.partial_fit(X[200:], y[200:])
    assert model.n_samples_fit_ == 100


def test_sums_are_not_stored():
    X, y = data()
    model = RVR(centers=CENTERS, gamma=0.3).partial_fit(X, y)
    stored = pickle.dumps(model)
    assert len(stored) < 20_000
    assert_array_equal(pickle.loads(stored).predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"likelihood": "poisson"}, "likelihood='poisson'"),
        ({"likelihood": "student_t"}, "likelihood='student_t'"),
        ({"augment": True}, "augment=True"),
        ({"checkpoint": "file"}, "checkpoint='file'"),
        ({"kernel": "precomputed"}, "precomputed"),
    ],
    ids=str,
)
def test_what_needs_the_rows_is_refused(parameters, message):
    X, y = data()
    X = np.eye(N) if parameters.get("kernel") else X
    model = RVR(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit_chunks([(X, np.abs(y))])
    # who asks for it, as meta-estimators do, hears that there is none
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'") as refusal:
        model.partial_fit(X, np.abs(y))
    assert message in str(refusal.value.__cause__)


def test_parts_of_another_shape_are_refused():
    X, y = data()
    model = RVR(centers=CENTERS, gamma=0.3).partial_fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(np.hstack([X, X]), y)
    with pytest.raises(ValueError, match="y has 2 columns, expected 1"):
        model.partial_fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X, np.where(X[:, 0] > 9, np.nan, y))
    assert model.n_samples_fit_ == N


def test_no_chunk_is_none():
    with pytest.raises(ValueError, match="chunks is empty"):
        RVR().fit_chunks([])
    with pytest.raises(ValueError, match="expected \\(X, y\\)"):
        RVR().fit_chunks([(CENTERS,)])
