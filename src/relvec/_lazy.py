"""What is said of rows in Dask: worked out where they are, and not before somebody asks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from relvec.checks import refusals_of

Array = NDArray[np.float64]


def later(of_rows: Callable[[Array], Array], X: Any, shape: tuple[int, ...]) -> Any:
    """A Dask array of what a function makes of the rows of X, chunk by chunk.

    Parameters
    ----------
    of_rows : callable
        Takes some rows to an array of as many. It is kept as it is, and sent to a worker once.
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_rows, n_features)
        Rows, of which it need not be known how many there are.
    shape : tuple of int
        Of what it makes of one row.
    """
    rows = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    rows = rows.rechunk({1: -1})
    lengths = tuple((length,) for length in shape)
    return rows.map_blocks(
        _chunk,
        import_module("dask").delayed(of_rows, traverse=False),
        shape,
        chunks=(rows.chunks[0], *lengths),
        drop_axis=1,
        new_axis=list(range(1, 1 + len(shape))),
        meta=np.empty((0,) * (1 + len(shape))),
    )


def _chunk(rows: Array, of_rows: Callable[[Array], Array], shape: tuple[int, ...]) -> Array:
    """What the function makes of a chunk, which is refused like rows in memory."""
    if not len(rows):
        return np.empty((0, *shape))
    with refusals_of("X"):
        return of_rows(check_array(rows, dtype=np.float64, input_name="X"))
