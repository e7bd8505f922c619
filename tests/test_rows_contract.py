"""One contract of rows: wherever they are, a fit and all that it says are those in memory.

The rows are in the order of their targets, so that blocks lack classes and have counts of zero
alone, and the first have no weight.
"""

from functools import cache, partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone

from relvec import (
    RVC,
    RVR,
    EffectsClassifier,
    EffectsRegressor,
    SparseBayesianClassifier,
    SparseBayesianRegressor,
    compare,
    log_density,
)
from relvec._design.sparse import SparseBlocks
from tests.support import needs
from tests.support.containers import CONTAINERS, IN_MEMORY, OF_INPUTS, OUT_OF_MEMORY

N = 30


def sample():
    """Inputs, and by name the targets and weights that fits have."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(N)
    order = np.argsort(y)
    X, y = X[order], y[order]
    weights = np.where(np.arange(N) < 8, 0.0, 1.0 + np.arange(N) % 2)
    return X, {
        "numbers": y,
        "several": np.column_stack([y, y**2]),
        "counts": np.floor(2 * np.maximum(y, 0)),
        "two": (y < 0.3) ^ (np.arange(N) % 17 == 3),
        "three": np.digitize(y, [-0.5, 0.7]),
        "weights": weights,
    }


X, VALUES = sample()


@pytest.fixture(params=CONTAINERS, ids=str)
def container(request):
    return request.param


@pytest.fixture(autouse=True)
def one_thread():
    """Dask on one thread: chunks are so small that threads would only wait for each other."""
    with needs.library("dask").config.set(scheduler="synchronous"):
        yield


def elsewhere(container, values, folder):
    if container in OF_INPUTS and not np.shares_memory(values, X):
        return values
    return CONTAINERS[container](values, folder)


def fitted(model, target, weighted, place=lambda values: values):
    weights = {"sample_weight": place(VALUES["weights"])} if weighted else {}
    return model.fit(place(X), place(VALUES[target]), **weights)


def here(answer):
    """What was said, in memory: arrays as a list."""
    parts = answer if isinstance(answer, tuple) else (answer,)
    return [np.asarray(part.compute() if hasattr(part, "compute") else part) for part in parts]


def assert_same(found, expected):
    for one, other in zip(here(found), here(expected), strict=True):
        assert one.shape == other.shape
        if other.dtype.kind in "fc":
            assert_allclose(one, other, rtol=1e-8, atol=1e-8)
        else:
            assert_array_equal(one, other)


def assert_same_fit(found, expected):
    assert_array_equal(found.relevance_, expected.relevance_)
    assert_allclose(found.log_evidence_, expected.log_evidence_, rtol=1e-8, atol=1e-8)
    assert found.n_samples_fit_ == N
    for name in ("gamma_", "feature_relevance_", "noise_variance_", "classes_"):
        if hasattr(expected, name):
            assert_same(getattr(found, name), getattr(expected, name))
    say = "predict_proba" if hasattr(expected, "predict_proba") else "predict"
    queries = CONTAINERS["pandas"](X, None) if hasattr(found, "feature_names_in_") else X
    assert_same(getattr(found, say)(queries), getattr(expected, say)(X))


# Each fit with a target, and whether rows have weights. The first are held to every container.
few = {"centers": X[::3], "tol": 0.5}
EVERYWHERE = {
    "regression": (RVR(**few), "numbers", True),
    "counts": (RVR(likelihood="poisson", **few), "counts", True),
    "columns": (SparseBayesianClassifier(), "two", False),
}
FITS = {
    "several targets": (RVR(**few), "several", False),
    "independent targets": (RVR(multi_output="independent", **few), "several", True),
    "every row a centre": (RVR(gamma=0.5), "numbers", False),
    "centres drawn": (RVR(centers=10, random_state=0), "numbers", True),
    "another solver": (RVR(solver="em", **few), "numbers", False),
    "noise given": (RVR(noise_variance=0.1, **few), "numbers", False),
    "remainder": (RVR(gamma=0.5, remainder="process"), "numbers", False),
    "several kernels": (RVR(kernel=["rbf", "linear"], **few), "numbers", False),
    "linear": (SparseBayesianRegressor(), "numbers", True),
    "groups": (SparseBayesianRegressor(groups=["both", "both"]), "numbers", False),
    "three classes": (RVC(**few), "three", True),
    "one against the rest": (RVC(multi_class="ovr", **few), "three", False),
    "balanced": (RVC(class_weight="balanced", **few), "two", True),
    "effects": (EffectsRegressor(), "numbers", False),
    "effects on classes": (EffectsClassifier(remainder=None), "two", False),
}
#: Fits with hundreds of passes, each of which is a task a chunk.
MANY_PASSES = {"counts", "columns", "three classes", "one against the rest", "balanced"}
MANY_PASSES |= {"effects on classes"}
QUICK = {("counts", "dask"), ("balanced", "dask")}
FEWER = ["nullable", "sparse rows", "parquet", "dask", "dask table"]


def cases(fits, containers):
    """Every fit in every container; those that take seconds are slow."""
    for fit in fits:
        for container in containers:
            many = fit in MANY_PASSES and container.startswith("dask")
            slow = [pytest.mark.slow] if many and (fit, container) not in QUICK else []
            yield pytest.param(fit, container, marks=slow, id=f"{fit}-{container}")


@cache
def fitted_in_memory(fit):
    """Model of one of the fits in memory."""
    model, target, weighted = (EVERYWHERE | FITS)[fit]
    return fitted(clone(model), target, weighted)


@pytest.mark.parametrize(
    ("fit", "container"), [*cases(EVERYWHERE, CONTAINERS), *cases(FITS, FEWER)]
)
def test_a_fit_is_that_in_memory(fit, container, tmp_path):
    model, target, weighted = (EVERYWHERE | FITS)[fit]
    place = partial(elsewhere, container, folder=tmp_path)
    assert_same_fit(fitted(clone(model), target, weighted, place), fitted_in_memory(fit))


@pytest.mark.parametrize("container", ["sparse rows", "parquet", "dask", "dask table"])
@pytest.mark.parametrize(
    ("likelihood", "name"), [("gaussian", "noise_variance_per_row"), ("poisson", "exposure")]
)
def test_what_is_known_of_rows_is_where_they_are(likelihood, name, container, tmp_path):
    known, weights = np.exp(X[:, 1]), VALUES["weights"]
    target = VALUES["counts" if name == "exposure" else "numbers"]
    model = RVR(likelihood=likelihood, centers=X[::6], tol=0.5)
    expected = clone(model).fit(X, target, weights, **{name: known})
    there, y, w, given = (
        elsewhere(container, values, tmp_path) for values in (X, target, weights, known)
    )
    found = clone(model).fit(there, y, w, **{name: given})
    assert_array_equal(found.relevance_, expected.relevance_)
    assert_allclose(found.log_evidence_, expected.log_evidence_, rtol=1e-8)
    assert_allclose(found.dual_coef_, expected.dual_coef_, rtol=1e-7)
    assert found.fit_result_.exposed == (name == "exposure")
    assert found.fit_result_.noise_by_row == (name != "exposure")


REGRESSION = {
    "predict": lambda model, X, y, w: model.predict(X, return_std=True),
    "predict, noise known": lambda model, X, y, w: model.predict(
        X, return_std=True, noise_variance_per_row=w + 0.1
    ),
    "predict_cov": lambda model, X, y, w: model.predict(X, return_cov=True),
    "predict_latent": lambda model, X, y, w: model.predict_latent(X, return_std=True),
    "predict_interval": lambda model, X, y, w: model.predict_interval(X, 0.8),
    "predict_interval, noise known": lambda model, X, y, w: model.predict_interval(
        X, noise_variance_per_row=w + 0.1
    ),
    "predict_log_density": lambda model, X, y, w: model.predict_log_density(X, y),
    "predict_log_density, noise known": lambda model, X, y, w: model.predict_log_density(
        X, y, noise_variance_per_row=w + 0.1
    ),
    "sample_y": lambda model, X, y, w: model.sample_y(X, 2, random_state=0),
    "score": lambda model, X, y, w: model.score(X, y, w),
    "log_density": lambda model, X, y, w: log_density(model, X, y),
    "log_evidence": lambda model, X, y, w: model.log_evidence(X, y, w),
    "calibrate": lambda model, X, y, w: model.calibrate(X, y).predict_interval(X, 0.5),
    "calibrate, folds": lambda model, X, y, w: model.calibrate(X, y, cv=3).predict(X),
    "diagnose": lambda model, X, y, w: str(model.diagnose(X, y)),
    "compare": lambda model, X, y, w: compare([model], X, y, w).drop(columns="seconds").values,
}
EXPOSED = {
    "predict, exposed": lambda model, X, y, w: model.predict(X, return_std=True, exposure=w + 1),
    "interval, exposed": lambda model, X, y, w: model.predict_interval(X, exposure=w + 1),
    "density, exposed": lambda model, X, y, w: model.predict_log_density(X, y, exposure=w + 1),
    "draws, exposed": lambda model, X, y, w: model.sample_y(X, 1, 0, True, exposure=w + 1),
}
EFFECTS = {
    "predict_effects": lambda model, X, y, w: model.predict_effects(X, return_std=True),
    "shares": lambda model, X, y, w: model.effects_.share.values,
}
CLASSES = {
    "predict": lambda model, X, y, w: model.predict(X),
    "predict_proba": lambda model, X, y, w: model.predict_proba(X),
    "predict_log_proba": lambda model, X, y, w: model.predict_log_proba(X),
    "decision_function": lambda model, X, y, w: model.decision_function(X),
    "score": lambda model, X, y, w: model.score(X, y, w),
    "log_evidence": lambda model, X, y, w: model.log_evidence(X, y, w),
    "calibrate": lambda model, X, y, w: model.calibrate(X, y).predict_set(X, 0.5),
    "calibrate, folds": lambda model, X, y, w: model.calibrate(X, y, cv=3).predict_set(X, 0.5),
    "diagnose": lambda model, X, y, w: str(model.diagnose(X, y)),
    "compare": lambda model, X, y, w: compare([model], X, y, w).drop(columns="seconds").values,
}
#: Models, each with its target and what it says of rows.
SAYING = {
    "regression": (RVR(**few), "numbers", REGRESSION),
    "several targets": (RVR(**few), "several", REGRESSION),
    "counts": (RVR(likelihood="poisson", **few), "counts", REGRESSION | EXPOSED),
    "effects": (EffectsRegressor(remainder=None), "numbers", EFFECTS),
    "two classes": (RVC(**few), "two", CLASSES),
    "three classes": (SparseBayesianClassifier(), "three", CLASSES),
}


@cache
def model_in_memory(name, *, named):
    """Model that was fitted in memory, to a table if inputs are to have names."""
    model, target, _ = SAYING[name]
    table = CONTAINERS["pandas"](X, None) if named else X
    return clone(model).fit(table, VALUES[target], sample_weight=VALUES["weights"])


@cache
def answers_in_memory(name, *, named):
    """All that the model says of the rows in memory."""
    _, target, questions = SAYING[name]
    model, table = model_in_memory(name, named=named), CONTAINERS["pandas"](X, None)
    given = table if named else X, VALUES[target], VALUES["weights"]
    return {asked: ask(model, *given) for asked, ask in questions.items() if fits(name, asked)}


def fits(name, asked):
    """Return whether the question makes sense of the model."""
    return name != "counts" or "noise known" not in asked


@pytest.mark.parametrize("name", SAYING)
def test_what_is_said_of_rows_is_that_in_memory(name, container, tmp_path):
    there, target, weights = (
        elsewhere(container, values, tmp_path)
        for values in (X, VALUES[SAYING[name][1]], VALUES["weights"])
    )
    named = hasattr(there, "columns") or hasattr(there, "names")
    model, expected = (of(name, named=named) for of in (model_in_memory, answers_in_memory))
    for asked, answer in expected.items():
        if "folds" in asked and container not in FEWER:
            continue  # refits, as those of a fit in the container
        found = SAYING[name][2][asked](model, there, target, weights)
        assert_same(found, answer)


@pytest.mark.parametrize("name", ["regression", "three classes"])
def test_judges_leave_sparse_rows_without_their_zeros(name, monkeypatch):
    model, y, weights = (
        model_in_memory(name, named=False),
        VALUES[SAYING[name][1]],
        VALUES["weights"],
    )
    monkeypatch.setattr(SparseBlocks, "in_memory", None)
    for asked in ("log_evidence", "calibrate", "calibrate, folds", "diagnose", "compare"):
        assert SAYING[name][2][asked](model, csr_array(X), y, weights) is not None


@pytest.mark.parametrize("spread", [(1.0, 1.0), (0.1, 3.0)])
def test_a_diagnosis_of_sparse_rows_is_that_of_all_their_numbers(spread, monkeypatch):
    monkeypatch.setattr("relvec._design.sparse.BLOCK_ENTRIES", 130)  # several blocks of columns
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((120, 5)) * (rng.uniform(size=(120, 5)) < 0.4)
    y = 5 * Z[:, 0] + np.where(Z[:, 1] > 0, *spread) * rng.standard_normal(120)
    model = SparseBayesianRegressor().fit(Z, y)
    found = model.diagnose(csr_array(Z), y)
    assert str(found) == str(model.diagnose(Z, y))
    assert ("heteroscedastic" in found.codes) == (spread[0] != spread[1])


@pytest.mark.parametrize("container", OUT_OF_MEMORY)
def test_parts_may_be_anywhere(container, tmp_path):
    y, weights = VALUES["numbers"], VALUES["weights"]
    parts = [slice(0, 20), slice(20, N)]
    there = [
        [elsewhere(container, values[part], tmp_path) for values in (X, y, weights)]
        for part in parts
    ]
    expected = RVR(gamma=0.5, **few).fit(X, y, weights)
    assert_same_fit(RVR(gamma=0.5, **few).fit_chunks(there), expected)
    model = RVR(gamma=0.5, **few).partial_fit(*there[0])
    assert_same_fit(model.partial_fit(*there[1]), expected)


@pytest.mark.parametrize("container", IN_MEMORY)
def test_scales_are_learnt_wherever_rows_are_in_memory(container, tmp_path):
    model = RVR(gamma="evidence", centers=X[::6], max_iter=20)
    place = partial(elsewhere, container, folder=tmp_path)
    assert_same_fit(fitted(clone(model), "numbers", False, place), fitted(model, "numbers", False))
