"""shapley_values: against all coalitions one by one, and against SHAP's own explainers."""

import warnings
from itertools import combinations
from math import comb

import numpy as np
import pytest
from sklearn.base import clone

from relvec import RVR, EffectsRegressor, SparseBayesianRegressor
from relvec.basis import (
    RBF,
    CallableKernel,
    CategoricalKernel,
    Columns,
    Effects,
    Fourier,
    FunctionColumns,
    Hamming,
    LinearKernel,
    Matern32,
    Matern52,
    Periodic,
    Polynomial,
    PolynomialKernel,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    Tanimoto,
)
from tests.support import needs
from tests.support.rows import BASES, name_of

#: Bases that are no products of functions of one input each.
NONE = (
    *(CallableKernel, FunctionColumns, Precomputed, Tanimoto),
    *(Matern32, Matern52, RationalQuadratic, PolynomialKernel, Sigmoid),
)


def brute_force(function, X, background):
    """Shapley values by all coalitions, each the mean over the rows of the background."""
    n, d = X.shape
    value = {}
    for size in range(d + 1):
        for coalition in combinations(range(d), size):
            total = np.zeros(n)
            for reference in background:
                rows = np.tile(reference, (n, 1))
                rows[:, list(coalition)] = X[:, list(coalition)]
                total += function(rows)
            value[coalition] = total / len(background)
    values = np.zeros((n, d))
    for coalition, without in value.items():
        for i in set(range(d)) - set(coalition):
            joined = value[tuple(sorted((*coalition, i)))]
            values[:, i] += (joined - without) / (d * comb(d - 1, len(coalition)))
    return values, value[()]


