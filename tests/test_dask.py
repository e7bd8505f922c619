"""Fits of Dask collections against those of the same rows in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor
from relvec.basis import Columns
from relvec.exceptions import CentersWarning
from tests.support import needs

dask = needs.library("dask")
da = needs.library("dask.array")

N = 400


@pytest.fixture
def data(rng):
    X = rng.standard_normal((N, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(N)


def in_dask(X, *vectors):
    """Rows in chunks that do not fit together."""
    return da.from_array(X, chunks=(150, 1)), *(da.from_array(v, chunks=130) for v in vectors)


def assert_same(one, other, X):
    assert_array_equal(other.relevance_, one.relevance_)
    assert_allclose(other.log_evidence_, one.log_evidence_, rtol=1e-9)
    assert_allclose(other.predict(X), one.predict(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"fit_intercept": False},
        {"solver": "em"},
        {"gamma": np.array([0.5, 0.1])},
        {"kernel": ["rbf", "linear"]},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True], ids=["once", "weights"])
def test_regression(data, parameters, weighted):
    X, y = data
    model = {"centers": X[::20], "tol": 0.5} | parameters
    weights = np.random.RandomState(0).randint(0, 3, N).astype(float) if weighted else None
    one = RVR(**model).fit(X, y, sample_weight=weights)
    there = in_dask(X, y) if weights is None else in_dask(X, y, weights)
    other = RVR(**model).fit(*there)
    assert_same(one, other, X)
    for name in vars(one).keys() & {"gamma_", "feature_relevance_"}:
        assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-10)
    assert other.n_samples_fit_ == N


@pytest.mark.parametrize("multi_output", ["shared", "independent"])
def test_several_targets(data, multi_output):
    X, y = data
    both = np.column_stack([y, 2 - y**2])
    model = RVR(centers=X[::20], tol=0.5, multi_output=multi_output)
    one = model.fit(X, both).predict(X)
    other = model.fit(da.from_array(X, chunks=(90, 1)), da.from_array(both, chunks=(70, 1)))
    assert_allclose(other.predict(X), one, rtol=1e-8, atol=1e-8)


def labelled(y, classes):
    """As many classes by the height of y."""
    return np.array(["low", "middle", "high"])[(y > 0.3).astype(int) + (classes == 3) * (y > 1)]


@pytest.mark.parametrize(
    ("classes", "parameters"),
    [
        (2, {}),
        (3, {"multi_class": "ovr"}),
        (3, {"multi_class": "multinomial", "class_weight": "balanced"}),
    ],
    ids=str,
)
def test_classes(data, classes, parameters):
    X, y = data
    labels = labelled(y, classes)
    model = {"centers": X[::80], "tol": 1.0} | parameters
    one, other = RVC(**model).fit(X, labels), RVC(**model).fit(*in_dask(X, labels))
    assert_array_equal(other.classes_, one.classes_)
    assert_array_equal(other.relevance_, one.relevance_)
    assert_allclose(other.predict_proba(X), one.predict_proba(X), atol=1e-8)


def test_counts(data):
    X, y = data
    counts = np.random.RandomState(0).poisson(np.exp(y / 2)).astype(float)
    model = {"centers": X[::40], "likelihood": "poisson", "tol": 0.5}
    assert_same(RVR(**model).fit(X, counts), RVR(**model).fit(*in_dask(X, counts)), X)


def test_columns_are_the_basis(data, rng):
    X, y = data
    X = np.hstack([X, rng.standard_normal((N, 2))])
    assert_same(
        SparseBayesianRegressor().fit(X, y), SparseBayesianRegressor().fit(*in_dask(X, y)), X
    )
    X = X[:, :3]
    one = SparseBayesianClassifier(tol=1.0).fit(X, y > 0)
    assert_same(one, SparseBayesianClassifier(tol=1.0).fit(*in_dask(X, y > 0)), X)


def test_tables_keep_the_names_of_their_columns(data):
    pd, dd = needs.library("pandas"), needs.library("dask.dataframe")
    X, y = data
    table = pd.DataFrame(X, columns=["size", "age"]).assign(price=y)
    there = dd.from_pandas(table, npartitions=3)
    one = RVR(centers=X[::20]).fit(table[["size", "age"]], table["price"])
    other = RVR(centers=X[::20]).fit(there[["size", "age"]], there["price"])
    assert_array_equal(other.feature_names_in_, ["size", "age"])
    assert_same(one, other, table[["size", "age"]])


@pytest.mark.parametrize("centers", [30, KMeans(9, n_init=1)], ids=str)
def test_centres_are_those_in_memory(data, centers):
    X, y = data
    X = X.round(1)  # some rows are there several times
    one = RVR(centers=centers, random_state=0).fit(X, y)
    other = RVR(centers=centers, random_state=0).fit(*in_dask(X, y))
    assert_array_equal(other.relevance_rows_, one.relevance_rows_)
    assert_allclose(other.relevance_vectors_, one.relevance_vectors_, rtol=1e-12)
    if centers == 30:
        assert_array_equal(X[other.relevance_rows_], other.relevance_vectors_)


def test_centres_are_looked_for_among_some_of_many_rows(data, monkeypatch):
    X, y = data
    monkeypatch.setattr("relvec._fitting.centers.LOOKED_AT", 200)
    monkeypatch.setattr("relvec._fitting.pipeline.LOOKED_AT", 200)
    monkeypatch.setattr("relvec._fitting.centers.LEAST_CENTERS", 50)
    monkeypatch.setattr("relvec._fitting.centers.MAX_ENTRIES", 5000)
    for rows in ((X, y), in_dask(X, y)):
        with pytest.warns(CentersWarning, match="^400 rows are too many .* a random 50 do"):
            model = RVR(random_state=0).fit(*rows)
        assert_array_equal(X[model.relevance_rows_], model.relevance_vectors_)
        again = RVR(centers=50, random_state=0).fit(*rows)
        assert_array_equal(again.relevance_rows_, model.relevance_rows_)


def test_scales_are_learnt_from_some_rows(data):
    X, y = data
    X = np.hstack([X, np.random.RandomState(1).standard_normal((N, 1))])
    model = {"gamma": "ard", "centers": X[::20], "tol": 0.1}
    one, other = RVR(**model).fit(X, y), RVR(**model).fit(*in_dask(X, y))
    # an ascent ends where little is to be gained, and a width that no row feels is worth nothing:
    # the kernels are what must agree
    there, here = (rbf_kernel(X * np.sqrt(fit.gamma_), gamma=1) for fit in (other, one))
    assert_allclose(there, here, atol=0.01)
    # and out of memory all rows are fitted from the beginning, at the scales that some of them tell
    given = RVR(**model | {"gamma": other.gamma_}).fit(X, y)
    assert_allclose(other.log_evidence_, given.log_evidence_, rtol=1e-9)
    assert other.log_evidence_ > RVR(**model | {"gamma": "scale"}).fit(X, y).log_evidence_ + 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"augment": True}, "augment=True"),
        ({"likelihood": "student_t"}, "StudentT"),
        ({"kernel": "precomputed"}, "precomputed"),
    ],
    ids=str,
)
def test_what_needs_rows_in_memory_is_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        RVR(**parameters).fit(*in_dask(*data))


def test_bad_rows_are_refused_by_name(data):
    X, y = data
    with pytest.raises(ValueError, match="noise_variance_per_row has a minimum of 0"):
        RVR().fit(*in_dask(X, y), noise_variance_per_row=np.zeros(N))
    with pytest.raises(ValueError, match="exposure is given, expected None under Gaussian"):
        RVR().fit(*in_dask(X, y), exposure=np.ones(N))
    with pytest.raises(ValueError, match="X contains NaN"):
        RVR().fit(*in_dask(np.where(X > 2, np.nan, X), y))
    with pytest.raises(ValueError, match="y contains infinity"):
        RVR().fit(*in_dask(X, np.where(y > 1, np.inf, y)))
    with pytest.raises(ValueError, match="y has shape"):
        RVR().fit(*in_dask(X, y[1:]))
    with pytest.raises(ValueError, match="sample_weight has a minimum"):
        RVR().fit(*in_dask(X, y, -np.ones(N)))
    with pytest.raises(ValueError, match="1 class"):
        RVC().fit(*in_dask(X, np.ones(N)))


def said(model):
    """What a fitted estimator says of rows, each as a function that returns a list of arrays."""
    if isinstance(model, RVC):
        names = ["predict", "predict_proba", "predict_log_proba", "decision_function"]
        return [lambda X, name=name: [getattr(model, name)(X)] for name in names]
    return [
        lambda X: [model.predict(X)],
        lambda X: model.predict(X, return_std=True),
        lambda X: [model.predict_latent(X)],
        lambda X: model.predict_latent(X, return_std=True),
        lambda X: model.predict_interval(X, 0.5),
    ]


@pytest.fixture(params=["regression", "counts", "targets", "augmented", 2, 3, "ovr"], ids=str)
def fitted(request, data):
    X, y = data
    few = {"centers": X[::40]}
    if request.param == "regression":
        return RVR(**few).fit(X, y)
    if request.param == "counts":
        return RVR(likelihood="poisson", **few).fit(X, np.abs(y).round())
    if request.param == "targets":
        return RVR(**few).fit(X, np.column_stack([y, 2 * y**2]))
    if request.param == "augmented":
        return RVR(augment=True, **few).fit(X, y)
    if request.param == 2:
        return RVC(**few).fit(X, np.where(y > 0, "high", "low"))
    labels = np.array(["low", "middle", "high"])[(y > 0).astype(int) + (y > 1)]
    return RVC(multi_class="ovr" if request.param == "ovr" else "multinomial", **few).fit(X, labels)


def test_predictions_wait_until_they_are_asked_for(fitted, data):
    X, _ = data
    there = da.from_array(X, chunks=(150, 1))
    unknown = there[da.from_array(X[:, 0] > 0, chunks=150)]  # nobody knows how many rows these are

    def refused(*arguments, **options):
        raise AssertionError("computed before it was asked for")

    for say in said(fitted):
        expected = say(X)
        with dask.config.set(scheduler=refused):
            later, of_some = say(there), say(unknown)
        for one, other, some in zip(expected, later, of_some, strict=True):
            assert isinstance(other, da.Array)
            assert other.chunks == ((150, 150, 100), *((length,) for length in one.shape[1:]))
            assert other.dtype == one.dtype
            assert isinstance(other._meta, np.ndarray)
            assert other._meta.ndim == one.ndim
            found = other.compute()
            assert found.dtype == one.dtype
            if one.dtype.kind == "U":
                assert_array_equal(found, one)
            else:
                assert_allclose(found, one, rtol=1e-12, atol=1e-12)
            assert len(some.compute()) == (X[:, 0] > 0).sum()


def test_what_was_asked_of_a_fit_is_answered_by_that_fit(data):
    X, y = data
    model = RVR(centers=X[::40]).fit(X, y)
    expected, later = model.predict(X), model.predict(da.from_array(X, chunks=(150, 1)))
    model.fit(X, -3 * y)
    assert_allclose(later.compute(), expected, rtol=1e-12, atol=1e-12)


def test_queries_in_tables_are_told_by_their_names(data):
    pd, dd = needs.library("pandas"), needs.library("dask.dataframe")
    X, y = data
    table = pd.DataFrame(X, columns=["size", "age"])
    there = dd.from_pandas(table, npartitions=3)
    model = RVR(centers=X[::40]).fit(table, y)
    assert_allclose(model.predict(there).compute(), model.predict(table), rtol=1e-12, atol=1e-12)
    nothing = there[there["size"] > table["size"].median()]  # maybe nothing of a partition
    assert len(model.predict(nothing).compute()) == N // 2
    with pytest.raises(ValueError, match="feature names"):
        model.predict(there[["age", "size"]])
    with pytest.raises(ValueError, match="3 features"):
        RVR(centers=X[::40]).fit(X, y).predict(da.ones((10, 3)))
    with pytest.raises(ValueError, match=r"shape \(10,\), expected 2 dimensions"):
        model.predict(da.ones(10))


def test_queries_that_are_not_finite_are_refused_when_they_are_met(data):
    X, y = data
    later = RVR(centers=X[::40]).fit(X, y).predict(da.from_array(np.where(X > 2, np.nan, X)))
    with pytest.raises(ValueError, match="X contains NaN"):
        later.compute()


# Chunks of which each, by itself, would be refused


def in_order(data):
    """The data in the order of the targets, so that a chunk has one class, or zeros alone."""
    X, y = data
    order = np.argsort(y)
    return X[order], y[order]


def chunked(*vectors):
    return [da.from_array(v, chunks=(150, *v.shape[1:])) for v in vectors]


@pytest.mark.parametrize(
    ("classes", "multi_class"), [(2, "multinomial"), (3, "multinomial"), (3, "ovr")]
)
def test_a_chunk_may_lack_classes(data, classes, multi_class):
    X, y = in_order(data)
    labels = labelled(y, classes)
    assert len(set(labels[:150])) == 1
    model = {"kernel": Columns(), "tol": 1.0, "multi_class": multi_class}
    one, other = RVC(**model).fit(X, labels), RVC(**model).fit(*chunked(X, labels))
    assert_array_equal(other.classes_, one.classes_)
    assert_allclose(other.predict_proba(X), one.predict_proba(X), atol=1e-8)


def test_counts_of_a_chunk_may_all_be_zero(data):
    X, y = in_order(data)
    counts = np.floor(np.maximum(y, 0) * 3)
    assert not counts[:150].any()
    model = {"centers": X[::40], "likelihood": "poisson", "tol": 0.5}
    assert_same(RVR(**model).fit(X, counts), RVR(**model).fit(*chunked(X, counts)), X)


@pytest.mark.parametrize("likelihood", ["gaussian", "poisson"])
def test_no_row_of_a_chunk_need_count(data, likelihood):
    X, y = in_order(data)
    y = np.floor(np.maximum(y + 2, 0)) if likelihood == "poisson" else y
    weights = (np.arange(N) >= 150).astype(float)
    model = {"centers": X[150::40], "likelihood": likelihood, "tol": 0.5}
    one = RVR(**model).fit(X, y, sample_weight=weights)
    assert_same(one, RVR(**model).fit(*chunked(X, y, weights)), X)


def test_classes_without_weight_do_not_occur(data):
    X, y = in_order(data)
    labels, weights = np.digitize(y, [-0.5, 1.0]), (y >= -0.5).astype(float)
    model = {"kernel": Columns(), "tol": 1.0}
    one = RVC(**model).fit(X, labels, sample_weight=weights)
    other = RVC(**model).fit(*chunked(X, labels, weights))
    assert_array_equal(other.classes_, [1, 2])
    assert_allclose(other.predict_proba(X), one.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (RVC(), np.ones(N), "y holds 1 class"),
        (RVR(likelihood="poisson"), np.zeros(N), "zero in every row"),
        (RVR(likelihood="poisson"), np.where(np.arange(N) == 60, -1.0, 1.0), "minimum of -1"),
    ],
    ids=["one class", "no counts", "negative"],
)
def test_what_all_rows_lack_is_refused(data, model, y, message):
    with pytest.raises(ValueError, match=message):
        model.set_params(centers=data[0][:10]).fit(*chunked(data[0], y))


def test_no_weight_at_all_is_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="sample_weight is zero in every row"):
        RVR(centers=X[:10]).fit(*chunked(X, y, np.zeros(N)))


def test_partitions_may_be_empty(data):
    pd, dd = needs.library("pandas"), needs.library("dask.dataframe")
    X, y = in_order(data)
    table = pd.DataFrame(X, columns=["size", "age"]).assign(price=y)
    there = dd.from_pandas(table, npartitions=8)
    here, there = table[table.price > 0.5], there[there.price > 0.5]
    one = RVR(centers=X[::20]).fit(here[["size", "age"]], here["price"])
    other = RVR(centers=X[::20]).fit(there[["size", "age"]], there["price"])
    assert_same(one, other, table[["size", "age"]])
    found = other.predict(there[["size", "age"]]).compute()
    assert_allclose(found, one.predict(here[["size", "age"]]), atol=1e-8)
    nothing = there[there.price > 1e9]
    with pytest.raises(ValueError, match=r"X has shape \(0, 2\), expected 1 row"):
        other.fit(nothing[["size", "age"]], nothing["price"])


@pytest.mark.parametrize("kind", ["Float64", "float64[pyarrow]", "object"])
def test_columns_of_other_types_are_numbers(data, kind):
    pd, dd = needs.library("pandas"), needs.library("dask.dataframe")
    X, y = data
    table = pd.DataFrame(X, columns=["size", "age"]).astype(kind)
    model = RVR(centers=X[::20])
    one = model.fit(table, y).predict(table)
    there, prices = (
        dd.from_pandas(table, npartitions=3),
        dd.from_pandas(pd.Series(y), npartitions=3),
    )
    assert_allclose(model.fit(there, prices).predict(table), one, atol=1e-8)
    assert_allclose(model.predict(there).compute(), one, atol=1e-8)
    table.iloc[7, 1] = None
    with pytest.raises(ValueError, match="X contains NaN"):
        model.fit(dd.from_pandas(table, npartitions=3), prices)


def test_missing_labels_and_complex_inputs_are_refused(data):
    X, y = data
    labels = np.where(y > 0, "up", "down").astype(object)
    labels[3] = None
    with pytest.raises(ValueError, match=r"^y contains missing values .* in row 3"):
        RVC(centers=X[:10]).fit(*chunked(X, labels))
    with pytest.raises(ValueError, match="X: Complex data not supported"):
        RVR(centers=X[:10]).fit(*chunked(X + 0j, y))
    with pytest.raises(ValueError, match="y: Complex data not supported"):
        RVR(centers=X[:10]).fit(*chunked(X, y + 0j))
