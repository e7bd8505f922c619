"""A function of rows, applied by batches, wherever the rows are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_array, gen_batches

from relvec._design import RowBlocks
from relvec._numerics.checks import as_numbers, named_errors
from relvec._numerics.linalg import blas_threads, single_threaded
from relvec._numerics.typing import Array

#: Numbers of a batch that stay in cache, rows from which products of matrices run at full speed
#: whatever they take, and numbers held at most.
CACHED, ROWS, MOST = 1 << 17, 1 << 10, 4_000_000


def by_batches(
    function: Callable[[Array], Array], X: Any, numbers: int, shape: tuple[int, ...] = ()
) -> Any:
    """Apply a function, of which no row of the result depends on other rows, batch by batch.

    As many batches are looked at together as BLAS was given threads.

    Parameters
    ----------
    function : callable
        Maps some rows to an array of as many rows.
    X : ndarray, RowBlocks, dask.array.Array or dask.dataframe.DataFrame of shape (n_rows, …)
        Rows. Of those in Dask it need not be known how many there are.
    numbers : int
        Numbers that the function holds for each row.
    shape : tuple of int
        Shape that one row of rows out of core is mapped to.
    """
    in_memory = partial(_in_memory, function, numbers)
    if isinstance(X, np.ndarray):
        return in_memory(X)
    of_block = partial(_of_block, in_memory, shape)
    if isinstance(X, RowBlocks):
        return X.map(of_block)
    rows = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    rows = rows.rechunk({1: -1})
    return rows.map_blocks(
        _called,
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


def _in_memory(function: Callable[[Array], Array], numbers: int, rows: Array) -> Array:
    size = rows_of_a_batch(numbers)
    if len(rows) <= size:
        return function(rows)
    together = Parallel(blas_threads(), require="sharedmem")
    with single_threaded():
        parts = together(delayed(function)(rows[batch]) for batch in gen_batches(len(rows), size))
    return np.concatenate(parts)


def _called(rows: Array, of_block: Callable[[Array], Array]) -> Array:
    return of_block(rows)


def _of_block(function: Callable[[Array], Array], shape: tuple[int, ...], rows: Array) -> Array:
    """Apply the function to a block of rows, which are refused as those in memory are."""
    if not len(rows):
        return np.empty((0, *shape))
    with named_errors("X"):
        return function(check_array(as_numbers(rows, "X"), input_name="X"))
