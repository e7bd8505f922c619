"""Covering arrays: rows of parameters in which each two values meet, far fewer than the product."""

from collections import Counter
from collections.abc import Collection
from itertools import combinations
from typing import Any


def covering(*axes: Collection[Any]) -> list[tuple[Any, ...]]:
    """Return rows of one value of each axis; any two values of two axes are in a row together.

    A fault that takes two values to show is found as by the product of all axes. Rows are taken
    greedily, and are little more than the product of the two longest axes.
    """
    values = [list(axis) for axis in axes]
    order = range(len(values))
    left = {
        ((i, a), (j, b))
        for i, j in combinations(order, 2)
        for a in range(len(values[i]))
        for b in range(len(values[j]))
    }
    rows, uses = [], Counter()
    while left:
        row = dict(min(left))
        for i in set(order) - set(row):
            news = [(len(left & _pairs({**row, i: a})), -uses[i, a]) for a in range(len(values[i]))]
            row[i] = news.index(max(news))
        left -= _pairs(row)
        uses.update(row.items())
        rows.append(tuple(values[i][row[i]] for i in order))
    return rows


def _pairs(row: dict[int, int]) -> set[tuple[tuple[int, int], ...]]:
    """Every two of the values of a row, each with its axis."""
    return set(combinations(sorted(row.items()), 2))
