"""Columns that were computed and are still in use, each of them once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakValueDictionary

import numpy as np

from relvec._numerics.typing import Array, Index

#: Columns that are computed together.
TOGETHER = 8


class Columns:
    """Columns (n_rows,) that others may have, too; rows are taken as of an array."""

    def __init__(self, columns: Sequence[Array], n_rows: int) -> None:
        self._columns, self._n_rows = columns, n_rows

    def __getitem__(self, rows: slice | Index) -> Array:
        parts = [column[rows] for column in self._columns]
        return np.stack(parts).T if parts else np.empty((self._n_rows, 0))[rows]


class SharedColumns:
    """Columns by their index, which are kept as long as somebody holds them.

    The models of a search differ in a few functions: each with an array of its own would take
    memory several times, and time to `compute` what is known, the values (n_rows, b) of columns.
    """

    def __init__(self, compute: Callable[[Index], Array], n_rows: int) -> None:
        self._compute, self._n_rows = compute, n_rows
        self._kept: WeakValueDictionary[int, Array] = WeakValueDictionary()

    def __call__(self, index: Index) -> Columns:
        """The columns `index`, of which those that nobody holds are computed."""
        wanted = index.tolist()
        held = {column: self._kept[column] for column in wanted if column in self._kept}
        missing = [column for column in wanted if column not in held]
        while missing:
            some, missing = missing[:TOGETHER], missing[TOGETHER:]
            values = self._compute(np.array(some))
            for column, computed in zip(some, values.T, strict=True):
                held[column] = self._kept[column] = computed.copy()
        return Columns([held[column] for column in wanted], self._n_rows)
