"""Every estimator with scikit-learn: the common checks, containers, copies, composition."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec import (
    RVC,
    RVR,
    EffectsClassifier,
    EffectsRegressor,
    SparseBayesianClassifier,
    SparseBayesianRegressor,
)
from relvec.basis import RBF, Bias, Columns, Concatenate, Laplacian
from tests.support import inputs
from tests.support.covering import covering
from tests.support.machines import MACHINES, answers, plug_in


class Product:
    """A kernel that a user wrote; a function's repr has an address, which no two workers share."""

    def __call__(self, X, Z):
        return X @ Z.T

    def __repr__(self):
        return "product_kernel"


product_kernel = Product()


def hills(rng, n=60):
    """Two columns in different units and a smooth function of both, with noise."""
    X = rng.uniform([-3.0, -200.0], [3.0, 200.0], size=(n, 2))
    return X, np.sin(X[:, 0]) + np.cos(X[:, 1] / 100) + 0.1 * rng.standard_normal(n)


def is_repeated(estimator, check):
    """Return whether a check goes the way of another one of the same estimator.

    Sparse matrices become sparse arrays in one place for all estimators, of which two show it, and
    rows are mapped from a file as single precision as they are as double.
    """
    if check.func.__name__ == "check_estimator_sparse_matrix":
        return repr(estimator) not in ("RVR()", "RVC()")
    return check.func.__name__.endswith("_train") and check.keywords == {"readonly_memmap": True}


def common_checks(estimators):
    """Every common check of scikit-learn, whose data need not make a good model."""
    every = parametrize_with_checks(estimators)
    names, pairs = every.args
    pairs = [pair for pair in pairs if not is_repeated(*pair)]

    @pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
    @pytest.mark.parametrize(names, pairs, **every.kwargs)
    def test(estimator, check):
        check(estimator)

    return test


# RVC(kernel="precomputed") is not among them: check_decision_proba_consistency hands rows to an
# estimator that takes a kernel matrix.
test_common_checks = common_checks(
    [
        RVR(),
        RVR(kernel="precomputed"),
        RVR(kernel=Concatenate([Columns(), RBF(gamma=0.5)]), centers=3, random_state=0),
        RVR(likelihood="poisson"),
        RVC(),
        RVC(kernel="laplacian", multi_class="ovr", proba="mode", class_weight="balanced"),
        RVR(remainder="process"),
        EffectsRegressor(),
        SparseBayesianRegressor(),
        SparseBayesianClassifier(),
    ]
)
test_more_common_checks = pytest.mark.slow(
    common_checks(
        [
            RVR(fit_intercept=False),
            RVR(kernel="linear"),
            RVR(kernel=["rbf", Columns()]),
            RVR(augment=True),
            SparseBayesianRegressor(fit_intercept=False),
            SparseBayesianRegressor(likelihood="poisson"),
            SparseBayesianClassifier(multi_class="ovr", proba="mode", class_weight="balanced"),
            RVC(kernel=["rbf", "linear"]),
            RVR(kernel="laplacian", gamma=0.3),
            RVR(kernel=["effects", "rbf"], remainder="process", remainder_centers=5),
            RVR(likelihood="student_t"),
            RVC(augment=True),
            RVC(remainder="process"),
            EffectsClassifier(),
            EffectsRegressor(interactions=None, remainder=None),
            EffectsRegressor(likelihood="poisson"),
            EffectsClassifier(interactions=None, class_weight="balanced"),
            RVR(kernel="poly", degree=2, coef0=1.0),
            RVR(kernel="linear_spline", noise_variance=0.1),
            RVR(kernel=product_kernel),
            RVR(kernel=Columns()),
            RVR(kernel=Concatenate([Bias(), Laplacian()]), fit_intercept=False),
            RVR(likelihood="poisson", kernel="linear"),
            RVR(likelihood="poisson", kernel=Concatenate([Bias(), RBF()]), fit_intercept=False),
            RVR(likelihood="poisson", kernel="precomputed"),
            RVC(fit_intercept=False),
            RVC(kernel="linear"),
            RVC(kernel="poly", degree=2, coef0=1.0, multi_class="multinomial"),
            RVC(kernel="linear_spline"),
            RVC(kernel=product_kernel, multi_class="ovr", proba="mode"),
            RVC(kernel=Concatenate([Columns(), RBF(gamma=0.5)]), centers=3, random_state=0),
            RVC(kernel=Concatenate([Bias(), RBF()]), fit_intercept=False, multi_class="ovr"),
        ]
    )
)


