"""Rows of objects of any kind: which of them are the same."""

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


def equal_objects(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether two arrays of one shape hold the same objects, or arrays of the same."""
    pairs = zip(one.flat, other.flat, strict=True)
    return all(a is b or np.array_equal(a, b) for a, b in pairs)
