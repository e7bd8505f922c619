"""The curvature of a log posterior against one dense matrix of all weights and levels."""

import mpmath
import numpy as np
import pytest

from relvec._design import DenseDesign
from relvec._evidence.curvature import Curvature, Information
from tests.support.laplace import DenseCurvature


def curvature(dense):
    design = DenseDesign(dense.Phi.copy(), center=dense.center)
    return Curvature(Information(design, dense.Phi, dense.B), dense.alpha)


def beside(dense, found, columns):
    """Products of candidates with the active functions, about their mean, and with the level."""
    centred = dense.Phi - found.information.mean_function
    seen = np.einsum("nk,nrs,nm->kmrs", centred, dense.B, columns)
    return seen, np.einsum("nrs,nm->mrs", dense.B, columns)


def joint(dense, weights, level):
    """Weights and level as one vector."""
    return np.concatenate([weights.ravel(), level]) if dense.center else weights.ravel()


@pytest.fixture(params=[1, 3], ids=["one output", "three outputs"])
def dense(request, center, rng):
    """Curvatures of any size and direction, as weights of the rows make them."""
    n, k, outputs = 25, 4, request.param
    Phi = rng.normal(loc=[0, 1, -5, 0.1], size=(n, k))
    root = rng.normal(size=(n, outputs, outputs))
    B = np.exp(rng.normal(size=(n, 1, 1))) * (root @ root.swapaxes(1, 2) + 0.01 * np.eye(outputs))
    return DenseCurvature(Phi, B, np.exp(2 * rng.normal(size=k)), center)


@pytest.fixture
def found(dense):
    return curvature(dense)


def test_determinant_is_that_of_weights_and_level(dense, found):
    prior = dense.outputs * np.log(dense.alpha).sum()
    expected = 0.5 * (np.linalg.slogdet(dense.matrix)[1] - prior)
    assert found.half_log_det == pytest.approx(expected, rel=1e-12)


