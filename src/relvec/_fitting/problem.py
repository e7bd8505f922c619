"""What is to be fitted, whatever the basis: the rows, the targets and their likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from relvec._design import ArrayBlocks, BlockedDesign, DenseDesign, Design
from relvec._evidence import Hyperparameters
from relvec._evidence.gaussian import bic_penalty
from relvec._numerics.linalg import single_threaded
from relvec._numerics.typing import Array, Index, RowVector
from relvec._runner.runner import Runner
from relvec.basis.base import Basis
from relvec.likelihoods import Likelihood
from relvec.solvers import Solution, Solver, fit

#: Of a number, and numbers of the candidates that a block of rows has.
BYTES, BLOCK_ENTRIES = 8, 1 << 24

#: Numbers of the candidates up to which they are stored, and rows to a candidate from which they
#: need not be.
SMALL, ROWS_A_FUNCTION = 200_000, 16


def rows_of_a_block(basis: Basis) -> int:
    """Rows in a block of the candidates of a basis."""
    return max(1, BLOCK_ENTRIES // max(1, len(basis.rows_)))


@dataclass(frozen=True)
class Problem:
    """Rows that count, with the targets of one or several machines on the same candidates.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    targets : mapping of str to ndarray of shape (n_samples, d)
        Target of each machine, by the name that warnings call it.
    likelihood : Likelihood
        What the outputs of every machine mean.
    has_intercept : bool
        Whether there is a flat-prior intercept.
    weights : ndarray of shape (n_samples,) or None
        Copies of each row, positive.
    precision : ndarray of shape (n_samples,) or None
        Precision of each row's noise relative to that of the likelihood.
    n_jobs : int or None
        Processes among which the machines are shared out.
    memory_limit : float
        Bytes up to which the candidates at all rows are stored.
    """

    X: Array
    targets: Mapping[str, RowVector]
    likelihood: Likelihood
    has_intercept: bool
    weights: Array | None
    precision: Array | None = None
    n_jobs: int | None = None
    memory_limit: float = np.inf

    def evaluate(self, basis: Basis) -> Array:
        """Candidate columns; what leaves the range of float64 is refused by the design, by name."""
        with np.errstate(over="ignore", invalid="ignore"):
            return basis.evaluate(self.X)

    def design(self, Phi: Array) -> Design:
        """Design of candidate columns, which it takes over."""
        return DenseDesign(
            Phi, center=self.has_intercept, weights=self.weights, precision=self.precision
        )

    def candidates(self, basis: Basis) -> Design:
        """Design of all functions of a basis: in memory if they fit, otherwise block by block.

        Where products tell all, and there are few functions, block by block is faster, too: the
        search has as few rows as there are functions then.
        """
        size = len(self.X) * len(basis.rows_)
        few = size > SMALL and len(self.X) > ROWS_A_FUNCTION * len(basis.rows_)
        if self.fits(basis) and not (few and self.likelihood.quadratic):
            return self.design(self.evaluate(basis))
        return BlockedDesign(
            ArrayBlocks(self.X, rows_of_a_block(basis)),
            basis,
            center=self.has_intercept,
            weights=self.weights,
            precision=self.precision,
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def fits(self, basis: Basis) -> bool:
        """Whether all functions of a basis may be stored at all rows."""
        return BYTES * len(self.X) * len(basis.rows_) <= self.memory_limit

    def learns(self, basis: Basis) -> bool:
        """Whether scales are to be learnt."""
        return basis.n_hyper > 0

    def part(self, rows: Index) -> Problem:
        """The same problem at some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        precision = None if self.precision is None else self.precision[rows]
        targets = {name: t[rows] for name, t in self.targets.items()}
        return replace(self, X=self.X[rows], targets=targets, weights=weights, precision=precision)

    def believable(self, log_evidence: float) -> bool:
        """Whether one machine can have this evidence.

        Targets cannot be more than certain. With a flat intercept, classes that are far apart make
        an improper prior, and the method of Laplace, believe otherwise.
        """
        return bool(np.isfinite(log_evidence)) and not (
            self.likelihood.discrete and log_evidence > 0
        )

    @property
    def price(self) -> float:
        """Nats that a scale or a function has to be worth."""
        return bic_penalty(len(self.X) if self.weights is None else self.weights.sum())

    def solve(
        self, basis: Basis, solver: Solver, begun: Sequence[Hyperparameters] | None = None
    ) -> list[Solution]:
        """Solution of every machine, from a model `begun` on if there is one."""
        return solver.progress.once(partial(self._solved, basis, solver, begun))

    def _solved(
        self, basis: Basis, solver: Solver, begun: Sequence[Hyperparameters] | None
    ) -> list[Solution]:
        design, targets = self.candidates(basis), self.targets.values()
        models: Sequence[Hyperparameters | None] = [None] * len(targets) if begun is None else begun
        machines = list(zip(targets, models, strict=True))
        parallel = Parallel(self.n_jobs)
        if effective_n_jobs(parallel.n_jobs) == 1 or len(machines) == 1:
            fits = [partial(fit, self.likelihood, solver, design, *one) for one in machines]
            return fits_in_turn(fits, solver)
        alone = replace(solver, progress=Runner())
        solutions: list[Solution] = parallel(
            delayed(_solve)(self.likelihood, alone, design, *one) for one in machines
        )
        return solutions

    def n_parts(self, solver: Solver) -> int:
        """Parts of a solution, of which callbacks are told: the machines, or passes of the one."""
        return len(self.targets) if len(self.targets) > 1 else solver.max_iter


def fits_in_turn(fits: Sequence[Callable[[], Solution]], solver: Solver) -> list[Solution]:
    """Fit one machine after the other.

    Where Ctrl-C ends the fit, machines that are not fitted yet make one pass each.
    """
    progress, solutions = solver.progress, list[Solution]()
    if len(fits) == 1:
        return [fits[0]()]
    for number, one in enumerate(fits):
        with progress.part("machine", solver.max_iter):
            with progress.interruptible(partial(bool, number)):
                solutions.append(progress.once(one))
            if len(solutions) == number:
                solutions.append(one())
    return solutions


def _solve(
    likelihood: Likelihood,
    solver: Solver,
    design: Design,
    t: RowVector,
    begun: Hyperparameters | None,
) -> Solution:
    """Fit one machine, maybe in another process, which has thread pools of its own."""
    with single_threaded():
        return fit(likelihood, solver, design, t, begun)
