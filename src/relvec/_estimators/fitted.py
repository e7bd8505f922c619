"""What a fit leaves in an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._estimators.stored import Stored
from relvec._fitting.augmentation import TrainingRows
from relvec._fitting.problem import Problem
from relvec._fitting.result import FittedOutput
from relvec._numerics.typing import Array, Index
from relvec.basis import Basis
from relvec.basis.scale import standard_deviations
from relvec.exceptions import RelvecWarning
from relvec.solvers import Pass, Solution


@dataclass(frozen=True)
class FitData:
    """What `fit` was given, validated.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
    sample_weight, noise_variance_per_row : ndarray of shape (n_samples,) or None
    """

    X: Array
    y: NDArray[Any]
    sample_weight: Array | None = None
    noise_variance_per_row: Array | None = None


class Fitted(Stored):
    """Attributes of a fitted estimator, documented in the estimators."""

    augment: bool

    n_features_in_: int
    basis_: Basis
    machines_: list[FittedOutput]
    relevance_: Index
    relevance_rows_: Index
    relevance_vectors_: Array
    dual_coef_: Array
    intercept_: Any
    weight_precision_: Array
    well_determined_: Array
    log_evidence_: float
    history_: list[Pass]
    n_iter_: int
    status_: str
    gamma_: float | Array
    feature_relevance_: Array
    training_rows_: Array | None = None
    n_samples_fit_: int
    _notes: list[tuple[str, str]]
    _noise_by_row: bool

    def _conclude(
        self,
        problem: Problem,
        basis: Basis,
        solutions: list[Solution],
        stopped: RelvecWarning | None = None,
        *,
        single: bool,
        order: Index | None = None,
    ) -> list[RelvecWarning]:
        """Set everything that is read off the solutions; what the user should know.

        Parameters
        ----------
        problem : Problem
        basis : Basis
            All candidates.
        solutions : list of Solution
            Of every target of the problem.
        stopped : RelvecWarning or None
            Why they are not at rest.
        single : bool
            Whether attributes of the machines have no axis of machines.
        order : ndarray of int or None
            Which of the machines comes where, if not each in its turn.
        """
        self._store(basis, solutions)
        self._keep_rows(problem, solutions)
        relevance = self.basis_.relevance(standard_deviations(problem.X, problem.weights))
        if relevance is not None:
            self.feature_relevance_ = relevance
        names = problem.targets
        found = [name + solution.status for name, solution in zip(names, solutions, strict=True)]
        self.status_ = ("" if stopped is None else f"{stopped}; ") + " | ".join(found)
        notes = [] if stopped is None else [stopped]
        notes += [
            type(note)(f"{name}{note}")
            for name, solution in zip(names, solutions, strict=True)
            for note in solution.notes
        ]
        self._notes = [(note.code, str(note)) for note in notes]
        self._noise_by_row = problem.precision is not None
        if order is not None:
            self.machines_ = [self.machines_[number] for number in order]
        self._publish(single=single)
        self.log_evidence_ = sum(solution.log_evidence for solution in solutions)
        return notes

    def _store(self, basis: Basis, solutions: list[Solution]) -> None:
        used = [solution.active for solution in solutions]
        self.relevance_ = np.unique(np.concatenate(used))
        self.basis_ = basis.restrict(self.relevance_)
        self.machines_ = [
            machine
            for solution in solutions
            for machine in FittedOutput.of(
                solution, np.searchsorted(self.relevance_, solution.active)
            )
        ]
        self.history_ = [
            row._replace(machine=number) for number, s in enumerate(solutions) for row in s.history
        ]
        self.n_iter_ = sum(solution.n_iter for solution in solutions)
        if hasattr(basis, "gamma_"):
            self.gamma_ = basis.gamma_

    def _keep_rows(self, problem: Problem, solutions: list[Solution]) -> None:
        """With `augment`, keep the training rows and what every machine left of them."""
        self.training_rows_ = None
        if not self.augment:
            return
        self.training_rows_ = problem.X.copy()  # users may write to theirs
        rows = TrainingRows(problem.X, self.basis_)
        targets = [
            part
            for t, solution in zip(problem.targets.values(), solutions, strict=True)
            for part in np.split(t, len(np.atleast_2d(solution.alpha)), axis=1)
        ]
        self.machines_ = [
            machine.beside(rows, t, problem)
            for machine, t in zip(self.machines_, targets, strict=True)
        ]

    def _publish(self, *, single: bool) -> None:
        """Set what is read off the basis, and of the machines what each has of every function.

        With `single` that is a vector, otherwise it has a row for every machine.
        """
        self.relevance_rows_, self.relevance_vectors_ = self.basis_.rows_, self.basis_.centers_
        alpha = self._by_machine("alpha", np.inf)
        determined = self._by_machine("well_determined", 0.0)
        self.weight_precision_ = alpha[0] if single else alpha
        self.well_determined_ = determined[0] if single else determined

    def _by_machine(self, name: str, missing: float) -> Array:
        """What every machine has for each of its functions, one row a machine."""
        rows = np.full((len(self.machines_), len(self.relevance_)), missing)
        for row, machine in zip(rows, self.machines_, strict=True):
            row[machine.columns] = getattr(machine, name)
        return rows
