"""The design matrix by blocks of rows, whose columns are computed when they are needed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property, partial
from typing import NamedTuple, TypeVar

import numpy as np

from relvec.basis.base import Basis
from relvec.design.base import (
    Array,
    ClosedFrame,
    Design,
    Index,
    RowVector,
    Target,
    TargetFrame,
)
from relvec.design.blocks import RowBlocks
from relvec.design.dense import DenseDesign, DenseFrame
from relvec.design.moments import Counts, Moments, Root, Squares, without_dust
from relvec.precision import SMALLEST

Kind = TypeVar("Kind", Squares, Root, Moments)
Made = TypeVar("Made")

#: Rows times the square of the candidates up to which the root of the rows comes from QR, which
#: takes three times as long as the products of their columns and keeps all digits.
AFFORDABLE = 2e10
#: Numbers of the candidates from which each look at all of them is an effort.
MANY = 1e8


class Sums(NamedTuple):
    """Arrays that are added one by one."""

    arrays: tuple[Array, ...]

    def __add__(self, other: Sums) -> Sums:  # type: ignore[override]
        return Sums(tuple(a + b for a, b in zip(self.arrays, other.arrays, strict=True)))


class BlockedDesign(Design):
    """Candidates at rows that are passed over block by block, and never stored.

    For Gaussian noise one pass sums the means and centred products of candidates and targets, and
    all that follows happens in candidate space. Products hold half the digits of a column:
    candidates are told apart up to `moments.RESOLVED`, and what a search keeps has to be looked at
    again, by itself (`by_products`).

    Parameters
    ----------
    blocks : RowBlocks
        Inputs.
    basis : Basis
        Candidates.
    center : bool
        There is a flat-prior intercept.
    weights : RowVector, optional
        Copies of each row, positive.
    precision : RowVector, optional
        Precision of each row's noise, relative to a common one.
    """

    def __init__(
        self,
        blocks: RowBlocks,
        basis: Basis,
        *,
        center: bool,
        weights: RowVector | None = None,
        precision: RowVector | None = None,
    ) -> None:
        self.blocks, self.basis, self.has_intercept = blocks, basis, center
        self.shape = blocks.n_rows, len(basis.rows_)
        self.by_products = self.shape[0] * self.shape[1] ** 2 > AFFORDABLE
        self.looks_cost_a_pass = self.shape[0] * self.shape[1] > MANY
        self._weights = weights
        self._rooted: tuple[Target, Array, Array] | None = None
        if weights is None and precision is None:
            counts = Counts.of(blocks.n_rows, None, None)
        else:
            weights = blocks.ones() if weights is None else weights
            precision = blocks.ones() if precision is None else precision
            counts = blocks.sum(_counts, weights, precision)
            self.row_weights = blocks.map(partial(_without_inputs, _product), weights, precision)
        self._counted_once = weights is None
        self.n_copies, self.total_weight = counts.copies, counts.weight
        self.precision_evidence = counts.precision_evidence(center=center)

    @cached_property
    def row_weights(self) -> RowVector:
        """See `Design`."""
        return self.blocks.ones()

    @cached_property
    def _standard(self) -> tuple[Array, Array]:
        """φ̄ and the norm of each candidate."""
        return self._standardisation(self._moments(Squares))

    def _standardisation(self, found: Squares | Root) -> tuple[Array, Array]:
        m = self.shape[1]
        mean, norm2 = found.mean[:m], found.squares[:m]
        center = mean if self.has_intercept else np.zeros(m)
        if not self.has_intercept:
            norm2 = norm2 + self.total_weight * mean**2
        self._check_range(norm2, center)
        return center, without_dust(np.sqrt(norm2), center, self.total_weight)

    def _check_range(self, norm2: Array, center: Array) -> None:
        """Refuse functions whose squares leave the range of float64."""
        if not np.isfinite(norm2).all():
            raise OverflowError("basis functions exceed the range of float64; rescale X")
        tiny = np.flatnonzero(norm2 <= SMALLEST)
        if len(tiny):
            sizes = partial(_sizes, self.basis.restrict(tiny), center[tiny])
            if self.blocks.sum(sizes).any():
                raise OverflowError(
                    "squares of basis functions fall below the range of float64; rescale X"
                )

    @property
    def center(self) -> Array:  # type: ignore[override]
        """See `Design`."""
        return self._standard[0]

    @property
    def scale(self) -> Array:  # type: ignore[override]
        """See `Design`."""
        return self._standard[1]

    def _moments(self, kind: type[Kind], *vectors: RowVector) -> Kind:
        """Moments of all candidates, and of vectors beside them, in one pass."""
        weights = () if self._counted_once else (self.row_weights,)
        function = partial(_moments, kind, self.basis, not self._counted_once)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.blocks.sum(function, *weights, *vectors)

    def root(self, target: Target) -> tuple[Array, Array]:
        """Few rows with the products of all: standardised candidates, and targets (d, n).

        Those of the last target are kept, because a search may begin with several frames.
        """
        if self._rooted is None or self._rooted[0] is not target:
            self._rooted = target, *self._rows_for_all(target)
        return self._rooted[1:]

    def _rows_for_all(self, target: Target) -> tuple[Array, Array]:
        if self.by_products:
            root = self._moments(Moments, target.values).root(self.shape[1])
        else:
            root = self._moments(Root, target.values)
        self._standard = self._standardisation(root)
        rows = root.rows if self.has_intercept else root.about_zero()
        candidates, targets = np.split(rows, [self.shape[1]], axis=1)
        shape = (len(rows),) if not target.scale.ndim else (len(rows), len(target.scale))
        return np.ascontiguousarray(candidates), np.ascontiguousarray(targets.reshape(shape).T)

    def frame(self, target: Target) -> TargetFrame:
        """See `Design.frame`."""
        candidates, targets = self.root(target)
        return DenseFrame(candidates, self.scale, targets, None)

    def closed_frame(self, target: Target) -> ClosedFrame:
        """See `Design.closed_frame`."""
        candidates, targets = self.root(target)
        return ClosedFrame(candidates / self.scale, targets, np.zeros(target.scale.shape))

    def restrict(self, index: Index) -> BlockedDesign:
        """See `Design.restrict`; nothing but the candidates is told apart by their products."""
        restricted = copy.copy(self)
        restricted.basis = self.basis.restrict(index)
        restricted.shape = self.shape[0], len(index)
        restricted.by_products, restricted._rooted = False, None
        restricted._standard = self.center[index], self.scale[index]
        restricted.__dict__.pop("_columns", None)  # those of other indices
        return restricted

    def with_precision(self, precision: RowVector) -> BlockedDesign:
        """See `Design.with_precision`."""
        return BlockedDesign(
            self.blocks,
            self.basis,
            center=self.has_intercept,
            weights=self._weights,
            precision=precision,
        )

    def subset(self, rows: Index, *vectors: RowVector) -> tuple[DenseDesign, list[Array]]:
        """The same candidates at a few of the rows, in memory, with the parts of some vectors."""
        X, weights, *parts = self.blocks.take(rows, self.row_weights, *vectors)
        design = DenseDesign(self.basis.evaluate(X), center=self.has_intercept, weights=weights)
        return design, parts

    def map_rows(
        self,
        function: Callable[..., Array],
        *vectors: RowVector,
        index: Index | slice | None = None,
    ) -> RowVector:
        """See `Design.map_rows`."""
        return self.blocks.map(self._given(function, index), *vectors)

    def sum_rows(
        self,
        function: Callable[..., tuple[Array, ...]],
        *vectors: RowVector,
        index: Index | slice | None = None,
    ) -> tuple[Array, ...]:
        """See `Design.sum_rows`."""
        given = self._given(function, index)
        return self.blocks.sum(partial(_summed, given), *vectors).arrays

    def _given(
        self, function: Callable[..., Made], index: Index | slice | None
    ) -> Callable[..., Made]:
        """The function of a block's inputs, given one of its candidates and vectors."""
        if index is None:
            return partial(_without_inputs, function)
        which = np.arange(self.shape[1])[index]
        basis = self.basis if len(which) == self.shape[1] else self.basis.restrict(which)
        return partial(_with_columns, function, basis, self.center[which], self.scale[which])

    def columns(self, index: Index | slice) -> RowVector:
        """See `Design.columns`."""
        return self._columns(np.arange(self.shape[1])[index])

    @cached_property
    def _columns(self) -> Callable[[Index], RowVector]:
        return self.blocks.sharing(lambda index: self.map_rows(_itself, index=index))


