"""Points are the shares of the rows that lie in their intervals."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from scipy.stats import binom, norm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from relvec import RVR
from relvec.datasets import make_sinc
from relvec.display import CoverageDisplay
from relvec.display.base import likely_shares


@pytest.fixture(scope="module")
def fitted():
    """A pipeline, and rows that it has not seen."""
    X, y = make_sinc(300, noise_scale=0.1, random_state=0)
    return make_pipeline(StandardScaler(), RVR(gamma=1.0)).fit(X[::3], y[::3]), X[1::3], y[1::3]


def test_points_are_what_the_intervals_of_the_estimator_hold(fitted):
    model, X, y = fitted
    display = CoverageDisplay.from_estimator(model, X, y, coverages=[0.9, 0.5])
    mean, std = model.predict(X, return_std=True)
    error = np.abs(y - mean) / std
    held = [np.mean(error <= norm.ppf((1 + coverage) / 2)) for coverage in (0.9, 0.5)]
    np.testing.assert_allclose(display.held, held)
    diagonal, points = display.ax_.lines
    np.testing.assert_array_equal(diagonal.get_xydata(), [[0, 0], [1, 1]])
    np.testing.assert_allclose(points.get_xydata(), [[0.5, held[1]], [0.9, held[0]]])


def test_the_bars_are_those_of_the_rows(fitted):
    model, X, y = fitted
    display = CoverageDisplay.from_estimator(model, X, y, coverages=[0.5, 0.9], level=0.8)
    (bars,) = (c for c in display.ax_.collections if isinstance(c, LineCollection))
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(100 * ends.T, binom.interval(0.8, 100, [0.5, 0.9]))


def test_bars_hold_the_shares_of_true_intervals_as_often_as_they_say(rng):
    said = np.array([0.3, 0.8])
    low, high = likely_shares(said, 60, 0.8)
    held = (np.abs(rng.standard_normal((2000, 60, 1))) <= norm.ppf((1 + said) / 2)).mean(axis=1)
    # 2000 shares each, of whole rows, so that the bars hold a little more than they say; the share
    # that is held has a standard error of 0.008.
    inside = np.mean((low <= held) & (held <= high), axis=0)
    assert ((inside > 0.8 - 0.03) & (inside < 0.9)).all()


def test_narrow_intervals_lie_below_the_diagonal(fitted):
    model, X, y = fitted
    mean = model.predict(X)
    display = CoverageDisplay.from_predictions(y, {0.5: (mean - 1e-6, mean + 1e-6)})
    assert display.held[0] < 0.1


def test_bad_input_is_named(fitted):
    model, X, y = fitted
    with pytest.raises(TypeError, match="must be a regressor of relvec"):
        CoverageDisplay.from_estimator(SVR().fit(X, y), X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        CoverageDisplay.from_estimator(model, X, y[:-1])
    with pytest.raises(ValueError, match="coverage of intervals=95, expected a probability"):
        CoverageDisplay.from_predictions(y, {95: (y, y)})
    with pytest.raises(ValueError, match="level=2, expected a probability"):
        CoverageDisplay.from_estimator(model, X, y, level=2)
    with pytest.raises(ValueError, match=r"y_true has shape \(100, 2\), expected one target"):
        CoverageDisplay.from_predictions(np.column_stack([y, y]), {})
