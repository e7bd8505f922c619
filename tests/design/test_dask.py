"""Rows in Dask."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relvec._design import ArrayBlocks, BlockedDesign
from relvec._fitting.alternating import fit
from relvec.basis import RBF
from relvec.basis.base import Centers
from relvec.likelihoods import Gaussian
from relvec.solvers import Sequential
from tests.support import needs

da = needs.library("dask.array")

from relvec._design.dask import DaskBlocks  # noqa: E402 - needs Dask

N = 400


@pytest.fixture
def data(rng):
    X = rng.standard_normal((N, 2))
    y = np.sin(2 * X[:, :1]) + 0.1 * rng.standard_normal((N, 1))
    basis = RBF(0.7).place(X, Centers.on(X, np.arange(0, N, 10)), None)
    return X, y, basis


def blocks_of(X):
    return DaskBlocks(da.from_array(X, chunks=(90, -1)), 33)


def test_a_design_in_dask_is_the_same_design(data, rng):
    X, y, basis = data
    weights = rng.integers(1, 3, N).astype(float)
    blocks = blocks_of(X)
    here = BlockedDesign(ArrayBlocks(X, 50), basis, center=True, weights=weights)
    there = BlockedDesign(blocks, basis, center=True, weights=blocks.vector(weights, "w"))
    for name in ("n_copies", "total_weight", "center", "scale"):
        assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-12)
    one = fit(Gaussian(), Sequential(), here, y)
    other = fit(Gaussian(), Sequential(), there, blocks.vector(y, "y"))
    assert_array_equal(other.active, one.active)
    assert_allclose(other.log_evidence, one.log_evidence, atol=1e-8)
    assert_allclose(other.posterior.mean, one.posterior.mean, rtol=1e-6)


def test_rows_are_taken_in_the_order_asked_for(data):
    X, y, _ = data
    blocks, rows = blocks_of(X), np.array([399, 3, 91, 90, 0])
    found, targets = blocks.take(rows, blocks.vector(y, "y"))
    assert_array_equal(found, X[rows])
    assert_array_equal(targets, y[rows])
