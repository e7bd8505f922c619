"""What is said of rows that are not in memory, worked out where they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils import check_array

from relvec._design import RowBlocks
from relvec._numerics.checks import named_errors
from relvec._numerics.typing import Array


def at_rows(of_rows: Callable[[Array], Array], X: Any, shape: tuple[int, ...]) -> Any:
    """What a function makes of rows, block by block: of those in Dask later, when it is asked for.

    Parameters
    ----------
    of_rows : callable
        Takes some rows to an array of as many.
    X : RowBlocks, dask.array.Array or dask.dataframe.DataFrame of shape (n_rows, n_features)
        Rows. Of those in Dask it need not be known how many there are.
    shape : tuple of int
        Of what it makes of one row.
    """
    of_block = partial(_of_block, of_rows, shape)
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


def _called(rows: Array, of_block: Callable[[Array], Array]) -> Array:
    return of_block(rows)


def _of_block(of_rows: Callable[[Array], Array], shape: tuple[int, ...], rows: Array) -> Array:
    """What the function makes of rows that are refused as if they were in memory."""
    if not len(rows):
        return np.empty((0, *shape))
    with named_errors("X"):
        return of_rows(check_array(rows, dtype=np.float64, input_name="X"))
