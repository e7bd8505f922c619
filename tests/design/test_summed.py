"""Sums of rows that are gone against the rows themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relvec._design import DenseDesign, Target
from relvec._design.moments import Moments
from relvec._design.summed import RowSums, SummedDesign
from relvec._fitting.alternating import fit
from relvec.basis import RBF
from relvec.basis.base import Centers
from relvec.likelihoods import Gaussian
from relvec.solvers import SOLVERS

N = 80


@pytest.fixture(params=[True, False], ids=["intercept", "no intercept"])
def center(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["once", "copies"])
def weights(request, rng):
    return rng.integers(1, 4, N).astype(float) if request.param else None


@pytest.fixture
def data(rng, weights):
    X = rng.standard_normal((N, 2))
    t = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] - 3]) + 0.1 * rng.standard_normal((N, 2))
    Phi = RBF(0.7).place(X, Centers.on(X, np.arange(0, N, 4)), weights).evaluate(X)
    return Phi, t


@pytest.fixture
def sums(data, weights):
    """Sums over three parts of the rows."""
    Phi, t = data
    parts = [slice(0, 30), slice(30, 31), slice(31, N)]
    each = [RowSums.of(Phi[p], t[p], None if weights is None else weights[p]) for p in parts]
    return each[0] + each[1] + each[2]


@pytest.fixture
def designs(data, weights, center, sums):
    dense = DenseDesign(data[0].copy(), center=center, weights=weights)
    return dense, SummedDesign(sums, center=center)


def test_candidates_and_targets_are_standardised_alike(designs, data):
    dense, summed = designs
    for name in ("n_effective", "total_weight", "center", "scale", "level_share"):
        assert_allclose(getattr(summed, name), getattr(dense, name), rtol=1e-12, atol=1e-13)
    one, other = Target.of(data[1], dense), summed.target(np.arange(2))
    for name in ("center", "scale", "variance"):
        assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("which", [[0], [1], [0, 1]], ids=str)
def test_every_solver_finds_the_model_of_the_rows(designs, data, solver, which):
    if solver != "sequential" and len(which) > 1:
        pytest.skip("one target at a time")
    dense, summed = designs
    one = fit(Gaussian(), SOLVERS[solver](tol=0.5), dense, data[1][:, which])
    other = fit(Gaussian(), SOLVERS[solver](tol=0.5), summed, np.array(which))
    assert_array_equal(other.active, one.active)
    assert_allclose(other.log_evidence, one.log_evidence, atol=1e-8)
    assert_allclose(other.well_determined, one.well_determined, atol=1e-5)


def test_a_constant_target_is_told_from_one_that_varies(data, weights):
    Phi, t = data
    beside = np.column_stack([t[:, 0], np.full(N, 0.1), 1e6 + 1e-3 * t[:, 1]])
    design = SummedDesign(RowSums.of(Phi.copy(), beside, weights), center=True)
    assert_array_equal(design.varies(), [True, False, True])


def test_many_candidates_are_summed_as_products(rng):
    Phi, t = rng.standard_normal((40, 501)), rng.standard_normal((40, 1))
    sums = RowSums.of(Phi.copy(), t, None)
    assert isinstance(sums.moments, Moments)
    root = sums.root
    centred = np.hstack([Phi, t]) - np.hstack([Phi, t]).mean(axis=0)
    expected = centred.T @ centred
    assert_allclose(root.rows.T @ root.rows, expected, atol=1e-5 * np.abs(expected).max())
