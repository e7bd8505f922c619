"""Work that must not need the square of the number of rows."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from sklearn.base import is_classifier

from relvec import RVR
from relvec.basis import Columns
from relvec.exceptions import CentersWarning
from tests.support import inputs
from tests.support.machines import MACHINES

MIB = 2**20


def peak_of(call) -> int:
    """Bytes allocated at the highest point of a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("kind", "kernel", "method", "rows"),
    [
        ("regression", "rbf", "predict", 100_000),
        ("regression", "laplacian", "predict_latent", 100_000),
        ("regression", "linear_spline", "predict", 100_000),
        ("counts", "rbf", "predict", 100_000),
        ("two classes", "rbf", "predict_proba", 100_000),
        ("two classes", "linear_spline", "decision_function", 100_000),
        ("one against the rest", "laplacian", "predict_proba", 100_000),
        ("three classes", "rbf", "predict_proba", 10_000),
    ],
)
def test_prediction_of_many_rows_takes_memory_linear_in_rows(kind, kernel, method, rows):
    X, y = inputs.noisy_sinc(40, seed=44)
    model = MACHINES[kind].make(kernel=kernel).fit(X, MACHINES[kind].target(y))
    predict = (
        getattr(model, method)
        if is_classifier(model)
        else partial(getattr(model, method), return_std=True)
    )
    query = np.linspace(-10.0, 10.0, rows)[:, None]
    many, some = (peak_of(lambda part=part: predict(query[::part])) for part in (1, 4))
    assert many < 200 * MIB
    assert many < 4.5 * some


def test_fit_keeps_no_kernel_matrix():
    """4000 rows: the full kernel matrix has 122 MiB, the fitted model a few numbers."""
    X, y = inputs.noisy_sinc(4000, seed=45)
    tracemalloc.start()
    try:
        model = RVR().fit(X, y)
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(model.relevance_) < 100
    assert kept < 4 * MIB


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
def test_sixty_thousand_rows_fit_on_a_subsample_of_centres():
    X, y = inputs.sixty_thousand_rows()
    models = []
    with pytest.warns(CentersWarning, match=r"centers"):
        peak = peak_of(lambda: models.append(RVR(random_state=0).fit(X, y)))
    assert peak < 4096 * MIB
    assert models[0].score(X, y) > 0.99


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
def test_linear_kernel_of_very_many_columns_builds_no_square_of_columns():
    X, y = inputs.wide_float32()
    models = []
    peak = peak_of(lambda: models.append(RVR(kernel="linear").fit(X, y)))
    assert peak < 10 * X.size * 8
    model = models[0]
    assert model.coef_.shape == (20_000,)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_, atol=1e-6)


def test_eight_thousand_rows_of_plain_columns():
    X, y = inputs.eight_thousand_rows()
    models = []
    peak = peak_of(lambda: models.append(RVR(kernel=Columns()).fit(X, y)))
    assert peak < 12 * X.nbytes
    coef = np.zeros(21)
    coef[models[0].relevance_] = models[0].dual_coef_
    assert coef[0] == pytest.approx(1.0, abs=0.05)


def test_plain_columns_are_never_drawn_from(rng):
    """Their number does not grow with the rows; a warning would fail here."""
    X = rng.standard_normal((12_000, 2))
    model = RVR(kernel=Columns()).fit(X, X[:, 0] + 0.1 * rng.standard_normal(12_000))
    assert model.coef_[0] == pytest.approx(1, abs=0.01)
