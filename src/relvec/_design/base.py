"""Contracts of designs and of their targets, however the candidates are stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from relvec._numerics.checks import check_squares
from relvec._numerics.floats import ROUNDINGS, SMALLEST
from relvec._numerics.groups import Groups
from relvec._numerics.typing import Array, Index, RowVector

Factors = Callable[..., tuple[Array, Array]]
#: Every candidate.
EVERY = slice(None)
#: Variance that a target of zeros is given, so that precisions in its units are in range.
OF_ZEROS = 1e-200


@dataclass(frozen=True)
class Target:
    """One or several targets in standard units, and where they were."""

    #: (n_samples,) or (n_samples, n_targets), (t − center) / scale, of unit norm over all copies of
    #: the rows
    values: RowVector
    center: Array  # () or (n_targets,), mean of the raw target, zero without an intercept
    scale: Array  # () or (n_targets,), norm of what is left
    variance: Array  # () or (n_targets,), variance of the standardised target about its mean

    @classmethod
    def of(cls, t: RowVector, design: Design) -> Self:
        """Standardise raw targets for a design."""
        total, weights = design.total_weight, design.row_weights
        mean, nonzero = design.sum_rows(partial(_mean_and_nonzero, total), t, weights)
        square, apart = design.sum_rows(partial(_mean_square, total, mean), t, weights)
        varies = apart > ROUNDINGS * np.abs(mean)
        center, scale, variance = standard_units(mean, square, nonzero, varies, design)
        values = design.map_rows(partial(_standardised, center, scale), t)
        return cls(values, center, scale, variance)


def standard_units(
    mean: Array, square: Array, nonzero: Array, varies: NDArray[np.bool_], design: Design
) -> tuple[Array, Array, Array]:
    """Centre and scale of targets, and the variance that they have in units of it.

    Given are the `mean` of each target, the mean `square` of what is left of it, and whether any of
    its values is not zero and whether it `varies` by more than rounding, each () or (n_targets,).
    """
    # Targets that differ by no more than their rounding are constant.
    least, center = np.where(nonzero, SMALLEST, OF_ZEROS), np.zeros_like(mean)
    center = mean if design.has_intercept else center
    with np.errstate(over="ignore", under="ignore"):  # which is refused
        variance = np.maximum(square, np.maximum((ROUNDINGS * mean) ** 2, least))
        level = (mean - center) ** 2
        scale = np.sqrt(design.total_weight * (variance + level))
    check_squares(scale)
    if ((square + level < SMALLEST) & (varies | (mean != center))).any():
        raise OverflowError("squares of y fall below the range of float64; rescale y")
    return center, scale, variance / scale**2


def _mean_and_nonzero(total: float, t: Array, weights: Array) -> tuple[Array, Array]:
    return t.T @ (weights / total), np.count_nonzero(t, axis=0)


def _mean_square(total: float, mean: Array, t: Array, weights: Array) -> tuple[Array, Array]:
    """Shares in the mean square of targets about their means, and in the mean distance."""
    share = weights / total
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # which is refused
        distance = np.abs(t - mean).T
        return distance**2 @ share, distance @ share


def _standardised(center: Array, scale: Array, t: Array) -> Array:
    return (t - center) / scale


class TargetFrame(ABC):
    """Candidates and targets in an orthonormal frame of every function that was ever active.

    With Q (n_samples, j) the orthonormal frame, φ_m the standardised candidates and t the target,

    ===================  ============================  ====================
    attribute            formula                       shape
    ===================  ============================  ====================
    ``coords``           Qᵀφ_m                         (j, n_candidates)
    ``target``           Qᵀt                           (j,)
    ``residual_norm2``   ‖φ_m‖² − ‖Qᵀφ_m‖²             (n_candidates,)
    ``residual_dot``     φ_mᵀt − (Qᵀφ_m)ᵀQᵀt           (n_candidates,)
    ``residual_target``  ‖t‖² − ‖Qᵀt‖²                 scalar
    ===================  ============================  ====================

    Several targets have an axis of their own, the first, in each of the last four but
    ``residual_norm2``.

    This is a partial Cholesky factor of the Gram matrix of [Φ, t], and all that the evidence of
    Gaussian noise, its derivatives and the factors S and Q of every candidate depend on. An active
    function's column of ``coords`` represents it exactly, so the digits of nearly collinear
    functions survive where a Gram matrix would have lost them.
    """

    groups: Groups
    coords: Array
    target: Array
    residual_norm2: Array
    residual_dot: Array
    residual_target: Array

    @abstractmethod
    def residual(self, index: Index) -> Array:
        """Return what is left of the candidates `index` outside the frame, (n_rows, b)."""

    @abstractmethod
    def residual_products(self, index: Index) -> Array:
        """Return products of that with all candidates, shape (b, n_candidates)."""

    @abstractmethod
    def residual_grams(self) -> list[Array]:
        """Return products of that within all groups of each size, shapes (n_groups, size, size)."""

    @abstractmethod
    def extend(self, index: Index, residual: Array) -> None:
        """Grow the frame until it spans the candidates `index`, given their `residual`."""

    def span(self, index: Index) -> None:
        """Grow the frame until it spans the candidates `index`."""
        missing = index[self.residual_norm2[index] > 0]
        if len(missing):
            self.extend(missing, self.residual(missing))


class ClosedFrame(TargetFrame):
    """A frame that spans all that counts of every candidate, and neglects the rest.

    Nothing in it costs more than candidate space: no row of data is touched again.
    """

    def __init__(
        self, coords: Array, target: Array, residual_target: Array, groups: Groups
    ) -> None:
        self.groups = groups
        self.coords, self.target, self.residual_target = coords, target, residual_target
        self.residual_norm2 = np.zeros(coords.shape[1])
        self.residual_dot = np.zeros((*target.shape[:-1], coords.shape[1]))

    @classmethod
    def neglecting(cls, frame: TargetFrame) -> Self:
        """Take a frame that spans nearly all there is."""
        return cls(frame.coords, frame.target, frame.residual_target, frame.groups)

    def residual(self, index: Index) -> Array:
        return np.zeros((0, len(index)))

    def residual_products(self, index: Index) -> Array:
        return np.zeros((len(index), self.coords.shape[1]))

    def residual_grams(self) -> list[Array]:
        return [np.zeros((*m.shape, m.shape[1])) for _, m in self.groups.by_size]

    def extend(self, index: Index, residual: Array) -> None:
        """Nothing is added."""


class Design(ABC):
    """The design matrix as an operator: standardised candidates, wherever their numbers are."""

    shape: tuple[int, int]  # (n_samples, n_candidates)
    #: whether a look at candidates computes their values anew, and so at least a `subset` of the
    #: rows should be had in memory
    evaluation_is_a_pass: bool = False
    #: whether there is a flat-prior intercept, which the candidates are centred for
    has_intercept: bool
    #: (n_samples,), what each row counts for in means and products: its copies, times the precision
    #: of its noise where that is known and differs from row to row
    row_weights: RowVector
    total_weight: float  # sum of the row weights
    n_copies: float  # copies of all rows
    #: what precisions of their own, relative to a common one, add to the log evidence
    precision_evidence: float
    center: Array  # (n_candidates,), φ̄, by which each candidate was centred
    #: (n_candidates,), norm by which each was standardised: φ = (φ_raw − φ̄) / scale, infinite for
    #: a candidate that is numerically constant. Functions of one group have one scale, the root
    #: mean square of their norms
    scale: Array
    #: (n_candidates,), square of each standardised candidate: 1, but for functions of a group
    norm2: Array
    groups: Groups  # candidates that share a precision, by default none
    #: whether frames come from products of the candidates, which hold half their digits: what is
    #: found there has to be looked at again on a design of what was `kept`, if that has more
    by_normal_equations: bool = False

    @property
    def n_effective(self) -> float:
        """Observations that the evidence counts: less one where an intercept is eliminated."""
        return self.n_copies - self.has_intercept

    @property
    def weight_unit(self) -> Array:
        """Weight of a raw candidate that is as much as a weight of one of the standardised."""
        # A function that is constant on these data was scaled to zero, and its α no longer matters
        # unless others share it.
        scale = self.groups.largest(np.where(np.isfinite(self.scale), self.scale, 0.0))
        with np.errstate(over="ignore"):
            unit: Array = 1 / np.where(scale > 0, scale, 1.0)[self.groups.label]
        if not np.isfinite(unit).all():
            raise OverflowError("basis functions fall below the range of float64; rescale X")
        return unit

    @property
    def level_share(self) -> float:
        """Variance of the eliminated intercept in units of the variance of Gaussian noise."""
        return self.has_intercept / self.total_weight

    def target(self, t: RowVector) -> Target:
        """Standardise raw targets, of shape (n_samples,) or (n_samples, n_targets)."""
        return Target.of(t, self)

    def unexplained(self, target: Target) -> Array | None:
        """Noise variance of each target if all candidates explain it, where that costs nothing."""
        return None

    def slope_of_rows(self, slope: RowVector) -> RowVector:
        """Return the slope in raw rows, given that in rows of the frame over what they count."""
        return self.row_weights[:, None] * slope

    @abstractmethod
    def frame(self, target: Target) -> TargetFrame:
        """Return a new, empty frame for the candidates and a target."""

    @abstractmethod
    def closed_frame(self, target: Target) -> ClosedFrame:
        """Return a frame that spans all candidates at once: the rows, or what stands for them."""

    @abstractmethod
    def restrict(self, index: Index) -> Design:
        """Return the same rows with the candidates `index` only, in that order."""

    def kept(self, index: Index, signal: Array) -> Design:
        """Return `restrict` with all digits of the candidates that matter beside the noise.

        `signal` (n_index,) is the prior variance of each weight over the variance of the noise.
        """
        return self.restrict(index)

    @abstractmethod
    def with_precision(self, precision: RowVector) -> Design:
        """Return the same candidates and copies, each row's noise with a precision of its own."""

    @abstractmethod
    def columns(self, index: Index | slice) -> RowVector:
        """Return standardised candidates, shape (n_samples, b)."""

    def subset(self, rows: Index, *vectors: RowVector) -> tuple[Design, list[Array]]:
        """The same candidates at a few of the rows, in memory, with the parts of some vectors."""
        raise NotImplementedError(f"{type(self).__name__} has all rows at hand")

    @abstractmethod
    def map_rows(
        self,
        function: Callable[..., Array],
        *vectors: RowVector,
        index: Index | slice | None = None,
    ) -> RowVector:
        """Apply a function to blocks of rows: it returns a value, or an array, for each of them.

        It takes the part of each vector in a block of rows, before them that of the standardised
        candidates `index`, shape (n_rows, b), if there is one. It runs where the rows are.
        """

    @abstractmethod
    def sum_rows(
        self,
        function: Callable[..., tuple[Array, ...]],
        *vectors: RowVector,
        index: Index | slice | None = None,
    ) -> tuple[Array, ...]:
        """Sum what a function makes of blocks of rows: one or several arrays of fixed shapes.

        Parameters and what the function is given are those of `map_rows`.
        """

    def gram(self, index: Index | slice, weights: RowVector | None = None) -> Array:
        """Return products of the candidates `index` with each other, shape (b, b).

        Rows count as many times as `weights` (n_samples,) say, by default their row weights.
        """
        weights = self.row_weights if weights is None else weights
        (gram,) = self.sum_rows(_products, weights, index=index)
        return gram

    def weighted_sums(
        self, function: Factors, *vectors: RowVector, index: Index | slice
    ) -> tuple[Array, ...]:
        """Sums over the rows of squares of candidates, WΦ², and of products with them, VΦ.

        The function makes W and V, a column a row, of the parts of some vectors.
        """
        return self.sum_rows(partial(_weighted_sums, function), *vectors, index=index)

    def squared_products(self) -> float:
        """Return ‖ΦᵀΦ‖², the sum of the squares of products of all candidates with each other."""
        if self.shape[0] < self.shape[1]:
            return self.subset(np.arange(self.shape[0]))[0].squared_products()
        return float(np.square(self.gram(EVERY)).sum())


