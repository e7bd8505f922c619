"""Contours lie where the model's probabilities say, and rows where they are."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from matplotlib.collections import PathCollection
from matplotlib.contour import QuadContourSet
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from relvec import RVC
from relvec.display import BoundaryDisplay, Map

PETALS = ["petal length (cm)", "petal width (cm)"]


@pytest.fixture
def two_classes(rng):
    """Overlapping clouds whose border is neither straight nor symmetric in the two features."""
    X = rng.normal(size=(150, 2)) * [1.0, 3.0]
    score = X[:, 0] + 0.2 * X[:, 1] ** 2 - 1 + rng.logistic(scale=0.5, size=150)
    return X, np.where(score > 0, "outside", "inside")


@pytest.fixture
def irises():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X[PETALS], y


def _contours(ax, width):
    """Points of the contour lines of one width, by level."""
    return [
        (level, path.vertices)
        for lines in ax.collections
        if isinstance(lines, QuadContourSet) and not lines.filled
        for level, path in zip(lines.levels, lines.get_paths(), strict=True)
        if lines.get_linewidths()[0] == width
    ]


def _dots(ax):
    """Rows drawn, by their entry in the legend."""
    return {
        dots.get_label(): np.asarray(dots.get_offsets())
        for dots in ax.collections
        if isinstance(dots, PathCollection)
    }


def test_contours_of_two_classes_lie_at_their_probabilities(two_classes):
    X, y = two_classes
    model = RVC().fit(X, y)
    ax = BoundaryDisplay.from_estimator(model, X, y).ax_
    contours = _contours(ax, 0.4)
    assert {0.25, 0.5, 0.75} <= {level for level, _ in contours}
    for level, points in contours:
        np.testing.assert_allclose(model.predict_proba(points)[:, 1], level, atol=0.01)
    ((_, border),) = _contours(ax, 2)
    np.testing.assert_allclose(model.predict_proba(border)[:, 1], 0.5, atol=0.01)


def test_borders_of_more_classes_lie_where_two_are_the_likeliest(irises):
    X, y = irises
    model = RVC().fit(X.to_numpy(), y)
    ax = BoundaryDisplay.from_estimator(model, X.to_numpy(), y).ax_
    borders = _contours(ax, 2)
    assert len(borders) == 2
    for _, points in borders:
        ordered = np.sort(model.predict_proba(points), axis=1)
        np.testing.assert_allclose(ordered[:, -1], ordered[:, -2], atol=0.05)
    for level, points in _contours(ax, 0.4):
        np.testing.assert_allclose(model.predict_proba(points).max(axis=1), level, atol=0.05)


def test_the_map_reaches_past_the_rows_at_every_side(two_classes):
    X, y = two_classes
    ax = BoundaryDisplay.from_estimator(RVC().fit(X, y), X, y).ax_
    for (low, high), values in zip((ax.get_xlim(), ax.get_ylim()), X.T, strict=True):
        assert low < values.min()
        assert high > values.max()


def test_rows_are_marked_by_class_and_relevance(two_classes):
    X, y = two_classes
    model = RVC().fit(X, y)
    dots = _dots(BoundaryDisplay.from_estimator(model, X, y).ax_)
    assert list(dots) == ["inside", "outside", "relevance vectors"]
    for name in model.classes_:
        np.testing.assert_array_equal(dots[name], X[y == name])
    np.testing.assert_array_equal(dots["relevance vectors"], X[np.sort(model.relevance_rows_)])


def test_classes_differ_in_shape_or_face(irises):
    X, y = irises
    display = BoundaryDisplay.from_estimator(RVC().fit(X, y), X, y)
    marks = [
        (dots.get_paths()[0].vertices.tobytes(), dots.get_facecolor().tobytes())
        for dots in display.ax_.collections
        if isinstance(dots, PathCollection)
    ]
    assert len(set(marks)) == len(marks) == 4


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_pipelines_and_frames_keep_names_and_scales(irises, frame):
    table, y = frame(irises[0].to_dict("list")), irises[1]
    model = make_pipeline(StandardScaler(), RVC()).fit(table, y)
    display = BoundaryDisplay.from_estimator(model, table, y)
    assert display.ax_.get_xlabel() == "petal length (cm)"
    assert display.ax_.get_ylabel() == "petal width (cm)"
    assert display.ax_.get_xlim()[1] > 6.9
    assert display.is_relevance_vector.sum() == len(model[-1].relevance_)


def test_the_tone_is_explained_beside_the_map(two_classes, irises):
    X, y = two_classes
    figure, ax = pyplot.subplots()
    display = BoundaryDisplay.from_estimator(RVC().fit(X, y), X, y, ax=ax)
    assert display.ax_ is ax
    _, bar = figure.axes
    assert bar.get_ylabel() == "probability of outside"
    X, y = irises
    display = BoundaryDisplay.from_estimator(RVC().fit(X, y), X, y)
    _, bar = display.figure_.axes
    assert bar.get_ylabel() == "probability of the likeliest class"


@pytest.mark.parametrize("probability", [[0.9, 0.1], [0.2, 0.7, 0.1]])
def test_a_map_without_contours_is_drawn(probability):
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    grid = np.linspace(0, 1, 5)
    display = BoundaryDisplay(
        X=X,
        y=np.array([0, 1]),
        classes=np.arange(len(probability)),
        is_relevance_vector=np.array([False, False]),
        surface=Map(grid, grid, np.tile(probability, (5, 5, 1))),
    ).plot()
    assert _contours(display.ax_, 0.4) == _contours(display.ax_, 2) == []
    assert "relevance vectors" not in _dots(display.ax_)


def test_bad_input_is_named(two_classes):
    X, y = two_classes
    model = RVC().fit(X, y)
    with pytest.raises(
        TypeError, match=r"must be a classifier of relvec or a Pipeline that ends in one.*SVC"
    ):
        BoundaryDisplay.from_estimator(SVC().fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        BoundaryDisplay.from_estimator(RVC(), X, y)
    with pytest.raises(ValueError, match=r"X has shape \(150, 3\), expected two features"):
        BoundaryDisplay.from_estimator(model, np.column_stack([X, X[:, 0]]), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BoundaryDisplay.from_estimator(model, X, y[:-1])


def test_without_matplotlib_the_extra_is_named(two_classes, monkeypatch):
    X, y = two_classes
    model = RVC().fit(X, y)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"relvec\[plot\]"):
        BoundaryDisplay.from_estimator(model, X, y)
