"""Rows and designs of which most numbers are zero and not stored."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy.sparse import csc_array, csr_array
from sklearn.utils import gen_batches

from relvec._design.base import Design, Factors
from relvec._design.blocks import LocalBlocks, Summand
from relvec._design.dense import DenseDesign, in_range
from relvec._design.moments import Squares
from relvec._numerics.typing import Array, Index, RowVector

#: Numbers of a block of rows, zeros among them, and products that are added up, at a time.
BLOCK_ENTRIES, PRODUCTS = 1 << 20, 1 << 20


@dataclass(frozen=True)
class SparseBlocks(LocalBlocks):
    """Rows of a sparse array, of which a block at a time has its zeros.

    Parameters
    ----------
    X : csr_array of shape (n_rows, n_features)
        Numbers of float64.
    names : sequence of str, optional
        Of the inputs.
    size : int
        Rows in a block at most.
    """

    X: csr_array
    names: Sequence[str] | None = None
    size: int = BLOCK_ENTRIES

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of inputs."""
        return int(self.X.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and inputs, as of an array."""
        return self.n_rows, self.n_features

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Type of the numbers, as of an array."""
        return np.dtype(np.float64)

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: Index) -> SparseBlocks:
        return replace(self, X=self.X[rows])

    def sized(self, size: int) -> SparseBlocks:
        """See `RowBlocks.sized`."""
        return replace(self, size=size)

    def sum_stored(self, function: Callable[..., Summand], *vectors: RowVector) -> Summand:
        """See `RowBlocks.sum_stored`: all rows at once."""
        return function(self.X, *vectors)

    def sparse_columns(self, index: Index) -> csc_array:
        """See `RowBlocks.sparse_columns`."""
        columns = csc_array(self.X)
        return columns if len(index) == self.n_features else columns[:, index]

    def settled(self, columns: Index, values: Array) -> SparseBlocks:
        """See `RowBlocks.settled`."""
        X = csc_array(self.X).tolil()
        X[:, columns] = values
        return replace(self, X=csr_array(X))

    def inputs(self) -> Iterator[Array]:
        """See `LocalBlocks.inputs`."""
        size = max(1, min(self.size, BLOCK_ENTRIES // max(1, self.n_features)))
        for block in gen_batches(self.n_rows, size):
            yield self.X[block].toarray()

    def by_columns(self) -> Iterator[Array]:
        """Yield some inputs of all rows at a time, (n_rows, b)."""
        columns = csc_array(self.X)
        for some in gen_batches(self.n_features, max(1, BLOCK_ENTRIES // self.n_rows)):
            yield columns[:, some].toarray()

    def extremes(self) -> Array:
        """Smallest and largest number of each input, (2, n_features)."""
        return np.stack([each(axis=0).toarray().ravel() for each in (self.X.min, self.X.max)])

    def take(self, rows: Index, *vectors: RowVector) -> list[Array]:
        """See `RowBlocks.take`."""
        return [self.X[rows].toarray(), *(np.asarray(values[rows]) for values in vectors)]


class CentredColumns:
    """Sparse columns less their means, with as much of an array as a design asks of one.

    The means are taken off every product, so that zeros stay zeros. They are taken off the numbers
    themselves in columns all of whose numbers are stored, which lose no digits so.

    Parameters
    ----------
    columns : csc_array of shape (n_rows, n_columns)
    center : ndarray of shape (n_columns,)
    """

    __array_ufunc__ = None  # an array on the left has `__rmatmul__` multiply

    def __init__(self, columns: csc_array, center: Array) -> None:
        counts = np.diff(columns.indptr)
        self._taken = np.where(counts == columns.shape[0], center, 0.0)
        if self._taken.any():
            columns = _like(columns, columns.data - np.repeat(self._taken, counts))
        self._columns, self._center = columns, center - self._taken
        self.shape = columns.shape

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, where: tuple[slice, Index | slice]) -> Array:
        rows, index = where
        part: Array = self._columns[:, index][rows].toarray() - self._center[index]
        return part

    def __rmatmul__(self, vectors: Array) -> Array:
        products: Array = (self._columns.T @ vectors.T).T
        if self._center.any():
            products -= np.multiply.outer(vectors.sum(axis=-1), self._center)
        return products

    def restrict(self, index: Index | slice) -> Self:
        """Return the columns `index` only, in that order."""
        restricted = copy.copy(self)
        restricted._columns, restricted._center = self._columns[:, index], self._center[index]
        restricted._taken, restricted.shape = self._taken[index], restricted._columns.shape
        return restricted

    def raw(self) -> csc_array:
        """Return the columns with their means."""
        taken = np.repeat(self._taken, np.diff(self._columns.indptr))
        return _like(self._columns, self._columns.data + taken)

    def by_rows(self, index: Index | slice, size: int) -> Iterator[Array]:
        """Yield blocks of so many rows of the columns `index`."""
        part, center = self._columns[:, index].tocsr(), self._center[index]
        for rows in gen_batches(len(self), size):
            yield part[rows].toarray() - center

    def largest(self) -> Array:
        """Largest size of the numbers of each column, (n_columns,), at least that of its mean."""
        stored: Array = abs(self._columns).max(axis=0).toarray().ravel()
        return np.maximum(stored, np.abs(self._center))

    def squares(self, weights: Array, unit: Array) -> Array:
        """Weighted sum of squares of each column in some units, both (n_columns,).

        Row weights have the shape (n_rows,) or (k, n_rows), sums (k, n_columns) then. Zeros are
        counted: a difference of squares would have lost digits.
        """
        columns, center = self._columns, self._center / unit
        counts = np.diff(columns.indptr)
        stored = columns.data / np.repeat(unit, counts) - np.repeat(center, counts)
        there = (_like(columns, np.ones_like(stored)).T @ weights.T).T
        zeros = np.maximum(weights.sum(axis=-1)[..., None] - there, 0.0)
        squares: Array = (_like(columns, stored**2).T @ weights.T).T + zeros * center**2
        return squares

    def squared_products(self, weights: Array, scale: Array) -> float:
        """Sum of the squares of products of all columns, each over its scale, over weighted rows.

        ‖P − Wccᵀ‖² = ‖P‖² − 2Wcᵀ P c + W²‖c‖⁴ with products P of the sparse columns, their means c
        and the sum W of the weights.
        """
        center, root = self._center / scale, np.sqrt(weights)
        data = self._columns.data * root[self._columns.indices]
        own = _like(self._columns, data / np.repeat(scale, np.diff(self._columns.indptr)))
        rows = own.tocsr()
        each = _like(own, np.ones(own.nnz)).T @ np.diff(rows.indptr)
        parts, squares = (np.cumsum(each) // PRODUCTS).astype(np.intp), 0.0
        for begin, end in pairwise(np.searchsorted(parts, np.arange(parts.max() + 2))):
            products = (own[:, begin:end].T @ rows).data
            squares += float(products @ products)
        total = float(weights.sum())
        mean, apart = total * float(center @ center), rows @ center
        return squares - 2 * total * float(apart @ apart) + mean**2


def sparse_squares(X: Any, weights: Array | None) -> Squares:
    """Return means and centred squares of sparse columns (n_rows, n_columns); see `Squares`."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    total, columns = float(weights.sum()), csc_array(X)
    mean = (weights / total) @ columns
    squares = CentredColumns(columns, mean).squares(weights, np.ones(len(mean)))
    return Squares(total, mean, squares)


def _like(columns: csc_array, data: Array) -> csc_array:
    """Return columns with other numbers at the same places."""
    return csc_array((data, columns.indices, columns.indptr), shape=columns.shape)


class SparseDesign(DenseDesign):
    """Design of sparse columns, centred by what is taken off their products.

    Parameters
    ----------
    Phi : csc_array of shape (n_samples, n_candidates)
        Raw candidate columns.
    center, weights, precision, groups, nothing
        As of `DenseDesign`.
    """

    _Phi: Any

    def _centred(self, Phi: Any) -> Any:
        return CentredColumns(Phi, self.center)

    def _norms(self) -> Array:
        size = in_range(self._Phi.largest())
        unit = np.where(size > 0, size, 1.0)
        with np.errstate(over="ignore"):
            norms: Array = in_range(size * np.sqrt(self._Phi.squares(self.row_weights, unit)))
        return norms

    def _some(self, index: Index) -> Any:
        return self._Phi.restrict(index)

    def with_precision(self, precision: Array) -> Design:
        """See `Design.with_precision`."""
        return SparseDesign(self._Phi.raw(), precision=precision, **self._options())

    def weighted_sums(
        self, function: Factors, *vectors: RowVector, index: Index | slice
    ) -> tuple[Array, ...]:
        """See `Design.weighted_sums`."""
        part, scale = self._Phi.restrict(index), self.scale[index]
        weights, left = function(*vectors)
        return part.squares(weights, scale), (left @ part) / scale

    def squared_products(self) -> float:
        """See `Design.squared_products`: of few columns with all at a time."""
        found: float = self._Phi.squared_products(self.row_weights, self.scale)
        return found

    def _by_rows(self, index: Index | slice, size: int) -> Iterator[list[Array]]:
        for columns in self._Phi.by_rows(index, size):
            yield [columns / self.scale[index]]
