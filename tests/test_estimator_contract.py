"""RVR as a scikit-learn estimator: the common checks, containers, composition, consistency."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec import RVR
from relvec.basis import RBF, Bias, Columns, Concatenate, Laplacian
from relvec.datasets import sinc
from tests.cases.inputs import noisy_sinc

KERNELS = ["rbf", "laplacian", "linear", "poly", "sigmoid", "linear_spline"]


def product_kernel(X, Z):
    return X @ Z.T


def hills(rng, n=60):
    """Two columns in different units and a smooth function of both, with noise."""
    X = rng.uniform([-3.0, -200.0], [3.0, 200.0], size=(n, 2))
    return X, np.sin(X[:, 0]) + np.cos(X[:, 1] / 100) + 0.1 * rng.standard_normal(n)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        RVR(),
        RVR(fit_intercept=False),
        RVR(kernel="laplacian", gamma=0.3),
        RVR(kernel="linear"),
        RVR(kernel="poly", degree=2, coef0=1.0),
        RVR(kernel="linear_spline", noise_variance=0.1),
        RVR(kernel="precomputed"),
        RVR(kernel=product_kernel),
        RVR(kernel=Concatenate([Columns(), RBF(gamma=0.5)]), centers=3, random_state=0),
        RVR(kernel=Columns()),
        RVR(kernel=Concatenate([Bias(), Laplacian()]), fit_intercept=False),
    ]
)
def test_common_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", [*KERNELS, RBF(gamma=0.2), Concatenate([Bias(), RBF()])])
def test_clone_and_pickle_give_the_same_bits(kernel):
    X, y = noisy_sinc(slope=0.1)
    model = RVR(kernel=kernel, gamma=0.1).fit(X, y)
    copies = pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)
    for copy in copies:
        np.testing.assert_array_equal(
            copy.predict(X, return_std=True), model.predict(X, return_std=True)
        )
        assert copy.log_evidence_ == model.log_evidence_
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_fit_does_not_touch_the_kernel_object_of_the_user():
    kernel = RBF(gamma=0.2)
    before = dict(vars(kernel))
    RVR(kernel=kernel).fit(*noisy_sinc())
    assert vars(kernel) == before


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (RVR(), "gamma"),
        (RVR(kernel=RBF()), "kernel__gamma"),
        (make_pipeline(StandardScaler(), RVR()), "rvr__gamma"),
        (make_pipeline(StandardScaler(), RVR(kernel=RBF())), "rvr__kernel__gamma"),
    ],
)
@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
def test_grid_search_reaches_gamma(model, name):
    X, y = noisy_sinc(60, seed=3)
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(model, {name: [1e-4, 0.5, 1e3]}, cv=folds, error_score="raise").fit(X, y)
    assert search.best_params_ == {name: 0.5}
    assert search.score(X, sinc(X[:, 0])) > 0.8
    best = clone(model).set_params(**{name: 0.5}).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), best.predict(X))


def test_grid_search_in_processes_equals_one_process():
    """joblib hands large arrays to its workers as read-only memory maps."""
    X, y = noisy_sinc(60, seed=3)
    scores = [
        GridSearchCV(RVR(), {"gamma": [0.1, 0.5]}, cv=3, n_jobs=n_jobs)
        .fit(X, y)
        .cv_results_["mean_test_score"]
        for n_jobs in (1, 2)
    ]
    np.testing.assert_allclose(*scores, rtol=1e-10)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_equal_arrays_and_keep_their_names(library, rng):
    X, y = hills(rng)
    columns = {"length": X[:, 0], "load": X[:, 1]}
    frame, series = (
        (pd.DataFrame(columns), pd.Series(y))
        if library == "pandas"
        else (pl.DataFrame(columns), pl.Series(y))
    )
    scaled = make_pipeline(StandardScaler(), RVR()).set_output(transform=library)
    table, array = scaled.fit(frame, series), make_pipeline(StandardScaler(), RVR()).fit(X, y)
    assert list(table[-1].feature_names_in_) == ["length", "load"]
    assert not hasattr(array[-1], "feature_names_in_")
    for of_table, of_array in zip(
        table.predict(frame, return_std=True), array.predict(X, return_std=True), strict=True
    ):
        assert isinstance(of_table, np.ndarray)
        np.testing.assert_allclose(of_table, of_array, rtol=1e-10)
    direct = RVR().fit(frame, series)
    assert list(direct.feature_names_in_) == ["length", "load"]
    with pytest.raises(ValueError, match="feature names"):
        direct.predict(frame[["load", "length"]])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int8])
def test_narrow_types_are_computed_in_double_precision(kernel, dtype, rng):
    X = rng.integers(-9, 10, size=(50, 2)).astype(dtype)
    y = (X[:, 0] - 0.1 * X[:, 1].astype(float) ** 2 + rng.standard_normal(50)).astype(np.float32)
    narrow = RVR(kernel=kernel).fit(X, y)
    double = RVR(kernel=kernel).fit(X.astype(float), y.astype(float))
    assert narrow.dual_coef_.dtype == np.float64
    np.testing.assert_allclose(narrow.predict(X), double.predict(X.astype(float)), rtol=1e-10)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear_spline"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_order_of_the_rows_does_not_matter(kernel, fit_intercept, rng):
    X, y = noisy_sinc(50, seed=4)
    order = rng.permutation(50)
    model = RVR(kernel=kernel, fit_intercept=fit_intercept)
    sorted_rows = clone(model).fit(X, y)
    shuffled = clone(model).fit(X[order], y[order])
    assert set(order[shuffled.relevance_rows_]) == set(sorted_rows.relevance_rows_)
    np.testing.assert_allclose(shuffled.predict(X), sorted_rows.predict(X), atol=1e-5)


def test_fortran_order_and_strides_do_not_matter(rng):
    X, y = hills(rng)
    doubled = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)
    plain = RVR().fit(X, y)
    for layout in (np.asfortranarray(X), doubled[::2, ::2]):
        model = RVR().fit(layout, y)
        assert model.log_evidence_ == pytest.approx(plain.log_evidence_, abs=1e-6)
        np.testing.assert_allclose(model.predict(layout), plain.predict(X), atol=1e-4)


def test_a_column_of_targets_warns_once_and_is_flattened():
    X, y = noisy_sinc()
    with pytest.warns(DataConversionWarning) as caught:
        column = RVR().fit(X, y[:, None])
    assert len(caught) == 1
    prediction = column.predict(X)
    assert prediction.shape == (40,)
    np.testing.assert_array_equal(prediction, RVR().fit(X, y).predict(X))


@pytest.mark.parametrize("centers", [None, 7, "rows"])
def test_centres_are_what_the_candidates_stand_on(centers, rng):
    X, y = hills(rng)
    X = StandardScaler().fit_transform(X)
    given = X[::5] + 0.01 if centers == "rows" else centers
    model = RVR(centers=given, random_state=0).fit(X, y)
    rows, vectors = model.relevance_rows_, model.relevance_vectors_
    assert rows.shape == model.relevance_.shape == (len(vectors),) == model.dual_coef_.shape
    if centers == "rows":
        assert (rows == -1).all()
        np.testing.assert_array_equal(vectors, given[model.relevance_])
    else:
        np.testing.assert_array_equal(vectors, X[rows])
    assert len(vectors) <= (
        len(X) if centers is None else np.size(given) if centers == "rows" else 7
    )
    again = RVR(centers=given, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.relevance_, model.relevance_)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kernel", [*KERNELS, Concatenate([Bias(), Columns(), RBF()])])
def test_the_ways_to_predict_agree(kernel, fit_intercept):
    X, y = noisy_sinc(50, seed=5, slope=0.1)
    model = RVR(kernel=kernel, fit_intercept=fit_intercept).fit(X, y)
    query = np.linspace(-9.0, 9.0, 23)[:, None]
    mean = model.predict(query)
    from_weights = model.basis_.transform(query) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(mean, from_weights, rtol=1e-10, atol=1e-10)
    assert (model.intercept_ != 0) == fit_intercept

    with_std, std = model.predict(query, return_std=True)
    with_cov, covariance = model.predict(query, return_cov=True)
    np.testing.assert_allclose(with_std, mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(with_cov, mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(std, np.sqrt(np.diag(covariance)), rtol=1e-9)
    np.testing.assert_allclose(covariance, covariance.T, rtol=1e-9, atol=1e-15)

    latent, band = model.predict_latent(query, return_std=True)
    np.testing.assert_allclose(latent, mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.predict_latent(query), latent)
    np.testing.assert_allclose(band**2 + model.noise_variance_, std**2, rtol=1e-10)

    residual = model.basis_.transform(query) - fit_intercept * model.basis_.transform(X).mean(
        axis=0
    )
    by_hand = np.einsum("ij,jk,ik->i", residual, model.weight_covariance_, residual)
    by_hand += fit_intercept * model.noise_variance_ / len(X)
    np.testing.assert_allclose(band**2, by_hand, rtol=1e-6, atol=1e-12)

    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_, rel=1e-8)
    assert model.log_evidence(X, y + 0.5 * (-1.0) ** np.arange(50)) < model.log_evidence_ - 10


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_samples_have_the_moments_of_the_prediction(fit_intercept):
    X, y = noisy_sinc(50, seed=6)
    model = RVR(fit_intercept=fit_intercept).fit(X, y)
    query, n = np.linspace(-7.0, 7.0, 6)[:, None], 20_000
    mean, with_noise = model.predict(query, return_cov=True)
    without = with_noise - model.noise_variance_ * np.eye(len(query))
    for noise, covariance in ((False, without), (True, with_noise)):
        drawn = model.sample_y(query, n, random_state=0, noise=noise)
        assert drawn.shape == (len(query), n)
        spread = np.sqrt(np.diag(covariance))
        np.testing.assert_array_less(np.abs(drawn.mean(axis=1) - mean), 5 * spread / np.sqrt(n))
        np.testing.assert_array_less(
            np.abs(np.cov(drawn) - covariance), 5 * np.sqrt(2 / n) * np.outer(spread, spread)
        )
    one = model.sample_y(query, random_state=1)
    assert one.shape == (len(query), 1)
    np.testing.assert_array_equal(one, model.sample_y(query, random_state=1))
    assert not np.array_equal(one, model.sample_y(query, random_state=2))


def test_verbose_prints_a_table_of_the_passes(capsys):
    RVR().fit(*noisy_sinc())
    assert capsys.readouterr().out == ""
    model = RVR(verbose=1).fit(*noisy_sinc())
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) > len(model.history_)
    for word in ("evidence", "functions", "noise"):
        assert word in printed


def test_score_and_cross_validation_use_r2():
    X, y = noisy_sinc(60, seed=8)
    model = RVR().fit(X, y)
    residual = y - model.predict(X)
    assert model.score(X, y) == pytest.approx(1 - residual @ residual / (len(y) * np.var(y)))
    assert cross_val_score(RVR(), X, y, cv=KFold(4, shuffle=True, random_state=0)).min() > 0.5