@pytest.mark.parametrize("kernel", ["rbf", "linear", RBF(gamma=0.2), Concatenate([Bias(), RBF()])])
@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_clone_and_pickle_give_the_same_bits(kernel, machine):
    X, y = inputs.noisy_sinc(slope=0.1)
    y = machine.target(y)
    model = machine.make(kernel=kernel, gamma=0.1).fit(X, y)
    copies = pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)
    for copy in copies:
        np.testing.assert_array_equal(answers(copy, X), answers(model, X))
        assert copy.log_evidence_ == model.log_evidence_
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_fit_does_not_touch_the_kernel_object_of_the_user(machine):
    X, y = inputs.noisy_sinc()
    kernel = RBF(gamma=0.2)
    before = dict(vars(kernel))
    machine.make(kernel=kernel).fit(X, machine.target(y))
    assert vars(kernel) == before


@pytest.mark.parametrize(
    ("kernel", "name", "scaled"), [("rbf", "gamma", True), (RBF(), "kernel__gamma", False)]
)
@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
def test_grid_search_reaches_gamma(kernel, name, scaled, machine):
    X, noise = inputs.noisy_sinc(60, seed=3)
    y = machine.target(np.sin(X[:, 0]) + 0.3 * noise)
    model, best = machine.make(kernel=kernel), 0.5
    if scaled:
        name, best = f"{type(model).__name__.lower()}__{name}", 0.5 * X.var()
        model = make_pipeline(StandardScaler(), model)
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(model, {name: [1e-4, best, 1e4]}, cv=folds, error_score="raise")
    assert search.fit(X, y).best_params_ == {name: best}
    assert search.score(X, y) > 0.8
    alone = clone(model).set_params(**{name: best}).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), alone.predict(X))


@pytest.mark.parametrize("kind", ["regression", "two classes"])
def test_grid_search_in_processes_equals_one_process(kind):
    """joblib hands large arrays to its workers as read-only memory maps."""
    machine, (X, y) = MACHINES[kind], inputs.noisy_sinc(60, seed=3)
    y, folds = machine.target(y), KFold(3, shuffle=True, random_state=0)
    scores = [
        GridSearchCV(machine.make(), {"gamma": [0.1, 0.5]}, cv=folds, n_jobs=n_jobs)
        .fit(X, y)
        .cv_results_["mean_test_score"]
        for n_jobs in (1, 2)
    ]
    np.testing.assert_allclose(*scores, rtol=1e-10)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_equal_arrays_and_keep_their_names(library, machine, rng):
    X, y = hills(rng)
    y, columns = machine.target(y), {"length": X[:, 0], "load": X[:, 1]}
    frame, series = (
        (pd.DataFrame(columns), pd.Series(y))
        if library == "pandas"
        else (pl.DataFrame(columns), pl.Series(y))
    )
    scaled = make_pipeline(StandardScaler(), machine.make()).set_output(transform=library)
    table, array = clone(scaled).fit(frame, series), clone(scaled).fit(X, y)
    assert list(table[-1].feature_names_in_) == ["length", "load"]
    of_table, of_array = (
        answers(fitted[-1], fitted[0].transform(data))
        for fitted, data in ((table, frame), (array, X))
    )
    assert isinstance(of_table, np.ndarray)
    np.testing.assert_allclose(of_table, of_array, rtol=1e-10)
    bare = machine.make().fit(X, y)
    assert not hasattr(bare, "feature_names_in_")
    direct = machine.make().fit(frame, series)
    assert list(direct.feature_names_in_) == ["length", "load"]
    np.testing.assert_allclose(answers(direct, frame), answers(bare, X), rtol=1e-10)
    with pytest.raises(ValueError, match="feature names"):
        direct.predict(frame[["load", "length"]])