def _products(columns: Array, weights: Array) -> tuple[Array, ...]:
    return (columns.T @ (weights[:, None] * columns),)


def _weighted_sums(function: Factors, columns: Array, *vectors: Array) -> tuple[Array, ...]:
    weights, left = function(*vectors)
    return weights @ np.square(columns), left @ columns


def as_groups(labels: Index | None, n_candidates: int) -> Groups:
    """Groups of candidates by labels (n_candidates,), each one its own without."""
    return Groups(np.arange(n_candidates)) if labels is None else Groups.of_labels(labels)


def shared_scales(norms: Array, groups: Groups) -> tuple[Array, Array]:
    """Scale of each candidate, one a group, and its squared norm in units of that.

    The scale is infinite where the norm is.
    """
    constant = np.isinf(norms)
    if groups.single:
        return norms, np.where(constant, 0.0, 1.0)
    size = np.where(constant, 0.0, norms)
    largest = groups.largest(size)
    unit = np.where(largest > 0, largest, 1.0)[groups.label]
    count = groups.total((~constant).astype(np.float64))
    mean = groups.total((size / unit) ** 2) / np.maximum(count, 1.0)
    scale = unit * np.sqrt(np.where(mean > 0, mean, 1.0))[groups.label]
    return np.where(constant, np.inf, scale), (size / scale) ** 2


def in_units(alpha: Array, unit: Array) -> Array:
    """Precisions of weights that are measured in other units, whose squares may be out of range."""
    with np.errstate(over="ignore", under="ignore"):
        return _checked(alpha * unit * unit)


def of_logs(log_alpha: Array) -> Array:
    """Precisions of weights from their logarithms."""
    with np.errstate(over="ignore", under="ignore"):
        return _checked(np.exp(log_alpha))


def _checked(alpha: Array) -> Array:
    if not (np.isfinite(alpha) & (alpha > 0)).all():
        raise OverflowError(
            "weight precisions in the units of X and y exceed the range of float64; rescale them"
        )
    return alpha
