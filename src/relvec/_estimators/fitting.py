"""The one fit pipeline: validate, basis, design, solver, store, warn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, check_scalar

from relvec._estimators.fitted import FitData
from relvec._estimators.long_fit import LongFit
from relvec._fitting import learn_scales
from relvec._fitting.augmentation import check_augmentable
from relvec._fitting.centers import (
    LOOKED_AT,
    CentersLike,
    Once,
    at_once,
    choose_centers,
    distinct,
    looked_at,
)
from relvec._fitting.out_of_core import OutOfCoreProblem, OutOfCoreRows
from relvec._fitting.problem import Problem
from relvec._numerics.checks import check_count, check_positive
from relvec._numerics.linalg import NotPositiveDefiniteError, single_threaded
from relvec._numerics.priors import Gamma, check_weight_prior
from relvec._numerics.typing import Array, Index, RowVector
from relvec._runner import Checkpoint
from relvec._runner.warn import warn_user
from relvec.basis import Basis, Centers, Precomputed
from relvec.likelihoods import Likelihood
from relvec.solvers import SOLVERS, Solution, Solver

#: Rows on which scales are learnt where the candidates at all of them are not stored.
SCALE_ROWS = 2000


class Fitting(LongFit, ABC):
    """How an estimator is fitted; parameters and attributes are documented where they are set."""

    fit_intercept: bool
    centers: CentersLike = None
    augment: bool = False
    alpha_prior: tuple[float, float]
    solver: str
    n_starts: int | None
    tol: float | None
    max_iter: int
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    memory_limit: float = 1e9
    verbose: int

    def _fit(
        self,
        given: FitData,
        targets: Mapping[str, Array],
        likelihood: Likelihood,
        weights: Array | None,
        precision: Array | None = None,
        *,
        single: bool,
        order: Index | None = None,
    ) -> None:
        """Fit validated data: choose and place the candidates, solve for every target, store, warn.

        Targets have the name that warnings call their machine, empty for the only one. The
        precision of each row's noise is relative to that of the likelihood. How the machines are
        stored is said in `Fitted._conclude`.
        """
        X, record = given.X, self._record(given, targets)
        self.n_samples_fit_ = len(X)
        present = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
        self._check_enough(len(present), float(len(X) if weights is None else weights.sum()))
        basis = self._placed(X, weights, present, record.once)
        if weights is not None and len(present) < len(X):
            X, weights = X[present], weights[present]
            targets = {name: t[present] for name, t in targets.items()}
            precision = None if precision is None else precision[present]
        for t in targets.values():
            likelihood.check(t)
        problem = Problem(
            X,
            targets,
            likelihood,
            bool(self.fit_intercept),
            weights,
            precision,
            self.n_jobs,
            self.memory_limit,
        )
        self._finish(problem, basis, given, record, single=single, order=order)

    def _fit_distant(
        self,
        rows: OutOfCoreRows,
        targets: Mapping[str, RowVector],
        likelihood: Likelihood,
        weights: RowVector | None,
        *,
        single: bool,
        order: Index | None = None,
    ) -> None:
        """Fit rows that are not in memory; see `_fit`."""
        self._check_distant(likelihood)
        outline = rows.outline(weights)
        self.n_samples_fit_ = len(rows)
        self._check_enough(len(rows), outline.weight)
        sample = looked_at(self.centers, len(rows), self.random_state)
        X, *given = rows.blocks.take(sample, *([] if weights is None else [weights]))
        present = np.flatnonzero(given[0]) if given else np.arange(len(X))
        basis = self._placed_among(X, present, outline.rows, len(rows), numbers=sample)
        if isinstance(basis, Precomputed):
            raise ValueError("kernel='precomputed', expected a kernel of rows that are in memory")
        for t in targets.values():
            rows.blocks.sum(partial(_checked, likelihood), t)
        problem = OutOfCoreProblem(
            outline.rows[0],
            targets,
            likelihood,
            bool(self.fit_intercept),
            outline.rows[1],
            n_jobs=self.n_jobs,
            blocks=rows.blocks,
            copies=weights,
        )
        nothing = FitData(outline.rows[0], np.empty(0))
        self._finish(problem, basis, nothing, Checkpoint(), single=single, order=order)

    def _check_rows_not_kept(self, where: str) -> None:
        """Refuse parameters that need the rows at hand, and say where they are not."""
        for name, expected in {"augment": False, "checkpoint": None}.items():
            value = getattr(self, name)
            if value is not expected and value != expected:
                raise ValueError(f"{name}={value!r}, expected {expected!r} {where}")

    def _check_distant(self, likelihood: Likelihood) -> None:
        """Refuse what needs the rows in memory."""
        self._check_rows_not_kept("for rows out of memory")
        if not likelihood.learns_scales:
            raise ValueError(
                f"{type(likelihood).__name__} noise, expected another for rows out of memory: it "
                "sorts the rows"
            )

    def _placed(
        self, X: Array, weights: Array | None, present: Index, once: Once = at_once
    ) -> Basis:
        """All candidates, at the scales that the rows suggest; what is drawn is drawn `once`."""
        some = present[looked_at(self.centers, len(present), self.random_state, once)]
        few = len(X) <= LOOKED_AT
        where = (X, weights) if few else OutOfCoreRows.in_memory(X).outline(weights).rows
        return self._placed_among(X, some, where, len(present), once)

    def _placed_among(
        self,
        X: Array,
        rows: Index,
        where: tuple[Array, Array | None],
        n_rows: int,
        once: Once = at_once,
        *,
        numbers: Index | None = None,
    ) -> Basis:
        """All candidates, centred on some `rows` of X, at scales that `where` suggests.

        Where X is a few of the rows, `numbers` are theirs.
        """
        check_scalar(self.augment, "augment", (bool, np.bool_))
        check_positive(self.memory_limit, "memory_limit")
        basis = self._basis(X)
        on_inputs = basis.centred and not isinstance(basis, Precomputed)
        places = distinct(X, rows) if on_inputs else rows
        centers = choose_centers(
            self.centers,
            places,
            X,
            self.random_state,
            capped=basis.centred,
            n_rows=n_rows if n_rows > LOOKED_AT else None,
            once=once,
        )
        if numbers is not None and (centers.rows >= 0).any():
            centers = Centers(centers.points, numbers[centers.rows])
        basis = basis.place(where[0], centers, where[1])
        if self.augment:
            check_augmentable(basis)
        return basis

    def _finish(
        self,
        problem: Problem,
        basis: Basis,
        given: FitData,
        record: Checkpoint,
        *,
        single: bool,
        order: Index | None,
    ) -> None:
        """Solve what was posed, store, warn."""
        solver, learns = self._solver(self._search(problem, basis)), problem.learns(basis)
        # Of several machines, or of scales that are learnt, there is no model in between.
        whole = len(problem.targets) == 1 and not learns
        so_far = partial(self._so_far, problem, basis, single) if whole else None
        n_parts = None if learns else problem.n_parts(solver)
        with single_threaded(), self._progress(record, given, n_parts, so_far) as progress:
            solver = replace(solver, progress=progress)
            basis, solutions = self._in_range(problem, basis, solver)
            notes = self._conclude(
                problem, basis, solutions, progress.note, single=single, order=order
            )
        warn_user(*notes)

    def _in_range(
        self, problem: Problem, basis: Basis, solver: Solver
    ) -> tuple[Basis, list[Solution]]:
        """Solve, and refuse what float64 has no digits for."""
        refusal = (
            "no digits of float64 are left for the weights: X, y or sample_weight reach over too "
            "many orders of magnitude for functions so much alike"
        )
        try:
            basis, solutions = self._solved(problem, basis, solver)
        except NotPositiveDefiniteError as error:
            raise OverflowError(refusal) from error
        if not all(np.isfinite(solution.log_evidence) for solution in solutions):
            raise OverflowError(refusal)
        return basis, solutions

    def _solved(
        self, problem: Problem, basis: Basis, solver: Solver
    ) -> tuple[Basis, list[Solution]]:
        """Learn the scales, on some of the rows if not all fit in memory, and solve."""
        if not problem.learns(basis):
            return basis, problem.solve(basis, solver)
        if problem.fits(basis):
            return learn_scales(problem, basis, solver)
        n_rows, draw = problem.n_rows, check_random_state(self.random_state)
        chosen = partial(draw.choice, n_rows, min(SCALE_ROWS, n_rows), replace=False)
        part = problem.part(np.sort(solver.progress.once(chosen)))
        basis, _ = learn_scales(part, basis, solver)
        return basis, problem.solve(basis, solver)

    def _search(self, problem: Problem, basis: Basis) -> dict[str, Any]:
        """Fields of the solver that say how hard it searches, and for how little."""
        return {"tol": self.tol, "n_starts": self.n_starts}

    def _solver(self, search: dict[str, Any]) -> Any:
        """Check the solver's parameters and build it."""
        if self.solver not in SOLVERS:
            raise ValueError(
                f"solver={self.solver!r} is not known, expected one of {list(SOLVERS)}"
            )
        check_positive(search["tol"], "tol")
        check_count(self.max_iter, "max_iter")
        check_count(search["n_starts"], "n_starts")
        return SOLVERS[self.solver](
            **search,
            max_iter=self.max_iter,
            verbose=int(self.verbose),
            alpha_prior=self._alpha_prior(),
        )

    def _alpha_prior(self) -> Gamma:
        """Prior of every weight's precision, in the users' units."""
        return check_weight_prior(self.alpha_prior, "alpha_prior")

    @abstractmethod
    def _dictionary(self) -> Basis:
        """Candidate functions that the parameters describe, unfitted."""

    def _basis(self, X: Array) -> Basis:
        """Build the unfitted basis, which knows its inputs."""
        basis = self._dictionary()
        basis.n_features_in_ = X.shape[1]
        if hasattr(self, "feature_names_in_"):
            basis.feature_names_in_ = self.feature_names_in_
        return basis

    def _check_enough(self, n_rows: int, total: float) -> None:
        check_scalar(self.fit_intercept, "fit_intercept", (bool, np.bool_))
        needed = 1 if self.fit_intercept else 0
        if total <= needed:
            raise ValueError(
                f"n_samples = {n_rows} with a total weight of {total:g}, expected more than "
                f"{needed} with fit_intercept={self.fit_intercept}"
            )


def _checked(likelihood: Likelihood, _X: Array, t: Array) -> bool:
    """Whether a block of targets is one of a likelihood, which raises if not."""
    likelihood.check(t)
    return True
