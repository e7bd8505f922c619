"""A function of rows, by batches that stay in the cache of a core."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import gen_batches

from relvec._numerics.linalg import blas_threads, single_threaded
from relvec._numerics.typing import Array

#: Numbers of a batch that stay in cache, rows from which products of matrices run at full speed
#: whatever they take, and numbers held at most.
CACHED, ROWS, MOST = 1 << 17, 1 << 10, 4_000_000


def rows_of_a_batch(numbers: int) -> int:
    """Rows in a batch, each of which takes so many numbers."""
    each = max(1, numbers)
    return max(1, min(MOST // each, max(CACHED // each, ROWS)))


def by_batches(function: Callable[[Array], Array], rows: Array, numbers: int) -> Array:
    """Apply a function, of which no row of the result depends on other rows, batch by batch.

    As many batches are looked at together as BLAS was given threads.

    Parameters
    ----------
    function : callable
        Takes some rows to an array of as many rows.
    rows : ndarray of shape (n_rows, …)
    numbers : int
        Numbers that it holds for each row.
    """
    size = rows_of_a_batch(numbers)
    if len(rows) <= size:
        return function(rows)
    together = Parallel(blas_threads(), require="sharedmem")
    with single_threaded():
        parts = together(delayed(function)(rows[batch]) for batch in gen_batches(len(rows), size))
    return np.concatenate(parts)
