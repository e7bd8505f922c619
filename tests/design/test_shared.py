"""Columns in use are computed once and stored once."""

import gc

import numpy as np
import pytest

from relvec._design.shared import SharedColumns


@pytest.fixture
def values(rng):
    return rng.standard_normal((30, 40))


@pytest.fixture
def computed():
    return []


@pytest.fixture
def shared(values, computed):
    def compute(index):
        computed.extend(index.tolist())
        return values[:, index]

    return SharedColumns(compute, len(values))


@pytest.mark.parametrize("rows", [slice(3, 9), slice(25, 50), np.array([7, 2])])
def test_parts_are_those_of_the_array(shared, values, rows):
    index = np.array([5, 2, 30, 11, 12, 13, 14, 15, 16, 17, 18])
    np.testing.assert_array_equal(shared(index)[rows], values[:, index][rows])
    none = shared(np.empty(0, dtype=np.intp))
    assert none[rows].shape == values[:, :0][rows].shape


def test_what_others_hold_is_neither_computed_nor_stored_again(shared, computed):
    first = shared(np.arange(10))
    second = shared(np.array([3, 20, 9]))
    assert computed == [*range(10), 20]
    assert np.shares_memory(first._columns[3], second._columns[0])


def test_what_nobody_holds_is_forgotten(shared, computed):
    first = shared(np.arange(10))
    second = shared(np.arange(5, 12))
    del first
    gc.collect()
    assert sorted(shared._kept) == list(range(5, 12))
    shared(np.array([4, 5]))
    assert computed == [*range(12), 4]
    del second
