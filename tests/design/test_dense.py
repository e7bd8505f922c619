"""The standardised design and its frame against explicit matrices."""

import numpy as np
import pytest
from scipy.linalg import helmert

from relvec._design import DenseDesign, Target
from tests.support import problems
from tests.support.problems import Problem

ORDERS = [[[1, 5, 3]], [[3], [5, 1]], [[5], [3], [1]]]


@pytest.fixture(params=[False, True], ids=["no intercept", "intercept"])
def problem(request, rng):
    return problems.draw(rng, request.param)


def invariants(frame):
    """What does not depend on the choice of orthonormal basis."""
    return {
        "gram": frame.coords.T @ frame.coords,
        "dot": frame.coords.T @ frame.target,
        "target": frame.target @ frame.target,
        "residual_norm2": frame.residual_norm2,
        "residual_dot": frame.residual_dot,
        "residual_target": frame.residual_target,
    }


def assert_same(one, other, atol):
    for name, value in invariants(one).items():
        np.testing.assert_allclose(value, invariants(other)[name], atol=atol, err_msg=name)


# Standardisation


def test_columns_are_centred_and_scaled_to_unit_norm(problem):
    design, Phi = problem.design, problem.Phi
    centre = Phi.mean(axis=0) if problem.center else np.zeros(9)
    np.testing.assert_allclose(design.center, centre, rtol=1e-12)
    np.testing.assert_allclose(design.scale, np.linalg.norm(Phi - centre, axis=0), rtol=1e-12)
    assert design.shape == (15, 9)
    assert design.n_effective == 15 - problem.center
    assert design.level_share == (1 / 15 if problem.center else 0)
    level = problem.t.mean() if problem.center else 0
    target = problem.standard
    assert target.center == pytest.approx(level)
    assert target.scale == pytest.approx(np.linalg.norm(problem.t - level))
    assert target.variance == pytest.approx(problem.t.var() / target.scale**2)
    np.testing.assert_allclose(target.values, (problem.t - level) / target.scale)


def test_evidence_of_the_raw_target_is_that_of_the_standardised_one_in_other_units(problem):
    """One factor of the target's scale for each observation that counts."""
    factor = np.log(problem.standard.scale)
    assert problem.exact().user_evidence(1.5) == pytest.approx(1.5 - problem.n * factor)


@pytest.mark.parametrize("center", [False, True])
def test_weights_are_copies(rng, center):
    plain, copies = problems.draw(rng, center), np.array([1, 3, 2] * 5)
    weighted = DenseDesign(plain.Phi.copy(), center=center, weights=copies.astype(float))
    repeated = DenseDesign(np.repeat(plain.Phi, copies, axis=0), center=center)
    for name in ("n_effective", "level_share"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-12), name
    targets = Target.of(plain.t, weighted), Target.of(np.repeat(plain.t, copies), repeated)
    for name in ("center", "scale", "variance"):
        one, other = (getattr(target, name) for target in targets)
        assert one == pytest.approx(other, rel=1e-12), name
    for name in ("center", "scale"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-10)
    frames = weighted.frame(targets[0]), repeated.frame(targets[1])
    for frame in frames:
        index = np.array([1, 5, 3])
        frame.extend(index, frame.residual(index))
    assert_same(*frames, atol=1e-12)


@pytest.mark.parametrize("center", [False, True])
def test_units_of_columns_and_target_change_scales_only(rng, center):
    """Powers of two change no digit, so the frames are the same to the last bit."""
    plain = problems.draw(rng, center)
    units = 2.0 ** rng.integers(-60, 60, 9)
    scaled = Problem(plain.Phi * units, plain.t * 2.0**20, center)
    np.testing.assert_array_equal(scaled.design.scale, plain.design.scale * units)
    assert scaled.standard.scale == plain.standard.scale * 2.0**20
    np.testing.assert_array_equal(scaled.frame([1, 5], [2]).coords, plain.frame([1, 5], [2]).coords)
    assert scaled.standard.variance == plain.standard.variance


