"""Factorisations and triangular solves against NumPy, and in mpmath where digits are short."""

import mpmath
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from relvec._numerics import linalg
from relvec._numerics.linalg import NotPositiveDefiniteError


def test_cholesky_is_the_lower_factor(rng):
    root = rng.standard_normal((8, 5))
    matrix = root.T @ root
    np.testing.assert_allclose(
        linalg.cholesky(matrix.copy()), np.linalg.cholesky(matrix), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("matrix", [np.diag([1.0, -1.0]), np.ones((3, 3)) - np.eye(3)])
def test_cholesky_names_its_failure(matrix):
    with pytest.raises(NotPositiveDefiniteError, match=r"minor [12] of a"):
        linalg.cholesky(matrix)


def nearly_singular(j, k, gap):
    """Columns of very different sizes, of which two nearly agree."""
    root = np.random.default_rng(1).standard_normal((j, k)) * 10.0 ** np.arange(k)
    root[:, -1] = 3 * root[:, 0] + gap * root[:, -1]
    return root


@pytest.mark.parametrize("factor", [linalg.cholesky_of_gram, linalg.stacked_qr])
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (3, 1), (1, 3), (0, 2)])
def test_both_factors_of_a_gram_matrix_are_its_cholesky_factor(factor, shape, rng):
    root = 10 * rng.standard_normal(shape)
    gram = np.eye(shape[1]) + root.T @ root
    np.testing.assert_allclose(factor(root), np.linalg.cholesky(gram), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("size", [1e3, 1e7, 1e9])
@pytest.mark.parametrize("gap", [1e-5, 1e-9, 1e-13])
def test_factor_of_a_gram_matrix_keeps_its_digits(gap, size):
    """Where forming I + DᵀD loses them, and where it is not even positive definite."""
    root = size * nearly_singular(6, 4, gap)
    with mpmath.workdps(80):
        D = mpmath.matrix(root.tolist())
        exact = np.array(mpmath.cholesky(mpmath.eye(4) + D.T * D).tolist(), dtype=float)
    found = linalg.cholesky_of_gram(root)
    np.testing.assert_allclose(found.diagonal()[:3], exact.diagonal()[:3], rtol=1e-10)
    lost = np.linalg.norm(root[:, -1]) * np.finfo(float).eps  # no algorithm sees less than this
    assert found[3, 3] == pytest.approx(exact[3, 3], rel=1e-6, abs=20 * lost)


def test_pivoted_qr_takes_what_is_largest_after_the_earlier_ones(rng):
    block = rng.standard_normal((9, 5)) * [1, 100, 1, 10, 1]
    block[:, 2] = block[:, 1] + 1e-3 * block[:, 0]
    norms, order = linalg.pivoted_qr(block.copy())
    assert sorted(order) == list(range(5))
    for i in range(5):
        before, after = block[:, order[:i]], block[:, order[i:]]
        left = after - before @ np.linalg.lstsq(before, after, rcond=None)[0] if i else after
        sizes = np.linalg.norm(left, axis=0)
        assert norms[i] == pytest.approx(sizes[0], rel=1e-8)
        # column 2 is a sum of two others: nothing but rounding is left of the last of the three
        assert norms[i] >= sizes.max() * (1 - 1e-8) - 1e-12


@pytest.mark.parametrize("shape", [(3, 6), (6, 3)])
def test_pivoted_qr_orders_as_many_as_can_be_independent(shape, rng):
    norms, order = linalg.pivoted_qr(rng.standard_normal(shape))
    assert len(norms) == len(set(order)) == 3


@pytest.mark.parametrize("shape", [(9, 4), (4, 4)])
def test_orthonormal_columns_span_the_block(shape, rng):
    block = rng.standard_normal(shape)
    Q = linalg.orthonormal(block.copy(), 1e-12)
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=1e-14)
    np.testing.assert_allclose(Q @ (Q.T @ block), block, atol=1e-13)


def test_orthonormal_leaves_out_what_adds_nothing(rng):
    block = rng.standard_normal((9, 3))
    block = np.column_stack([block, block[:, 0] - block[:, 2]])
    Q = linalg.orthonormal(block.copy(), 1e-12)
    assert Q.shape == (9, 3)
    np.testing.assert_allclose(Q @ (Q.T @ block), block, atol=1e-13)


def test_triangular_solves(rng):
    lower = np.tril(rng.standard_normal((5, 5))) + 3 * np.eye(5)
    rows, vector = rng.standard_normal((5, 7)), rng.standard_normal(5)
    before = rows.copy()
    np.testing.assert_allclose(linalg.inverse_lower(lower) @ lower, np.eye(5), atol=1e-13)
    np.testing.assert_allclose(lower @ linalg.solve_lower(lower, rows), rows, atol=1e-13)
    np.testing.assert_allclose(lower @ linalg.solve_lower_vector(lower, vector), vector, atol=1e-13)
    np.testing.assert_allclose(
        lower @ (lower.T @ linalg.solve_positive(lower @ lower.T, vector)), vector, atol=1e-12
    )
    np.testing.assert_array_equal(rows, before)


def test_inverse_of_a_singular_factor_names_its_failure():
    with pytest.raises(NotPositiveDefiniteError, match="diagonal entry 2"):
        linalg.inverse_lower(np.diag([1.0, 0.0, 1.0]))


def test_nothing_has_empty_factors():
    nothing = np.empty((0, 0))
    for function in (linalg.cholesky, linalg.inverse_lower, linalg.cholesky_of_gram):
        assert function(nothing).shape == (0, 0)
    assert linalg.solve_lower(nothing, np.empty((0, 3))).shape == (0, 3)
    assert linalg.solve_lower_vector(nothing, np.empty(0)).shape == (0,)


def test_small_algebra_runs_on_one_thread():
    with linalg.single_threaded():
        inside = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    assert inside == {1}


@pytest.mark.parametrize("zero", range(4))
def test_orthonormal_keeps_what_comes_after_a_dependent_column(rng, zero):
    block = rng.standard_normal((9, 4))
    block[:, zero] = 0
    Q = linalg.orthonormal(block.copy(), 1e-12)
    np.testing.assert_allclose(Q @ (Q.T @ block), block, atol=1e-13)
