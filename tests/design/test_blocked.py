"""Passes over blocks of rows against the matrix that they never form."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from relvec._design import ArrayBlocks, BlockedDesign, DenseDesign, Target
from relvec._design import dense as dense_module
from relvec._design.base import EVERY
from relvec._design.functions import Functions
from relvec._design.moments import CholeskyQR, Moments, RFactor, Squares
from relvec._design.summed import RowSums, SummedDesign
from relvec._evidence import evidence_model
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._fitting.alternating import fit
from relvec.basis import RBF, Columns, Concatenate
from relvec.basis.base import Centers
from relvec.likelihoods import Bernoulli, Gaussian, StudentT
from relvec.solvers import SOLVERS, Sequential

N = 90


@pytest.fixture(name="X")
def inputs(rng):
    return rng.standard_normal((N, 2))


@pytest.fixture
def t(rng, X):
    values = np.sin(2 * X[:, 0]) + X[:, 1]
    return np.column_stack([values, values**2]) + 0.1 * rng.standard_normal((N, 2))


def weightings():
    copies = np.random.RandomState(0).randint(1, 4, N).astype(float)
    precision = np.random.RandomState(1).uniform(0.5, 2.0, N)
    return [(None, None), (copies, None), (None, precision), (copies, precision)]


@pytest.fixture(params=weightings(), ids=["once", "copies", "precision", "both"])
def weighting(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["intercept", "no intercept"])
def center(request):
    return request.param


@pytest.fixture(params=[7, N], ids=["blocks", "one block"])
def designs(request, X, weighting, center):
    """The same candidates in memory and by blocks."""
    weights, precision = weighting
    basis = RBF(0.7).place(X, Centers.on(X, np.arange(0, N, 3)), weights)
    common = {"center": center, "weights": weights, "precision": precision}
    dense = DenseDesign(basis.evaluate(X), **common)
    return dense, BlockedDesign(ArrayBlocks(X, request.param), basis, **common)


def test_a_block_by_block_design_is_the_same_design(designs):
    dense, blocked = designs
    for name in ("shape", "has_intercept", "n_effective"):
        assert getattr(blocked, name) == getattr(dense, name)
    for name in ("total_weight", "precision_evidence", "center", "scale", "row_weights"):
        assert_allclose(getattr(blocked, name), getattr(dense, name), rtol=1e-12, atol=1e-13)


def test_columns_come_in_the_order_asked_for(X, t, rng):
    """Several bases together keep theirs ascending."""
    basis = Concatenate([Columns(), RBF(0.7)]).place(X, Centers.on(X, np.arange(0, N, 9)), None)
    given = {"center": True, "groups": np.array([0, 0, 1, 2, 1, 2, 3, 3, 4, 4, 5, 5])}
    dense = DenseDesign(basis.evaluate(X), **given)
    blocked = BlockedDesign(ArrayBlocks(X, 7), basis, **given)
    first, some = np.array([9, 1, 4, 0, 7, 11]), np.array([3, 0, 5])

    def assert_same(index):
        values = blocked.map_rows(lambda columns: columns, index=index)
        assert_allclose(values, dense.columns(index), atol=1e-12)
        assert_allclose(blocked.gram(index), dense.gram(index), atol=1e-11)

    assert_same(first)
    assert_same(np.array([2, 2, 0]))
    dense, blocked = dense.restrict(first), blocked.restrict(first)
    assert_same(EVERY)
    assert_same(some)
    root, columns = blocked.root(blocked.target(t)).candidates, dense.columns(EVERY) * dense.scale
    assert_allclose(root.T @ root, columns.T @ columns, atol=1e-9)
    precision = rng.uniform(0.5, 2.0, N)
    dense, blocked = (design.with_precision(precision) for design in (dense, blocked))
    assert_same(some)
    few, _ = blocked.subset(np.array([4, 40]))
    values = few.columns(EVERY) * few.scale + few.center
    assert_allclose(values, basis.evaluate(X[[4, 40]])[:, first], atol=1e-12)


def test_products_of_candidates_are_those_of_the_columns(designs, rng, monkeypatch):
    monkeypatch.setattr(dense_module, "PRODUCT_ENTRIES", 200)
    some = np.array([5, 0, 17])
    for index, weights in ((EVERY, None), (some, None), (some, rng.standard_normal(N))):
        columns = designs[0].columns(index)
        counted = designs[0].row_weights if weights is None else weights
        expected = columns.T @ (counted[:, None] * columns)
        for design in designs:
            assert_allclose(design.gram(index, weights), expected, atol=1e-12)


def test_groups_have_one_scale(X, center):
    basis = RBF(0.7).place(X, Centers.on(X, np.arange(0, N, 3)), None)
    common = {"center": center, "groups": np.arange(30) % 7}
    dense = DenseDesign(basis.evaluate(X), **common)
    blocked = BlockedDesign(ArrayBlocks(X, 7), basis, **common)
    sums = RowSums.of(basis.evaluate(X), X[:, :1], None)
    index = np.flatnonzero(np.isin(np.arange(30) % 7, [2, 5]))
    for design in (blocked, SummedDesign(sums, **common)):
        for name in ("scale", "norm2"):
            assert_allclose(getattr(design, name), getattr(dense, name), rtol=1e-10)
        kept = design.restrict(index)
        assert_array_equal(kept.groups.label, [0, 1] * 4)
        assert_allclose(kept.norm2, dense.norm2[index], rtol=1e-10)
    for group in range(7):
        alike = np.arange(30) % 7 == group
        assert_allclose(dense.scale[alike], dense.scale[group])
        assert dense.norm2[alike].mean() == pytest.approx(1)


def test_a_constant_function_of_a_group_is_left_out_of_its_scale(X):
    Phi = np.column_stack([X, np.full(N, 3.0)])
    design = DenseDesign(Phi.copy(), center=True, groups=np.zeros(3, dtype=int))
    alone = DenseDesign(X.copy(), center=True, groups=np.zeros(2, dtype=int))
    assert_array_equal(np.isinf(design.scale), [False, False, True])
    assert_allclose(design.scale[:2], alone.scale)
    assert_allclose(design.norm2, [*alone.norm2, 0.0])


def test_targets_are_standardised_alike(designs, t):
    dense, blocked = designs
    one, other = Target.of(t, dense), Target.of(t, blocked)
    for name in ("values", "center", "scale", "variance"):
        assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("by_normal_equations", [True, False], ids=["products", "QR"])
def test_few_rows_stand_for_all(designs, t, by_normal_equations):
    dense, blocked = designs
    blocked.by_normal_equations = by_normal_equations
    target = Target.of(t, blocked)
    candidates, targets = blocked.root(target)
    unit, root = candidates / blocked.scale, np.sqrt(dense.row_weights)[:, None]
    Phi, values = root * dense.columns(slice(None)), root * Target.of(t, dense).values
    tolerance = 1e-6 if blocked.by_normal_equations else 1e-12
    assert_allclose(unit.T @ unit, Phi.T @ Phi, atol=tolerance)
    assert_allclose(unit.T @ targets.T, Phi.T @ values, atol=tolerance)
    assert_allclose((targets**2).sum(axis=1), (values**2).sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    "index",
    [np.array([4, 0, 9]), slice(None), slice(3, 5), slice(None, None, -1)],
    ids=str,
)
def test_functions_of_blocks_see_the_candidates_there(designs, rng, index):
    dense, blocked = designs
    v = rng.standard_normal((N, 2))

    def outer(columns, v):
        return columns.T @ v, v.sum(axis=0)

    def times(columns, v):
        return columns.sum(axis=1) * v[:, 0]

    for found, expected in zip(
        blocked.sum_rows(outer, v, index=index), dense.sum_rows(outer, v, index=index), strict=True
    ):
        assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    mapped = blocked.map_rows(times, v, index=index)
    assert_allclose(mapped, dense.map_rows(times, v, index=index), rtol=1e-11, atol=1e-12)
    assert_allclose(blocked.columns(index)[:], dense.columns(index), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_the_same_model(designs, t, solver):
    one, other = (fit(Gaussian(), SOLVERS[solver](tol=0.5), design, t[:, :1]) for design in designs)
    assert_array_equal(other.active, one.active)
    assert_allclose(other.log_evidence, one.log_evidence, atol=1e-8)
    assert_allclose(other.posterior.mean, one.posterior.mean, rtol=1e-5)
    assert_allclose(other.alpha, one.alpha, rtol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_products_find_is_looked_at_again_with_all_digits(designs, t, solver):
    """A solver may part with another function that is worth about `tol`."""
    dense, blocked = designs
    blocked.by_normal_equations = True
    one, other = (fit(Gaussian(), SOLVERS[solver](tol=0.5), design, t[:, :1]) for design in designs)
    exactly = solver == "sequential"
    assert_allclose(other.log_evidence, one.log_evidence, atol=1e-8 if exactly else 0.6)
    kept = dense.restrict(other.active)
    recomputed = evidence_model(other.likelihood, kept, t[:, :1]).log_evidence(other.alpha)
    assert_allclose(other.log_evidence, recomputed, atol=1e-9)


@pytest.mark.parametrize("signal", [1e3, 1e9])
def test_products_serve_where_the_noise_drowns_what_they_hide(designs, t, signal):
    """Then no row is looked at again, and the model is that of all rows but for lost digits."""
    blocked = designs[1]
    blocked.by_normal_equations = True
    one, other = (evidence_model(Gaussian(), design, t[:, :1]) for design in designs)
    index, alpha = np.array([4, 1]), np.array([1.0, 1.0])
    kept = blocked.kept(index, np.array([signal, 1.0]))
    assert kept.by_normal_equations == (signal < 1e6)
    hyper = Hyperparameters(index, alpha, np.array([1.0]))
    found = other.finalize(hyper)
    assert blocked.restrict(np.sort(index)).by_normal_equations
    assert_allclose(found.log_evidence, one.finalize(hyper).log_evidence, atol=1e-8)


def test_classes_for_which_every_candidate_is_kept(X, rng):
    """The search adds the second first."""
    labels = (X @ [[1.0], [4.0]] + rng.logistic(size=(N, 1)) > 0).astype(float)
    basis = Columns().place(X, Centers.on(X), None)
    designs = (
        DenseDesign(basis.evaluate(X), center=True),
        BlockedDesign(ArrayBlocks(X, 11), basis, center=True),
    )
    one, other = (fit(Bernoulli(), Sequential(), design, labels) for design in designs)
    assert_array_equal(one.active, [0, 1])
    assert_array_equal(other.active, one.active)
    assert_allclose(other.log_evidence, one.log_evidence, atol=1e-7)
    assert_allclose(other.posterior.mean, one.posterior.mean, rtol=1e-5)


def test_outliers_are_weighed_in_passes(X, t):
    y = t[:, :1].copy()
    y[::17] += 5
    basis = RBF(0.7).place(X, Centers.on(X, np.arange(0, N, 3)), None)
    designs = (
        DenseDesign(basis.evaluate(X), center=True),
        BlockedDesign(ArrayBlocks(X, 11), basis, center=True),
    )
    one, other = (fit(StudentT(), Sequential(), design, y) for design in designs)
    assert_array_equal(other.active, one.active)
    assert_allclose(other.log_evidence, one.log_evidence, atol=1e-7)


def test_targets_that_share_their_functions(designs, t):
    one, other = (fit(Gaussian(), Sequential(), design, t) for design in designs)
    assert_array_equal(other.active, one.active)
    assert_allclose(other.log_evidence, one.log_evidence, atol=1e-7)


@pytest.mark.parametrize("kind", [Squares, Moments, RFactor])
def test_moments_of_parts_add_up_in_any_grouping(rng, kind):
    columns, beside = 1e6 + rng.standard_normal((60, 3)), rng.standard_normal((60, 1))
    weights = rng.uniform(0.1, 3, 60)

    def of(rows):
        return kind.of(columns[rows].copy(), beside[rows].copy(), weights[rows])

    a, b, c = of(slice(0, 5)), of(slice(5, 6)), of(slice(6, 60))
    whole = of(slice(None))
    for total in ((a + b) + c, a + (b + c)):
        assert_allclose(total.weight, whole.weight, rtol=1e-14)
        assert_allclose(total.mean, whole.mean, rtol=1e-14, atol=1e-14)
        for name in {"squares", "products"} & set(dir(kind) + list(vars(whole))):
            assert_allclose(getattr(total, name), getattr(whole, name), rtol=1e-7, atol=1e-8)


def test_sums_do_not_depend_on_the_threads(X, t):
    basis = RBF(0.7).place(X, Centers.on(X), None)
    sums = []
    for limit in (1, 2):
        with threadpool_limits(limit, user_api="blas"):
            design = BlockedDesign(ArrayBlocks(X, 8), basis, center=True)
            sums.append(design.root(Target.of(t, design)))
    for one, other in zip(*sums, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_functions_out_of_range_are_refused(X, size):
    basis = Columns().place(size * X, Centers.on(X), None)
    design = BlockedDesign(ArrayBlocks(size * X, 20), basis, center=True)
    with pytest.raises(OverflowError, match="rescale X"):
        _ = design.scale


def test_rows_of_a_subset_are_in_memory(designs, t):
    dense, blocked = designs
    rows = np.array([5, 17, 40])
    few, (part,) = blocked.subset(rows, t)
    assert_array_equal(part, t[rows])
    assert_allclose(few.row_weights, dense.row_weights[rows])
    mine = few.columns(slice(None)) * few.scale + few.center
    whole = dense.columns(slice(None)) * dense.scale + dense.center
    assert_allclose(mine, whole[rows], atol=1e-12)


@pytest.mark.parametrize("apart", [1e-2, 1e-4, 1e-5])
def test_a_second_pass_by_products_has_the_digits_of_qr(rng, apart):
    """Of columns that differ by little, products hold half the digits of the difference."""
    common, own = rng.standard_normal((400, 1)), rng.standard_normal((400, 4))
    columns, beside = common + apart * own, rng.standard_normal((400, 1))
    exact = RFactor.of(columns.copy(), beside.copy(), None)
    once = Moments.of(columns.copy(), beside.copy(), None).root(4)
    found = CholeskyQR.of(once.rows[:, :4])
    again = found.root(Moments.of(columns @ found.combine, beside.copy(), None))

    def left(root):
        """What the last column has beside the others, of its square."""
        rows = root.rows[:, :4]
        rest = rows[:, 3] - rows[:, :3] @ np.linalg.lstsq(rows[:, :3], rows[:, 3], rcond=None)[0]
        return rest @ rest

    assert_allclose(left(again), left(exact), rtol=1e-9 / apart**0.5)
    assert_allclose(again.mean, exact.mean, atol=1e-9)


def test_combinations_are_orthonormal_in_any_units(rng):
    columns = rng.standard_normal((50, 3)) * [1e-100, 1.0, 1e100]
    combined = columns @ CholeskyQR.of(columns).combine
    assert_allclose(combined.T @ combined, np.eye(3), atol=1e-13)


def test_roots_of_products_hold_columns_in_any_units(rng):
    columns, units = rng.standard_normal((50, 3)), np.array([1e-60, 1.0, 1e60])
    plain, scaled = (
        Moments.of(each.copy(), columns[:, :1].copy(), None).root(3).rows[:, :3]
        for each in (columns, columns * units)
    )
    scaled = scaled / units
    assert_allclose(scaled.T @ scaled, plain.T @ plain, rtol=1e-12)


def test_columns_that_products_cannot_tell_are_left_to_qr(rng):
    column = rng.standard_normal((50, 1))
    rows = np.hstack([column, column + 1e-9 * rng.standard_normal((50, 1))])
    assert CholeskyQR.of(Moments.of(rows, rows[:, :0], None).root(2).rows) is None


def test_noise_is_told_from_what_all_candidates_leave(X, rng):
    basis = RBF(0.7).place(X, Centers.on(X, np.arange(0, N, 10)), None)
    t = basis.evaluate(X) @ rng.standard_normal((9, 2)) + [0.5, 2.0] * rng.standard_normal((N, 2))
    design = BlockedDesign(ArrayBlocks(X, 20), basis, center=True)
    assert design.unexplained(design.target(t)) is None
    design.by_normal_equations = True
    target = design.target(t)
    A = np.column_stack([basis.evaluate(X), np.ones(N)])
    residual = t - A @ np.linalg.lstsq(A, t, rcond=None)[0]
    expected = (residual**2).sum(axis=0) / (N - 10)
    assert_allclose(design.unexplained(target) * target.scale**2, expected, rtol=1e-6)


@pytest.mark.parametrize(("nothing", "expected"), [([1.0, 2.0], [2.0, 1.0, 2.0]), (0.5, 0.5)])
def test_sizes_that_are_nothing_go_with_their_functions(nothing, expected):
    basis = SimpleNamespace(nothing=np.array(nothing) if isinstance(nothing, list) else nothing)
    assert_array_equal(Functions(basis, np.array([1, 0, 1])).nothing, expected)
    assert_array_equal(Functions(basis).nothing, nothing)
