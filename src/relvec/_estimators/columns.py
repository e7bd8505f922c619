"""Estimators whose candidate functions are the columns of X."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from relvec._design import Design
from relvec._estimators.base import RelevanceEstimator
from relvec._estimators.groups import column_labels
from relvec._estimators.multiplicity import independent_groups, varying_groups
from relvec._fitting.data import TrainingData
from relvec._numerics.typing import Array
from relvec.basis import Basis, Columns, Concatenate
from relvec.solvers import Sequential, Solver

#: Columns that share a precision: none, "categories", a label a column, or columns by group.
GroupsLike = str | ArrayLike | Sequence[Hashable] | Mapping[Hashable, Sequence[int | str]] | None


class LinearEstimator(RelevanceEstimator):
    """Estimators whose candidate functions are the columns of X."""

    groups: GroupsLike
    centers = None
    augment = False
    random_state = None

    def _dictionary(self) -> Basis:
        return Columns()

    def _candidates(self, data: TrainingData) -> Basis:
        """Return the columns with the labels of their groups."""
        features = getattr(self, "feature_names_in_", None)
        return Columns(column_labels(self.groups, features, data))

    @property
    def coef_(self) -> Array:
        """Weights of the inputs, whatever a remainder adds."""
        check_is_fitted(self)
        beside = isinstance(self.basis_, Concatenate)
        columns = cast(Columns, self.basis_.parts_[0] if beside else self.basis_)
        weights = self.dual_coef_
        coef = np.zeros((*weights.shape[:-1], self.n_features_in_))
        coef[..., columns.terms_] = weights[..., : len(columns.terms_)]
        return coef

    def _search(self) -> dict[str, Any]:
        """Return the parameters of the solver, as far as they do not depend on the columns."""
        tol = Sequential.tol if self.tol is None else self.tol
        n_starts = self.n_starts
        if n_starts is None:
            n_starts = 3 if self.solver == "sequential" else 1
        return {"tol": tol, "n_starts": n_starts}

    def _adapted(self, solver: Solver, design: Design) -> Solver:
        """Return the solver with a penalty of columns for being chosen among so many."""
        if self.tol is not None or isinstance(self.solver, Solver):
            return solver
        penalty = float(np.log(max(1, len(varying_groups(design)))))
        tol = max(solver.tol, float(np.log(independent_groups(design))))
        return replace(solver, multiplicity_penalty=penalty, tol=tol)
