"""What a stored model holds, and that it comes back as it was."""

import copy
import pickle
import re
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.cluster import KMeans

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor, basis
from relvec._fitting.result import MOST_PASSES
from relvec.basis import RBF, Bias, Columns, Concatenate, Fourier, LinearKernel, Polynomial
from relvec.likelihoods import StudentT
from relvec.solvers import EM, Pass, Sequential
from relvec.storage import TRUSTED
from tests.support import inputs
from tests.support.machines import answers

#: Attributes that are read off a stored fit result.
DERIVED = (
    "dual_coef_",
    "intercept_",
    "relevance_",
    "weight_precision_",
    "well_determined_",
    "relevance_rows_",
    "relevance_vectors_",
)
OVERHEAD = 20 * 1024

pytestmark = pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")


def pickled(model):
    return pickle.loads(pickle.dumps(model))


def through_skops(model):
    return skops.io.loads(skops.io.dumps(model), trusted=TRUSTED)


ROADS = [pickled, copy.deepcopy, through_skops]
KERNELS = {
    "rbf": "rbf",
    "ard": RBF(gamma=np.array([0.01])),
    "precomputed": "precomputed",
    "product": RBF(gamma=0.01) * (LinearKernel() + RBF(gamma=0.1)),
    "mixed": Concatenate([Bias(), Columns(), RBF(gamma=0.01), RBF(gamma=1.0)]),
    "terms": Concatenate([Polynomial(degree=3), Fourier(harmonics=2)]),
}


def numbers(thing, seen):
    """Every array in the attributes of an object, once."""
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, dict):
        for part in thing.values():
            yield from numbers(part, seen)
    elif isinstance(thing, list | tuple):
        for part in thing:
            yield from numbers(part, seen)
    elif hasattr(thing, "__dict__"):
        yield from numbers(vars(thing), seen)


