"""Summaries of blocks of rows that are not in memory, which add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from relvec._design.moments import Squares
from relvec._design.sparse import sparse_squares
from relvec._numerics.checks import named_errors
from relvec._numerics.typing import Array
from relvec.likelihoods import Likelihood

#: An odd number of 64 bits whose multiples look random: 2⁶⁴ over the golden ratio.
MIXING = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class InputSummary:
    """Location and spread of inputs; summaries of different rows add up."""

    squares: Squares  # weighted mean of each input, and the sum of squares about it
    low: Array  # (n_features,), extremes of each input
    high: Array

    @classmethod
    def of(cls, X: Array, weights: Array | None = None) -> InputSummary:
        """Summarise the rows of X (n_samples, n_features), also sparse, of positive frequency."""
        if weights is not None:
            X, weights = X[weights > 0], weights[weights > 0]
        if issparse(X):
            low, high = (extreme(axis=0).toarray().ravel() for extreme in (X.min, X.max))
            return cls(sparse_squares(X, weights), low, high)
        if not len(X):
            zeros = np.zeros(X.shape[1])
            return cls(Squares(0.0, zeros, zeros), zeros + np.inf, zeros - np.inf)
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
        """Sum of the frequencies of the rows."""
        return self.squares.weight

    @property
    def rows(self) -> tuple[Array, Array]:
        """Four rows with the means, standard deviations and extremes of all, and their weights."""
        mean, spread = self.squares.mean, np.sqrt(self.squares.squares / self.weight)
        rows = np.stack([mean - spread, mean + spread, self.low, self.high])
        hardly = np.finfo(np.float64).tiny  # the extremes count for nothing else
        return rows, np.array([0.5, 0.5, hardly, hardly])


def summarise(X: Any, weights: Array | None = None) -> InputSummary:
    """Summarise a block of rows; inputs that are not finite numbers are refused."""
    with named_errors("X"):
        X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
        return InputSummary.of(X, weights)


def digest(X: Array, *vectors: Array) -> NDArray[np.uint64]:
    """Return a sum of hashes of rows with what goes with them, shape (1,), modulo 2⁶⁴."""
    numbers = np.hstack([X, *(vector.reshape(len(X), -1) for vector in vectors)]) + 0.0
    factors = (2 * np.arange(1, numbers.shape[1] + 1, dtype=np.uint64) + 1) * MIXING
    bits = np.ascontiguousarray(numbers).view(np.uint64)
    rows = ((bits ^ (bits >> np.uint64(29))) * factors).sum(axis=1)
    total: NDArray[np.uint64] = ((rows ^ (rows >> np.uint64(32))) * MIXING).sum(keepdims=True)
    return total


@dataclass(frozen=True)
class TargetExtremes:
    """Smallest and largest of each target; those of different rows add up."""

    rows: Array  # (2, d)

    def __add__(self, other: TargetExtremes) -> TargetExtremes:
        low, high = np.stack([self.rows, other.rows], axis=1)
        return TargetExtremes(np.stack([low.min(axis=0), high.max(axis=0)]))


def target_extremes(_X: Array, t: Array, weights: Array | None = None) -> TargetExtremes:
    """Return the extremes of targets t (n_rows, d) in the rows of a block that count."""
    t = t if weights is None else t[weights > 0]
    return TargetExtremes(np.stack([t.min(axis=0, initial=np.inf), t.max(axis=0, initial=-np.inf)]))


def checked(
    likelihood: Likelihood, extremes: Array, _X: Array, t: Array, weights: Array | None = None
) -> bool:
    """Raise unless a block of targets is one that the likelihood takes.

    What it asks of all rows, such as both classes, the extremes of all (2, d) answer in the block.
    """
    likelihood.check(np.vstack([t if weights is None else t[weights > 0], extremes]))
    return True
