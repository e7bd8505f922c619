"""Regression on rows that come in parts and are gone afterwards."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from relvec._design import ArrayBlocks
from relvec._design.summed import RowSums, SummedDesign
from relvec._estimators.out_of_core import as_rows
from relvec._estimators.predictor import Predictor
from relvec._estimators.targets import TargetLayout, varying
from relvec._fitting import pipeline
from relvec._fitting.data import SummedData, TrainingData, block_size
from relvec._fitting.problem import Problem
from relvec._fitting.summaries import InputSummary
from relvec._numerics.checks import check_weights, in_memory
from relvec._numerics.linalg import single_threaded, with_default_float_errors
from relvec._numerics.typing import Array
from relvec._runner.callbacks import with_callbacks
from relvec._runner.runner import Runner
from relvec.basis import Basis, Precomputed
from relvec.likelihoods import RegressionLikelihood

#: Validated arguments by name.
Given = dict[str, Any]


@dataclass(frozen=True)
class SufficientStatistics:
    """Sums over rows that were seen, all that Gaussian noise needs to know of them."""

    basis: Basis  # all candidates, as the first rows placed them
    sums: RowSums  # sums of candidates and targets
    inputs: InputSummary  # location and spread of the inputs
    n_rows: int
    single: bool  # whether targets had no columns

    @classmethod
    def of(cls, basis: Basis, data: TrainingData, *, single: bool) -> Self:
        """Sum over rows in memory, of which those without weight do not count."""
        rows = data.without_unused()
        (t,) = rows.targets.values()
        given = [t] if rows.weights is None else [t, rows.weights]
        with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
            sums = ArrayBlocks(rows.X, block_size(basis)).sum(partial(_row_sums, basis), *given)
            inputs = InputSummary.of(rows.X, rows.weights)
        if not np.isfinite(sums.moments.mean).all() or not np.isfinite(sums.squares).all():
            raise OverflowError("squares of y or of basis functions exceed the range of float64")
        return cls(basis, sums, inputs, len(data.X), single)

    def __add__(self, other: SufficientStatistics) -> SufficientStatistics:
        targets = [one.sums.n_targets for one in (self, other)]
        if targets[0] != targets[1] or self.single != other.single:
            raise ValueError(f"y has {targets[1]} columns, expected {targets[0]} as before")
        return replace(
            self,
            sums=self.sums + other.sums,
            inputs=self.inputs + other.inputs,
            n_rows=self.n_rows + other.n_rows,
        )


def _row_sums(basis: Basis, X: Array, targets: Array, weights: Array | None = None) -> RowSums:
    with np.errstate(over="ignore", invalid="ignore"):
        return RowSums.of(basis.checked(X), targets, weights)


class Incremental(Predictor):
    """Fits that add rows to those that were seen, for Gaussian noise."""

    multi_output: str
    _seen: SufficientStatistics | None = None

    @available_if(lambda self: self._check_takes_parts())  # type: ignore[untyped-decorator]
    @with_callbacks
    @with_default_float_errors
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows to those that were seen, and fit all of them.

        The first call chooses centres and scales, which later calls keep: the result is that of one
        fit with these to all rows. Of the rows sums are kept, which are not stored with the
        estimator (:doc:`/guide/scale-out`).

        Parameters
        ----------
        X, y, sample_weight : array-like
            As in `fit`.

        Returns
        -------
        self : object
            The estimator, fitted to all rows so far.

        Raises
        ------
        AttributeError
            The likelihood, or a parameter, needs rows that are gone; the cause names it.

        Examples
        --------
        >>> from relvec import RVR
        >>> from relvec.datasets import make_sinc
        >>> X, y = make_sinc(300, noise_scale=0.1, random_state=0)
        >>> model = RVR(centers=X[::10], gamma=0.1).partial_fit(X[:100], y[:100])
        >>> model.partial_fit(X[100:], y[100:]).n_samples_fit_
        300
        """
        return self._fit_seen(self._add(X, y, sample_weight))

    @with_callbacks
    @with_default_float_errors
    def fit_chunks(self, chunks: Iterable[tuple[ArrayLike, ...]]) -> Self:
        """Fit rows that come in chunks, each looked at once, as `partial_fit` does.

        Parameters
        ----------
        chunks : iterable of tuple
            ``(X, y)`` or ``(X, y, sample_weight)``, one after the other; the first chooses centres
            and scales.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            The likelihood, or a parameter, needs rows that are gone.
        """
        self._check_takes_parts()
        self._forget_rows()
        for chunk in chunks:
            if not 2 <= len(chunk) <= 3:
                raise ValueError(
                    f"a chunk has {len(chunk)} parts, expected (X, y) or (X, y, sample_weight)"
                )
            last = self._add(*chunk)
        if self._seen is None:
            raise ValueError("chunks is empty, expected at least one (X, y)")
        return self._fit_seen(last)

    @abstractmethod
    def _likelihood(self) -> RegressionLikelihood:
        """Check the parameters of the likelihood and build it."""

    @abstractmethod
    def _validated(self, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Array, Array]:
        """Validate rows and targets, those of later calls like the first."""

    @abstractmethod
    def _layout(self, varies: NDArray[np.bool_]) -> TargetLayout:
        """Return how several targets, of which some vary, go together."""

    def _check_takes_parts(self) -> bool:
        """Raise if the likelihood or a parameter needs rows that are gone; otherwise True."""
        if not self._likelihood().quadratic:
            raise ValueError(
                f"likelihood={self.likelihood!r}, expected 'gaussian' where rows come in parts: "
                "any other has to look at them again"
            )
        self._check_rows_not_kept("where rows come in parts")
        if self.checkpoint is not None:
            raise ValueError(
                f"checkpoint={self.checkpoint!r}, expected None where rows come in parts"
            )
        if isinstance(self._dictionary(), Precomputed):
            raise ValueError(
                "kernel='precomputed', expected a kernel that can be evaluated where rows come in "
                "parts"
            )
        return True

    def _forget_rows(self) -> None:
        """Forget rows that were seen before."""
        self.__dict__.pop("_seen", None)

    def _add(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Given:
        """Add rows to those that were seen, and return them."""
        seen = self._seen
        rows, targets = self._validated(in_memory(as_rows(X)), y, reset=seen is None)
        if rows.dtype == object:
            raise ValueError("X holds objects, expected numbers where rows come in parts")
        weights = check_weights(sample_weight, len(rows))
        t = targets.reshape(len(targets), -1)
        data = TrainingData(
            rows, {"": t}, bool(self.fit_intercept), weights, memory_limit=self.memory_limit
        )
        basis = self._first_basis(data) if seen is None else seen.basis
        part = SufficientStatistics.of(basis, data, single=targets.ndim == 1)
        self._seen = part if seen is None else seen + part
        return {"X": rows, "y": targets, "sample_weight": weights}

    def _first_basis(self, data: TrainingData) -> Basis:
        """Return all candidates, with scales that are learnt from the first rows."""
        config, runner = self._config(data, single=True, order=None), Runner(verbose=self.verbose)
        basis = pipeline.place(data, self._basis(data), config, runner)
        if not data.learns_scales(basis):
            return basis
        data = data.without_unused()
        (t,) = data.targets.values()
        data = replace(data, targets=self._layout(varying(t)).targets(t))
        with single_threaded():
            return pipeline.scaled(Problem(data, self._likelihood(), config, runner), basis)[0]

    def _fit_seen(self, given: Given) -> Self:
        """Fit all rows that were seen."""
        seen, intercept = self._seen, bool(self.fit_intercept)
        assert seen is not None
        layout = self._layout(SummedDesign(seen.sums, center=intercept).varies())
        X, weights = seen.inputs.rows
        data = SummedData(X, layout.columns, intercept, weights, sums=seen.sums)
        self.n_samples_fit_ = seen.n_rows
        result = pipeline.fit(
            data,
            seen.basis,
            self._likelihood(),
            self._config(data, single=seen.single, order=layout.order),
            self._runner(given),
        )
        self._conclude(result)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the sums, which are as large as the square of the candidates."""
        state: dict[str, Any] = super().__getstate__()
        state.pop("_seen", None)
        return state
