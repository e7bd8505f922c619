"""Rows of Dask arrays, which stay where they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from importlib import import_module
from operator import add
from typing import Any

import numpy as np

from relvec._design.blocks import RowBlocks, SingleThread, Summand
from relvec._numerics.checks import as_numbers
from relvec._numerics.linalg import single_threaded
from relvec._numerics.typing import Array, Index, RowVector

#: Rows in a block, where nothing is known of the candidates.
DEFAULT_SIZE = 1 << 16
#: Partial sums that are added by one task.
FAN_IN = 4


@dataclass(frozen=True)
class DaskVector:
    """Values of the rows, one piece a chunk of the inputs."""

    pieces: Sequence[Any]


class DaskBlocks(RowBlocks):
    """Rows of a Dask array (n_rows, n_features) of known chunk sizes, `size` rows in a block.

    Each chunk is passed over where it lies, by blocks of rows; the sums of chunks are added in a
    tree, whose shape depends on nothing but their number, and only the last of them comes here. A
    worker that dies is made up for by Dask, which computes what it had again.
    """

    def __init__(self, X: Any, size: int = DEFAULT_SIZE) -> None:
        if not X.shape[0]:
            raise ValueError(f"X has shape {X.shape}, expected 1 row or more")
        # Chunks without rows, such as those of a table that a condition left, say nothing.
        self._X = X.rechunk({0: tuple(filter(None, X.chunks[0])), 1: -1})
        if X.dtype != np.float64:
            self._X = self._X.map_blocks(as_numbers, "X", dtype=np.float64)
        self.size = size
        self.n_rows, self.n_features = (int(length) for length in X.shape)
        self._chunks = self._X.chunks[0]
        self._pieces = list(self._X.to_delayed().ravel())

    def map(self, function: Callable[..., Array], *vectors: RowVector) -> RowVector:
        """See `RowBlocks.map`; the values stay with the workers."""
        pieces = self._by_chunk(_mapped, function, vectors)
        return DaskVector(import_module("dask").persist(*pieces))

    def sum(self, function: Callable[..., Summand], *vectors: RowVector) -> Summand:
        dask = import_module("dask")
        sums = self._by_chunk(_summed, function, vectors)
        plus = dask.delayed(_added, pure=True)
        while len(sums) > 1:
            sums = [plus(sums[i : i + FAN_IN]) for i in range(0, len(sums), FAN_IN)]
        total: Summand = sums[0].compute()
        return total

    def _by_chunk(
        self,
        passed: Callable[..., Any],
        function: Callable[..., Any],
        vectors: Sequence[DaskVector],
    ) -> list[Any]:
        """A task for every chunk; what the function holds is sent once."""
        delayed = import_module("dask").delayed
        task, given = delayed(passed, pure=True), delayed(function, traverse=False)
        pieces = zip(self._pieces, *(vector.pieces for vector in vectors), strict=True)
        return [task(given, self.size, *chunk) for chunk in pieces]

    def sized(self, size: int) -> DaskBlocks:
        sized = copy(self)
        sized.size = size
        return sized

    def vector(self, values: Any, name: str) -> RowVector:
        """See `RowBlocks.vector`, of a Dask collection or an array in memory."""
        return DaskVector(list(beside_chunks(values, name, self._chunks).to_delayed().ravel()))

    def take(self, rows: Index, *vectors: RowVector) -> list[Array]:
        dask = import_module("dask")
        order = np.argsort(rows, kind="stable")
        edges = np.searchsorted(rows[order], np.cumsum(self._chunks)[:-1])
        offsets = np.concatenate([[0], np.cumsum(self._chunks)[:-1]])
        local = [
            part - start for part, start in zip(np.split(rows[order], edges), offsets, strict=True)
        ]
        pick = dask.delayed(_picked, pure=True)
        found = []
        for pieces in (self._pieces, *(vector.pieces for vector in vectors)):
            parts = [
                pick(piece, which) for piece, which in zip(pieces, local, strict=True) if len(which)
            ]
            joined = np.concatenate(dask.compute(*parts))
            back = np.empty_like(joined)
            back[order] = joined
            found.append(back)
        return found


def as_array(values: Any) -> Any:
    """A collection of Dask, or values in memory, as a Dask array of known chunks."""
    da = import_module("dask.array")
    if hasattr(values, "to_dask_array"):
        values = of_table(values, lengths=True)
    if not isinstance(values, da.Array):
        return da.from_array(np.asarray(values))
    if any(np.isnan(length) for length in values.shape):
        values = values.compute_chunk_sizes()
    return values


def of_table(table: Any, **options: Any) -> Any:
    """A table or column of Dask as an array, of objects where a type has missing values."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Dask currently has limited support", UserWarning)
        return table.to_dask_array(**options)


def beside_chunks(values: Any, name: str, chunks: Sequence[int]) -> Any:
    """Values of rows as a Dask array with a chunk beside each of theirs; see `RowBlocks.vector`."""
    array, n_rows = as_array(values), sum(chunks)
    if array.shape[:1] != (n_rows,):
        raise ValueError(f"{name} has shape {array.shape}, expected {n_rows} rows as X")
    return array.rechunk((tuple(chunks), *array.shape[1:]))


def _mapped(function: Callable[..., Array], size: int, X: Any, *vectors: Array) -> Array:
    with single_threaded():
        values: Array = SingleThread(np.asarray(X, dtype=np.float64), size).map(function, *vectors)
    return values


def _summed(function: Callable[..., Summand], size: int, X: Any, *vectors: Array) -> Summand:
    with single_threaded():
        return SingleThread(np.asarray(X, dtype=np.float64), size).sum(function, *vectors)


def _added(sums: list[Any]) -> Any:
    total = sums[0]
    for part in sums[1:]:
        total = add(total, part)
    return total


def _picked(piece: Any, rows: Index) -> Array:
    return np.asarray(piece)[rows]
