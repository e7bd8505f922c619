"""What every basis promises: each row of `tests.support.rows.BASES` through the same tests."""

import numpy as np
import pytest
from sklearn.base import clone

from relvec.basis import Centers, Kernel, Precomputed
from tests.support.rows import BASES, name_of

SUBSETS = [[], [0], [1, 2], [0, 3, 5]]


@pytest.fixture(name="X")
def inputs(rng):
    """Square, so that it can be a precomputed kernel as well."""
    return rng.uniform(0.1, 2.0, (6, 6))


@pytest.fixture(params=BASES, ids=name_of)
def basis(request):
    return clone(request.param)


def subset(basis, wanted):
    return np.array([i for i in wanted if i < len(basis.rows_)], dtype=np.intp)


def test_values_are_new_arrays_with_a_column_a_function(basis, X):
    before = X.copy()
    Phi = basis.fit(X).evaluate(X)
    assert Phi.shape == (6, len(basis.rows_))
    assert Phi.dtype == np.float64
    Phi[:] = np.nan
    np.testing.assert_array_equal(X, before)
    assert np.isfinite(basis.evaluate(X)).all()
    np.testing.assert_array_equal(basis.transform(X), basis.evaluate(X))


def test_a_row_does_not_depend_on_the_others(basis, X):
    Phi = basis.fit(X).evaluate(X)
    rounding = 1e-15 * np.abs(Phi).max()  # of sums, which small values are what is left of
    for i in range(6):
        np.testing.assert_allclose(basis.evaluate(X[[i]]), Phi[[i]], rtol=1e-13, atol=rounding)


@pytest.mark.parametrize("wanted", SUBSETS)
def test_restricting_keeps_columns_as_they_are(basis, X, wanted):
    basis.fit(X)
    names, active = basis.get_feature_names_out(), subset(basis, wanted)
    restricted = basis.restrict(active)
    np.testing.assert_allclose(
        restricted.evaluate(X), basis.evaluate(X)[:, active], rtol=1e-13, atol=1e-15
    )
    np.testing.assert_array_equal(restricted.rows_, basis.rows_[active])
    shared = [
        np.equal.outer(labels, labels) for labels in (restricted.groups, basis.groups[active])
    ]
    np.testing.assert_array_equal(*shared, "functions share a precision that did")
    assert list(restricted.get_feature_names_out()) == list(names[active])
    assert len(basis.rows_) == len(names), "the basis itself is as it was"


def test_restricting_twice_is_restricting_once(basis, X):
    whole = basis.fit(X)
    first, second = subset(basis, [0, 2, 3, 5]), [0, -1]
    twice = whole.restrict(first).restrict(np.arange(len(first))[second[: len(first)]])
    once = whole.restrict(first[second[: len(first)]])
    np.testing.assert_allclose(twice.evaluate(X), once.evaluate(X), rtol=1e-13)


def test_every_function_has_a_name_of_its_own(basis, X):
    names = basis.fit(X).names([*"abcdef"])
    assert len(set(names)) == len(basis.rows_)
    assert all(isinstance(name, str) for name in names)


def test_functions_are_centred_on_the_chosen_rows(basis, X):
    rows = np.array([1, 4])
    basis.place(X, Centers.on(X, rows), None)
    centred = basis.rows_ >= 0
    if isinstance(basis, Kernel | Precomputed):
        np.testing.assert_array_equal(basis.rows_, rows)
    if basis.centers_.shape[1]:
        np.testing.assert_array_equal(basis.centers_, X[basis.rows_[centred]])


def test_points_of_ones_own_are_no_rows(basis, X, rng):
    points = rng.uniform(size=(3, 6))
    if isinstance(basis, Precomputed):
        with pytest.raises(ValueError, match="centers"):
            basis.place(X, Centers.at(points), None)
        return
    basis.place(X, Centers.at(points), None)
    assert (basis.rows_ == -1).all()
    last = np.array([len(basis.rows_) - 1])
    assert basis.restrict(last).names() == basis.names()[-1:]
    if basis.centers_.shape[1]:
        np.testing.assert_array_equal(basis.centers_, points)


def test_linear_map_is_the_function(basis, X):
    linear_map = basis.fit(X).linear_map()
    if linear_map is None:
        doubled = basis.evaluate(2 * X)
        assert isinstance(basis, Precomputed) or not np.allclose(doubled, 2 * basis.evaluate(X))
    else:
        np.testing.assert_allclose(X @ linear_map, basis.evaluate(X), rtol=1e-13)


def test_parameters_stay_what_the_user_gave(basis, X):
    before = repr(basis)
    basis.fit(X)
    assert repr(basis) == before
    np.testing.assert_array_equal(clone(basis).fit(X).evaluate(X), basis.evaluate(X))
