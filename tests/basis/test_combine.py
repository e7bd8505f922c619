"""Several bases in one dictionary, several kernels in one function, and their scales."""

import numpy as np
import pytest

from relvec.basis import (
    RBF,
    Bias,
    Columns,
    Concatenate,
    Laplacian,
    LinearKernel,
    PolynomialKernel,
    Product,
    Sigmoid,
    Sum,
)

PARTS = [Bias(), Columns(), RBF(gamma=0.5), Laplacian(gamma=0.5)]


@pytest.fixture(name="X")
def inputs(rng):
    return rng.standard_normal((4, 2))


@pytest.fixture
def together(X):
    return Concatenate(PARTS).fit(X)


def test_parts_stand_side_by_side(together, X):
    expected = np.hstack([part.fit_transform(X) for part in PARTS])
    np.testing.assert_array_equal(together.transform(X), expected)
    np.testing.assert_array_equal(together.rows_, [-1, -1, -1, *range(4), *range(4)])
    np.testing.assert_array_equal(together.vectors, np.vstack([X, X]))
    assert together.names(["a", "b"])[:4] == ["bias", "a", "b", "rbf[0]"]


def test_restricting_reaches_into_the_parts(together, X):
    active = np.array([0, 2, 4, 10])
    restricted = together.restrict(active)
    np.testing.assert_allclose(restricted.transform(X), together.transform(X)[:, active])
    assert restricted.names() == ["bias", "x1", "rbf[1]", "laplacian[3]"]
    np.testing.assert_array_equal(restricted.vectors, X[[1, 3]])


def test_concatenation_can_be_nested(together, X):
    nested = Concatenate([Concatenate(PARTS[:2]), Concatenate(PARTS[2:])]).fit(X)
    np.testing.assert_array_equal(nested.transform(X), together.transform(X))
    active = np.array([1, 3, 9])
    np.testing.assert_array_equal(
        nested.restrict(active).transform(X), together.restrict(active).transform(X)
    )


def test_linear_only_if_every_part_is(X):
    linear = Concatenate([Columns(), LinearKernel()]).fit(X)
    np.testing.assert_allclose(X @ linear.linear_map(), linear.transform(X))
    assert Concatenate([Columns(), RBF()]).fit(X).linear_map() is None


def test_without_centred_functions_there_are_no_vectors(X):
    assert Concatenate([Bias(), Columns()]).fit(X).vectors.shape == (0, 0)


def test_a_part_that_is_no_basis_is_named(X):
    with pytest.raises(TypeError, match=r"bases\[1\] is 'rbf'"):
        Concatenate([Bias(), "rbf"]).fit(X)


def test_dictionary_of_nothing_is_refused(X):
    with pytest.raises(ValueError, match="bases is empty"):
        Concatenate([]).fit(X)


def test_kernels_of_one_class_are_told_apart_by_their_position(X):
    several = Concatenate([RBF(0.1), Columns(), RBF(1.0), Laplacian()]).fit(X)
    names = several.names()
    assert names[3] == "0:rbf[3]"
    assert names[4] == "x0"
    assert names[9] == "2:rbf[3]"
    assert names[13] == "laplacian[3]"
    assert several.restrict(np.array([3, 4])).names() == ["0:rbf[3]", "x0"]


# One function of several kernels


def test_sum_and_product_are_those_of_the_values(X, rng):
    kernels, queries = [RBF(0.4), LinearKernel(), Sigmoid(0.1)], rng.standard_normal((5, 2))
    values = [kernel.fit(X).transform(queries) for kernel in kernels]
    np.testing.assert_allclose(Sum(kernels).fit(X).transform(queries), np.sum(values, axis=0))
    np.testing.assert_allclose(Product(kernels).fit(X).transform(queries), np.prod(values, axis=0))