def test_variance_is_that_of_the_weights(dense, found):
    root = np.repeat(np.sqrt(dense.alpha), dense.outputs)
    size = dense.n_weights
    expected = np.outer(root, root) * dense.inverse[:size, :size]
    np.testing.assert_allclose(found.variance, expected, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(found.root, np.triu(found.root))
    np.testing.assert_allclose(found.root @ found.root.T, found.variance, rtol=1e-12)


def test_level_and_weights_are_independent_at_the_mean_functions(dense, found):
    """Level plus φ̄ᵀ weights has the level's own covariance, and none with the weights."""
    if not dense.center:
        assert not found.intercept_covariance.any()
        assert not found.information.remainder.any()
        assert not found.information.mean_function.any()
        return
    mean = found.information.mean_functions
    there = np.hstack([mean, np.eye(dense.outputs)])
    np.testing.assert_allclose(
        there @ dense.inverse @ there.T, found.intercept_covariance, rtol=1e-9, atol=1e-14
    )
    np.testing.assert_allclose((there @ dense.inverse)[:, : dense.n_weights], 0, atol=1e-12)
    np.testing.assert_allclose(found.intercept_covariance, np.linalg.inv(dense.B.sum(axis=0)))


def test_gradient_is_the_product_with_the_rows(dense, found, rng):
    slope = rng.normal(size=(len(dense.Phi), dense.outputs))
    by_weight, by_intercept = found.information.gradient(slope)
    expected = np.einsum("nra,nr->a", dense.joined, slope)
    np.testing.assert_allclose(joint(dense, by_weight, by_intercept), expected, rtol=1e-12)


def test_solve_divides_by_the_curvature(dense, found, rng):
    by_weight = rng.normal(size=(len(dense.alpha), dense.outputs))
    by_intercept = rng.normal(size=dense.outputs) * dense.center
    weights, level = found.solve(by_weight, by_intercept)
    assert weights.shape == by_weight.shape
    assert level.shape == by_intercept.shape
    assert dense.center or not level.any()
    expected = dense.inverse @ joint(dense, by_weight, by_intercept)
    np.testing.assert_allclose(joint(dense, weights, level), expected, rtol=1e-9, atol=1e-12)


def test_spread_is_the_variance_of_the_outputs_of_each_row(dense, found):
    spread = found.predictor_covariance.variance(dense.Phi)
    np.testing.assert_allclose(spread, dense.spread(dense.Phi), rtol=1e-8, atol=1e-13)


@pytest.mark.parametrize("count", [1, 6])
def test_whitened_candidates_have_the_products_that_are_explained(dense, found, rng, count):
    """φᵀBX H⁻¹ XᵀBφ of every pair of candidates and outputs."""
    columns = rng.normal(size=(len(dense.Phi), count)) + 1
    white = found.whitened(*beside(dense, found, columns))
    assert white.shape == (dense.matrix.shape[0], count, dense.outputs)
    seen = (
        dense.products(dense.joined, dense.expand(columns))
        if count
        else np.zeros((len(dense.matrix), 0))
    )
    white = white.reshape(len(white), -1)
    expected = seen.T @ dense.inverse @ seen
    np.testing.assert_allclose(white.T @ white, expected, rtol=1e-8, atol=1e-10)


def test_without_functions_only_the_level_is_left(dense, rng):
    columns = rng.normal(size=(len(dense.Phi), 2))
    nothing = DenseCurvature(dense.Phi[:, :0], dense.B, dense.alpha[:0], dense.center)
    found, outputs = curvature(nothing), nothing.outputs
    half = 0.5 * np.linalg.slogdet(dense.B.sum(axis=0))[1] if nothing.center else 0.0
    assert found.half_log_det == pytest.approx(half)
    by_intercept = rng.normal(size=outputs) * nothing.center
    weights, level = found.solve(np.empty((0, outputs)), by_intercept)
    assert weights.shape == (0, outputs)
    np.testing.assert_allclose(dense.B.sum(axis=0) @ level, by_intercept, atol=1e-12)
    np.testing.assert_allclose(
        found.predictor_covariance.variance(nothing.Phi),
        np.broadcast_to(found.intercept_covariance, nothing.B.shape),
    )
    white = found.whitened(*beside(nothing, found, columns)).reshape(-1, 2 * outputs)
    seen = nothing.products(nothing.joined, nothing.expand(columns))
    np.testing.assert_allclose(white.T @ white, seen.T @ nothing.inverse @ seen, atol=1e-12)


def exact_half_log_det(dense, digits=80):
    """½ log|A⁻¹H| in many digits."""
    with mpmath.workdps(digits):
        X = mpmath.matrix(dense.joined.reshape(-1, dense.joined.shape[2]).tolist())
        n = dense.outputs
        weighted = mpmath.matrix(X.rows, X.cols)
        for row, B in enumerate(dense.B):
            block = mpmath.matrix(B.tolist()) * X[row * n : (row + 1) * n, :]
            weighted[row * n : (row + 1) * n, :] = block
        H = X.T * weighted
        for i, value in enumerate(np.repeat(dense.alpha, n)):
            H[i, i] += mpmath.mpf(value)
        prior = mpmath.fsum(n * mpmath.log(mpmath.mpf(value)) for value in dense.alpha)
        return float((mpmath.log(mpmath.det(H)) - prior) / 2)


@pytest.mark.parametrize("gap", [1e-3, 1e-6])
def test_nearly_equal_functions_keep_their_digits(dense, gap):
    """Their products with themselves and each other have no digits left to tell them apart."""
    Phi = dense.Phi[:, [0, 0, 1]] + gap * dense.Phi[:, [3, 2, 3]]
    alpha = np.array([1e-9, 1e-9, 1e-3])
    near = DenseCurvature(Phi, dense.B, alpha, dense.center)
    found, expected = curvature(near), exact_half_log_det(near)
    assert found.half_log_det == pytest.approx(expected, rel=1e-10)