def table(rng, n=60, d=8):
    X = rng.uniform(-2, 2, (n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.1 * rng.standard_normal(n)
    return X, y


MODELS = [
    RVR(gamma=0.1),
    RVR(RBF(np.linspace(0, 0.3, 8))),
    RVR("laplacian", gamma=0.1, noise_variance=0.01),
    RVR("linear_spline"),
    RVR(Periodic(5.0, 0.2, learn_period=False)),
    RVR(RBF(0.1) * Periodic(5.0, 0.2, learn_period=False) + LinearKernel()),
    RVR([RBF(0.1), Columns(), Fourier(2), Polynomial(3)], noise_variance=0.01),
    RVR(RBF(0.1), remainder="process"),
    SparseBayesianRegressor(),
    EffectsRegressor(),
    EffectsRegressor(remainder=None),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_values_are_those_of_all_coalitions(model, rng):
    """Of eight inputs, to 1e-10 of the function."""
    X, y = table(rng)
    model = clone(model).fit(X, y)
    later, background = rng.uniform(-2, 2, (3, 8)), X[:4]
    values, base = model.shapley_values(later, background)
    expected, least = brute_force(model.predict, later, background)
    scale = np.abs(model.predict(X)).max()
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(base, least, rtol=0, atol=1e-10 * scale)
    added = values.sum(axis=1) + base
    np.testing.assert_allclose(added, model.predict(later), rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("basis", [b for b in BASES if not isinstance(b, NONE)], ids=name_of)
def test_products_are_the_functions_but_for_constants(basis, rng):
    X, later = np.round(rng.uniform(0.1, 2.0, (2, 6, 6)), 1)
    basis = clone(basis).fit(X)
    try:
        parts = basis.products()
        found = sum((part.values(later).prod(axis=1) @ part.mix for part in parts), np.zeros(1))
    except ValueError:
        assert any(isinstance(one, NONE) for one in parts_of(basis))
        return
    less = basis.evaluate(later) - found
    np.testing.assert_allclose(less - less[0], 0, atol=1e-12 * (1 + np.abs(found).max()))
    assert all((np.diff(part.features) > 0).all() for part in parts)


def parts_of(basis):
    inner = getattr(basis, "bases", getattr(basis, "kernels", ()))
    return [basis, *(part for one in inner for part in parts_of(one))]


@pytest.mark.parametrize("basis", [b for b in BASES if isinstance(b, NONE)], ids=name_of)
def test_functions_that_are_no_products_say_so(basis, rng):
    basis = clone(basis).fit(rng.uniform(0.1, 2.0, (6, 6)))
    with pytest.raises(ValueError, match=rf"{name_of(basis)} is not known as a sum of products"):
        [part.values(rng.uniform(0.1, 2.0, (6, 6))) for part in basis.products()]


@pytest.mark.parametrize("kernel", [CategoricalKernel(0.5), Hamming(), Effects()], ids=name_of)
def test_categories_have_values_of_their_own(kernel, rng):
    X = np.empty((80, 3), dtype=object)
    X[:, 0], X[:, 1] = rng.choice(["red", "blue", "green"], 80), rng.choice(["big", "small"], 80)
    X[:, 2] = rng.integers(0, 3, 80)
    y = (X[:, 0] == "red") * 1.0 + (X[:, 1] == "big") * (X[:, 2] == 1) * 2.0
    model = RVR(kernel).fit(X, y + 0.1 * rng.standard_normal(80))
    later = np.array([["red", "big", 1], ["mauve", "small", 2]], dtype=object)
    values, base = model.shapley_values(later, X[:5])
    expected, least = brute_force(model.predict, later, X[:5])
    np.testing.assert_allclose(values, expected, atol=1e-10)
    np.testing.assert_allclose(base, least, atol=1e-10)


def test_effects_are_divided_among_their_inputs(rng):
    """Main effects to their input, pairs in halves, where inputs of the background go together."""
    X = rng.uniform(-1, 1, (150, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(150)
    model = EffectsRegressor(remainder=None).fit(X, y)
    values, _ = model.shapley_values(X[:3], X[[9]])
    effects = {
        name: effect
        for name, effect in zip(model.terms_, model.predict_effects(X).T, strict=True)
        if " × " not in name
    }
    if not any(" × " in name and "x0" in name for name in model.terms_):
        np.testing.assert_allclose(values[:, 0], effects["x0"][:3] - effects["x0"][9], atol=1e-10)


def test_several_targets_and_counts(rng):
    X, y = table(rng, d=4)
    both = RVR(gamma=0.2).fit(X, np.column_stack([y, X[:, 0]]))
    values, base = both.shapley_values(X[:3], X[:7])
    assert values.shape == (3, 4, 2)
    np.testing.assert_allclose(values.sum(axis=1) + base, both.predict(X[:3]), atol=1e-10)
    counts = RVR(gamma=0.2, likelihood="poisson").fit(X, rng.poisson(np.exp(1 + np.sin(X[:, 0]))))
    found = counts.shapley_values(X[:3], X)
    log_rate = counts.predict_latent(X[:3])
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, log_rate, atol=1e-10)


def test_inputs_that_do_not_matter_have_none(rng):
    X, y = table(rng)
    model = RVR(gamma=[0.2, 0.0, 0.1, 0.1, 0.0, 0.0, 0.0, 0.0]).fit(X, y)
    values = model.shapley_values(X, X[:9]).values
    np.testing.assert_array_equal(values[:, [1, 4, 5, 6, 7]], 0)


def test_values_do_not_depend_on_the_batches(rng, monkeypatch):
    X, y = table(rng)
    model = RVR(gamma=0.1).fit(X, y)
    whole = model.shapley_values(X[:7], X[:5])
    monkeypatch.setattr("relvec._assess.shapley.BATCH", 100)
    np.testing.assert_allclose(model.shapley_values(X[:7], X[:5]).values, whole.values, rtol=1e-12)


def test_sampled_values_agree_and_plots_take_them(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it imports itself
        shap = needs.library("shap")
    X, y = table(rng, d=4)
    model = RVR(gamma=0.2).fit(X, y)
    explainer = shap.KernelExplainer(model.predict, X[:10])
    values, base = model.shapley_values(X[:3], X[:10])
    np.testing.assert_allclose(explainer.shap_values(X[:3], silent=True), values, atol=1e-8)
    np.testing.assert_allclose(explainer.expected_value, base)
    explanation = shap.Explanation(values, np.full(3, base), X[:3], feature_names=[*"abcd"])
    assert explanation.shape == (3, 4)


def test_what_has_no_values_says_so(rng):
    X, y = table(rng)
    with pytest.raises(ValueError, match="augment=True"):
        RVR(gamma=0.3, augment=True).fit(X, y).shapley_values(X, X)
    with pytest.raises(ValueError, match="Matern52 is not known as a sum of products"):
        RVR("matern52").fit(X, y).shapley_values(X, X)
    with pytest.raises(ValueError, match="features"):
        RVR(gamma=0.1).fit(X, y).shapley_values(X, X[:, :3])
