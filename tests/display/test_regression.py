"""The picture shows the model's own numbers, and the file it becomes is a real PNG."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.image import imread
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

from relvec import RVR, SparseBayesianRegressor
from relvec.display import RegressionDisplay


@pytest.fixture
def one_input():
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, size=(60, 1))
    return X, np.sinc(X[:, 0] / np.pi) + rng.normal(scale=0.1, size=60)


@pytest.fixture
def two_inputs():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(60, 2))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2 + rng.normal(scale=0.1, size=60)


def _artists(ax, kind):
    return [artist for artist in ax.get_children() if isinstance(artist, kind)]


def _vertical_extent(ax, kind):
    """Return the lowest and highest corner of each band or bar."""
    return [
        (path.vertices[:, 1].min(), path.vertices[:, 1].max())
        for artist in _artists(ax, kind)
        for path in artist.get_paths()
    ]


def test_one_input_is_a_curve_in_two_bands(one_input):
    X, y = one_input
    model = RVR(gamma=0.1).fit(X, y)
    display = RegressionDisplay.from_estimator(model, X, y, level=0.9)
    ax = display.ax_

    (line,) = ax.lines
    grid = line.get_xdata()[:, None]
    mean, std = model.predict(grid, return_std=True)
    _, latent_std = model.predict_latent(grid, return_std=True)
    np.testing.assert_allclose(line.get_ydata(), mean)
    assert grid.min() < X.min()
    assert grid.max() > X.max()

    outer, inner = _vertical_extent(ax, PolyCollection)
    assert outer == pytest.approx(
        ((mean - 1.644854 * std).min(), (mean + 1.644854 * std).max()), rel=1e-6
    )
    assert inner == pytest.approx(
        ((mean - 1.644854 * latent_std).min(), (mean + 1.644854 * latent_std).max()), rel=1e-6
    )


def test_data_and_relevance_vectors_are_marked(one_input):
    X, y = one_input
    model = RVR(gamma=0.1).fit(X, y)
    dots, circles = _artists(RegressionDisplay.from_estimator(model, X, y).ax_, PathCollection)
    rows = np.sort(model.relevance_rows_)
    np.testing.assert_array_equal(dots.get_offsets(), np.column_stack([X[:, 0], y]))
    np.testing.assert_array_equal(circles.get_offsets(), np.column_stack([X[rows, 0], y[rows]]))
    assert len(circles.get_facecolor()) == 0


def test_rows_the_model_has_not_seen_are_not_circled(one_input):
    X, y = one_input
    model = RVR(gamma=0.1).fit(X[:40], y[:40])
    display = RegressionDisplay.from_estimator(model, X[40:], y[40:])
    assert not display.is_relevance_vector.any()
    assert len(_artists(display.ax_, PathCollection)) == 1


def test_several_inputs_are_predicted_against_true_with_bars(two_inputs):
    X, y = two_inputs
    model = RVR().fit(X, y)
    ax = RegressionDisplay.from_estimator(model, X, y).ax_
    mean, std = model.predict(X, return_std=True)

    dots, circles = _artists(ax, PathCollection)
    np.testing.assert_allclose(dots.get_offsets(), np.column_stack([y, mean]))
    rows = np.sort(model.relevance_rows_)
    np.testing.assert_allclose(circles.get_offsets(), np.column_stack([y[rows], mean[rows]]))
    (bars,) = _artists(ax, LineCollection)
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends[:, 0], mean - 1.959963985 * std)
    np.testing.assert_allclose(ends[:, 1], mean + 1.959963985 * std)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_pipelines_and_frames_keep_names_and_scales(one_input, frame):
    X, y = one_input
    table = frame({"distance": 100 + 7 * X[:, 0]})
    model = make_pipeline(StandardScaler(), RVR()).fit(table, y)
    display = RegressionDisplay.from_estimator(model, table, pd.Series(y, name="height"))
    assert display.ax_.get_xlabel() == "distance"
    assert display.ax_.get_ylabel() == "height"
    assert display.is_relevance_vector.sum() == len(model[-1].relevance_)
    assert display.curve.x.max() > 100


def test_one_input_of_texts_is_predicted_against_true():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"colour": rng.choice(["red", "blue"], size=40)})
    y = np.where(table["colour"] == "red", 1.0, 2.0) + rng.normal(scale=0.1, size=40)
    model = make_pipeline(OneHotEncoder(sparse_output=False), RVR()).fit(table, y)
    display = RegressionDisplay.from_estimator(model, table, y)
    assert display.curve is None
    assert display.ax_.get_xlabel() == "true y"


def test_names_level_and_axes_can_be_chosen(two_inputs):
    X, y = two_inputs
    figure, ax = pyplot.subplots()
    model = RVR().fit(X, y)
    display = RegressionDisplay.from_estimator(model, X, y, y_name="height", ax=ax, level=0.5)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert ax.get_xlabel() == "true height"
    assert ax.get_ylabel() == "predicted height"
    assert "50 %" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_picture_can_be_saved(one_input, tmp_path):
    X, y = one_input
    display = RegressionDisplay.from_estimator(RVR(gamma=0.1).fit(X, y), X, y)
    path = tmp_path / "curve.png"
    display.figure_.savefig(path, dpi=100)
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert imread(path).std() > 0


def test_bad_input_is_named(one_input):
    X, y = one_input
    model = RVR(gamma=0.1).fit(X, y)
    with pytest.raises(
        TypeError, match=r"must be a regressor of relvec or a Pipeline that ends in one.*SVR"
    ):
        RegressionDisplay.from_estimator(SVR().fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        RegressionDisplay.from_estimator(RVR(), X, y)
    with pytest.raises(ValueError, match="level=95, expected a probability > 0 and < 1"):
        RegressionDisplay.from_estimator(model, X, y, level=95)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RegressionDisplay.from_estimator(model, X, y[:-1])


def test_without_matplotlib_the_extra_is_named(one_input, monkeypatch):
    X, y = one_input
    model = RVR(gamma=0.1).fit(X, y)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"relvec\[plot\]"):
        RegressionDisplay.from_estimator(model, X, y)


def test_several_targets_are_refused_by_name(one_input):
    X, y = one_input
    model = RVR().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="estimator predicts 2 targets, expected one"):
        RegressionDisplay.from_estimator(model, X, y)


def test_bands_of_counts_are_in_counts(one_input):
    X, _ = one_input
    rng = np.random.default_rng(3)
    y = rng.poisson(np.exp(1 + np.sin(X[:, 0] / 3)))
    model = RVR(gamma=0.05, likelihood="poisson").fit(X, y)
    curve = RegressionDisplay.from_estimator(model, X, y, level=0.9).curve
    grid = curve.x[:, None]
    lower, upper = model.predict_interval(grid, coverage=0.9)
    np.testing.assert_array_equal(curve.interval, [lower, upper])
    log_rate, std = model.predict_latent(grid, return_std=True)
    np.testing.assert_allclose(
        curve.function_interval,
        np.exp([log_rate - 1.644854 * std, log_rate + 1.644854 * std]),
        rtol=1e-6,
    )


def test_linear_models_are_drawn_without_circles(two_inputs):
    X, y = two_inputs
    model = SparseBayesianRegressor().fit(X, y)
    display = RegressionDisplay.from_estimator(model, X, y)
    np.testing.assert_array_equal(display.mean, model.predict(X))
    assert not display.is_relevance_vector.any()


def test_predictions_of_any_regressor_with_and_without_bars(two_inputs):
    X, y = two_inputs
    svr = SVR().fit(X, y)
    bare = RegressionDisplay.from_predictions(pd.Series(y, name="height"), svr.predict(X)).ax_
    assert bare.get_xlabel() == "true height"
    assert not _artists(bare, LineCollection)
    low, high = svr.predict(X) - 0.25, svr.predict(X) + 0.5
    display = RegressionDisplay.from_predictions(y, svr.predict(X), interval=(low, high), level=0.8)
    (bars,) = _artists(display.ax_, LineCollection)
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, np.column_stack([low, high]))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RegressionDisplay.from_predictions(y, svr.predict(X), interval=(low[1:], high[1:]))


def test_predictions_drawn_are_those_of_the_estimator(two_inputs):
    X, y = two_inputs
    model = RVR().fit(X, y)
    one = RegressionDisplay.from_estimator(model, X, y)
    other = RegressionDisplay.from_predictions(
        y, model.predict(X), interval=model.predict_interval(X)
    )
    np.testing.assert_array_equal(one.interval, other.interval)
    np.testing.assert_array_equal(one.mean, other.mean)


@pytest.mark.parametrize("value", [0.0, -3.0, 1e12])
def test_one_row_has_a_curve_around_it(one_input, value):
    model = RVR(gamma=0.1).fit(*one_input)
    curve = RegressionDisplay.from_estimator(model, [[value]], [0.5]).curve
    assert curve.x[0] < value < curve.x[-1]
