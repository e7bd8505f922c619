"""Rows of inputs that are passed over block by block, and nothing of a block is kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import gen_batches

from relvec.design.base import Array, Index, RowVector
from relvec.linalg import blas_threads

Summand = TypeVar("Summand", bound=Any)

#: Blocks whose sums may wait for their turn, for every thread.
AHEAD = 1


class RowBlocks(ABC):
    """Rows in blocks, wherever they are.

    Attributes
    ----------
    n_rows, n_features : int
    """

    n_rows: int
    n_features: int

    @abstractmethod
    def map(self, function: Callable[..., Array], *vectors: RowVector) -> RowVector:
        """Apply a function to each block: it is given its inputs and the parts of some vectors."""

    @abstractmethod
    def sum(self, function: Callable[..., Summand], *vectors: RowVector) -> Summand:
        """Add up, with ``+``, what a function makes of the blocks, in an order that is fixed."""

    @abstractmethod
    def vector(self, values: Any) -> RowVector:
        """Take values, one or several a row, to where the rows are."""

    @abstractmethod
    def take(self, rows: Index, *vectors: RowVector) -> list[Array]:
        """Inputs, and the parts of some vectors, of a few rows, in memory."""

    def ones(self) -> RowVector:
        """A one for every row."""
        return self.map(_ones)


def _ones(X: Array) -> Array:
    return np.ones(len(X))


@dataclass(frozen=True)
class ArrayBlocks(RowBlocks):
    """Rows of an array, which may be mapped from a file.

    As many blocks are looked at together as BLAS was given threads; what comes of them does not
    depend on how many, because their sums are added in the order of the rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    size : int
        Rows in a block.
    """

    X: Array
    size: int

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return len(self.X)

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of inputs."""
        return int(self.X.shape[1])

    def map(self, function: Callable[..., Array], *vectors: RowVector) -> RowVector:
        """See `RowBlocks.map`; the values are kept in an array."""
        values: Array | None = None
        begin = 0
        for part in self._parts(function, vectors):
            if values is None:
                values = np.empty((self.n_rows, *part.shape[1:]), part.dtype)
            values[begin : begin + len(part)] = part
            begin += len(part)
        return values

    def sum(self, function: Callable[..., Summand], *vectors: RowVector) -> Summand:
        """See `RowBlocks.sum`."""
        return reduce(lambda total, part: total + part, self._parts(function, vectors))  # type: ignore[no-any-return]

    def vector(self, values: Any) -> RowVector:
        """See `RowBlocks.vector`: an array is one."""
        return values

    def take(self, rows: Index, *vectors: RowVector) -> list[Array]:
        """See `RowBlocks.take`."""
        return [np.asarray(values[rows]) for values in (self.X, *vectors)]

    def _parts(self, function: Callable[..., Any], vectors: tuple[RowVector, ...]) -> Iterator[Any]:
        """What a function makes of each block, in their order."""
        blocks, threads = gen_batches(self.n_rows, self.size), blas_threads()
        ready: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(threads) as pool:
            for block in blocks:
                if len(ready) == threads + AHEAD:
                    yield ready.popleft().result()
                parts = [values[block] for values in (self.X, *vectors)]
                ready.append(pool.submit(function, *parts))
            while ready:
                yield ready.popleft().result()
