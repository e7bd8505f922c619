"""The design matrix by blocks of rows, whose columns are computed when they are needed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property, partial
from typing import NamedTuple, TypeVar

import numpy as np

from relvec._design.base import (
    EVERY,
    ClosedFrame,
    Design,
    Target,
    TargetFrame,
    as_groups,
    shared_scales,
)
from relvec._design.blocks import RowBlocks
from relvec._design.dense import DenseDesign, DenseFrame
from relvec._design.functions import Functions
from relvec._design.moments import (
    MANY_PRODUCTS,
    RESOLVED,
    CholeskyQR,
    Counts,
    Moments,
    RFactor,
    Squares,
    nonconstant_norms,
    unexplained,
)
from relvec._numerics.floats import SMALLEST
from relvec._numerics.typing import Array, Index, RowVector
from relvec.basis.base import Basis

Kind = TypeVar("Kind", Squares, RFactor, Moments)
Made = TypeVar("Made")

#: Rows in a block at most, and numbers of its candidates, where sums of blocks are small.
ROWS, ENTRIES = 1 << 14, 1 << 22
#: Variance that products do not tell, in units of that of the noise, under which it is left there:
#: the evidence then feels it by some 1e-5 nats.
DROWNED = 1e-6
#: Numbers of the candidates from which each look at all of them is an effort.
MANY = 1e8


class Sums(NamedTuple):
    """Arrays that are added one by one."""

    arrays: tuple[Array, ...]

    def __add__(self, other: Sums) -> Sums:  # type: ignore[override]
        return Sums(tuple(a + b for a, b in zip(self.arrays, other.arrays, strict=True)))


class ReducedRows(NamedTuple):
    """Few rows that stand for all."""

    candidates: Array  # (n_rows, n_candidates), not scaled
    targets: Array  # (n_rows,) or (n_targets, n_rows)


class BlockedDesign(Design):
    """Candidates of a basis at rows that are passed over block by block, and never stored.

    For Gaussian noise one pass sums the means and centred products of candidates and targets, and
    all that follows happens in candidate space. Products hold half the digits of a column:
    candidates are told apart up to `moments.RESOLVED`, and what a search keeps has to be looked at
    again, by itself (`by_normal_equations`). Parameters are those of `DenseDesign`.
    """

    def __init__(
        self,
        blocks: RowBlocks,
        basis: Basis,
        *,
        center: bool,
        weights: RowVector | None = None,
        precision: RowVector | None = None,
        groups: Index | None = None,
    ) -> None:
        self.blocks, self.functions, self.has_intercept = blocks, Functions(basis), center
        self.shape = blocks.n_rows, len(basis.rows_)
        self.groups = as_groups(groups, self.shape[1])
        self.by_normal_equations = self.shape[0] * self.shape[1] ** 2 > MANY_PRODUCTS
        self.evaluation_is_a_pass = self.shape[0] * self.shape[1] > MANY
        self._weights = weights
        self._asked: tuple[RowVector, Target] | None = None
        self._rooted: tuple[Target, ReducedRows] | None = None
        self._kept: tuple[Index, BlockedDesign] | None = None
        self._by_products: tuple[Target, ReducedRows] | None = None
        if weights is None and precision is None:
            counts = Counts.of(blocks.n_rows, None, None)
        else:
            weights = blocks.ones() if weights is None else weights
            precision = blocks.ones() if precision is None else precision
            counts = blocks.sum(_counts, weights, precision)
            product = partial(_without_inputs, _product)
            self.row_weights = blocks.alone().map(product, weights, precision)
        self._counted_once = weights is None
        self.n_copies, self.total_weight = counts.copies, counts.weight
        self.precision_evidence = counts.precision_evidence(center=center)

    @cached_property
    def row_weights(self) -> RowVector:
        """See `Design`."""
        return self.blocks.ones()

    @cached_property
    def _standard(self) -> tuple[Array, Array, Array]:
        """φ̄, scale and squared norm of each candidate."""
        return self._standardisation(self._moments(Squares))

    def _standardisation(self, found: Squares | RFactor) -> tuple[Array, Array, Array]:
        m = self.shape[1]
        mean, norm2 = found.mean[:m], found.squares[:m]
        center = mean if self.has_intercept else np.zeros(m)
        if not self.has_intercept:
            with np.errstate(over="ignore"):  # which is refused
                norm2 = norm2 + self.total_weight * mean**2
        nothing = np.broadcast_to(self.functions.nothing, m)
        self._check_range(norm2, center, nothing)
        norms = nonconstant_norms(np.sqrt(norm2), center, self.total_weight, nothing)
        return center, *shared_scales(norms, self.groups)

    def _check_range(self, norm2: Array, center: Array, nothing: Array) -> None:
        """Refuse functions whose squares leave the range of float64, unless they are `nothing`."""
        if not np.isfinite(norm2).all():
            raise OverflowError("basis functions exceed the range of float64; rescale X")
        tiny = np.flatnonzero((norm2 <= SMALLEST) & (nothing == 0))
        if len(tiny):
            sizes = partial(_sizes, self.functions.restrict(tiny), center[tiny])
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

    @property
    def norm2(self) -> Array:  # type: ignore[override]
        """See `Design`."""
        return self._standard[2]

    def _moments(self, kind: type[Kind], *vectors: RowVector, combine: Array | None = None) -> Kind:
        """Moments of all candidates, and of vectors beside them, in one pass."""
        weights = () if self._counted_once else (self.row_weights,)
        function = partial(_moments, kind, self.functions, combine, not self._counted_once)
        blocks = self._blocks(EVERY) if kind is Squares else self.blocks
        with np.errstate(over="ignore", invalid="ignore"):
            return blocks.sum(function, *weights, *vectors)

    def target(self, t: RowVector) -> Target:
        """See `Design.target`; the last one is kept for those who ask for it again."""
        if self._asked is None or self._asked[0] is not t:
            self._asked = t, super().target(t)
        return self._asked[1]

    def root(self, target: Target) -> ReducedRows:
        """Few rows with the products of all; those for the last target are kept."""
        if self._rooted is None or self._rooted[0] is not target:
            self._rooted = target, self._stand(target)
        return self._rooted[1]

    def _stand(self, target: Target) -> ReducedRows:
        m = self.shape[1]
        if self.by_normal_equations:
            root = self._moments(Moments, target.values).root(m)
        else:
            root = self._all_digits(target)
        self._standard = self._standardisation(root)
        rows = root.rows if self.has_intercept else root.about_zero()
        targets = rows[:, m:].T if target.scale.ndim else rows[:, m]
        return ReducedRows(np.ascontiguousarray(rows[:, :m]), np.ascontiguousarray(targets))

    def _all_digits(self, target: Target) -> RFactor:
        """Root of all rows; where products tell the candidates apart, by a second pass of those."""
        known = self._by_products
        nearly = None if known is None else CholeskyQR.of(known[1].candidates)
        if nearly is None:
            return self._moments(RFactor, target.values)
        return nearly.root(self._moments(Moments, target.values, combine=nearly.combine))

    def unexplained(self, target: Target) -> Array | None:
        return (
            unexplained(self.root(target).targets, self.n_effective)
            if self.by_normal_equations
            else None
        )

    def frame(self, target: Target) -> TargetFrame:
        rows = self.root(target)
        return DenseFrame(rows.candidates, self, rows.targets, None)

    def closed_frame(self, target: Target) -> ClosedFrame:
        rows = self.root(target)
        coords, nothing = rows.candidates / self.scale, np.zeros(target.scale.shape)
        return ClosedFrame(coords, rows.targets, nothing, self.groups)

    def restrict(self, index: Index) -> BlockedDesign:
        """See `Design.restrict`; what is known of the rows from here serves there."""
        if self._kept is not None and np.array_equal(self._kept[0], index):
            return self._kept[1]
        restricted = copy.copy(self)
        restricted.functions = self.functions.restrict(index)
        restricted.shape = self.shape[0], len(index)
        restricted.by_normal_equations = False
        center, scale, norm2 = self._standard
        restricted._standard = center[index], scale[index], norm2[index]
        restricted.groups = self.groups.restrict(index)
        restricted.__dict__.pop("_columns", None)  # those of other indices
        restricted._rooted, restricted._kept, restricted._by_products = None, None, None
        if self._rooted is not None:
            target, rows = self._rooted
            part = ReducedRows(np.ascontiguousarray(rows.candidates[:, index]), rows.targets)
            if self.by_normal_equations:
                restricted._by_products = target, part
            else:
                restricted._rooted = target, part
        self._kept = index, restricted
        return restricted

    def kept(self, index: Index, signal: Array) -> BlockedDesign:
        """See `Design.kept`; products serve where the noise drowns what they do not tell."""
        restricted = self.restrict(index)
        if restricted._by_products is not None and RESOLVED * signal.sum() < DROWNED:
            restricted._rooted, restricted.by_normal_equations = restricted._by_products, True
        return restricted

    def with_precision(self, precision: RowVector) -> BlockedDesign:
        other = BlockedDesign(
            self.blocks,
            self.functions.basis,
            center=self.has_intercept,
            weights=self._weights,
            precision=precision,
            groups=self.groups.label,
        )
        other.functions = self.functions
        return other

    def subset(self, rows: Index, *vectors: RowVector) -> tuple[DenseDesign, list[Array]]:
        X, weights, *parts = self.blocks.take(rows, self.row_weights, *vectors)
        design = DenseDesign(
            self.functions.evaluate(X),
            center=self.has_intercept,
            weights=weights,
            groups=self.groups.label,
            nothing=self.functions.nothing,
        )
        return design, parts

    def map_rows(
        self,
        function: Callable[..., Array],
        *vectors: RowVector,
        index: Index | slice | None = None,
    ) -> RowVector:
        return self._blocks(index).map(self._given(function, index), *vectors)

    def sum_rows(
        self,
        function: Callable[..., tuple[Array, ...]],
        *vectors: RowVector,
        index: Index | slice | None = None,
    ) -> tuple[Array, ...]:
        given = self._given(function, index)
        return self._blocks(index).sum(partial(_summed, given), *vectors).arrays

    def _blocks(self, index: Index | slice | None) -> RowBlocks:
        """The rows in blocks that take little memory with some of the candidates."""
        columns = 1 if index is None else len(np.arange(self.shape[1])[index])
        blocks = self.blocks.alone() if index is None else self.blocks
        return blocks.sized(max(1, min(ROWS, ENTRIES // max(1, columns))))

    def _given(
        self, function: Callable[..., Made], index: Index | slice | None
    ) -> Callable[..., Made]:
        """The function of a block's inputs, given one of its candidates and vectors."""
        if index is None:
            return partial(_without_inputs, function)
        which = np.arange(self.shape[1])[index]
        every = np.array_equal(which, np.arange(self.shape[1]))
        own = self.functions if every else self.functions.restrict(which)
        return partial(_with_columns, function, own, self.center[which], self.scale[which])

    def columns(self, index: Index | slice) -> RowVector:
        return self._columns(np.arange(self.shape[1])[index])

    @cached_property
    def _columns(self) -> Callable[[Index], RowVector]:
        return self.blocks.sharing(lambda index: self.map_rows(_itself, index=index))


