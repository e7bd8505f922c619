"""A function of rows, applied by batches, wherever the rows are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_array, gen_batches

from relvec._design import RowBlocks
from relvec._numerics.checks import as_numbers, in_memory, named_errors
from relvec._numerics.linalg import blas_threads, single_threaded
from relvec._numerics.typing import Array

#: Numbers of a batch that stay in cache, rows from which products of matrices run at full speed
#: whatever they take, and numbers held at most.
CACHED, ROWS, MOST = 1 << 17, 1 << 10, 4_000_000


@dataclass(frozen=True)
class Beside:
    """Values of rows that a function needs beside these, wherever they are."""

    name: str  # of the argument that they are
    values: Any  # (n_rows,) or (n_rows, d)
    #: takes values of some rows and how many these are, and returns them as an array
    checked: Callable[[Any, int], Array]


def by_batches(
    function: Callable[..., Array],
    X: Any,
    numbers: int,
    shape: tuple[int, ...] = (),
    beside: Sequence[Beside] = (),
) -> Any:
    """Apply a function, of which no row of the result depends on other rows, batch by batch.

    As many batches are looked at together as BLAS was given threads. Of X (n_rows, …), an array,
    `RowBlocks` or a collection of Dask, of which it need not be known how many rows there are, the
    function takes some rows and what is `beside` them, checked where they are. It holds so many
    `numbers` for each row, and maps one out of core to a result of the `shape`.
    """
    at_once = partial(_in_memory, function, numbers)
    if isinstance(X, np.ndarray):
        return at_once(X, *(one.checked(in_memory(one.values), len(X)) for one in beside))
    of_block = partial(_of_block, at_once, shape, [one.checked for one in beside])
    if isinstance(X, RowBlocks):
        return X.map(of_block, *(X.vector(in_memory(one.values), one.name) for one in beside))
    rows, *vectors = _in_dask(X, beside)
    return rows.map_blocks(
        partial(_called, [vector.ndim for vector in vectors]),
        # chunks are matched by their columns, too
        *(vector if vector.ndim > 1 else vector[:, None] for vector in vectors),
        import_module("dask").delayed(of_block, traverse=False),  # is sent to a worker once
        chunks=(rows.chunks[0], *((length,) for length in shape)),
        drop_axis=1,
        new_axis=list(range(1, 1 + len(shape))),
        meta=np.empty((0,) * (1 + len(shape))),
    )


def rows_of_a_batch(numbers: int) -> int:
    """Rows in a batch, each of which takes so many numbers."""
    each = max(1, numbers)
    return max(1, min(MOST // each, max(CACHED // each, ROWS)))


def _in_memory(function: Callable[..., Array], numbers: int, *rows: Array) -> Array:
    """Apply the function to rows, and to what is beside them."""
    size, n_rows = rows_of_a_batch(numbers), len(rows[0])
    if n_rows <= size:
        return function(*rows)
    together = Parallel(blas_threads(), require="sharedmem")
    with single_threaded():
        parts = together(
            delayed(function)(*(part[batch] for part in rows))
            for batch in gen_batches(n_rows, size)
        )
    return np.concatenate(parts)


def _in_dask(X: Any, beside: Sequence[Beside]) -> list[Any]:
    """Rows of a Dask collection, each chunk with all columns, and chunks of what is beside them.

    How many rows there are has to be known where something is beside them, and nowhere else.
    """
    from relvec._design.dask import as_array, beside_chunks, of_table  # Dask is there

    if not beside:
        rows = of_table(X) if hasattr(X, "to_dask_array") else X
        return [rows.rechunk({1: -1})]
    rows = as_array(X).rechunk({1: -1})
    return [rows, *(beside_chunks(one.values, one.name, rows.chunks[0]) for one in beside)]


def _called(dimensions: Sequence[int], rows: Array, *given: Any) -> Array:
    """Apply a function, the last that is given, to a chunk and to what is beside it."""
    *columns, of_block = given
    beside = (own[:, 0] if n == 1 else own for n, own in zip(dimensions, columns, strict=True))
    values: Array = of_block(rows, *beside)
    return values


def _of_block(
    function: Callable[..., Array],
    shape: tuple[int, ...],
    checked: Sequence[Callable[[Any, int], Array]],
    rows: Array,
    *beside: Any,
) -> Array:
    """Apply the function to a block of rows, which are refused as those in memory are."""
    if not len(rows):
        return np.empty((0, *shape))
    parts = [check(part, len(rows)) for check, part in zip(checked, beside, strict=True)]
    with named_errors("X"):
        X = check_array(as_numbers(rows, "X"), input_name="X")
    return function(X, *parts)
