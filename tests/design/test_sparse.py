"""A design of sparse columns is the design of the same columns with their zeros."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csc_array

from relvec import SparseBayesianRegressor
from relvec._design import DenseDesign
from relvec._design.sparse import SparseDesign

N, M = 60, 9


@pytest.fixture
def values(rng):
    """Sparse columns, one without a number, one of tiny ones, and two with all, one far off."""
    X = np.where(rng.uniform(size=(N, M)) < 0.8, 0.0, rng.standard_normal((N, M)))
    X[:, 2] = 0.0
    X[:, 3] *= 1e-170
    X[:, 5] = rng.standard_normal(N)
    X[:, 6] = 2000 + 1e-3 * rng.standard_normal(N)
    return X


@pytest.fixture(params=["counted once", "weights", "no intercept", "groups"])
def designs(request, values, rng):
    """The same columns with and without their zeros."""
    given = {"center": request.param != "no intercept"}
    if request.param == "weights":
        given["weights"], given["precision"] = rng.integers(1, 4, N) * 1.0, rng.uniform(1, 2, N)
    if request.param == "groups":
        given["groups"] = np.array([0, 0, 0, 1, 2, 3, 4, 5, 5])
    return DenseDesign(values.copy(), **given), SparseDesign(csc_array(values), **given)


def assert_same(dense, sparse):
    for name in ("shape", "center", "scale", "norm2", "row_weights", "precision_evidence"):
        assert_allclose(getattr(sparse, name), getattr(dense, name), rtol=1e-9, atol=1e-300)
    assert_allclose(sparse.columns(slice(None)), dense.columns(slice(None)), atol=1e-9)


def test_the_columns_are_the_same(designs, rng):
    dense, sparse = designs
    assert_same(dense, sparse)
    some = np.array([5, 0, 3, 6])
    assert_same(dense.restrict(some), sparse.restrict(some))
    precision = rng.uniform(1, 2, N)
    assert_same(
        dense.restrict(some).with_precision(precision),
        sparse.restrict(some).with_precision(precision),
    )


def test_sums_and_products_are_the_same(designs, rng):
    dense, sparse = designs
    some, t = np.array([8, 1, 6]), rng.standard_normal(N)

    def factors(t):
        return np.abs(t)[None], np.stack([t, t**2])

    def numbers(design):
        return [
            design.gram(some),
            *design.sum_rows(lambda columns, t: (t @ columns,), t, index=slice(None)),
            design.map_rows(lambda columns: columns.sum(axis=1), index=some),
            *design.weighted_sums(factors, t, index=slice(1, 7)),
            design.squared_products(),
        ]

    for one, other in zip(numbers(dense), numbers(sparse), strict=True):
        assert_allclose(other, one, rtol=1e-9, atol=1e-9)


def test_frames_are_the_same(designs, rng):
    t = rng.standard_normal(N)
    one, other = (design.frame(design.target(t)) for design in designs)
    for index in (np.array([5, 0]), np.array([6])):
        one.span(index)
        other.span(index)
        for name in ("residual_norm2", "residual_dot", "residual_target"):
            assert_allclose(getattr(other, name), getattr(one, name), atol=1e-9)
        assert_allclose(other.coords.T @ other.coords, one.coords.T @ one.coords, atol=1e-9)
        assert_allclose(other.coords.T @ other.target, one.coords.T @ one.target, atol=1e-9)


def test_zeros_are_not_stored(rng):
    """They would take 16 GB."""
    rows, columns = np.repeat(np.arange(20_000), 5), rng.integers(1, 100_000, 100_000)
    rows, columns = np.append(rows, np.arange(9000)), np.append(columns, np.zeros(9000, dtype=int))
    X = csc_array((np.ones(len(rows)), (rows, columns)), shape=(20_000, 100_000))
    y = (np.arange(20_000) < 9000) + rng.standard_normal(20_000)
    model = SparseBayesianRegressor(n_starts=1).fit(X, y)
    np.testing.assert_array_equal(model.relevance_, [0])
