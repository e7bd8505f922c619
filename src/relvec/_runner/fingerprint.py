"""Digests of data and of parameters, by which fits are told apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import gen_batches

#: Numbers that are hashed at a time: data may lie in a file that is larger than memory.
BLOCK_ENTRIES = 4_000_000


def fingerprints(
    data: Mapping[str, NDArray[Any] | None], parameters: Mapping[str, Any]
) -> dict[str, str]:
    """Digest of each part of the data and of each parameter, by its name.

    A function counts by where it is defined: what it does is not looked at.
    """
    found = {name: "none" if part is None else _of_rows(part) for name, part in data.items()}
    return found | {name: joblib.hash(_plain(value)) for name, value in parameters.items()}


def _of_rows(array: NDArray[Any]) -> str:
    """Digest of an array, a block of rows at a time."""
    size = max(1, BLOCK_ENTRIES // max(1, array[:1].size))
    blocks = (np.ascontiguousarray(array[rows]) for rows in gen_batches(len(array), size))
    digest: str = joblib.hash([array.shape, *map(joblib.hash, blocks)])
    return digest


def _plain(value: Any) -> Any:
    """A parameter as something that is the same in every process."""
    if isinstance(value, BaseEstimator):
        own = value.get_params(deep=False)
        return type(value).__qualname__, {name: _plain(part) for name, part in own.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if callable(value):
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}:{named.__qualname__}"
    return value
