"""Rows of inputs that are passed over block by block, and nothing of a block is kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain, islice
from operator import iadd
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import gen_batches

from relvec._design.shared import SharedColumns
from relvec._numerics.checks import in_memory
from relvec._numerics.linalg import blas_threads
from relvec._numerics.typing import Array, Index, RowVector

Summand = TypeVar("Summand", bound=Any)

#: Blocks whose sums may wait for their turn, for every thread.
AHEAD = 1
#: Rows in a block that is looked at without its inputs.
ALONE = 1 << 14


class RowBlocks(ABC):
    """Rows in blocks, wherever they are."""

    n_rows: int
    n_features: int
    names: Sequence[str] | None = None  # of the inputs

    @abstractmethod
    def sized(self, size: int) -> RowBlocks:
        """The same rows in blocks of another size."""

    @abstractmethod
    def map(self, function: Callable[..., Array], *vectors: RowVector) -> RowVector:
        """Apply a function to each block: it is given its inputs and the parts of some vectors."""

    @abstractmethod
    def sum(self, function: Callable[..., Summand], *vectors: RowVector) -> Summand:
        """Add up, with ``+``, what a function makes of the blocks, in an order that is fixed."""

    def sum_stored(self, function: Callable[..., Summand], *vectors: RowVector) -> Summand:
        """See `sum`; the function takes sparse inputs, too, and is given those there are."""
        return self.sum(function, *vectors)

    @abstractmethod
    def vector(self, values: Any, name: str) -> RowVector:
        """Take values, one or several a row, to where the rows are; their `name` if they are not.

        Raises
        ------
        ValueError
            There are not as many as rows.
        """

    @abstractmethod
    def take(self, rows: Index, *vectors: RowVector) -> list[Array]:
        """Inputs, and the parts of some vectors, of a few rows, in memory."""

    def alone(self) -> RowBlocks:
        """The same rows for functions that do not look at inputs, which are not read for them."""
        return self

    def sparse_columns(self, index: Index) -> Any:
        """Some inputs as a ``csc_array`` (n_rows, n_columns), None where zeros are stored."""
        del index

    def settled(self, columns: Index, values: Array) -> RowBlocks:
        """The same rows with one of `values` in each of some `columns`."""
        return SettledBlocks(self, columns, values)

    def sharing(self, compute: Callable[[Index], RowVector]) -> Callable[[Index], RowVector]:
        """Return a function for columns, which need not compute again those in use."""
        return compute

    def ones(self) -> RowVector:
        """A one for every row."""
        return self.alone().map(_ones)

    def in_memory(self) -> Any:
        """All inputs: an array, or a table where they have names."""
        (X,) = self.take(np.arange(self.n_rows))
        return X if self.names is None else named(X, self.names)


def named(X: Array, names: Sequence[str]) -> Any:
    """Return inputs (n_rows, n_features) as a table that has their names."""
    import pandas as pd  # whoever has named columns has it

    return pd.DataFrame(X, columns=list(names))


def _ones(X: Array) -> Array:
    return np.ones(len(X))


def _of_block(
    function: Callable[..., Any], X: Array, rows: slice, vectors: tuple[RowVector, ...]
) -> Any:
    """Apply a function to a block; parts of vectors are read in the thread that needs them."""
    return function(X, *(values[rows] for values in vectors))


class LocalBlocks(RowBlocks):
    """Rows whose blocks are read one after the other; vectors over them are arrays in memory.

    As many blocks are looked at together as BLAS was given threads; what comes of them does not
    depend on how many, because their sums are added in the order of the rows.
    """

    @abstractmethod
    def inputs(self) -> Iterator[Array]:
        """Inputs of one block after the other."""

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
        total: Summand = reduce(iadd, self._parts(function, vectors))
        return total

    def alone(self) -> RowBlocks:
        """See `RowBlocks.alone`."""
        return ArrayBlocks(np.empty((self.n_rows, 0)), ALONE)

    def vector(self, values: Any, name: str) -> RowVector:
        """See `RowBlocks.vector`: an array is one."""
        vector = np.asarray(in_memory(values))
        if vector.shape[:1] != (self.n_rows,):
            raise ValueError(f"{name} has shape {vector.shape}, expected {self.n_rows} rows as X")
        return vector

    def sharing(self, compute: Callable[[Index], RowVector]) -> Callable[[Index], RowVector]:
        return SharedColumns(compute, self.n_rows)

    def _parts(self, function: Callable[..., Any], vectors: tuple[RowVector, ...]) -> Iterator[Any]:
        """Apply a function to each block, and yield its values in their order.

        A single block is looked at here, where no thread has to be started for it.
        """
        blocks = self.inputs()
        opening = list(islice(blocks, 2))
        if len(opening) == 1:
            yield _of_block(function, opening[0], slice(0, self.n_rows), vectors)
            return
        threads, begin = self.threads(), 0
        ready: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(threads) as pool:
            for X in chain(opening, blocks):
                if len(ready) == threads + AHEAD:
                    yield ready.popleft().result()
                rows = slice(begin, begin + len(X))
                ready.append(pool.submit(_of_block, function, X, rows, vectors))
                begin = rows.stop
            while ready:
                yield ready.popleft().result()

    def threads(self) -> int:
        """Blocks that are looked at together."""
        return blas_threads()


@dataclass(frozen=True)
class ArrayBlocks(LocalBlocks):
    """Rows of an array (n_rows, n_features), which may be mapped from a file."""

    X: Array
    size: int  # rows in a block

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return len(self.X)

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of inputs."""
        return int(self.X.shape[1])

    def sized(self, size: int) -> ArrayBlocks:
        return replace(self, size=size)

    def inputs(self) -> Iterator[Array]:
        for block in gen_batches(self.n_rows, self.size):
            yield self.X[block]

    def take(self, rows: Index, *vectors: RowVector) -> list[Array]:
        return [np.asarray(values[rows]) for values in (self.X, *vectors)]


