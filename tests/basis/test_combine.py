"""Bias, columns and several bases in one dictionary."""

import numpy as np
import pytest

from relvec.basis import RBF, Bias, Columns, Concatenate, Laplacian, LinearKernel

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