def allowed(model):
    """8·(K(K+1)/2 + K·d + 5K) bytes, with the root and the vectors of K of every machine."""
    sizes = [machine.posterior.mean.size for machine in model.fit_result_.outputs]
    vectors = len(model.relevance_) * model.n_features_in_
    return 8 * (vectors + sum(K * (K + 1) // 2 + 5 * K for K in sizes))


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_stored_model_is_the_model(kernel, machine):
    X, y = inputs.noisy_sinc(30, seed=66)
    X = X @ X.T if kernel == "precomputed" else X
    model = machine.make(kernel=KERNELS[kernel]).fit(X, machine.target(y))
    for road in ROADS:
        loaded = road(model)
        assert vars(loaded).keys() == vars(model).keys()
        for name in DERIVED:
            before, after = getattr(model, name), getattr(loaded, name)
            np.testing.assert_array_equal(after, before, strict=isinstance(before, np.ndarray))
        assert str(loaded.history_) == str(model.history_)
        assert all(isinstance(row, Pass) for row in loaded.history_)
        assert loaded.log_evidence_ == model.log_evidence_
        assert loaded.basis_.names() == model.basis_.names()
        np.testing.assert_array_equal(answers(loaded, X), answers(model, X))


@pytest.mark.parametrize("model", [SparseBayesianRegressor(), SparseBayesianClassifier()], ids=str)
@pytest.mark.parametrize("road", ROADS)
def test_a_stored_linear_model_is_the_model(road, model):
    X, y = inputs.two_strong_columns()
    y = y > 0 if isinstance(model, SparseBayesianClassifier) else y
    model.fit(X, y)
    loaded = road(model)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    np.testing.assert_array_equal(answers(loaded, X), answers(model, X))


@pytest.mark.parametrize("multi_output", ["shared", "independent"])
@pytest.mark.parametrize("road", ROADS)
def test_a_stored_model_of_several_targets_is_the_model(road, multi_output):
    X, y = inputs.noisy_sinc(30, seed=66)
    model = RVR(multi_output=multi_output).fit(X, np.column_stack([y, y**2, np.ones(30)]))
    loaded = road(model)
    assert loaded.weight_precision_.shape == model.dual_coef_.shape
    for before, after in zip(
        model.predict(X, return_std=True), loaded.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(after, before)


def test_a_stored_augmented_model_is_the_model(machine):
    X, y = inputs.noisy_sinc(30, seed=66)
    model = machine.make(augment=True).fit(X, machine.target(y))
    far = np.linspace(-30, 30, 20)[:, None]
    for road in ROADS:
        np.testing.assert_array_equal(answers(road(model), far), answers(model, far))


@pytest.mark.parametrize("road", ROADS)
def test_a_stored_calibrated_model_is_the_model(road):
    X, y = inputs.noisy_sinc(80, seed=66)
    intervals = RVR().fit(X[::2], y[::2]).calibrate(X[1::2], y[1::2])
    for before, after in zip(
        intervals.predict_interval(X), road(intervals).predict_interval(X), strict=True
    ):
        np.testing.assert_array_equal(after, before)
    sets = RVC().fit(X[::2], y[::2] > 0).calibrate(X[1::2], y[1::2] > 0)
    np.testing.assert_array_equal(road(sets).predict_set(X), sets.predict_set(X))


def test_an_unfitted_model_is_stored_too():
    model = RVR(gamma=0.3, kernel=RBF())
    for road in ROADS:
        assert road(model).get_params().keys() == model.get_params().keys()
        assert road(model).gamma == 0.3


@pytest.mark.parametrize("kernel", ["rbf", "linear_spline", KERNELS["product"]], ids=str)
def test_size_of_a_stored_model(kernel, machine):
    X, y = inputs.ten_columns_of_sinc(200)
    model = machine.make(kernel=kernel).fit(X, machine.target(y))
    assert len(model.relevance_) > 3
    assert len(pickle.dumps(model)) <= allowed(model) + OVERHEAD
    deflated = skops.io.dumps(model, compression=zipfile.ZIP_DEFLATED)
    assert len(deflated) <= allowed(model) + OVERHEAD


def test_size_of_a_stored_model_of_very_many_functions():
    """Every point a function of its own: nothing but the formula counts, and 10 % of its 5K."""
    X, y = inputs.noisy_sinc(n := 1200, seed=1)
    model = RVR(gamma=1e12, noise_variance=1e-4, tol=1e-9, solver="fixed_point", max_iter=2)
    with pytest.warns(match="max_iter"):
        model.fit(X, y)
    assert len(model.relevance_) > 0.9 * n
    assert len(pickle.dumps(model)) <= allowed(model) + OVERHEAD


def test_a_model_holds_no_row_that_is_no_relevance_vector(machine):
    X, y = inputs.ten_columns_of_sinc(300)
    model = machine.make().fit(X, machine.target(y))
    dropped = np.setdiff1d(np.arange(300), model.relevance_rows_)
    arrays = list(numbers(vars(model), {}))
    assert any(np.isin(X[model.relevance_rows_], array).all() for array in arrays)
    for array in arrays:
        assert 300 not in array.shape
        assert not np.isin(X[dropped], array).any()


def test_parts_of_a_kernel_share_their_points():
    X, y = inputs.noisy_sinc(30, seed=66)
    model = RVR(kernel=KERNELS["product"]).fit(X, y)
    first, second = model.basis_.parts_
    points = {id(part.centers_) for part in (model.basis_, first, second, *second.parts_)}
    assert points == {id(model.relevance_vectors_)}


def test_a_long_history_is_stored_with_fewer_passes_and_its_last():
    X, y = inputs.noisy_sinc(20)
    model = RVR(solver="em", tol=1e-12, max_iter=2 * MOST_PASSES)
    with pytest.warns(match="max_iter"):
        model.fit(X, y)
    loaded = pickled(model)
    assert len(model.history_) == 2 * MOST_PASSES
    assert len(loaded.history_) == MOST_PASSES
    assert set(loaded.history_) <= set(model.history_)
    assert loaded.history_[0] == model.history_[0]
    assert loaded.history_[-1] == model.history_[-1]


def test_a_parameter_that_came_later_takes_its_default():
    X, y = inputs.noisy_sinc(20)
    model = RVR(kernel="laplacian").fit(X, y)
    state = model.__getstate__()
    del state["multi_output"], vars(state["fit_result_"].basis)["gamma"]
    older = RVR.__new__(RVR)
    older.__setstate__(state)
    assert older.multi_output == "shared"
    assert older.kernel == "laplacian"
    np.testing.assert_array_equal(older.predict(X), model.predict(X))
    assert pickled(older).basis_.gamma == "scale"


def test_only_upper_triangles_are_stored():
    X, y = inputs.noisy_sinc(20)
    posterior = RVR().fit(X, y).fit_result_.outputs[0].posterior
    turned = type(posterior)(**vars(posterior) | {"root": posterior.root.T})
    with pytest.raises(ValueError, match=r"root.*upper triang"):
        pickle.dumps(turned)


def test_the_trusted_types_are_the_packages_own_or_hold_no_code():
    assert all(name.startswith("relvec.") for name in {*TRUSTED} - {"numpy.dtype"})
    held = {name.rpartition(".")[2] for name in TRUSTED}
    assert {"RVR", "RVC", "Posterior", "RBF"} <= held
    assert not {"CallableKernel", "FunctionColumns"} & held
    assert len(set(basis.__all__) & held) > 10


def test_every_trusted_type_is_there():
    for name in TRUSTED:
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(import_module(module), kind), type)


def test_the_page_lists_the_trusted_types():
    page = (Path(__file__).parents[1] / "docs" / "guide" / "storage.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^    ((?:relvec|numpy)\.\S+)$", page, flags=re.M)) == set(TRUSTED)


def test_a_function_of_the_users_own_is_not_trusted():
    X, y = inputs.noisy_sinc(20)
    stored = skops.io.dumps(RVR(kernel=dot).fit(X, y))
    with pytest.raises(skops.io.exceptions.UntrustedTypesFoundException, match="dot"):
        skops.io.loads(stored, trusted=TRUSTED)


def dot(X, Z):
    return X @ Z.T


@pytest.mark.parametrize(
    "model",
    [RVR(), RVC(), RVR(likelihood=StudentT(), solver=EM()), RVC(solver=Sequential())],
    ids=["RVR", "RVC", "RVR of objects", "RVC of objects"],
)
def test_nothing_is_trusted_that_is_not_listed(model):
    X, y = inputs.noisy_sinc(20)
    stored = skops.io.dumps(model.fit(X, y > 0.2))
    assert set(skops.io.get_untrusted_types(data=stored)) <= set(TRUSTED)
    with pytest.raises(skops.io.exceptions.UntrustedTypesFoundException):
        skops.io.loads(stored)


PARAMETERS = {
    "random state": lambda folder: {"centers": 10, "random_state": np.random.RandomState(0)},
    "NumPy's numbers": lambda folder: {
        "centers": np.int64(10),
        "random_state": np.int32(0),
        "gamma": np.float32(0.5),
        "tol": np.float64(0.1),
        "fit_intercept": np.bool_(True),
    },
    "path": lambda folder: {"checkpoint": folder / "fit.checkpoint"},
    "text of a path": lambda folder: {"checkpoint": str(folder / "fit.checkpoint")},
    "clusterer": lambda folder: {"centers": KMeans(5, n_init=1), "random_state": 0},
    "points": lambda folder: {"centers": np.linspace(-5, 5, 7)[:, None]},
    "list": lambda folder: {"gamma": [0.5]},
    "objects": lambda folder: {"likelihood": StudentT(), "solver": EM(max_iter=50)},
}


@pytest.mark.parametrize("kind", PARAMETERS)
def test_parameters_of_every_type_go_through_skops(kind, tmp_path):
    X, y = inputs.noisy_sinc(20)
    model = RVR(**PARAMETERS[kind](tmp_path)).fit(X, y)
    loaded = skops.io.loads(skops.io.dumps(model), trusted=TRUSTED)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    loaded.fit(X, y)


@pytest.mark.parametrize("labels", [[False, True], ["no", "yes"], [3, 5]], ids=str)
def test_weights_of_classes_go_through_skops(labels):
    X, above = inputs.threshold()
    y = np.array(labels)[above.astype(int)]
    model = RVC(class_weight={labels[0]: 3.0, labels[1]: 1.0}).fit(X, y)
    loaded = skops.io.loads(skops.io.dumps(model), trusted=TRUSTED)
    assert loaded.class_weight == model.class_weight
    assert loaded.fit(X, y).log_evidence_ == pytest.approx(model.log_evidence_)