class SingleThread(ArrayBlocks):
    """Rows of an array, one block at a time: of a worker that does nothing else."""

    def threads(self) -> int:
        return 1


@dataclass(frozen=True)
class SettledBlocks(RowBlocks):
    """Rows of other blocks, some of whose inputs are replaced by constants."""

    blocks: RowBlocks
    columns: Index  # (n_columns,), the inputs that are replaced
    values: Array  # (n_columns,), the constant that each is replaced by

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return self.blocks.n_rows

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of inputs."""
        return self.blocks.n_features

    def sized(self, size: int) -> SettledBlocks:
        return replace(self, blocks=self.blocks.sized(size))

    def map(self, function: Callable[..., Array], *vectors: RowVector) -> RowVector:
        return self.blocks.map(partial(_settled, function, self.columns, self.values), *vectors)

    def sum(self, function: Callable[..., Summand], *vectors: RowVector) -> Summand:
        given = partial(_settled, function, self.columns, self.values)
        total: Summand = self.blocks.sum(given, *vectors)
        return total

    def alone(self) -> RowBlocks:
        """See `RowBlocks.alone`."""
        return self.blocks.alone()

    def vector(self, values: Any, name: str) -> RowVector:
        return self.blocks.vector(values, name)

    def take(self, rows: Index, *vectors: RowVector) -> list[Array]:
        X, *values = self.blocks.take(rows, *vectors)
        return [settle(self.columns, self.values, X), *values]

    def sharing(self, compute: Callable[[Index], RowVector]) -> Callable[[Index], RowVector]:
        return self.blocks.sharing(compute)


def settle(columns: Index, values: Array, X: Array) -> Array:
    """Return inputs X (n_rows, n_features) with one of `values` in each of some `columns`."""
    settled = X.copy()
    settled[:, columns] = values
    return settled


def _settled(
    function: Callable[..., Any], columns: Index, values: Array, X: Array, *vectors: Array
) -> Any:
    """Apply a function to a block whose inputs are settled."""
    return function(settle(columns, values, X), *vectors)
