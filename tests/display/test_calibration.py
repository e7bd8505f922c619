"""Points are the shares that came true; bars hold them where the probabilities are right."""

import math

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.collections import LineCollection
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVC
from relvec.display import Bins, CalibrationDisplay


@pytest.fixture
def reliable(rng):
    """2000 probabilities, and outcomes drawn from them."""
    probability = rng.beta(0.5, 0.7, size=2000)
    return probability, rng.random(2000) < probability


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    y = np.where(y == 0, "malignant", "benign")
    model = make_pipeline(StandardScaler(), RVC(gamma=0.01)).fit(X[::2], y[::2])
    return model, X[1::2], y[1::2]


@pytest.mark.parametrize("decimals", [16, 1])
def test_bins_are_those_of_scikit_learn(reliable, decimals):
    probability, outcome = np.round(reliable[0], decimals), reliable[1]
    observed, predicted = calibration_curve(outcome, probability, n_bins=7, strategy="quantile")
    bins = Bins.of(probability, outcome, 7)
    np.testing.assert_allclose(bins.predicted, predicted)
    np.testing.assert_allclose(bins.observed, observed)
    assert bins.count.sum() == 2000


def test_bins_without_ties_are_of_equal_mass(reliable):
    np.testing.assert_array_equal(Bins.of(*reliable, 10).count, 200)


@pytest.mark.parametrize("p", [0.03, 0.4, 0.97])
def test_the_bars_leave_out_at_most_half_the_rest_at_either_end(p):
    n = 25
    low, high = Bins(np.array([n]), np.array([p]), np.array([0.5])).spread(0.9)

    def below(k):
        """Probability that fewer than k of n come true."""
        return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k))

    first, last = round(low[0] * n), round(high[0] * n)
    assert below(first) <= 0.05 < below(first + 1)
    assert below(last) < 0.95 <= below(last + 1)


def test_the_bars_hold_the_share_as_often_as_they_say(rng):
    held = []
    for _ in range(300):
        probability = rng.random(400)
        bins = Bins.of(probability, rng.random(400) < probability, 10)
        low, high = bins.spread(0.8)
        held.append((low <= bins.observed) & (bins.observed <= high))
    # 3000 bins: the share that is held has a standard error of 0.007.
    assert np.mean(held) > 0.8


def test_two_classes_show_the_second_one(tumours):
    model, X, y = tumours
    display = CalibrationDisplay.from_estimator(model, X, y, n_bins=5)
    probability = model.predict_proba(X)[:, list(model.classes_).index("malignant")]
    observed, predicted = calibration_curve(
        y == "malignant", probability, n_bins=5, strategy="quantile"
    )
    diagonal, points = display.ax_.lines
    np.testing.assert_allclose(points.get_xydata(), np.column_stack([predicted, observed]))
    np.testing.assert_array_equal(diagonal.get_xydata(), [[0, 0], [1, 1]])
    assert display.distribution_ax_.get_xlabel() == "probability of malignant"


def test_bars_stand_at_the_points(tumours):
    model, X, y = tumours
    display = CalibrationDisplay.from_estimator(model, X, y, level=0.5)
    (bars,) = [c for c in display.ax_.collections if isinstance(c, LineCollection)]
    low, high = display.bins.spread(0.5)
    at = display.bins.predicted
    np.testing.assert_allclose(
        bars.get_segments(), np.moveaxis([[at, low], [at, high]], [0, 1, 2], [1, 2, 0])
    )
    assert "50 % if reliable" in [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_distribution_counts_what_came_true_and_what_did_not(reliable):
    display = CalibrationDisplay(probability=reliable[0], outcome=reliable[1]).plot()
    true, false = display.distribution_ax_.containers
    edges = np.linspace(0, 1, 21)
    probability, outcome = reliable
    for bars, chosen in ((true, outcome), (false, ~outcome)):
        heights = [bar.get_height() for bar in bars]
        np.testing.assert_array_equal(heights, np.histogram(probability[chosen], edges)[0])
    np.testing.assert_array_equal(
        [bar.get_y() for bar in false], [bar.get_height() for bar in true]
    )


def test_more_classes_show_every_probability_of_every_row():
    X, y = load_iris(return_X_y=True)
    model = RVC().fit(X[::2], y[::2])
    display = CalibrationDisplay.from_estimator(model, X[1::2], y[1::2])
    np.testing.assert_allclose(
        np.sort(display.probability), np.sort(model.predict_proba(X[1::2]), axis=None)
    )
    truth = model.predict_proba(X[1::2])[np.arange(75), y[1::2]]
    np.testing.assert_allclose(np.sort(display.probability[display.outcome]), np.sort(truth))


@pytest.mark.parametrize(("rows", "bins"), [(4, 1), (10, 1), (37, 3), (100, 10), (2000, 10)])
def test_few_probabilities_make_few_bins(reliable, rows, bins):
    display = CalibrationDisplay(probability=reliable[0][:rows], outcome=reliable[1][:rows])
    assert len(display.bins.count) == bins


def test_any_classifier_and_given_axes_will_do():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
    figure, (other, ax) = pyplot.subplots(1, 2)
    place = ax.get_position()
    display = CalibrationDisplay.from_estimator(model, X[1::2], y[1::2], ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert figure.axes == [other, ax, display.distribution_ax_]
    upper, lower = ax.get_position(), display.distribution_ax_.get_position()
    assert upper.y1 == pytest.approx(place.y1)
    assert lower.y0 == pytest.approx(place.y0)
    assert upper.y0 > lower.y1
    assert (upper.x0, upper.x1) == (lower.x0, lower.x1)


def test_bad_input_is_named(reliable, tumours):
    model, X, y = tumours
    with pytest.raises(ValueError, match="level=95, expected a probability > 0 and < 1"):
        CalibrationDisplay.from_estimator(model, X, y, level=95)
    with pytest.raises(ValueError, match="n_bins=0, expected an int >= 1"):
        CalibrationDisplay.from_estimator(model, X, y, n_bins=0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        CalibrationDisplay.from_estimator(model, X, y[:-1])
    with pytest.raises(NotFittedError):
        CalibrationDisplay.from_estimator(RVC(), X, y)
    alone = pyplot.figure().add_axes((0.1, 0.1, 0.8, 0.8))
    with pytest.raises(ValueError, match="ax must be one of a figure's subplots"):
        CalibrationDisplay.from_estimator(model, X, y, ax=alone)


def test_predictions_make_the_same_picture_as_the_estimator(tumours):
    model, X, y = tumours
    probability = model.predict_proba(X)
    drawn = CalibrationDisplay.from_estimator(model, X, y)
    for given in (probability, probability[:, 1]):
        display = CalibrationDisplay.from_predictions(y, given)
        assert display.name == drawn.name == "malignant"
        np.testing.assert_allclose(display.bins.predicted, drawn.bins.predicted)
        np.testing.assert_array_equal(display.bins.observed, drawn.bins.observed)


def test_probabilities_of_other_classes_are_refused(tumours):
    _, _, y = tumours
    with pytest.raises(ValueError, match=r"y_proba has shape \(284, 3\), expected a probability"):
        CalibrationDisplay.from_predictions(y, np.ones((284, 3)))
    with pytest.raises(ValueError, match="each of the 3 classes"):
        CalibrationDisplay.from_predictions(y, np.ones(284), classes=["a", "benign", "malignant"])
