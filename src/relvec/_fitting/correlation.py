"""Learn the correlation ρ of noise from row to row: searches in turn with the best ρ for each.

Given ρ the rows are whitened, and a search goes as ever. Given the functions that it kept, ρ
maximises the evidence together with all precisions. There may be several maxima: rows that are
alike may have noise in common, or a function with many terms. So the searches begin at several
values of ρ, and the one is gone on with whose evidence is the highest less a price for its
functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from relvec._evidence import EvidenceModel, EvidenceState, evidence_model
from relvec._evidence.base import AscentLimits
from relvec._fitting.correlated_rows import (
    CorrelatedData,
    CorrelatedSolution,
    MarkovCorrelation,
    RowCorrelation,
)
from relvec._fitting.data import TrainingData
from relvec._fitting.problem import Problem
from relvec._numerics.typing import Array
from relvec.basis import Basis
from relvec.solvers import Solution, newton_ascent

#: ρ at which searches begin, and rounds that follow the best of them at most.
STARTS, ROUNDS = (0.0, 0.5, 0.9), 10
#: Largest z = artanh ρ, and values at which the evidence is looked at first.
LARGEST = 7.0
FIRST = np.array([-LARGEST, -2.0, -1.0, 0.0, 0.4, 0.8, 1.4, 2.2, 3.5, LARGEST])
#: Error of z, and the step of its second difference.
DIGITS, STEP = 1e-5, 0.02
#: Nats that a function, or ρ, has to be worth while ρ moves, and the ascent in the precisions.
TOL, ASCENT = 1e-6, AscentLimits(steps=100, tol_share=1e-4)

#: Searches for the functions of a problem.
Search = Callable[[Problem], tuple[Basis, list[Solution]]]


@dataclass(frozen=True)
class Found:
    """A search, with the best ρ for the functions that it kept."""

    basis: Basis
    solution: CorrelatedSolution
    rho: float
    worth: float  # log evidence less the price of the functions


def correlated(problem: Problem, search: Search) -> tuple[Basis, list[Solution]]:
    """Functions and solution under correlated noise, whose ρ is learnt if it is not known."""
    data = problem.data
    assert isinstance(data, CorrelatedData)
    correlation = data.correlation
    if isinstance(correlation, MarkovCorrelation) and correlation.ar1.rho is None:
        best = learnt(problem, correlation, search)
        return best.basis, [best.solution]
    basis, (solution,) = search(problem)
    of = correlation.fitted(data)
    return basis, [CorrelatedSolution(**vars(solution), correlation=of)]


def learnt(problem: Problem, correlation: MarkovCorrelation, search: Search) -> Found:
    """Best of the searches at several ρ, and of those at what is best for it."""
    runner, found = problem.runner, list[Found]()
    with runner.interruptible(lambda: bool(found)):
        for rho in STARTS:
            found.append(_searched(problem, correlation.at(rho), search))
            if runner.stopped:
                break
        for _ in range(0 if runner.stopped else ROUNDS):
            best = _best(found)
            found.append(_searched(problem, correlation.at(best.rho), search))
            if found[-1].worth - best.worth < TOL or runner.stopped:
                break
    best, n_iter = _best(found), sum(one.solution.n_iter for one in found)
    return replace(best, solution=replace(best.solution, n_iter=n_iter))


def _best(found: list[Found]) -> Found:
    return max(found, key=lambda one: one.worth)


def _searched(problem: Problem, correlation: MarkovCorrelation, search: Search) -> Found:
    """Search at a ρ, then move it to the best for what was found."""
    data = problem.data
    basis, (solution,) = search(replace(problem, data=_with(data, correlation)))
    profile = Profile(problem, correlation, basis, solution)
    z = profile.maximum()
    model, state = profile.at(z)
    kept = model.finalize(state.hyper)
    rho = float(np.tanh(z))
    of = correlation.at(rho, profile.std_error(z)).fitted(data)
    last = solution.history[-1]._replace(
        log_evidence=kept.log_evidence,
        n_active=len(kept.active),
        noise_variance=model.noise_variance(state.hyper.beta),
    )
    searched = vars(solution) | vars(kept) | {"active": solution.active[kept.active]}
    searched |= {"history": [*solution.history, last], "correlation": of}
    price = data.bic_penalty * len(np.unique(basis.groups[searched["active"]]))
    return Found(basis, CorrelatedSolution(**searched), rho, kept.log_evidence - price)


def _with(data: TrainingData, correlation: RowCorrelation) -> CorrelatedData:
    """Rows with another correlation."""
    assert isinstance(data, CorrelatedData)
    return replace(data, correlation=correlation)


class Profile:
    """Evidence of the functions of a solution in z = artanh ρ, at the best precisions for each.

    Parameters
    ----------
    problem : Problem
        With one target.
    correlation : MarkovCorrelation
    basis : Basis
        Candidates.
    solution : Solution
    """

    def __init__(
        self,
        problem: Problem,
        correlation: MarkovCorrelation,
        basis: Basis,
        solution: Solution,
    ) -> None:
        self.problem, self.correlation, self.solution = problem, correlation, solution
        self.basis = basis.restrict(solution.active)
        self.Phi = problem.data.evaluate(self.basis)
        (self.t,) = problem.data.targets.values()
        self.least = -LARGEST if correlation.regular else 0.0

    def at(self, z: float) -> tuple[EvidenceModel, EvidenceState]:
        """Evidence model there, and its state at the best precisions."""
        there = self.correlation.at(float(np.tanh(z)))
        basis, data = self.basis, _with(self.problem.data, there)
        design = data.design(self.Phi.copy(), basis.groups, basis.nothing)
        model = evidence_model(self.problem.likelihood, design, self.t).all_active()
        begun = evidence_model(self.solution.likelihood, design, self.t)
        state = model.at(begun.hyper_of(self.solution.alpha))
        return model, newton_ascent(state, model.n, model.noise, TOL, ASCENT)

    def value(self, z: float) -> float:
        """Log evidence in the users' units."""
        model, state = self.at(z)
        return model.user_evidence(state.log_evidence)

    def maximum(self) -> float:
        """Return z at which the evidence is highest, zero where it hardly depends on z."""
        points = FIRST[self.least <= FIRST]
        values = [self.value(z) for z in points.tolist()]
        best = int(np.argmax(values))
        bounds: Array = points[[max(best - 1, 0), min(best + 1, len(points) - 1)]]
        found = minimize_scalar(
            lambda z: -self.value(z), bounds=bounds, method="bounded", options={"xatol": DIGITS}
        )
        return float(found.x) if -found.fun > values[points.tolist().index(0.0)] + TOL else 0.0

    def std_error(self, z: float) -> float:
        """Standard error of ρ, by the curvature there; NaN at an end of the range."""
        if not self.least + STEP < z < LARGEST - STEP:
            return float("nan")
        below, here, above = (self.value(z + step) for step in (-STEP, 0.0, STEP))
        curvature = (2 * here - below - above) / STEP**2
        slope = 1 - np.tanh(z) ** 2
        return float(slope / np.sqrt(curvature)) if curvature > 0 else float("nan")
