"""Training data, wherever the rows are: in memory, out of core, or gone but for their sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from relvec._design import ArrayBlocks, BlockedDesign, DenseDesign, Design, RowBlocks
from relvec._design.blocks import settle
from relvec._design.moments import Moments
from relvec._design.sparse import SparseDesign
from relvec._design.summed import RowSums, SummedDesign
from relvec._evidence.gaussian import bic_penalty
from relvec._fitting import centers
from relvec._fitting.summaries import checked, digest, summarise, target_extremes
from relvec._numerics.checks import check_range
from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.typing import Array, Index, RowVector
from relvec.basis import Basis
from relvec.basis.functions import feature_name
from relvec.exceptions import Advice, RoundingWarning
from relvec.likelihoods import Likelihood

#: Bytes of a number, and numbers of the candidates in a block of rows.
BYTES, BLOCK_ENTRIES = 8, 1 << 24
#: Numbers of the candidates up to which they are stored, and rows to a candidate from which they
#: need not be.
SMALL, ROWS_A_FUNCTION = 200_000, 4
#: Rows in a block of inputs that nothing is evaluated at.
BLOCK = 1 << 14


def block_size(basis: Basis) -> int:
    """Rows in a block of the candidates of a basis."""
    return max(1, BLOCK_ENTRIES // max(1, len(basis.rows_)))


def _moments(basis: Basis, X: Array, weights: Array | None = None) -> Moments:
    """Means and products of functions at a block of rows (n_rows, n_features)."""
    return Moments.of(basis.checked(X), np.empty((len(X), 0)), weights)


def _given(*vectors: RowVector | None) -> list[RowVector]:
    """Return vectors over the rows without those that are None."""
    return [vector for vector in vectors if vector is not None]


@dataclass(frozen=True)
class ConstantInputs:
    """Inputs that are constant up to rounding, and the number that each is taken for.

    There are two kinds: those whose values differ by rounding of themselves, and those whose
    values are roundings of those of any other input that varies, such as what a scaler leaves of a
    constant, or a decomposition of columns that depend on others. The first kind is told from each
    input alone; the second would make products with it copies of the other factor, with weights as
    large as the values are small.
    """

    constant: NDArray[np.bool_]  # (n_features,), whether each input is constant
    columns: Index  # (n_varying,), the constant ones whose values are not all the same
    values: Array  # (n_varying,), what these are taken for
    lost: Index  # (n_lost,), those of the second kind

    @classmethod
    def of(cls, low: Array, high: Array) -> Self:
        """Tell the constant inputs from the extremes of all, both of shape (n_features,)."""
        size = np.maximum(np.abs(low), np.abs(high))
        half_range = high / 2 - low / 2
        alone = half_range <= ROUNDINGS * size
        lost = np.zeros(len(low), dtype=np.bool_)
        lost[_lost(np.flatnonzero(~alone), size, half_range)] = True
        columns = np.flatnonzero((alone & (low < high)) | lost)
        values = np.where(lost, 0.0, low)[columns]
        return cls(alone | lost, columns, values, np.flatnonzero(lost))

    @classmethod
    def none(cls, n_features: int) -> Self:
        """Return that no input is constant."""
        nothing = np.empty(0, dtype=np.intp)
        return cls(np.zeros(n_features, dtype=np.bool_), nothing, np.empty(0), nothing)

    def warning(self, features: Sequence[str] | None) -> RoundingWarning:
        """Return a warning of inputs that are lost beside others, by the names of the inputs."""
        names = ", ".join(feature_name(features, column) for column in self.lost)
        return RoundingWarning(
            f"values of {names} are rounding errors beside those of every other column of X, "
            "and are taken for zeros",
            Advice("rescale X if they are not"),
        )


def _lost(varying: Index, size: Array, half_range: Array) -> Index:
    """Inputs, of those that vary, whose values are lost beside each of the larger ones."""
    order = varying[np.argsort(size[varying], kind="stable")]
    smallest = np.minimum.accumulate(half_range[order][::-1])[::-1]  # from each input on
    gaps = np.flatnonzero(size[order][:-1] <= ROUNDINGS * smallest[1:])
    return order[: gaps[-1] + 1] if len(gaps) else order[:0]


@dataclass(frozen=True)
class TrainingData:
    """Rows in memory, with the targets of one or several outputs."""

    X: Array  # (n_samples, n_features), inputs
    #: (n_samples, d), target of each output, by the name that messages call it, empty for the only
    #: one
    targets: Mapping[str, RowVector]
    intercept: bool  # whether there is a flat-prior intercept
    weights: Array | None = None  # (n_samples,), frequency of each row
    #: (n_samples,), precision of each row's noise relative to that of the likelihood
    row_precision: Array | None = None
    memory_limit: float = np.inf  # bytes up to which the candidates at all rows are stored
    exposed: bool = False  # whether the last column of the targets is the log of their exposure

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    @property
    def total_weight(self) -> float:
        """Sum of the frequencies of all rows."""
        return float(len(self.X) if self.weights is None else self.weights.sum())

    @property
    def mean_weight(self) -> float:
        """Mean frequency of the rows."""
        return self.total_weight / self.n_rows

    @property
    def used(self) -> Index:
        """Rows whose frequency is positive, ascending."""
        return np.arange(len(self.X)) if self.weights is None else np.flatnonzero(self.weights)

    def inputs_at(self, rows: Index) -> tuple[Array, Index]:
        """Inputs that hold the `rows` wanted, and the positions of these in them."""
        return self.X, rows

    def row_numbers(self, positions: Index, rows: Index) -> Index:
        """Numbers of rows at some positions of the inputs that `inputs_at` gave for `rows`."""
        return positions

    def rows_at(self, rows: Index) -> tuple[Array, Array | None]:
        """Inputs of some rows in memory, with their frequencies, which are positive."""
        part = self.subset(rows).without_unused()
        return part.X, part.weights

    def function_moments(self, basis: Basis) -> Moments:
        """Means of functions over the rows, and products of the functions less these."""
        return self._moments(ArrayBlocks(self.X, block_size(basis)), basis, self.weights)

    @staticmethod
    def _moments(blocks: RowBlocks, basis: Basis, weights: RowVector | None) -> Moments:
        return blocks.sum(partial(_moments, basis), *_given(weights))

    def placement(self) -> tuple[Array, Array | None]:
        """Inputs, with their frequencies, that scales of kernels follow."""
        if len(self.X) <= centers.LOOKED_AT or self.X.dtype == object:
            return self.X, self.weights
        rows: tuple[Array, Array] = self.sum_inputs(summarise).rows
        return rows

    def sum_inputs(self, function: Callable[..., Any]) -> Any:
        """Sum what a function makes of blocks of inputs, and of frequencies if there are any."""
        return ArrayBlocks(self.X, BLOCK).sum(function, *_given(self.weights))

    def settled(self) -> tuple[TrainingData, ConstantInputs]:
        """Return the same rows with inputs that vary by rounding only as constants, and these."""
        if self.X.dtype == object:
            return self, ConstantInputs.none(self.X.shape[1])
        constant = ConstantInputs.of(*self._extremes())
        return (self._at(constant) if len(constant.columns) else self), constant

    def identity(self) -> dict[str, NDArray[Any] | None]:
        """Arrays by name that tell these rows from others, beside what users gave of them."""
        return {"y": np.hstack(list(self.targets.values()))}

    def check_range(self) -> None:
        """Raise where sums, differences or inverse extents of inputs leave the range of float64."""
        if self.X.dtype != object:
            check_range("X", *self._extremes())

    def _extremes(self) -> tuple[Array, Array]:
        """Smallest and largest value of each input, (n_features,), in the rows that count."""
        X = self.X if self.weights is None else self.X[self.weights > 0]
        return X.min(axis=0), X.max(axis=0)

    def _at(self, constant: ConstantInputs) -> TrainingData:
        """Return the same rows with some inputs as constants."""
        return replace(self, X=settle(constant.columns, constant.values, self.X))

    def without_unused(self) -> TrainingData:
        """Return the rows whose frequency is positive."""
        return self if len(self.used) == len(self.X) else self.subset(self.used)

    def subset(self, rows: Index) -> TrainingData:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        precision = None if self.row_precision is None else self.row_precision[rows]
        targets = {name: t[rows] for name, t in self.targets.items()}
        return replace(
            self, X=self.X[rows], targets=targets, weights=weights, row_precision=precision
        )

    def some_rows(self, most: int) -> TrainingData | None:
        """Return so many rows in memory at most, evenly spaced; None where rows are gone."""
        count = min(most, self.n_rows)
        return self.subset(np.linspace(0, self.n_rows - 1, count).round().astype(np.intp))

    def check(self, likelihood: Likelihood) -> None:
        """Raise unless the likelihood takes the targets."""
        for t in self.targets.values():
            likelihood.check(t)

    def evaluate(self, basis: Basis) -> Array:
        """Values of the candidates, (n_samples, n_candidates); a design refuses infinite ones."""
        return basis.checked(self.X)

    def design(self, Phi: Array, groups: Index, nothing: float | Array = 0.0) -> DenseDesign:
        """Return the design of candidates Phi (n_samples, n_candidates), which it takes over.

        Those with one label in `groups` (n_candidates,) share a precision, and those whose values
        are no more than `nothing` (n_candidates,) are none.
        """
        return DenseDesign(
            Phi, groups=groups, nothing=nothing, **self._rows_of_design(self.weights)
        )

    def _rows_of_design(self, weights: RowVector | None) -> dict[str, Any]:
        """Arguments of a design that say what rows of such frequencies count, and their level."""
        return {"center": self.intercept, "weights": weights, "precision": self.row_precision}

    def candidates(self, basis: Basis, likelihood: Likelihood) -> Design:
        """Return the design of all functions: in memory if they fit, otherwise block by block.

        Block by block is faster, too, where products of columns are all that a likelihood needs
        and there are few: the search has as few rows as there are functions then.
        """
        size = len(self.X) * len(basis.rows_)
        few = size > SMALL and len(self.X) > ROWS_A_FUNCTION * len(basis.rows_)
        if self.fits_in_memory(basis) and not (few and likelihood.quadratic):
            return self.design(self.evaluate(basis), basis.groups, basis.nothing)
        blocks, given = ArrayBlocks(self.X, block_size(basis)), self._rows_of_design(self.weights)
        return BlockedDesign(blocks, basis, groups=basis.groups, **given)

    def learns_scales(self, basis: Basis) -> bool:
        """Return whether scales of the basis are to be learnt from these rows."""
        return basis.n_hyper > 0

    def has_stages(self, basis: Basis) -> bool:
        """Return whether a fit of some functions says which others become candidates."""
        return basis.coarse or bool(basis.optional.any())

    def fits_in_memory(self, basis: Basis) -> bool:
        """Return whether all functions of a basis may be stored at all rows."""
        return BYTES * len(self.X) * len(basis.rows_) <= self.memory_limit

    @property
    def bic_penalty(self) -> float:
        """½ log N: nats that a scale or a function has to gain (Schwarz 1978)."""
        return bic_penalty(self.total_weight)


@dataclass(frozen=True)
class OutOfCoreData(TrainingData):
    """Rows that are not in memory; `X` and `weights` are four rows that summarise their inputs."""

    #: the rows
    blocks: RowBlocks = None  # type: ignore[assignment]
    frequencies: RowVector | None = None  # frequency of each row
    weight: float = 0.0  # sum of these

    @property
    def n_rows(self) -> int:
        return self.blocks.n_rows

    @property
    def total_weight(self) -> float:
        return self.weight

    @property
    def used(self) -> Index:
        """All rows: frequencies are looked at where the rows are."""
        return np.arange(self.n_rows)

    def inputs_at(self, rows: Index) -> tuple[Array, Index]:
        """Inputs of some rows in memory, and which of them have a positive frequency."""
        if self.frequencies is None:
            (X,) = self.blocks.take(rows)
            return X, np.arange(len(X))
        X, weights = self.blocks.take(rows, self.frequencies)
        return X, np.flatnonzero(weights)

    def row_numbers(self, positions: Index, rows: Index) -> Index:
        return rows[positions]

    def placement(self) -> tuple[Array, Array | None]:
        """Four rows that summarise the inputs, with their weights."""
        return self.X, self.weights

    def sum_inputs(self, function: Callable[..., Any]) -> Any:
        """Sum what a function makes of blocks of inputs, where these are."""
        return self.blocks.sum(function, *_given(self.frequencies))

    def identity(self) -> dict[str, NDArray[Any] | None]:
        """See `TrainingData.identity`: a digest of the rows, in whatever order and blocks."""
        given = *self.targets.values(), *_given(self.frequencies, self.row_precision)
        return {"rows": self.blocks.sum(digest, *given), "y": None}

    def _extremes(self) -> tuple[Array, Array]:
        return self.X[2], self.X[3]

    def _at(self, constant: ConstantInputs) -> TrainingData:
        where = constant.columns, constant.values
        return replace(self, X=settle(*where, self.X), blocks=self.blocks.settled(*where))

    def without_unused(self) -> TrainingData:
        """Return the same rows: designs leave those without weight out."""
        return self

    def subset(self, rows: Index) -> TrainingData:
        """Return some of the rows in memory, without those whose frequency is zero."""
        by_row = self.frequencies, self.row_precision
        X, *values = self.blocks.take(rows, *self.targets.values(), *_given(*by_row))
        targets = dict(zip(self.targets, values, strict=False))
        found = iter(values[len(targets) :])
        weights, precision = (None if vector is None else next(found) for vector in by_row)
        return TrainingData(X, targets, self.intercept, weights, precision).without_unused()

    def check(self, likelihood: Likelihood) -> None:
        """Raise unless the likelihood takes the targets."""
        given = _given(self.frequencies)
        for t in self.targets.values():
            extremes = self.blocks.alone().sum(target_extremes, t, *given)
            self.blocks.alone().sum(partial(checked, likelihood, extremes.rows), t, *given)

    def function_moments(self, basis: Basis) -> Moments:
        """Sums over all rows, block by block; see `TrainingData.function_moments`."""
        return self._moments(self.blocks.sized(block_size(basis)), basis, self.frequencies)

    def candidates(self, basis: Basis, likelihood: Likelihood) -> Design:
        """Return the design of all functions, evaluated block by block unless they are sparse."""
        given = self._rows_of_design(self.frequencies) | {"groups": basis.groups}
        inputs = basis.inputs
        columns = None if inputs is None else self.blocks.sparse_columns(inputs)
        if columns is not None:
            return SparseDesign(columns, **given)
        return BlockedDesign(self.blocks.sized(block_size(basis)), basis, **given)

    def fits_in_memory(self, basis: Basis) -> bool:
        """Return False: the rows are elsewhere."""
        return False


@dataclass(frozen=True)
class SummedData(TrainingData):
    """Rows that are gone but for their sums; `X` and `weights` summarise their inputs.

    The targets are numbers of columns of the sums.
    """

    sums: RowSums = None  # type: ignore[assignment]

    @property
    def total_weight(self) -> float:
        return self.sums.counts.copies

    @property
    def mean_weight(self) -> float:
        """Not a number: the rows are gone, and were not counted."""
        return np.nan

    def candidates(self, basis: Basis, likelihood: Likelihood) -> Design:
        """Return the design of few rows that have the products of all."""
        groups, nothing = basis.groups, basis.nothing
        return SummedDesign(self.sums, center=self.intercept, groups=groups, nothing=nothing)

    def check(self, likelihood: Likelihood) -> None:
        """Accept what was checked when the rows were seen."""

    def some_rows(self, most: int) -> None:
        """Return None: the rows are gone."""

    def learns_scales(self, basis: Basis) -> bool:
        """Return False: the first rows told the scales."""
        return False

    def has_stages(self, basis: Basis) -> bool:
        """Return False: the sums have all functions already."""
        return False
