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

from relvec._design import ArrayBlocks, Design
from relvec._design.summed import RowSums, SummedDesign
from relvec._estimators.fitted import FitData
from relvec._estimators.predictor import Predictor
from relvec._estimators.targets import Arrangement, vary
from relvec._fitting.out_of_core import InputSummary
from relvec._fitting.problem import Problem, rows_of_a_block
from relvec._numerics.checks import check_weights
from relvec._numerics.linalg import single_threaded
from relvec._numerics.typing import Array
from relvec._runner import Checkpoint
from relvec._runner.callbacks import with_callbacks
from relvec.basis import Basis, Precomputed
from relvec.likelihoods import RegressionLikelihood


@dataclass(frozen=True)
class SufficientStatistics:
    """What is left of rows that were seen.

    Attributes
    ----------
    basis : Basis
        All candidates, as the first rows placed them.
    sums : RowSums
        Of candidates and targets.
    inputs : Outline
        Of the inputs, which relevances of features are told by.
    n_rows : int
    single : bool
        Whether targets had no columns.
    """

    basis: Basis
    sums: RowSums
    inputs: InputSummary
    n_rows: int
    single: bool

    def with_rows(self, other: SufficientStatistics) -> SufficientStatistics:
        """What is left of the rows of both, whose targets have to be as many."""
        targets = [one.sums.n_targets for one in (self, other)]
        if targets[0] != targets[1] or self.single != other.single:
            raise ValueError(f"y has {targets[1]} columns, expected {targets[0]} as before")
        return replace(
            self,
            sums=self.sums + other.sums,
            inputs=self.inputs + other.inputs,
            n_rows=self.n_rows + other.n_rows,
        )


@dataclass(frozen=True)
class SummedProblem(Problem):
    """Rows of which sums are left; targets are their numbers, and X outlines them."""

    sums: RowSums | None = None

    def candidates(self, basis: Basis) -> Design:
        """See `Problem.candidates`."""
        assert self.sums is not None
        return SummedDesign(self.sums, center=self.has_intercept)

    def learns(self, basis: Basis) -> bool:
        """See `Problem.learns`: the first rows did."""
        return False