# Functions of a block's inputs X, and of the parts of vectors in the block.


def _counts(X: Array, copies: Array, precision: Array) -> Counts:
    return Counts.of(len(X), copies, precision)


def _product(copies: Array, precision: Array) -> Array:
    return copies * precision


def _sizes(functions: Functions, center: Array, X: Array) -> Array:
    sizes: Array = np.abs(functions.evaluate(X) - center).sum(axis=0)
    return sizes


def _moments(
    kind: type[Kind],
    functions: Functions,
    combine: Array | None,
    weighted: bool,
    X: Array,
    *vectors: Array,
) -> Kind:
    """Moments of the candidates, and of vectors beside them that follow the row weights."""
    weights = vectors[0] if weighted else None
    beside = np.column_stack([np.empty((len(X), 0)), *vectors[int(weighted) :]])
    with np.errstate(over="ignore", invalid="ignore"):
        columns = functions.checked(X)
        return kind.of(columns if combine is None else columns @ combine, beside, weights)


def _without_inputs(function: Callable[..., Made], _X: Array, *vectors: Array) -> Made:
    return function(*vectors)


def _with_columns(
    function: Callable[..., Made],
    functions: Functions,
    center: Array,
    scale: Array,
    X: Array,
    *vectors: Array,
) -> Made:
    columns = functions.evaluate(X)
    columns -= center
    columns /= scale
    return function(columns, *vectors)


def _summed(function: Callable[..., tuple[Array, ...]], X: Array, *vectors: Array) -> Sums:
    return Sums(tuple(function(X, *vectors)))


def _itself(columns: Array) -> Array:
    return columns