@pytest.mark.parametrize("level", [0.0, 1.0, 1e9])
@pytest.mark.parametrize("center", [False, True])
def test_constants_are_no_function_of_their_own_beside_an_intercept(rng, center, level):
    Phi = rng.standard_normal((20, 4))
    Phi[:, 1] = level
    Phi[:, 3] = level * (1 + 1e-16 * rng.standard_normal(20))  # the same up to rounding
    design = DenseDesign(Phi, center=center)
    frame = design.frame(Target.of(rng.standard_normal(20), design))
    constant = [1, 3]
    zero = center or level == 0
    np.testing.assert_array_equal(frame.residual_norm2, [1, not zero, 1, not zero])
    assert np.isinf(design.scale[constant]).all() == zero
    frame.extend(np.array([0, 2]), frame.residual(np.array([0, 2])))
    if zero:
        np.testing.assert_array_equal(frame.coords[:, constant], 0)
        np.testing.assert_array_equal(frame.residual_dot[constant], 0)
        np.testing.assert_array_equal(frame.residual(np.array(constant)), 0)


@pytest.mark.parametrize("value", [0.0, 1.0, -1e9, 0.1])
@pytest.mark.parametrize("center", [False, True])
def test_constant_targets_have_a_finite_scale(rng, center, value):
    design = DenseDesign(rng.standard_normal((30, 3)), center=center)
    target = Target.of(np.full(30, value), design)
    frame = design.frame(target)
    assert 0 < target.scale < np.inf
    assert 0 < target.variance < np.inf
    if center or not value:
        assert frame.residual_target < 1, "rounding errors are less than the target's variance"
    else:
        assert frame.residual_target == pytest.approx(1)


@pytest.mark.parametrize("center", [False, True])
def test_squares_beyond_double_precision_do_no_harm(rng, center):
    Phi, t = rng.standard_normal((5, 3)), np.arange(5.0)
    far = Problem(Phi * [1, 2.0**600, 2.0**-600], t, center).frame()
    near = Problem(Phi, t, center).frame()
    np.testing.assert_allclose(far.residual_dot, near.residual_dot, rtol=1e-12)
    np.testing.assert_array_equal(far.residual_norm2, near.residual_norm2)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_values_beyond_double_precision_are_refused(value, center):
    Phi = np.array([[1.0, value], [2.0, 1.0]])
    with pytest.raises(OverflowError, match="rescale X"), np.errstate(invalid="ignore"):
        DenseDesign(Phi, center=center)


# The frame


@pytest.mark.parametrize("order", ORDERS)
def test_frame_is_a_partial_factor_of_the_gram_matrix(problem, order):
    """Against a projector made from the columns themselves."""
    frame, active = problem.frame(*order), [1, 3, 5]
    Q = np.linalg.svd(problem.columns[:, active], full_matrices=False)[0]
    columns, target = problem.columns, problem.target
    inside, seen = Q.T @ columns, Q.T @ target
    expected = {
        "gram": inside.T @ inside,
        "dot": inside.T @ seen,
        "target": seen @ seen,
        "residual_norm2": ((columns - Q @ inside) ** 2).sum(axis=0),
        "residual_dot": columns.T @ (target - Q @ seen),
        "residual_target": ((target - Q @ seen) ** 2).sum(),
    }
    for name, value in invariants(frame).items():
        np.testing.assert_allclose(value, expected[name], atol=1e-13, err_msg=name)
    np.testing.assert_array_equal(frame.residual_norm2[active], 0)
    assert len(frame.target) == 3


@pytest.mark.parametrize("order", ORDERS)
def test_active_columns_of_the_frame_reproduce_their_gram_matrix(problem, order):
    active = problem.frame(*order).coords[:, [1, 3, 5]]
    columns = problem.columns[:, [1, 3, 5]]
    np.testing.assert_allclose(active.T @ active, columns.T @ columns, atol=1e-14)


def test_rest_is_what_is_left_outside_the_frame(problem):
    frame = problem.frame([1, 3, 5])
    rest = frame.residual(np.array([8, 3, 0]))
    spanned = problem.columns[:, [1, 3, 5]]
    contrasts = problem.contrasts @ rest
    np.testing.assert_allclose(spanned.T @ contrasts, 0, atol=1e-14)
    left = problem.columns[:, [8, 3, 0]] - contrasts
    explained = spanned @ np.linalg.lstsq(spanned, left, rcond=None)[0]
    np.testing.assert_allclose(explained, left, atol=1e-12)
    if problem.center:
        np.testing.assert_allclose(rest.sum(axis=0), 0, atol=1e-13)


def test_extending_by_copies_adds_no_direction(rng):
    Phi = rng.standard_normal((20, 3))
    frame = Problem(Phi[:, [0, 1, 2, 0]] * [1, 1, 1, -5], Phi[:, 1], True).frame([0, 1, 3])
    assert len(frame.target) == 2
    np.testing.assert_allclose(frame.residual_norm2[[0, 1, 3]], 0)


