"""The rows of parameters that stand for all of their combinations."""

from itertools import combinations, product

import pytest

from tests.support.covering import covering


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2), (2, 2, 2), (5, 4, 4), (2, 4, 3, 3, 2), (6, 1)])
def test_each_two_values_meet(sizes):
    axes = [[f"{i}.{a}" for a in range(size)] for i, size in enumerate(sizes)]
    rows = covering(*axes)
    for i, j in combinations(range(len(axes)), 2):
        assert {(row[i], row[j]) for row in rows} == set(product(axes[i], axes[j]))
    assert len(rows) == len(set(rows)) <= 1.5 * max(a * b for a, b in combinations(sizes, 2))


def test_rows_are_the_same_every_time():
    axes = "ab", "cde", range(4)
    assert covering(*axes) == covering(*axes)
