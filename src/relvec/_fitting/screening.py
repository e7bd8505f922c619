"""Optional groups of functions: those that seem worth the most beside a fit of all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from relvec._evidence import evidence_model
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._fitting.alternating import hyper_of
from relvec._fitting.problem import Problem
from relvec._numerics.groups import Groups
from relvec._numerics.typing import Array, Index
from relvec.basis import Basis
from relvec.solvers import Solution

#: Optional functions whose gains are computed at a time, and groups that become candidates at most.
AT_A_TIME, MOST = 4000, 30
#: Rows that are drawn for this where there are more.
ROWS = 4000


def screened(problem: Problem, basis: Basis) -> tuple[Basis, list[Hyperparameters]]:
    """Functions that become candidates, and hyperparameters to begin with.

    Functions that are not optional are fitted first. Of the optional groups those become candidates
    that would raise the evidence of that fit most, and by the logarithm of their number at least:
    the best of so many groups of noise seems to be worth about as much.
    """
    few = problem.on_rows(ROWS) if problem.data.n_rows > ROWS else problem
    always = np.flatnonzero(~basis.optional)
    solutions = few.solve(basis.restrict(always))
    active = [always[solution.active] for solution in solutions]
    groups = Groups.of_labels(basis.groups)
    optional = np.unique(groups.label[basis.optional])
    gain = np.zeros(groups.count)
    sizes = np.cumsum(groups.sizes[optional])
    for which in np.split(
        optional, np.searchsorted(sizes, np.arange(AT_A_TIME, sizes[-1], AT_A_TIME))
    ):
        part = groups.members(which)[0]
        gain[which] = _gains(few, basis, solutions, active, part)
    best = optional[np.argsort(-gain[optional], kind="stable")[:MOST]]
    chosen = np.isin(groups.label, best[gain[best] > np.log(len(optional))])
    candidates = np.flatnonzero(chosen | ~basis.optional)
    begun = []
    for solution, t, own in zip(solutions, problem.data.targets.values(), active, strict=True):
        design = problem.data.candidates(basis.restrict(own), problem.likelihood)
        hyper = hyper_of(solution, solution.likelihood, design, t)
        begun.append(replace(hyper, active=np.searchsorted(candidates, own)))
    return basis.restrict(candidates), begun


def _gains(
    problem: Problem,
    basis: Basis,
    solutions: Sequence[Solution],
    active: Sequence[Index],
    part: Index,
) -> Array:
    """Nats that each group of functions `part` (m,) would gain beside the solutions."""
    kept = np.unique(np.concatenate(active))
    positions = np.union1d(kept, part)
    own = basis.restrict(positions)
    design = problem.data.candidates(own, problem.likelihood)
    total = np.zeros(design.groups.count)
    for solution, t, functions in zip(
        solutions, problem.data.targets.values(), active, strict=True
    ):
        places = np.searchsorted(positions, functions)
        model = evidence_model(solution.likelihood, design, t)
        alone = evidence_model(solution.likelihood, design.restrict(places), t)
        model.span_only(places)
        state = model.at(replace(alone.hyper_of(solution.alpha), active=places))
        total = total + model.scores(state).gain
    asked = np.unique(design.groups.label[np.searchsorted(positions, part)])
    gained: Array = total[asked]
    return gained