def test_signs_between_kernels_make_sums_and_products(X):
    a, b, c = RBF(0.4), LinearKernel(), Laplacian(0.2)
    spelt_out, signs = Sum([a, Product([b, c])]), a + b * c
    assert repr(signs) == repr(spelt_out)
    np.testing.assert_array_equal(signs.fit_transform(X), spelt_out.fit_transform(X))
    assert signs.names()[2] == "(rbf + (linearkernel * laplacian))[2]"
    with pytest.raises(TypeError, match="unsupported operand"):
        a + Bias()
    with pytest.raises(TypeError, match="unsupported operand"):
        a * 2.0


@pytest.mark.parametrize("kind", [Sum, Product])
def test_a_part_that_is_no_kernel_is_named(kind, X):
    with pytest.raises(TypeError, match=r"kernels\[1\] is Columns\(\), expected .* Kernel"):
        kind([RBF(), Columns()]).fit(X)
    with pytest.raises(ValueError, match="kernels is empty"):
        kind([]).fit(X)


# Scales

SCALED = [
    RBF("evidence") + LinearKernel() + Laplacian("ard"),
    RBF("ard") * PolynomialKernel(2, "evidence", 1.0) * Laplacian(0.1),
    Concatenate([Columns(), RBF("ard"), Sigmoid("evidence") * (RBF("evidence") + RBF(0.3))]),
]


@pytest.mark.parametrize("basis", SCALED, ids=["sum", "product", "several"])
def test_scale_slope_is_the_difference_quotient(basis, X, rng):
    """At some of the functions, moved away from where the scales begin."""
    active = [0, 3, 4, 7, 8] if isinstance(basis, Concatenate) else [1, 3]
    fitted = basis.fit(X).restrict(np.array(active))
    rows = rng.standard_normal((6, 2))
    D = rng.standard_normal((6, len(fitted.rows_)))
    at = fitted.log_scales() + rng.uniform(-0.5, 0.5, fitted.n_scales)

    def total(scales):
        return np.vdot(D, fitted.with_log_scales(scales).evaluate(rows))

    step = 1e-5 * np.eye(len(at))
    quotients = [(total(at + h) - total(at - h)) / 2e-5 for h in step]
    slope = fitted.with_log_scales(at).scale_slope(rows, D)
    assert slope.shape == (fitted.n_scales,)
    np.testing.assert_allclose(slope, quotients, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(("basis", "count"), [*zip(SCALED, [3, 3, 4], strict=True)])
def test_scales_are_those_of_the_parts_in_order(basis, count, X):
    fitted = basis.fit(X)
    scales = fitted.log_scales()
    assert len(scales) == fitted.n_scales == count
    moved = fitted.with_log_scales(scales + np.arange(count))
    np.testing.assert_allclose(moved.log_scales(), scales + np.arange(count))
    np.testing.assert_array_equal(fitted.log_scales(), scales, "the basis itself is as it was")
    np.testing.assert_array_equal(moved.rows_, fitted.rows_)


def test_relevance_of_an_input_is_that_of_the_part_it_matters_most_to(X):
    spread = np.array([2.0, 3.0])
    parts = [RBF(np.array([0.25, 0.0])), Laplacian(np.array([0.1, 2.0]))]
    for together in (Sum(parts), Product(parts), Concatenate([Bias(), *parts])):
        np.testing.assert_allclose(together.fit(X).relevance(spread), [1.0, 6.0])
    assert Concatenate([Bias(), Columns()]).fit(X).relevance(spread) is None
    only_bias = Concatenate([Bias(), RBF()]).fit(X).restrict(np.array([0]))
    assert only_bias.relevance(spread) is None, "no function with a width was kept"


def test_families_of_the_parts_are_apart_where_a_part_has_no_function_left():
    """Precisions are shared within a kernel, and never between two."""
    X = np.arange(6.0)[:, None]
    basis = Concatenate([RBF(gamma=1.0), Columns(), RBF(gamma=0.1)]).fit(X)
    np.testing.assert_array_equal(basis.families(), [0] * 6 + [1] + [2] * 6)
    fewer = basis.restrict(np.array([0, 2, 8, 9]))  # none of the columns
    np.testing.assert_array_equal(fewer.families(), [0, 0, 1, 1])
