"""A fit in stages: functions that are not optional, then others that seem worth it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from relvec._evidence import evidence_model
from relvec._fitting.alternating import hyper_of
from relvec._fitting.problem import Problem
from relvec._numerics.groups import Groups
from relvec._numerics.typing import Array, Index
from relvec.basis import Basis
from relvec.likelihoods import Gaussian
from relvec.solvers import Solution

#: Optional functions whose gains are computed at a time, and groups that become candidates at most.
AT_A_TIME, MOST = 4000, 30
#: Rows that are drawn for this where there are more.
ROWS = 4000


def in_stages(problem: Problem, basis: Basis) -> tuple[Basis, list[Solution]]:
    """Functions that become candidates, and the solution of every output.

    Functions that are not optional are fitted first, on some of the rows if there are many.
    """
    few = problem.on_rows(ROWS) if problem.data.n_rows > ROWS else problem
    basis, solutions = _refined(few, basis)
    if few is problem and not basis.optional.any():
        return basis, solutions
    n_groups = len(np.unique(basis.groups[basis.optional]))
    if basis.to_screen:
        X, weights = few.data.rows_at(np.arange(few.data.n_rows))
        basis = basis.screened(X, weights, _gains(few, basis, solutions))
    active = _active(basis, solutions)
    candidates = np.union1d(
        np.flatnonzero(~basis.optional),
        _promising(basis, _gains(few, basis, solutions), np.log(max(n_groups, 1))),
    )
    begun = []
    for solution, t, own in zip(solutions, problem.data.targets.values(), active, strict=True):
        design = problem.data.candidates(basis.restrict(own), problem.likelihood)
        hyper = hyper_of(solution, solution.likelihood, design, t)
        begun.append(replace(hyper, active=np.searchsorted(candidates, own)))
    basis = basis.restrict(candidates)
    return basis, problem.solve(basis, begun)


def _refined(problem: Problem, basis: Basis) -> tuple[Basis, list[Solution]]:
    """Functions of which enough are not optional, and solutions with those."""
    X, weights = problem.data.rows_at(np.arange(problem.data.n_rows))
    while True:
        always = np.flatnonzero(~basis.optional)
        solutions = problem.solve(basis.restrict(always))
        noise = np.full(len(basis.rows_), np.inf)
        for solution in solutions:
            own = always[solution.active]
            noise[own] = np.minimum(noise[own], _noise(solution))
        finer = basis.refined(X, weights, noise)
        if finer is basis:
            return basis, solutions
        basis = finer


def _noise(solution: Solution) -> Array:
    """Variance of Gaussian noise in units of the inverse precision of each function (n_active,)."""
    if not isinstance(solution.likelihood, Gaussian) or not len(solution.active):
        return np.full(len(solution.active), np.inf)
    variance = np.reshape(np.asarray(solution.likelihood.noise_variance), (-1, 1))
    ratio: Array = np.min(variance * solution.alpha, axis=0)
    return ratio


def _active(basis: Basis, solutions: Sequence[Solution]) -> list[Index]:
    """Numbers of the functions of each solution, found among those that are not optional."""
    always = np.flatnonzero(~basis.optional)
    return [always[solution.active] for solution in solutions]


def _promising(basis: Basis, gain: Array, least: float) -> Index:
    """Functions of those optional groups that gain (n_functions,) the most nats, over `least`.

    That is the logarithm of the number of groups: the best of so many of noise seems to be worth
    about as much.
    """
    groups = Groups.of_labels(basis.groups)
    worth = groups.largest(np.where(basis.optional, gain, 0.0))
    best = np.argsort(-worth, kind="stable")[:MOST]
    return groups.members(best[worth[best] > least])[0]


def _gains(problem: Problem, basis: Basis, solutions: Sequence[Solution]) -> Array:
    """Nats that the group of each optional function would add to the evidence of the solutions.

    Shape (n_functions,), zero for others. Few groups are evaluated at a time.
    """
    groups, active = Groups.of_labels(basis.groups), _active(basis, solutions)
    optional = np.unique(groups.label[basis.optional])
    gain = np.zeros(groups.count)
    parts = np.cumsum(groups.sizes[optional]) // AT_A_TIME
    for number in np.unique(parts):
        which = optional[parts == number]
        members = groups.members(which)[0]
        gain[which] = _gains_of(problem, basis, solutions, active, members)
    return gain[groups.label]


def _gains_of(
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
    return total[asked]
