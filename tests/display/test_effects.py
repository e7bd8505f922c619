"""Curves, points and maps are what a model of effects predicts of them, with their errors."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVR, EffectsClassifier, EffectsRegressor
from relvec.display import EffectCurve, EffectMap, EffectsDisplay, EffectSharesDisplay
from relvec.exceptions import EmptyModelWarning

Z95 = 1.959963984540054


@pytest.fixture(scope="module")
def table():
    """Two inputs of numbers with a product, one of texts, one of true and false, one idle."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "size": rng.uniform(-1, 1, 200),
            "town": rng.choice(["here", "there", "a town with a long name"], 200),
            "age": rng.uniform(-1, 1, 200),
            "garden": rng.random(200) < 0.5,
        }
    )


@pytest.fixture(scope="module")
def target(table):
    town = table["town"].map({"here": 0.0, "there": 1.0}).fillna(3.0)
    parts = [np.sin(3 * table["size"]), town, 2 * table["size"] * table["age"], table["garden"]]
    return sum(parts) + 0.1 * np.random.default_rng(1).standard_normal(200)


@pytest.fixture(scope="module")
def model(table, target):
    return EffectsRegressor(remainder=None).fit(table, target)


def effects_of(model, table, term):
    """Contribution of a term to rows of a table, by itself."""
    return [values[:, model.terms_.index(term)] for values in model.predict_effects(table, True)]


def test_a_curve_and_its_band_are_the_contribution_and_its_error(model, table):
    display = EffectsDisplay.from_estimator(model, table, ["size"], level=0.95)
    (effect,), (ax,) = display.effects, display.axes_
    assert isinstance(effect, EffectCurve)
    rows = table.iloc[[7] * len(effect.x)].assign(size=effect.x)
    mean, std = effects_of(model, rows, "size")
    np.testing.assert_allclose(effect.mean, mean, rtol=1e-9, atol=1e-12)
    line = next(line for line in ax.lines if len(line.get_xdata()) == len(effect.x))
    np.testing.assert_allclose(line.get_ydata(), mean, rtol=1e-9, atol=1e-12)
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    for ends in (mean - Z95 * std, mean + Z95 * std):
        distance = np.abs(corners[:, None] - np.column_stack([effect.x, ends])).max(axis=2)
        assert distance.min(axis=0).max() < 1e-9
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("size", "effect")


@pytest.mark.parametrize("term", ["town", "garden"])
def test_categories_and_two_values_are_points_with_error_bars(model, table, term):
    display = EffectsDisplay.from_estimator(model, table, [term])
    (effect,), (ax,) = display.effects, display.axes_
    assert effect.is_category
    kinds = sorted(set(table[term]))
    assert list(effect.x) == kinds
    for kind, mean, std in zip(kinds, effect.mean, effect.std, strict=True):
        own = effects_of(model, table[table[term] == kind], term)
        np.testing.assert_allclose(mean, own[0], rtol=1e-9)
        np.testing.assert_allclose(std, own[1], rtol=1e-9)
    (bars,) = ax.collections
    lengths = [np.ptp(path[:, 1]) for path in bars.get_segments()]
    np.testing.assert_allclose(lengths, 2 * Z95 * effect.std)
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert all(len(label) <= 10 for label in labels)
    assert labels[-1] == str(kinds[-1])


def test_a_map_is_the_contribution_of_the_pair(model, table):
    display = EffectsDisplay.from_estimator(model, table, ["size × age"])
    (effect,) = display.effects
    assert isinstance(effect, EffectMap)
    assert effect.names == ("size", "age")
    first, second = np.meshgrid(effect.first, effect.second)
    rows = table.iloc[[3] * first.size].assign(size=first.ravel(), age=second.ravel())
    mean, std = effects_of(model, rows, "size × age")
    np.testing.assert_allclose(effect.mean.ravel(), mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(effect.std.ravel(), std, rtol=1e-9, atol=1e-12)
    truth = 2 * first * second
    assert np.corrcoef(truth.ravel(), mean)[0, 1] > 0.95


def test_a_pair_with_a_category_has_its_categories_on_the_axis():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"kind": rng.choice(["a", "b"], 150), "x": rng.uniform(-1, 1, 150)})
    y = np.where(X["kind"] == "a", 1, -1) * np.sin(3 * X["x"]) + 0.1 * rng.standard_normal(150)
    model = EffectsRegressor(interactions=[(0, 1)]).fit(X, y)
    display = EffectsDisplay.from_estimator(model, X, ["kind × x"])
    (effect,) = display.effects
    assert effect.is_category == (True, False)
    assert effect.mean.shape == (len(effect.second), 2)
    assert [label.get_text() for label in display.axes_[0].get_xticklabels()] == ["a", "b"]


