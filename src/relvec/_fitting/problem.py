"""A fit of all outputs at given candidate functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from relvec._design import Design
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._fitting.alternating import fit
from relvec._fitting.centers import CentersLike, RandomState
from relvec._fitting.data import TrainingData
from relvec._numerics.linalg import single_threaded
from relvec._numerics.objects import order_of
from relvec._numerics.typing import Index
from relvec._runner.runner import Runner
from relvec.basis import Basis
from relvec.likelihoods import Likelihood
from relvec.solvers import Solution, Solver


@dataclass(frozen=True)
class FitConfig:
    """Parameters of a fit that are neither data, basis nor likelihood."""

    solver: Callable[[Design], Solver]  # makes the solver for a design of all candidates
    max_iter: int  # passes of each search
    centers: CentersLike = None  # points that carry candidate functions
    augment: bool = False  # whether functions centred on the queries are added
    random_state: RandomState = None  # source of what is drawn
    n_jobs: int | None = None  # processes among which the outputs are shared out
    single: bool = True  # whether there is one output, whose attributes have no axis of outputs
    #: position of each output among those that were fitted, if not each in its turn
    order: Index | None = None
    #: those of the estimator that the fitted model goes on to read, by name
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Problem:
    """Everything of a fit but the candidate functions."""

    data: TrainingData
    likelihood: Likelihood
    config: FitConfig
    runner: Runner

    def solve(
        self,
        basis: Basis,
        begun: Sequence[Hyperparameters] | None = None,
        design: Design | None = None,
    ) -> list[Solution]:
        """Fit every output, from hyperparameters `begun` on if there are any.

        Candidates that have a `design` already are not evaluated again.
        """
        design = self.data.candidates(basis, self.likelihood) if design is None else design
        targets, solver = list(self.data.targets.values()), self.config.solver(design)
        starts: Sequence[Hyperparameters | None] = begun or [None] * len(targets)
        fits = [
            partial(fit, self.likelihood, solver, design, t, start)
            for t, start in zip(targets, starts, strict=True)
        ]
        parallel = Parallel(self.config.n_jobs)
        n_processes = effective_n_jobs(parallel.n_jobs)
        if len(fits) == 1:
            return [fits[0](self.runner)]
        if n_processes == 1:
            return self._in_turn(fits)
        alone = self.runner.alone()
        return self.runner.once(lambda: parallel(delayed(_in_process)(one, alone) for one in fits))

    def on_rows(self, most: int) -> Problem:
        """Return the problem on so many of the rows, drawn without replacement, or on all.

        What one seed draws does not depend on the order of rows in memory.
        """
        draw, data, n_rows = (
            check_random_state(self.config.random_state),
            self.data,
            self.data.n_rows,
        )
        places = self.runner.once(partial(draw.choice, n_rows, min(most, n_rows), replace=False))
        here = len(data.X) == n_rows
        rows = order_of(data.X, *data.targets.values())[places] if here else places
        return replace(self, data=data.subset(np.sort(rows)))

    def _in_turn(self, fits: Sequence[Callable[[Runner], Solution]]) -> list[Solution]:
        """Fit one output after the other.

        Where Ctrl-C ends the fit, outputs that are not fitted yet make one pass each.
        """
        solutions = list[Solution]()
        for number, one in enumerate(fits):
            with self.runner.part("machine", self.config.max_iter):
                with self.runner.interruptible(partial(bool, number)):
                    solutions.append(one(self.runner))
                if len(solutions) == number:
                    solutions.append(one(self.runner))
        return solutions

    @property
    def n_tasks(self) -> int:
        """Tasks of a fit that callbacks are told of: outputs, or passes of the only one."""
        return len(self.data.targets) if len(self.data.targets) > 1 else self.config.max_iter

    def believable(self, log_evidence: float) -> bool:
        """Return whether one output can have this evidence.

        Targets cannot be more than certain. With a flat intercept, classes that are far apart make
        an improper prior, and Laplace's method, believe otherwise.
        """
        return bool(np.isfinite(log_evidence)) and not (
            self.likelihood.support.integer and log_evidence > 0
        )


def _in_process(one: Callable[[Runner], Solution], runner: Runner) -> Solution:
    """Fit one output in another process, which has thread pools of its own."""
    with single_threaded():
        return one(runner)
