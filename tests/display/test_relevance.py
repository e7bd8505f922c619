"""Bars are the relevance of the inputs, the largest on top."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from relvec import RVR
from relvec.display import RelevanceDisplay


@pytest.fixture(scope="module")
def model():
    """A machine to which the second of three inputs matters most."""
    X = np.random.RandomState(0).uniform(-3, 3, (60, 3))
    return RVR(gamma=[0.1, 0.4, 0.0]).fit(X, np.sin(X[:, 1]) + 0.1 * X[:, 0])


def test_bars_are_the_relevance_in_falling_order(model):
    display = RelevanceDisplay.from_estimator(model)
    widths = [bar.get_width() for bar in display.ax_.patches]
    np.testing.assert_array_equal(widths, np.sort(model.feature_relevance_)[::-1])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == ["x1", "x0", "x2"]
    assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1], "the first is on top"


def test_what_does_not_matter_is_said(model):
    display = RelevanceDisplay.from_estimator(model)
    (note,) = display.ax_.texts
    assert note.get_text() == "does not matter"
    assert note.xy == (0, 2)


def test_the_most_relevant_with_the_names_of_a_frame(model):
    X = pd.DataFrame(
        np.random.RandomState(0).uniform(-3, 3, (30, 3)), columns=["age", "mass", "sex"]
    )
    named = RVR(gamma=[0.1, 0.4, 0.0]).fit(X, np.sin(X["mass"]))
    display = RelevanceDisplay.from_estimator(named, n_features=2)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["mass", "age"]


def test_inputs_of_a_pipeline_have_the_names_that_its_steps_give():
    rng = np.random.RandomState(0)
    X = pd.DataFrame({"size": rng.uniform(-3, 3, 40), "town": ["here", "there"] * 20})
    columns = make_column_transformer(
        (StandardScaler(), ["size"]), (OneHotEncoder(sparse_output=False), ["town"])
    )
    y = np.sin(X["size"]) + 0.1 * rng.standard_normal(40)
    model = make_pipeline(columns, RVR(gamma=[0.4, 0.1, 0.0])).fit(X, y)
    display = RelevanceDisplay.from_estimator(model)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == [
        "standardscaler__size",
        "onehotencoder__town_here",
        "onehotencoder__town_there",
    ]


def test_kernels_without_a_width_have_no_picture():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((20, 2))
    linear = RVR(kernel="linear").fit(X, X[:, 0] + 0.1 * rng.standard_normal(20))
    with pytest.raises(AttributeError, match="no function of its kernel has a width"):
        RelevanceDisplay.from_estimator(linear)
    with pytest.raises(ValueError, match="n_features"):
        RelevanceDisplay(relevance=np.ones(2), names="ab").plot(n_features=3)


def test_one_width_for_all_inputs_is_said():
    X = np.random.RandomState(0).uniform(-3, 3, (60, 3))
    y = np.sin(X[:, 1]) + 0.1 * X[:, 0]
    for gamma, said in ((0.3, True), ([0.1, 0.4, 0.1], False)):
        display = RelevanceDisplay.from_estimator(RVR(gamma=gamma).fit(X, y))
        assert ("one for all inputs" in display.ax_.get_xlabel()) is said
    one = RelevanceDisplay.from_estimator(RVR(gamma=0.3).fit(X[:, [1]], y))
    assert "one for all inputs" not in one.ax_.get_xlabel()