@pytest.mark.parametrize("block", [1, 4, 20])
@pytest.mark.parametrize("center", [False, True])
def test_frame_of_smooth_functions_stays_orthonormal(center, block):
    """Orthogonalised once, it loses digits with every function that lies almost in its span."""
    problem = problems.smooth(center, width=6.0)
    active = np.random.default_rng(3).permutation(40)[:20]
    coords = problem.frame(*np.split(active, 20 // block)).coords
    gram = problem.columns.T @ problem.columns
    np.testing.assert_allclose(
        coords[:, active].T @ coords, gram[active], atol=2e-14, err_msg="spanned rows of the Gram"
    )
    assert (np.einsum("ij,ij->j", coords, coords) < 1 + 1e-14).all()


@pytest.mark.parametrize("center", [False, True])
def test_restricted_design_is_the_design_of_some_columns(rng, center):
    problem, index = problems.draw(rng, center), np.array([6, 0, 3])
    restricted = problem.design.restrict(index)
    direct = DenseDesign(problem.Phi[:, index], center=center)
    assert restricted.shape == direct.shape == (15, 3)
    frames = restricted.frame(problem.standard), direct.frame(problem.standard)
    for frame in frames:
        frame.extend(np.array([2, 1]), frame.residual(np.array([2, 1])))
    assert_same(*frames, atol=1e-14)
    np.testing.assert_allclose(restricted.scale, direct.scale, rtol=1e-14)
    np.testing.assert_allclose(restricted.center, direct.center, rtol=1e-14)
    assert problem.design.shape == (15, 9), "the whole design is as it was"


def test_contrasts_of_the_rows_see_the_same_as_centring(rng):
    problem = problems.draw(rng, True)
    H = helmert(15)
    frame = Problem(H @ problem.Phi, H @ problem.t, False).frame([1, 3])
    assert_same(frame, problem.frame([1, 3]), atol=1e-13)


@pytest.mark.parametrize("center", [False, True])
def test_frame_spans_a_block_with_dependent_functions_in_front(rng, center):
    Phi = rng.standard_normal((20, 4))
    Phi[:, 1], Phi[:, 2] = 0, 2 * Phi[:, 0]
    problem = Problem(Phi, Phi[:, 3], center)
    coords = problem.frame(range(4)).coords
    np.testing.assert_allclose(coords.T @ coords, problem.columns.T @ problem.columns, atol=1e-14)


@pytest.mark.parametrize("split", [[20], [8, 12], [4, 8, 16], [2, 4, 16, 30]])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("width", [1.0, 6.0])
def test_frame_of_every_function_reproduces_the_gram_matrix(width, center, split):
    """In blocks of which some bring functions that lie in the span of the block and the frame."""
    problem = problems.smooth(center, width=width)
    order = np.random.default_rng(0).permutation(40)
    coords = problem.frame(*np.split(order, split)).coords
    np.testing.assert_allclose(coords.T @ coords, problem.columns.T @ problem.columns, atol=1e-14)


@pytest.mark.parametrize("split", [[20], [10], [25]])
def test_frame_of_as_many_functions_as_rows_stays_orthonormal(rng, split):
    """One more than there are contrasts."""
    x = rng.uniform(-2, 2, 30)
    problem = Problem(np.exp(-np.abs(x[:, None] - x)), rng.standard_normal(30), True)
    frame = problem.frame(*np.split(np.arange(30), split))
    assert len(frame.target) == 29
    gram = problem.columns.T @ problem.columns
    np.testing.assert_allclose(frame.coords.T @ frame.coords, gram, atol=1e-13)


@pytest.mark.parametrize("center", [False, True])
def test_columns_are_the_standardised_candidates(rng, center):
    problem = problems.draw(rng, center)
    columns = problem.design.columns(np.array([3, 0]))
    np.testing.assert_allclose(problem.contrasts @ columns, problem.columns[:, [3, 0]], atol=1e-14)
    np.testing.assert_array_equal(problem.design.columns(slice(0, 4))[:, [3, 0]], columns)


def test_designs_with_all_rows_at_hand_have_no_subset(problem):
    with pytest.raises(NotImplementedError, match="DenseDesign has all rows at hand"):
        problem.design.subset(np.arange(3))
