"""The stages in which input scales are learnt, each of which begins where the last one ended.

1. All functions, or some hundred of them, are in the model with one precision for all. There is no
   choice of functions yet, so that only the scales can explain the targets.
2. Sparse fits at these scales alternate with an ascent in the scales and the precisions of the
   functions that were kept, until the evidence settles.
3. A scale that is not worth ½ log N nats (Schwarz's criterion) becomes zero: its input does not
   matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relvec.basis.base import Array, Basis, Index
from relvec.inference import infer
from relvec.problem import Problem
from relvec.scales.ascent import ScaledEvidence, Tied
from relvec.solvers import Solution, Solver

#: Factors of the scales that the data suggest from which the first stage starts.
STARTS = (1 / 16, 1.0, 16.0)
#: Weights of a family of functions in the first stage at most.
CROWD = 200
#: Steps of each of its starts, and of the best one after that; steps of an ascent in the second.
FIRST_STEPS, CROWD_STEPS, STEPS = 10, 60, 50
#: Gain in nats under which the second stage ends.
SETTLED = 0.1


@dataclass(frozen=True)
class Fit:
    """A sparse fit of every machine at some scales."""

    problem: Problem
    solver: Solver
    basis: Basis
    solutions: list[Solution]

    @classmethod
    def of(cls, problem: Problem, solver: Solver, basis: Basis) -> Fit:
        """Fit at the scales of a basis."""
        return cls(problem, solver, basis, problem.solve(basis, solver))

    def at(self, log_scales: Array) -> Fit:
        """Fit at other scales."""
        return Fit.of(self.problem, self.solver, self.basis.with_log_scales(log_scales))

    @property
    def log_evidence(self) -> float:
        """Of all machines together."""
        return sum(solution.log_evidence for solution in self.solutions)

    @property
    def active(self) -> Index:
        """Functions that any machine uses."""
        return np.unique(np.concatenate([solution.active for solution in self.solutions]))

    def around(self) -> ScaledEvidence:
        """The evidence of the kept functions here, each with a precision of its own."""
        basis = self.basis.restrict(self.active)
        Phi, machines = self.problem.evaluate(basis), []
        for solution, t in zip(self.solutions, self.problem.targets.values(), strict=True):
            columns = np.searchsorted(self.active, solution.active)
            design = self.problem.design(Phi[:, columns])
            model = infer(solution.likelihood, design, t).model_of(solution.alpha)
            log_alpha = np.log(model.alpha * design.weight_unit**2)
            machines.append(Tied(columns, np.arange(len(columns)), log_alpha, model.beta))
        return ScaledEvidence(self.problem, basis, machines)


def learn_scales(problem: Problem, basis: Basis, solver: Solver) -> tuple[Basis, list[Solution]]:
    """Learn the scales of a basis that has some, and fit with them.

    Parameters
    ----------
    problem : Problem
        Rows and targets.
    basis : Basis
        Candidate functions, at the scales that the data suggest.
    solver : Solver
        What finds the functions and precisions at given scales.

    Returns
    -------
    basis : Basis
        All candidates at the learnt scales.
    solutions : list of Solution
        A solution for every target.
    """
    fit = Fit.of(problem, solver, basis.with_log_scales(crowd_scales(problem, basis)))
    fit = without_idle_scales(alternated(fit))
    return fit.basis, fit.solutions


def crowd_scales(problem: Problem, basis: Basis) -> Array:
    """Stage 1: logarithms of the scales that suit all functions with one precision a family."""
    few = basis.restrict(_thinned(problem, basis))
    starts = [
        _crowded(problem, few.with_log_scales(few.log_scales() + np.log(factor)))
        for factor in STARTS
    ]
    _, best = max((start.ascended(FIRST_STEPS) for start in starts), key=lambda found: found[0])
    return best.ascended(CROWD_STEPS)[1].basis.log_scales()


def _thinned(problem: Problem, basis: Basis) -> Index:
    """Positions of functions, `CROWD` weights of each family at most.

    They are evenly spaced in their correlation with the target, whatever its sign.
    """
    most = max(1, CROWD // problem.likelihood.n_outputs)
    families = basis.families()
    if np.bincount(families).max() <= most:
        return np.arange(len(families))
    design = problem.design(problem.evaluate(basis))
    t = next(iter(problem.targets.values()))[:, 0]
    correlation = np.abs(design.dot((design.row_weights * (t - t.mean()))[:, None])[:, 0])
    order, chosen = np.argsort(correlation, kind="stable"), []
    for family in np.unique(families):
        members = order[families[order] == family]
        places = np.linspace(0, len(members) - 1, min(most, len(members)))
        chosen.append(members[places.round().astype(np.intp)])
    return np.sort(np.concatenate(chosen))


def _crowded(problem: Problem, basis: Basis) -> ScaledEvidence:
    """The evidence of all functions, one precision a family, with a guess of the precisions.

    Each family begins with the whole of the target to explain, its functions with equal shares.
    """
    Phi, families = problem.evaluate(basis), basis.families()
    sizes, machines = np.bincount(families), []
    for t in problem.targets.values():
        design = problem.design(Phi.copy())
        inference = infer(problem.likelihood, design, t)
        unit2 = np.bincount(families, design.weight_unit**-2) / sizes
        log_alpha = np.log(sizes / unit2 / inference.norm2)
        machines.append(Tied(np.arange(len(families)), families, log_alpha, inference.first_beta))
    return ScaledEvidence(problem, basis, machines)


def alternated(fit: Fit) -> Fit:
    """Stage 2."""
    best = fit
    for _ in range(fit.solver.max_iter):
        if not len(fit.active):
            break
        _, there = fit.around().ascended(STEPS)
        fit = fit.at(there.basis.log_scales())
        gain = fit.log_evidence - best.log_evidence
        if gain > 0:
            best = fit
        if gain < SETTLED:
            break
    return best


def without_idle_scales(fit: Fit) -> Fit:
    """Stage 3, with all functions and precisions free to make up for what goes."""
    worth = 0.5 * float(np.log(fit.problem.n_copies))
    while fit.basis.n_scales > 1 and len(fit.active):
        log_scales = _busy(fit.around(), worth)
        n_idle = int(np.isinf(log_scales).sum())
        if not n_idle:
            break
        fewer = alternated(fit.at(log_scales))
        if fewer.log_evidence < fit.log_evidence - n_idle * worth:
            break
        fit = fewer
    return fit


def _busy(evidence: ScaledEvidence, worth: float) -> Array:
    """Logarithms of the scales, −∞ for those that go one after the other for less than `worth`."""
    log_scales, value = evidence.basis.log_scales(), evidence.value()
    left = list(range(len(log_scales)))
    cost = np.array([value - evidence.without(k).value() for k in left])
    for k in np.argsort(cost):
        if cost[k] == 0:  # no kept function depends on it, and nothing is known of it
            continue
        fewer = evidence.without(left.index(k))
        below = fewer.value()
        if value - below < worth:
            evidence, value = fewer, below
            left.remove(k)
            log_scales[k] = -np.inf
    return log_scales
