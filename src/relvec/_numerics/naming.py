"""Names of rows, columns and cells of an argument, as messages have them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Rows, or columns, that a message names.
NAMED = 5


def rows_named(wrong: NDArray[np.bool_]) -> str:
    """Name the rows of which something is wrong, (n_samples,) or (n_samples, d): a few of many."""
    return a_few("row", np.flatnonzero(wrong.reshape(len(wrong), -1).any(axis=1)).tolist())


def places_named(values: Any, wrong: NDArray[np.bool_]) -> str:
    """Name rows, and columns of a table, of which something is wrong."""
    where = rows_named(wrong)
    if wrong.ndim == 2:
        labels = getattr(values, "columns", range(wrong.shape[1]))
        columns = [labels[place] for place in np.flatnonzero(wrong.any(axis=0))]
        where += ", " + a_few("column", columns)
    return where


def a_few(word: str, labels: list[Any]) -> str:
    """Return a list of things of one kind, the first few of many."""
    more = f" and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
    return f"{word}{'s' * (len(labels) > 1)} {', '.join(map(repr, labels[:NAMED]))}{more}"


def cell_name(values: Any, array: NDArray[Any], row: int, column: int) -> str:
    """Name a cell of values that are given as an array, too."""
    labels = getattr(values, "columns", range(column + 1))
    return f"row {row}" + (f", column {labels[column]!r}" if array.ndim > 1 else "")