def test_all_terms_but_a_process_are_drawn_the_largest_share_first(table, target):
    model = EffectsRegressor(interactions=None).fit(table, target)
    assert "process" in model.terms_
    display = EffectsDisplay.from_estimator(model, table)
    drawn = [getattr(e, "name", None) or " × ".join(e.names) for e in display.effects]
    assert drawn == [term for term in model.effects_.index if term != "process"]
    assert len(display.axes_) == len(drawn)


def test_numbers_that_are_labels_and_arrays_without_names():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(-1, 1, 120), rng.integers(0, 4, 120)])
    y = X[:, 0] + np.array([0.0, 3.0, -1.0, 2.0])[X[:, 1].astype(int)]
    model = EffectsRegressor(categorical=[1]).fit(X, y + 0.1 * rng.standard_normal(120))
    display = EffectsDisplay.from_estimator(model, X, ["x1"])
    assert display.effects[0].is_category
    labels = [label.get_text() for label in display.axes_[0].get_xticklabels()]
    assert labels == ["0", "1", "2", "3"]


def test_classes_have_a_picture_each():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.4, 0.4])]
    model = EffectsClassifier().fit(X, y)
    display = EffectsDisplay.from_estimator(model, X, ["x0"], target="high")
    mean = model.predict_effects(X)[:, model.terms_.index("x0"), list(model.classes_).index("high")]
    (effect,) = display.effects
    at_rows = np.interp(X[:, 0], effect.x.astype(float), effect.mean)
    assert np.abs(at_rows - mean).max() < 0.02 * np.abs(mean).max()
    assert display.axes_[0].get_ylabel() == "effect on the log-odds"
    shares = EffectSharesDisplay.from_estimator(model, target="low")
    np.testing.assert_array_equal(shares.share, sorted(model.effects_["share[low]"])[::-1])
    for draw in (
        lambda: EffectsDisplay.from_estimator(model, X),
        lambda: EffectSharesDisplay.from_estimator(model),
    ):
        with pytest.raises(ValueError, match="target=None, expected one of 'high', 'low'"):
            draw()


def test_inputs_of_a_pipeline_are_those_of_its_last_step(table, target):
    columns = make_column_transformer(
        (StandardScaler(), ["size", "age"]),
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = make_pipeline(columns, EffectsRegressor()).fit(table, target)
    display = EffectsDisplay.from_estimator(model, table, ["size"])
    standardised = (table["size"] - table["size"].mean()) / table["size"].std(ddof=0)
    np.testing.assert_allclose(display.effects[0].rows, standardised)


def test_bars_are_the_shares_with_their_deviations(model):
    display = EffectSharesDisplay.from_estimator(model)
    table = model.effects_
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == list(table.index)
    np.testing.assert_array_equal([bar.get_width() for bar in display.ax_.patches], table["share"])
    (lines,) = display.ax_.collections
    ends = np.array([path[:, 0] for path in lines.get_segments()])
    low = np.maximum(table["share"] - table["share_std"], 0)
    np.testing.assert_allclose(ends, np.column_stack([low, table["share"] + table["share_std"]]))
    assert EffectSharesDisplay.from_estimator(model, n_terms=2).terms == list(table.index[:2])


def test_given_axes_are_divided(model, table):
    figure, (left, right) = pyplot.subplots(1, 2)
    display = EffectsDisplay.from_estimator(model, table, ["size", "town"], ax=left)
    assert display.figure_ is figure
    assert len(display.axes_) == 2
    assert all(ax.get_position().x1 < right.get_position().x0 for ax in display.axes_)
    alone = EffectsDisplay.from_estimator(model, table, ["size"], ax=right)
    assert alone.axes_ == [right]


def test_bad_input_is_named(model, table, target):
    with pytest.raises(TypeError, match="must be an estimator of effects of relvec"):
        EffectsDisplay.from_estimator(RVR().fit(table[["size"]], target), table)
    with pytest.raises(NotFittedError):
        EffectsDisplay.from_estimator(EffectsRegressor(), table)
    for terms in (["process"], ["size", "tone"], "size", []):
        with pytest.raises(ValueError, match="expected a list of some of"):
            EffectsDisplay.from_estimator(model, table, terms)
    with pytest.raises(ValueError, match=r"target=1, expected one of None$"):
        EffectsDisplay.from_estimator(model, table, target=1)
    noise = np.random.default_rng(1).standard_normal((60, 3))
    with pytest.warns(EmptyModelWarning):
        idle = EffectsRegressor(remainder=None).fit(noise[:, :2], noise[:, 2])
    with pytest.raises(ValueError, match="kept no effects"):
        EffectsDisplay.from_estimator(idle, noise[:, :2])
    alone = pyplot.figure().add_axes((0.1, 0.1, 0.8, 0.8))
    with pytest.raises(ValueError, match="ax must be one of a figure's subplots"):
        EffectsDisplay.from_estimator(model, table, ["size", "town"], ax=alone)
