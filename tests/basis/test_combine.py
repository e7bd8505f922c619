"""Several bases in one dictionary, several kernels in one function, and their scales."""

import numpy as np
import pytest

from relvec._fitting.scale_ascent import theta_of, with_theta
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
from tests.support.differences import derivative

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
    np.testing.assert_array_equal(together.centers_, np.vstack([X, X]))
    assert together.names(["a", "b"])[:4] == ["bias", "a", "b", "rbf[0]"]


def test_restricting_reaches_into_the_parts(together, X):
    active = np.array([0, 2, 4, 10])
    restricted = together.restrict(active)
    np.testing.assert_allclose(restricted.transform(X), together.transform(X)[:, active])
    assert restricted.names() == ["bias", "x1", "rbf[1]", "laplacian[3]"]
    np.testing.assert_array_equal(restricted.centers_, X[[1, 3]])


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


def test_without_centred_functions_there_are_no_centers(X):
    assert Concatenate([Bias(), Columns()]).fit(X).centers_.shape == (0, 0)


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
def test_hyper_gradient_is_the_difference_quotient(basis, X, rng):
    """At some of the functions, moved away from where the scales begin."""
    active = [0, 3, 4, 7, 8] if isinstance(basis, Concatenate) else [1, 3]
    fitted = basis.fit(X).restrict(np.array(active))
    rows = rng.standard_normal((6, 2))
    D = rng.standard_normal((6, len(fitted.rows_)))
    at = theta_of(fitted) + rng.uniform(-0.5, 0.5, fitted.n_hyper)

    def total(theta):
        return np.vdot(D, with_theta(fitted, theta).evaluate(rows))

    moved = with_theta(fitted, at)
    gradient = moved.hyper_gradient(rows, D)
    assert gradient.keys() == fitted.hyper.keys()
    found = np.concatenate([np.atleast_1d(each) for each in gradient.values()])
    np.testing.assert_allclose(found, derivative(total, at), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    ("basis", "names"),
    [
        (SCALED[0], {"0:gamma": (), "2:gamma": (2,)}),
        (SCALED[1], {"0:gamma": (2,), "1:gamma": ()}),
        (SCALED[2], {"1:gamma": (2,), "2:0:gamma": (), "2:1:0:gamma": ()}),
    ],
)
def test_hyper_has_the_values_of_the_parts_by_their_position(basis, names, X):
    fitted = basis.fit(X)
    before = fitted.hyper
    assert {name: np.shape(value) for name, value in before.items()} == names
    assert fitted.n_hyper == sum(map(np.size, before.values()))
    moved = fitted.with_hyper({name: 2 * value for name, value in before.items()})
    for name, value in before.items():
        np.testing.assert_array_equal(moved.hyper[name], 2 * value)
        np.testing.assert_array_equal(fitted.hyper[name], value, "the basis is as it was")
    np.testing.assert_array_equal(moved.rows_, fitted.rows_)
    one = next(iter(before))
    only = fitted.with_hyper({one: 3 * before[one]}).hyper
    np.testing.assert_array_equal(only[one], 3 * before[one])
    assert all(np.array_equal(only[name], before[name]) for name in before if name != one)


def test_relevance_of_an_input_is_that_of_the_part_it_matters_most_to(X):
    spread = np.array([2.0, 3.0])
    parts = [RBF(np.array([0.25, 0.0])), Laplacian(np.array([0.1, 2.0]))]
    for together in (Sum(parts), Product(parts), Concatenate([Bias(), *parts])):
        np.testing.assert_allclose(together.fit(X).relevance(spread), [1.0, 6.0])
    assert Concatenate([Bias(), Columns()]).fit(X).relevance(spread) is None
    only_bias = Concatenate([Bias(), RBF()]).fit(X).restrict(np.array([0]))
    assert only_bias.relevance(spread) is None, "no function with a width was kept"


class Pairs(Columns):
    """Columns of which every two have one precision."""

    @property
    def groups(self):
        return self.terms_ // 2


def test_groups_of_the_parts_are_apart(rng):
    """A precision is never shared between two parts, whichever of their functions are left."""
    X = rng.standard_normal((3, 4))
    basis = Concatenate([Pairs(), Bias(), Pairs()]).fit(X)
    np.testing.assert_array_equal(basis.groups, [0, 0, 1, 1, 2, 3, 3, 4, 4])
    fewer = basis.restrict(np.array([0, 1, 7, 8]))  # without the constant
    np.testing.assert_array_equal(np.unique(fewer.groups, return_inverse=True)[1], [0, 0, 1, 1])
