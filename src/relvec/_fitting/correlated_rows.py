"""Rows whose noise is correlated: in the order of time, or by a known matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from relvec._design import DenseDesign
from relvec._design.whitened import WhitenedDesign
from relvec._fitting.data import TrainingData
from relvec._numerics.compact import Compact
from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.typing import Array, Index
from relvec._numerics.whitening import Differences, Factor, Whitener
from relvec.basis import Basis
from relvec.likelihoods import AR1, Likelihood
from relvec.solvers import Solution


class RowCorrelation(ABC):
    """Correlation R of the noise between rows."""

    @abstractmethod
    def whitener(self) -> Whitener:
        """Return W with WᵀW = R⁻¹."""

    @abstractmethod
    def subset(self, rows: Index) -> RowCorrelation:
        """Return that between some of the rows."""

    @abstractmethod
    def fitted(self, data: TrainingData) -> FittedCorrelation:
        """Return what predictions need of it, and of the rows."""


@dataclass(frozen=True)
class KnownCorrelation(RowCorrelation):
    """A matrix that is known."""

    matrix: Any  # (n_samples, n_samples), dense or sparse

    def whitener(self) -> Whitener:
        return self._factor

    @cached_property
    def _factor(self) -> Whitener:
        return Factor(self.matrix)

    def subset(self, rows: Index) -> KnownCorrelation:
        return KnownCorrelation(self.matrix[rows][:, rows])

    def fitted(self, data: TrainingData) -> FittedCorrelation:
        """See `RowCorrelation.fitted`: it says nothing of other rows."""
        return FittedCorrelation(None)


@dataclass(frozen=True)
class Series:
    """Times of rows in one or several series, which are independent of each other."""

    time: Array  # (n_samples,)
    number: Index  # (n_samples,), position of each row's series among the labels
    labels: NDArray[Any]  # (n_series,)
    clock: str  # what times are: one of the following

    ROWS: ClassVar[str] = "numbers of rows"
    NUMBERS: ClassVar[str] = "numbers"
    DATES: ClassVar[str] = "dates"  # in seconds

    @cached_property
    def order(self) -> Index:
        """Rows one after the other, series by series."""
        return np.lexsort((self.time, self.number))

    @cached_property
    def starts(self) -> NDArray[np.bool_]:
        """Return whether a series begins there, in that order."""
        return np.diff(self.number[self.order], prepend=-1) > 0

    @cached_property
    def since(self) -> Array:
        """Time since the row before, in that order, infinite where a series begins."""
        return np.where(self.starts, np.inf, np.diff(self.time[self.order], prepend=-np.inf))

    def step(self) -> tuple[float, bool]:
        """Time of one step, and whether all times are multiples of it apart; see `AR1`."""
        since = self.since[~self.starts]
        if not len(since):
            return 1.0, True
        least, longest = float(since.min()), np.abs(self.time).max()
        steps = since / least
        error = ROUNDINGS * (longest / least) * np.maximum(steps, 1.0)
        regular = bool((np.abs(steps - steps.round()) <= error).all())
        return (least if regular else float(np.median(since))), regular

    def subset(self, rows: Index) -> Self:
        """Return some of the rows."""
        return replace(self, time=self.time[rows], number=self.number[rows])


@dataclass(frozen=True)
class MarkovCorrelation(RowCorrelation):
    """An autoregression of order one."""

    series: Series
    ar1: AR1  # with its step
    regular: bool  # whether rows are whole numbers of steps apart

    @classmethod
    def of(cls, series: Series, ar1: AR1) -> Self:
        """Take the step from the series."""
        step, regular = series.step()
        return cls(series, replace(ar1, step=step), regular)

    def at(self, rho: float, std_error: float | None = None) -> Self:
        """Return the same rows with another ρ."""
        return replace(self, ar1=replace(self.ar1, rho=rho, std_error=std_error))

    def whitener(self) -> Whitener:
        since = self.series.since
        return Differences(
            self.series.order, self.ar1.correlation(since), self.ar1.unexplained(since)
        )

    def subset(self, rows: Index) -> Self:
        return replace(self, series=self.series.subset(rows))

    def fitted(self, data: TrainingData) -> FittedCorrelation:
        series, (t,) = self.series, data.targets.values()
        last = series.order[np.append(series.starts[1:], True)]
        ends = SeriesEnds(
            series.labels[series.number[last]],
            series.time[last],
            data.X[last].copy(),
            t[last, 0],
            series.clock,
        )
        return FittedCorrelation(self.ar1, ends)


@dataclass(frozen=True)
class SeriesEnds(Compact):
    """The last row of each series."""

    labels: NDArray[Any]  # (n_series,), ascending
    time: Array  # (n_series,)
    X: NDArray[Any]  # (n_series, n_features)
    y: Array  # (n_series,)
    clock: str  # what times are; see `Series`


@dataclass(frozen=True)
class FittedCorrelation(Compact):
    """Correlation of the noise of a fit."""

    ar1: AR1 | None  # None of a known matrix
    ends: SeriesEnds | None = None


@dataclass(frozen=True)
class CorrelatedSolution(Solution):
    """Function that was found with correlated noise."""

    correlation: FittedCorrelation


@dataclass(frozen=True)
class CorrelatedData(TrainingData):
    """Rows in memory whose noise is correlated, with one target."""

    correlation: RowCorrelation = field(kw_only=True)

    def subset(self, rows: Index) -> TrainingData:
        some = super().subset(rows)
        return replace(some, correlation=self.correlation.subset(rows))  # type: ignore[call-arg]

    def design(self, Phi: Array, groups: Index, nothing: float | Array = 0.0) -> DenseDesign:
        return WhitenedDesign(
            Phi,
            center=self.intercept,
            whitener=self.correlation.whitener(),
            groups=groups,
            nothing=nothing,
        )

    def candidates(self, basis: Basis, likelihood: Likelihood) -> DenseDesign:
        """Return the design of all functions, which have to fit in memory."""
        del likelihood
        if not self.fits_in_memory(basis):
            raise ValueError(
                f"memory_limit={self.memory_limit:g}, expected room for {len(basis.rows_)} "
                f"candidates at {len(self.X)} rows, whose noise is correlated; or take fewer "
                "centers"
            )
        return self.design(self.evaluate(basis), basis.groups, basis.nothing)
