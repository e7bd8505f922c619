"""Training rows that are not in memory: what a fit asks of them, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from relvec._design import ArrayBlocks, BlockedDesign, Design, RowBlocks
from relvec._design.moments import Squares, nonconstant_norms
from relvec._fitting.problem import Problem, rows_of_a_block
from relvec._numerics.checks import check_weights, named_errors
from relvec._numerics.typing import Array, Index, RowVector
from relvec.basis import Basis

#: Rows in a block of inputs that nothing is evaluated at.
BLOCK = 1 << 14


def is_dask(X: Any) -> bool:
    """Whether inputs are a collection of Dask, which is imported then."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def names_of(X: Any) -> list[str] | None:
    """Names of the columns of a table, none of an array."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def is_out_of_core(X: Any) -> bool:
    """Whether inputs are of a kind that is not in memory."""
    return isinstance(X, RowBlocks) or is_dask(X)


def head_of(X: Any) -> Any:
    """A row of zeros that looks like those of inputs that are not in memory."""
    if isinstance(X, RowBlocks):
        return _head(X.n_features, X.names)
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}, expected 2 dimensions")
    return _head(X.shape[1], names_of(X))


def _head(n_features: int, names: Sequence[str] | None) -> Any:
    zeros = np.zeros((1, n_features))
    if names is None:
        return zeros
    import pandas as pd  # whoever has named columns has it

    return pd.DataFrame(zeros, columns=list(names))


@dataclass(frozen=True)
class InputSummary:
    """Where rows lie; outlines of different rows add up.

    Attributes
    ----------
    squares : Squares
        Weighted mean of each input, and the sum of squares about it.
    low, high : ndarray of shape (n_features,)
        Extremes of each input.
    """

    squares: Squares
    low: Array
    high: Array

    @classmethod
    def of(cls, X: Array, weights: Array | None = None) -> InputSummary:
        """Outline of some rows, of which those without weight do not count."""
        if weights is not None:
            X, weights = X[weights > 0], weights[weights > 0]
        if not len(X):
            nothing = np.zeros(X.shape[1])
            return cls(Squares(0.0, nothing, nothing), nothing + np.inf, nothing - np.inf)
        squares = Squares.of(X, np.empty((len(X), 0)), weights)
        return cls(squares, X.min(axis=0), X.max(axis=0))

    def __add__(self, other: InputSummary) -> InputSummary:
        return InputSummary(
            self.squares + other.squares,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def weight(self) -> float:
        """What the rows count for."""
        return self.squares.weight

    @property
    def rows(self) -> tuple[Array, Array]:
        """Four rows with the means, spreads and extremes of all, and their weights."""
        mean, spread = self.squares.mean, np.sqrt(self.squares.squares / self.weight)
        rows = np.stack([mean - spread, mean + spread, self.low, self.high])
        hardly = np.finfo(np.float64).tiny  # the extremes count for nothing else
        return rows, np.array([0.5, 0.5, hardly, hardly])


@dataclass(frozen=True)
class OutOfCoreRows:
    """Inputs that are reached block by block.

    Attributes
    ----------
    blocks : RowBlocks
    names : sequence of str or None
        Of the inputs.
    """

    blocks: RowBlocks
    names: Sequence[str] | None = None

    @classmethod
    def of(cls, X: Any) -> OutOfCoreRows | None:
        """Inputs of a kind that is not in memory; None if X is of another."""
        if isinstance(X, RowBlocks):
            return cls(X, X.names)
        if not is_dask(X):
            return None
        from relvec._design.dask import DaskBlocks, as_array  # Dask is there

        head_of(X)  # refuses what has no columns
        return cls(DaskBlocks(as_array(X)), names_of(X))

    @classmethod
    def in_memory(cls, X: Array) -> OutOfCoreRows:
        """Rows of an array that are too many to be copied."""
        return cls(ArrayBlocks(X, BLOCK))

    def __len__(self) -> int:
        return self.blocks.n_rows

    @property
    def head(self) -> Any:
        """A row of zeros that looks like the others to whoever validates them."""
        return _head(self.blocks.n_features, self.names)

    def outline(self, weights: RowVector | None) -> InputSummary:
        """Where the rows that count lie; inputs that are not finite are refused."""
        return self.blocks.sum(_outline, *(() if weights is None else (weights,)))

    def numbers(self, values: Any, name: str) -> RowVector:
        """Numbers of the rows, (n_rows, d), checked and taken to where the rows are."""
        return self.blocks.map(partial(_numbers, name), self.blocks.vector(values, name))

    def weights(self, values: Any) -> RowVector | None:
        """Copies of the rows, checked."""
        if values is None:
            return None
        return self.blocks.map(_weights, self.blocks.vector(values, "sample_weight"))

    def labels(self, values: Any) -> RowVector:
        """Labels of classes, checked and taken to where the rows are."""
        return self.blocks.map(_labels, self.blocks.vector(values, "y"))

    def columns(self, values: RowVector, index: Index) -> RowVector:
        """Some columns of numbers of the rows."""
        return self.blocks.map(partial(_columns, index), values)

    def varies(self, values: RowVector) -> NDArray[np.bool_]:
        """Whether each column of such numbers differs from row to row by more than rounding."""
        found = self.blocks.sum(_squares, values)
        return np.isfinite(nonconstant_norms(np.sqrt(found.squares), found.mean, found.weight))


@dataclass(frozen=True)
class OutOfCoreProblem(Problem):
    """Rows that are not in memory; X, with its weights, outlines them.

    Attributes
    ----------
    blocks : RowBlocks or None
        The rows.
    copies : RowVector or None
        Copies of each of them.
    """

    blocks: RowBlocks | None = None
    copies: RowVector | None = None

    def candidates(self, basis: Basis) -> Design:
        """See `Problem.candidates`."""
        assert self.blocks is not None
        blocks = self.blocks.sized(rows_of_a_block(basis))
        return BlockedDesign(blocks, basis, center=self.has_intercept, weights=self.copies)

    @property
    def n_rows(self) -> int:
        """See `Problem.n_rows`."""
        assert self.blocks is not None
        return self.blocks.n_rows

    def fits(self, basis: Basis) -> bool:
        """See `Problem.fits`: nothing does."""
        return False

    def part(self, rows: Index) -> Problem:
        """See `Problem.part`; of rows in memory."""
        assert self.blocks is not None
        given = list(self.targets.values()) + ([] if self.copies is None else [self.copies])
        X, *values = self.blocks.take(rows, *given)
        weights = None if self.copies is None else values.pop()
        targets = dict(zip(self.targets, values, strict=True))
        if weights is not None:
            kept = np.flatnonzero(weights)
            X, weights = X[kept], weights[kept]
            targets = {name: t[kept] for name, t in targets.items()}
        return Problem(X, targets, self.likelihood, self.has_intercept, weights, n_jobs=self.n_jobs)


# Functions of a block of rows.


def _outline(X: Array, weights: Array | None = None) -> InputSummary:
    with named_errors("X"):
        return InputSummary.of(check_array(X, dtype=np.float64, input_name="X"), weights)


def _labels(_X: Array, values: Any) -> NDArray[Any]:
    labels = column_or_1d(values)
    with named_errors("y"):
        check_classification_targets(labels)
    return np.asarray(labels)


def _columns(index: Index, _X: Array, values: Array) -> Array:
    return values[:, index]


def _squares(X: Array, values: Array) -> Squares:
    return Squares.of(values, np.empty((len(X), 0)), None)


def _numbers(name: str, _X: Array, values: Any) -> Array:
    with named_errors(name):
        numbers: Array = check_array(values, ensure_2d=False, dtype=np.float64, input_name=name)
    return numbers.reshape(len(numbers), -1)


def _weights(X: Array, values: Any) -> Array:
    weights = check_weights(values, len(X))
    return np.ones(len(X)) if weights is None else weights