@pytest.mark.parametrize(
    ("machine", "dtype", "kernel"),
    covering(MACHINES, [np.float32, np.int32, np.int8], ["rbf", "linear", "poly"]),
    indirect=["machine"],
)
@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_narrow_types_are_computed_in_double_precision(kernel, dtype, machine, rng):
    X = rng.integers(-9, 10, size=(50, 2)).astype(dtype)
    y = X[:, 0] - 0.1 * X[:, 1].astype(float) ** 2 + rng.standard_normal(50)
    y = machine.target(y.astype(np.float32))
    narrow = machine.make(kernel=kernel).fit(X, y)
    double = machine.make(kernel=kernel).fit(X.astype(float), y.astype(float))
    assert narrow.dual_coef_.dtype == np.float64
    np.testing.assert_allclose(answers(narrow, X), answers(double, X.astype(float)), rtol=1e-10)


@pytest.mark.parametrize(
    ("machine", "kernel", "fit_intercept"),
    covering(MACHINES, ["rbf", "laplacian", "linear_spline"], [True, False]),
    indirect=["machine"],
)
@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_order_of_the_rows_does_not_matter(kernel, fit_intercept, machine, rng):
    """Rows at places drawn at random: where places mirror each other, their order breaks ties."""
    X, y = hills(rng)
    X, y, order = X / [1.0, 100.0], machine.target(y), rng.permutation(60)
    model = machine.make(kernel=kernel, fit_intercept=fit_intercept)
    sorted_rows = clone(model).fit(X, y)
    shuffled = clone(model).fit(X[order], y[order])
    assert set(order[shuffled.relevance_rows_]) == set(sorted_rows.relevance_rows_)
    np.testing.assert_allclose(plug_in(shuffled, X), plug_in(sorted_rows, X), atol=1e-5)


def test_fortran_order_and_strides_do_not_matter(machine, rng):
    X, y = hills(rng)
    y, doubled = machine.target(y), np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)
    plain = machine.make().fit(X, y)
    for layout in (np.asfortranarray(X), doubled[::2, ::2]):
        model = machine.make().fit(layout, y)
        assert model.log_evidence_ == pytest.approx(plain.log_evidence_, abs=1e-6)
        np.testing.assert_allclose(plug_in(model, layout), plug_in(plain, X), atol=1e-4)


def test_a_column_of_targets_warns_once_and_is_flattened(machine):
    X, y = inputs.noisy_sinc()
    y = machine.target(y)
    with pytest.warns(DataConversionWarning) as caught:
        column = machine.make().fit(X, y[:, None])
    assert len(caught) == 1
    prediction = column.predict(X)
    assert prediction.shape == (40,)
    np.testing.assert_array_equal(prediction, machine.make().fit(X, y).predict(X))


@pytest.mark.parametrize("centers", [None, 7, "rows"])
def test_centres_are_what_the_candidates_stand_on(centers, machine, rng):
    X, y = hills(rng)
    X, y = StandardScaler().fit_transform(X), machine.target(y)
    given = X[::5] + 0.01 if centers == "rows" else centers
    model = machine.make(centers=given, random_state=0).fit(X, y)
    rows, vectors = model.relevance_rows_, model.relevance_vectors_
    assert rows.shape == model.relevance_.shape == (len(vectors),) == model.dual_coef_.shape[-1:]
    if centers == "rows":
        assert (rows == -1).all()
        np.testing.assert_array_equal(vectors, given[model.relevance_])
    else:
        np.testing.assert_array_equal(vectors, X[rows])
    assert len(vectors) <= (
        len(X) if centers is None else np.size(given) if centers == "rows" else 7
    )
    again = machine.make(centers=given, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.relevance_, model.relevance_)


def test_verbose_prints_a_table_of_the_passes(machine, capsys):
    X, y = inputs.noisy_sinc()
    y = machine.target(y)
    machine.make().fit(X, y)
    assert capsys.readouterr().out == ""
    model = machine.make(verbose=1).fit(X, y)
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) > len(model.history_)
    for word in ("evidence", "functions", "noise"):
        assert word in printed