# Functions of a block's inputs X, and of the parts of vectors in the block.


def _evaluate(basis: Basis, X: Array) -> Array:
    """Candidates at a block; what leaves the range of float64 shows in their sums."""
    with np.errstate(over="ignore", invalid="ignore"):
        return basis.evaluate(X)


def _counts(X: Array, copies: Array, precision: Array) -> Counts:
    return Counts.of(len(X), copies, precision)


def _product(copies: Array, precision: Array) -> Array:
    return copies * precision


def _sizes(basis: Basis, center: Array, X: Array) -> Array:
    sizes: Array = np.abs(basis.evaluate(X) - center).sum(axis=0)
    return sizes


def _moments(kind: type[Kind], basis: Basis, weighted: bool, X: Array, *vectors: Array) -> Kind:
    """Moments of the candidates, and of vectors beside them that follow the row weights."""
    weights = vectors[0] if weighted else None
    beside = np.column_stack([np.empty((len(X), 0)), *vectors[int(weighted) :]])
    with np.errstate(over="ignore", invalid="ignore"):
        return kind.of(_evaluate(basis, X), beside, weights)


def _without_inputs(function: Callable[..., Made], _X: Array, *vectors: Array) -> Made:
    return function(*vectors)


def _with_columns(
    function: Callable[..., Made],
    basis: Basis,
    center: Array,
    scale: Array,
    X: Array,
    *vectors: Array,
) -> Made:
    columns = basis.evaluate(X)
    columns -= center
    columns /= scale
    return function(columns, *vectors)


def _summed(function: Callable[..., tuple[Array, ...]], X: Array, *vectors: Array) -> Sums:
    return Sums(tuple(function(X, *vectors)))


def _itself(columns: Array) -> Array:
    return columns
