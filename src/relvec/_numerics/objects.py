"""Rows of objects of any kind: which of them are the same, and an order of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._numerics.typing import Index


def numbered(rows: NDArray[Any]) -> Index:
    """Return numbers of rows (n_samples, n_features), the same for the same row, from zero on.

    They are given in the order in which rows come first. Objects without a hash cannot be looked
    up, and make all rows different.
    """
    numbers = dict[tuple[Any, ...], int]()
    try:
        same = [numbers.setdefault(tuple(row), len(numbers)) for row in rows]
    except TypeError:
        return np.arange(len(rows))
    return np.array(same, dtype=np.intp)


def order_of(rows: NDArray[Any], *targets: NDArray[Any]) -> Index:
    """Return an order of rows (n_samples, n_features), by their targets (n_samples, ...) first.

    It is the same however they come. Objects are in the order of their texts.
    """
    keys = [column for t in targets[::-1] for column in t.reshape(len(rows), -1).T]
    order: Index = np.lexsort(keys)
    if (np.diff(keys[-1][order]) == 0).any():
        columns = rows.astype(str) if rows.dtype == object else rows
        order = np.lexsort([*columns.T, *keys])
    return order


def equal_objects(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether two arrays of one shape hold the same objects, or arrays of the same."""
    pairs = zip(one.flat, other.flat, strict=True)
    return all(a is b or np.array_equal(a, b) for a, b in pairs)
