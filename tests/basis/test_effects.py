"""Curves, surfaces and levels against the covariances that they stand for."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relvec.basis import Concatenate, Effects
from relvec.basis.curves import Curve, Levels, Line
from relvec.basis.effects import MOST_FINER, NEGLECTED, Effect

N = 80


@pytest.fixture(name="X")
def rows(rng):
    return rng.normal(size=(N, 3)) * [1.0, 3.0, 0.2] + [0.0, 5.0, -1.0]


@pytest.fixture(params=[False, True], ids=["once", "weights"])
def weights(request, rng):
    return rng.integers(0, 4, N).astype(float) if request.param else None


def covariance(Phi):
    return Phi @ Phi.T


def test_means_over_the_training_rows_are_zero(X, weights):
    Phi = placed(X, weights).evaluate(X)
    assert_allclose(np.average(Phi, axis=0, weights=weights), 0, atol=1e-12)


def placed(X, weights=None, **parameters):
    """Effects of training rows with frequencies; effects have no centres."""
    return Effects(**parameters).place(X, None, weights)


def centred_process(x, knots, width, weights):
    """k(x, c) k(c, c)⁻¹ k(c, x) less its means over the rows, from the formulas."""
    gaussian = lambda a, b: np.exp(-0.5 * ((a[:, None] - b) / width) ** 2)  # noqa: E731
    K = gaussian(x, knots) @ np.linalg.solve(gaussian(knots, knots), gaussian(knots, x))
    share = np.full(len(x), 1 / len(x)) if weights is None else weights / weights.sum()
    H = np.eye(len(x)) - share
    return H @ K @ H.T


def standardised(x, weights):
    """Distances from the median in deviations, with the tails compressed."""
    copies = x if weights is None else np.repeat(x, weights.astype(int))
    unit = np.sqrt(np.pi / 2) * np.mean(np.abs(copies - np.median(copies)))
    return 3 * np.arcsinh((x - np.median(copies)) / unit / 3)


@pytest.mark.parametrize("width", [0.35, 1.0])
def test_covariance_of_a_curve_is_that_of_its_process(width, X, weights):
    curve = Curve.of(1, X[:, 1], weights, 7, width)
    u = standardised(X[:, 1], weights)
    expected = centred_process(u, np.quantile(u, np.linspace(0, 1, 7)), width, weights)
    assert_allclose(covariance(curve.values(X)), expected, atol=1e-8)
    effect = Effect([curve]).place(X, None, weights)
    share = np.full(N, 1 / N) if weights is None else weights / weights.sum()
    found = covariance(effect.evaluate(X))
    assert share @ (expected - found).diagonal() <= NEGLECTED * (share @ expected.diagonal())
    assert np.linalg.eigvalsh(expected - found)[0] > -1e-8


def test_covariance_of_a_pair_is_the_centred_product_of_the_curves(X, weights):
    factors = [Curve.of(j, X[:, j], weights, 5, 1.0) for j in (0, 2)]
    effect = Effect(factors).place(X, None, weights)
    raw = covariance(factors[0].values(X)) * covariance(factors[1].values(X))
    share = np.full(N, 1 / N) if weights is None else weights / weights.sum()
    H = np.eye(N) - share
    expected, found = H @ raw @ H.T, covariance(effect.evaluate(X))
    assert share @ (expected - found).diagonal() <= NEGLECTED * (share @ expected.diagonal())
    assert np.linalg.eigvalsh(expected - found)[0] > -1e-8


def test_covariance_of_levels_is_that_of_independent_offsets(rng, weights):
    X = rng.choice(["a", "b", "c"], (N, 1)).astype(object)
    found = covariance(placed(X, weights).evaluate(X))
    same = (X == X.T).astype(float)
    share = np.full(N, 1 / N) if weights is None else weights / weights.sum()
    H = np.eye(N) - share
    assert_allclose(found, H @ same @ H.T, atol=1e-5)


def covariances(effects, X):
    """Covariance of every group, in their order."""
    Phi = effects.evaluate(X)
    return [covariance(Phi[:, effects.groups == g]) for g in np.unique(effects.groups)]


def test_order_of_rows_does_not_matter(X, rng):
    shuffled = placed(X[rng.permutation(N)])
    for one, other in zip(covariances(placed(X), X), covariances(shuffled, X), strict=True):
        assert_allclose(one, other, atol=1e-7)


def test_units_do_not_matter(X):
    moved = 1e6 * X + 3
    for one, other in zip(
        covariances(placed(X), X), covariances(placed(moved), moved), strict=True
    ):
        assert_allclose(one, other, atol=1e-6)


def test_weights_are_copies(X, rng):
    weights = rng.integers(0, 4, N).astype(float)
    copies = placed(np.repeat(X, weights.astype(int), axis=0))
    for one, other in zip(covariances(placed(X, weights), X), covariances(copies, X), strict=True):
        assert_allclose(one, other, atol=1e-7)


def test_constant_columns_have_no_effects(X):
    X[:, 1] = 0.1 + 1e-18 * np.arange(N)
    assert set(placed(X).terms()) == {"x0", "x2", "x0 × x2"}
    assert placed(np.ones((N, 2))).evaluate(np.ones((4, 2))).shape == (4, 0)


def test_each_pair_of_categories_is_one_group(rng):
    X = rng.integers(0, 3, (N, 3)).astype(float)
    effects = placed(X, categorical=[0, 1])
    groups = {
        term: len(
            {g for g, own in zip(effects.groups, effects.terms(), strict=True) if own == term}
        )
        for term in effects.terms()
    }
    expected = {"x0": 1, "x1": 1, "x2": 3, "x0 × x1": 1, "x0 × x2": 2, "x1 × x2": 2}
    assert groups == expected


def test_two_values_have_a_line_alone(rng):
    X = rng.choice([2.0, 7.0], (N, 1))
    effects = placed(X)
    assert_allclose(effects.evaluate(X)[:, 0] ** 2, ((X[:, 0] - X.mean()) / X.std()) ** 2)
    assert effects.evaluate(X).shape == (N, 1)
    assert placed(X, linear=False).evaluate(X).shape == (N, 2), "curves of two widths in its place"


@pytest.mark.parametrize(
    "x",
    [
        pytest.param(np.exp(3 * np.random.default_rng(1).normal(size=N)), id="lognormal"),
        pytest.param(np.append(np.random.default_rng(1).normal(size=N - 1), 1e6), id="outlier"),
        pytest.param(np.append(np.zeros(N - 1), 1.0), id="one row differs"),
        pytest.param(1 + 1e-9 * np.random.default_rng(1).normal(size=N), id="hardly varies"),
    ],
)
def test_curves_are_bounded_by_their_process(x):
    """The variance of k less its mean is at most 4, whatever rows come later."""
    curve = Curve.of(0, x, None, 12, 0.35)
    later = np.concatenate([x, -x, np.linspace(-1e9, 1e9, 101), x + 1e-6])[:, None]
    assert (curve.values(later) ** 2).sum(axis=1).max() <= 4 + 1e-6


def test_heavy_tails_leave_knots_for_the_rest(rng):
    x = np.append(rng.normal(size=N - 1), 1e6)
    curve = Curve.of(0, x, None, 12, 0.35)
    middle = np.sort(x)[N // 4 : 3 * N // 4, None]
    assert np.ptp(Line.of(0, x, None).values(middle)) < 1e-4, "the line sees the outlier alone"
    assert len(np.unique(curve.knots)) == 12


def test_an_unknown_category_has_no_mean_and_its_prior_variance(rng):
    X = pd.DataFrame({"kind": rng.choice(["a", "b"], N), "size": rng.normal(size=N)})
    rows = X.to_numpy(dtype=object)
    effects = placed(rows)
    query = np.array([["new", 0.3], ["a", 0.3]], dtype=object)
    values, terms = effects.evaluate(query), np.array(effects.terms())
    assert_array_equal(values[0, (terms == "x0") | (terms == "x0 × x1")], 0)
    assert (values[1, terms == "x0"] != 0).any()
    found = effects.unspanned(query)
    assert [terms[position] for position in found] == ["x0", "x0 × x1", "x0 × x1"]
    main, fine, smooth = found.values()
    assert_array_equal(main, [1, 0])
    for pair, size, width in ((fine, 9, 0.5), (smooth, 5, 1.0)):
        curve = Curve.of(1, rows[:, 1].astype(float), None, size, width)
        assert_allclose(pair, [np.sum(curve.values(query[:1]) ** 2), 0])
    assert effects.unspanned(query[1:]) == {}


def test_numbers_are_categories_where_that_is_said(rng):
    X = rng.integers(0, 5, (N, 2)).astype(float)
    own = Levels.of(0, X[:, 0], None)
    assert_allclose(
        covariance(placed(X, categorical=[0], interactions=None).parts_[0].evaluate(X)),
        covariance(own.values(X)),
        atol=1e-4,
    )


def test_only_pairs_that_are_to_be_chosen_are_optional(X):
    for interactions, expected in (("auto", True), ([(2, 0)], False)):
        effects = placed(X, interactions=interactions)
        pairs = np.array(["×" in term for term in effects.terms()])
        assert pairs.any()
        assert_array_equal(effects.optional, pairs & expected)
    assert not any("×" in term for term in placed(X, interactions=None).terms())
    assert not any("×" in term for term in placed(X, order=1).terms())


def test_of_many_pairs_those_worth_most_get_finer_products(rng, weights):
    X = rng.normal(size=(N, 16))  # 120 pairs
    effects = placed(X, weights, knots=3, pair_knots=3)
    every = placed(X, weights, knots=3, pair_knots=3, interactions=list(combinations(range(16), 2)))
    gain = np.zeros(len(effects.rows_))
    worth = {(0, 3): 5.0, (2, 7): 1.0}
    for position, features in enumerate(features_of(effects)):
        gain[position] = worth.get(features, 0.0) if len(features) > 1 else 9.0
    screened = effects.screened(X, weights, gain)
    assert effects.to_screen
    assert not every.to_screen
    assert not screened.to_screen
    assert screened.screened(X, weights, gain) is screened
    chosen = [len(own) == 1 or own in worth for own in features_of(every)]
    assert_allclose(screened.evaluate(X), every.evaluate(X)[:, chosen], atol=1e-12)
    assert_allclose(
        screened.evaluate(X)[:, ~screened.optional], effects.evaluate(X)[:, ~effects.optional]
    )


def features_of(effects):
    """Inputs of every function."""
    return [part.features for part in effects.parts_ for _ in part.rows_]


def test_of_more_pairs_than_get_finer_products_the_best_are_kept(rng):
    X = rng.normal(size=(N, 16))
    several = Concatenate([Effects(knots=3, pair_knots=3)]).place(X, None, None)
    effects = several.parts_[0]
    pairs = sorted({own for own in features_of(effects) if len(own) > 1})
    worth = {pair: 1.0 + number for number, pair in enumerate(pairs)}
    gain = np.array([worth.get(own, 0.0) for own in features_of(effects)])
    assert several.to_screen
    screened = several.screened(X, None, gain)
    assert {own for own in features_of(screened.parts_[0]) if len(own) > 1} == set(
        pairs[-MOST_FINER:]
    )


def test_names_are_those_of_the_inputs(X):
    names = ["age", "dose", "weight"]
    effects = Effects(interactions=[(2, 0)]).fit(pd.DataFrame(X, columns=names))
    assert set(effects.terms(names)) == {"age", "dose", "weight", "age × weight"}
    assert "line(dose)[0]" in effects.names(names)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("order", 3),
        ("knots", 0),
        ("pair_knots", 1.5),
        ("linear", "yes"),
        ("interactions", "all"),
        ("interactions", 3),
        ("interactions", [1]),
        ("interactions", [(1, 1)]),
        ("interactions", [(0, -1)]),
        ("interactions", [(0, 3)]),
        ("categorical", [3]),
        ("categorical", [-1]),
    ],
)
def test_bad_parameters_are_named(name, value, X):
    with pytest.raises((ValueError, TypeError), match=name):
        Effects(**{name: value}).fit(X)


def test_what_is_no_number_in_a_column_of_numbers_is_named(rng):
    X = np.column_stack([rng.normal(size=N), rng.choice(["a", "b"], N)]).astype(object)
    X[:, 0] = X[:, 0].astype(float)
    effects = placed(X)
    for wrong in ("bad", np.nan):
        with pytest.raises(ValueError, match="column 0 of X"):
            effects.evaluate(np.array([[wrong, "a"]], dtype=object))
