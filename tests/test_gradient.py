"""predict_gradient: derivatives of the function and their error bars, and those of every basis."""

import numpy as np
import pytest
from sklearn.base import clone

from relvec import RVR, EffectsRegressor, SparseBayesianRegressor
from relvec.basis import (
    RBF,
    CallableKernel,
    CategoricalKernel,
    Columns,
    Fourier,
    FunctionColumns,
    Group,
    Hamming,
    Precomputed,
    Tanimoto,
)
from tests.support.differences import derivative
from tests.support.rows import BASES, name_of

#: Bases without derivatives that are known.
NONE = (CallableKernel, CategoricalKernel, FunctionColumns, Hamming, Precomputed, Tanimoto)


def parts_of(basis):
    inner = getattr(basis, "bases", getattr(basis, "kernels", ()))
    return [basis, *(part for one in inner for part in parts_of(one))]


KNOWN = [basis for basis in BASES if not any(isinstance(one, NONE) for one in parts_of(basis))]


@pytest.mark.parametrize("basis", KNOWN, ids=name_of)
def test_derivatives_are_difference_quotients(basis, rng):
    X, later = rng.uniform(0.1, 2.0, (2, 6, 6))
    basis = clone(basis).fit(X)
    found = np.stack(list(basis.derivatives(later)), axis=-1)
    expected = [derivative(lambda x: basis.evaluate(x[None])[0], row, 2e-4) for row in later]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * np.max(np.abs(expected)))
    some = np.array([0, len(basis.rows_) - 1])
    kept = np.stack(list(basis.restrict(some).derivatives(later)), axis=-1)
    np.testing.assert_allclose(kept, found[:, some], rtol=1e-12, atol=1e-13)
    empty = list(basis.restrict(some[:0]).derivatives(later))
    assert [each.shape for each in empty] == [(6, 0)] * 6


@pytest.mark.parametrize("basis", [b for b in BASES if isinstance(b, NONE)], ids=name_of)
def test_functions_without_derivatives_say_so(basis, rng):
    basis = clone(basis).fit(rng.uniform(0.1, 2.0, (6, 6)))
    with pytest.raises(ValueError, match=rf"{name_of(basis)} has no known derivatives"):
        list(basis.derivatives(rng.uniform(0.1, 2.0, (6, 6))))


def curve(rng, n=80):
    X = rng.uniform(-2, 2, (n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * (1 + X[:, 2]) + 0.1 * rng.standard_normal(n)


MODELS = [
    RVR(gamma=0.3),
    RVR("matern52", gamma="ard"),
    RVR(["rbf", Columns(), Fourier(2)], gamma=0.2),
    RVR(RBF(0.3), remainder="process"),
    RVR(likelihood="student_t"),
    SparseBayesianRegressor(),
    EffectsRegressor(),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_gradients_of_models_are_difference_quotients(model, rng):
    X, y = curve(rng)
    model, later = clone(model).fit(X, y), rng.uniform(-2, 2, (9, 3))
    gradient, std = model.predict_gradient(later, return_std=True)
    expected = [derivative(lambda x: model.predict(x[None])[0], row) for row in later]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(model.predict_gradient(later), gradient)
    # Var[∂f] is the mixed derivative of the covariance that the weights give two rows.
    posterior = model.fit_result_.outputs[0].posterior

    def covariance(both):
        joint = posterior.joint_covariance(model.basis_.evaluate(both.reshape(2, 3)))
        return joint[0, 1]

    def by_first(d, at):
        step = 1e-3 * np.eye(3)[d]

        def moved(k, j):
            return covariance(np.concatenate([at + k * step, at + j * step]))

        return (moved(1, 1) - moved(1, -1) - moved(-1, 1) + moved(-1, -1)) / 4e-6

    variance = np.array([[by_first(d, row) for d in range(3)] for row in later])
    np.testing.assert_allclose(std**2, variance, rtol=1e-3, atol=1e-4 * variance.max())


def test_errors_of_gradients_are_of_the_size_of_their_std(rng):
    """Over many draws of functions that the model has, with none left out."""
    X, later, squares = np.linspace(0, 10, 60)[:, None], np.linspace(1, 9, 7)[:, None], []
    basis = RBF(0.5).fit(X[::4])
    slopes = next(iter(basis.derivatives(later)))
    for _ in range(20):
        weights = rng.standard_normal(len(basis.rows_))
        y = basis.evaluate(X) @ weights + 0.1 * rng.standard_normal(60)
        model = RVR(Group(RBF(0.5)), centers=X[::4], noise_variance=0.01).fit(X, y)
        gradient, std = model.predict_gradient(later, return_std=True)
        squares.append(((gradient - (slopes @ weights)[:, None]) / std) ** 2)
    assert 0.5 < np.mean(squares) < 2


def test_the_gradient_of_counts_is_that_of_their_log_rate(rng):
    X = rng.uniform(-2, 2, (100, 1))
    model = RVR(likelihood="poisson").fit(X, rng.poisson(np.exp(1 + np.sin(X[:, 0]))))
    later = rng.uniform(-2, 2, (5, 1))
    expected = [derivative(lambda x: model.predict_latent(x[None])[0], row) for row in later]
    np.testing.assert_allclose(model.predict_gradient(later), expected, rtol=1e-6)


def test_several_targets_have_a_gradient_each(rng):
    X, y = curve(rng)
    both = RVR(gamma=0.3).fit(X, np.column_stack([y, X[:, 0]]))
    gradient, std = both.predict_gradient(X[:4], return_std=True)
    assert gradient.shape == std.shape == (4, 3, 2)
    expected = [derivative(lambda x: both.predict(x[None])[0], row) for row in X[:4]]
    np.testing.assert_allclose(gradient, np.moveaxis(expected, 1, 2), rtol=1e-6, atol=1e-8)


def test_units_of_inputs_and_targets_come_through(rng):
    X, y = curve(rng)
    gradient, std = RVR("matern52", gamma=0.3).fit(X, y).predict_gradient(X, return_std=True)
    other = RVR("matern52", gamma=0.3e-6).fit(1000 * X, 7 * y)
    found = other.predict_gradient(1000 * X, return_std=True)
    np.testing.assert_allclose(found, [7e-3 * gradient, 7e-3 * std], rtol=1e-5, atol=1e-9)


def test_categories_have_no_gradient(rng):
    X = np.empty((80, 2), dtype=object)
    X[:, 0], X[:, 1] = rng.normal(size=80), rng.choice(["red", "blue"], size=80)
    y = np.where(X[:, 1] == "red", 2.0, 0.0) + X[:, 0].astype(float) ** 2
    model = EffectsRegressor().fit(X, y + 0.1 * rng.standard_normal(80))
    gradient = model.predict_gradient(X[:5])
    np.testing.assert_array_equal(gradient[:, 1], 0)
    np.testing.assert_allclose(gradient[:, 0], 2 * X[:5, 0].astype(float), atol=0.5)


def test_what_has_no_gradient_says_so(rng):
    X, y = curve(rng)
    with pytest.raises(ValueError, match="augment=True"):
        RVR(gamma=0.3, augment=True).fit(X, y).predict_gradient(X)
    model = RVR(lambda A, B: np.exp(-0.3 * ((A[:, None] - B) ** 2).sum(axis=2))).fit(X, y)
    with pytest.raises(ValueError, match="CallableKernel has no known derivatives"):
        model.predict_gradient(X)