class Incremental(Predictor):
    """Fits that add rows to those that were seen, for Gaussian noise."""

    multi_output: str
    _absorbed: SufficientStatistics | None = None

    @available_if(lambda self: self._takes_parts())  # type: ignore[untyped-decorator]
    @with_callbacks
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows to those that were seen, and fit all of them.

        The first call chooses the centres and the scales of the kernel, learnt ones too, and every
        later call keeps them: the result is that of one fit with these to all rows. Of the rows,
        sums in the space of the candidates are kept, not they themselves; they are left out when
        the estimator is stored. Up to 500 candidates the sums hold all digits; those of more tell
        candidates apart up to 10⁻¹³ of their squares.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Copies of each row.

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
        >>> model = RVR(centers=X[::10], gamma=0.1)
        >>> for part in range(3):
        ...     rows = slice(100 * part, 100 * (part + 1))
        ...     model = model.partial_fit(X[rows], y[rows])
        >>> whole = RVR(centers=X[::10], gamma=0.1).fit(X, y)
        >>> float(abs(model.predict(X) - whole.predict(X)).max()) < 1e-8
        True
        """
        return self._fit_absorbed(self._absorb(X, y, sample_weight))

    @with_callbacks
    def fit_chunks(self, chunks: Iterable[tuple[ArrayLike, ...]]) -> Self:
        """Fit rows that come in chunks, each looked at once.

        The first chunk chooses centres and scales; see `partial_fit`, which this is but for fits
        after every chunk.

        Parameters
        ----------
        chunks : iterable of tuple
            ``(X, y)`` or ``(X, y, sample_weight)``, one after the other.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            The likelihood, or a parameter, needs rows that are gone.

        Examples
        --------
        >>> from relvec import RVR
        >>> from relvec.datasets import make_sinc
        >>> chunks = (make_sinc(100, noise_scale=0.1, random_state=k) for k in range(5))
        >>> RVR(gamma=0.1).fit_chunks(chunks).n_samples_fit_
        500
        """
        self._takes_parts()
        self.__dict__.pop("_absorbed", None)
        for chunk in chunks:
            if not 2 <= len(chunk) <= 3:
                raise ValueError(
                    f"a chunk has {len(chunk)} parts, expected (X, y) or (X, y, sample_weight)"
                )
            last = self._absorb(*chunk)
        if self._absorbed is None:
            raise ValueError("chunks is empty, expected at least one (X, y)")
        return self._fit_absorbed(last)

    @abstractmethod
    def _likelihood(self) -> RegressionLikelihood:
        """Check the parameters of the likelihood and build it."""

    @abstractmethod
    def _validated(self, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Array, Array]:
        """Validate rows and targets, those of later calls like the first."""

    @abstractmethod
    def _arrangement(self, varies: NDArray[np.bool_]) -> Arrangement:
        """How several targets, of which some vary, go together."""

    def _absorb(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> FitData:
        """Add rows to the sums, and return them."""
        likelihood, before = self._likelihood(), self._absorbed
        rows, targets = self._validated(X, y, reset=before is None)
        weights = check_weights(sample_weight, len(rows))
        if before is None:
            self._check_enough(len(rows), float(len(rows) if weights is None else weights.sum()))
            basis = self._first_basis(rows, targets, likelihood, weights)
        else:
            basis = before.basis
        given = FitData(rows, targets, weights)
        if weights is not None:
            kept = np.flatnonzero(weights)
            rows, targets, weights = rows[kept], targets[kept], weights[kept]
        absorbed = _absorbed(basis, rows, targets, weights, len(given.X))
        self._absorbed = absorbed if before is None else before.with_rows(absorbed)
        return given

    def _takes_parts(self) -> bool:
        """Whether rows may be gone after they were seen; what says no is refused by name."""
        if not self._likelihood().quadratic:
            raise ValueError(
                f"likelihood={self.likelihood!r}, expected 'gaussian' where rows come in parts: "
                "any other has to look at them again"
            )
        self._check_rows_not_kept("where rows come in parts")
        if isinstance(self._dictionary(), Precomputed):
            raise ValueError(
                "kernel='precomputed', expected a kernel that can be evaluated where rows come in "
                "parts"
            )
        return True

    def _first_basis(
        self,
        rows: Array,
        targets: Array,
        likelihood: RegressionLikelihood,
        weights: Array | None,
    ) -> Basis:
        """All candidates, with scales that are learnt from the first rows."""
        present = np.arange(len(rows)) if weights is None else np.flatnonzero(weights)
        basis = self._placed(rows, weights, present)
        if not basis.n_hyper:
            return basis
        columns = targets[present].reshape(len(present), -1)
        problem = Problem(
            rows[present],
            self._arrangement(vary(columns)).targets(columns),
            likelihood,
            bool(self.fit_intercept),
            None if weights is None else weights[present],
            memory_limit=self.memory_limit,
        )
        with single_threaded():
            return self._solved(problem, basis, self._solver(self._search(problem, basis)))[0]

    def _fit_absorbed(self, given: FitData) -> Self:
        """Fit what is left of all rows."""
        absorbed = self._absorbed
        assert absorbed is not None
        self.n_samples_fit_ = absorbed.n_rows
        design = SummedDesign(absorbed.sums, center=bool(self.fit_intercept))
        arranged = self._arrangement(design.varies())
        X, weights = absorbed.inputs.rows
        problem = SummedProblem(
            X,
            arranged.columns,
            self._likelihood(),
            bool(self.fit_intercept),
            weights,
            n_jobs=self.n_jobs,
            sums=absorbed.sums,
        )
        self._finish(
            problem,
            absorbed.basis,
            given,
            Checkpoint(),
            single=absorbed.single,
            order=arranged.order,
        )
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the sums, which are as large as the square of the candidates."""
        state: dict[str, Any] = super().__getstate__()
        state.pop("_absorbed", None)
        return state


def _absorbed(
    basis: Basis, X: Array, y: Array, weights: Array | None, n_rows: int
) -> SufficientStatistics:
    """What is left of rows that count, out of so many."""
    blocks = ArrayBlocks(X, rows_of_a_block(basis))
    columns = y.reshape(len(y), -1)
    given = [columns] if weights is None else [columns, weights]
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        sums = blocks.sum(partial(_row_sums, basis), *given)
        inputs = InputSummary.of(X, weights)
    if not np.isfinite(sums.moments.mean).all() or not np.isfinite(sums.squares).all():
        raise OverflowError("squares of y or of basis functions exceed the range of float64")
    return SufficientStatistics(basis, sums, inputs, n_rows, y.ndim == 1)


def _row_sums(basis: Basis, X: Array, targets: Array, weights: Array | None = None) -> RowSums:
    with np.errstate(over="ignore", invalid="ignore"):
        return RowSums.of(basis.evaluate(X), targets, weights)
