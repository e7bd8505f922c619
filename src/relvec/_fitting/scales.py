"""The stages in which input scales are learnt, each of which begins where the last one ended.

1. All functions, or some hundred of them, are in the model with one precision for all. There is no
   choice of functions yet, so that only the scales can explain the targets.
2. Sparse fits at these scales alternate with an ascent in the scales and the precisions of the
   functions that were kept, until that is worth no more.
3. A scale that is not worth ½ log N nats (Schwarz's criterion) becomes zero: its input does not
   matter. So it is already at the end of the first stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import logsumexp

from relvec._design.base import EVERY
from relvec._evidence import Hyperparameters, evidence_model
from relvec._fitting.problem import Problem
from relvec._fitting.scale_ascent import (
    ScaledEvidence,
    SharedPrecisions,
    may_vanish,
    theta_of,
    with_theta,
)
from relvec._numerics.typing import Array, Index
from relvec._runner.runner import Runner
from relvec.basis.base import Basis
from relvec.solvers import Solution

#: Factors of the γ that the data suggest, besides 1: the first stage starts with the best.
FACTORS = (1 / 64, 1 / 16, 1 / 4, 4.0, 16.0)
#: The second stage starts from those that the data suggest as well, and from so many times them.
NARROWER = 4.0
#: Weights of a family of functions in the first stage at most.
CROWD = 200
#: Steps there for each factor, and with the scales free; steps of an ascent in the second stage.
FIRST_STEPS, CROWD_STEPS, STEPS = 5, 60, 20
#: Gain in nats under which the second stage ends.
SETTLED = 0.1
#: A start is given up that is further behind another than so many times what its last round gained.
PATIENCE = 5.0


@dataclass(frozen=True)
class Fit:
    """A sparse fit of every machine at some scales."""

    problem: Problem
    basis: Basis
    solutions: list[Solution]

    @classmethod
    def of(cls, problem: Problem, basis: Basis, begun: list[Hyperparameters] | None = None) -> Fit:
        """Fit at the scales of a basis, from models `begun` on if there are any."""
        with problem.runner.part("fit at some scales", problem.n_tasks):
            return cls(problem, basis, problem.solve(basis, begun))

    def onward(self, log_scales: Array, there: ScaledEvidence) -> Fit:
        """Fit at other scales, from the place on that the kept functions were taken to."""
        basis = with_theta(self.basis, log_scales)
        begun = [machine.hyper(self.active) for machine in there.machines]
        return Fit.of(self.problem, basis, begun)

    @property
    def log_evidence(self) -> float:
        """Of all machines together."""
        return sum(solution.log_evidence for solution in self.solutions)

    @property
    def worth(self) -> float:
        """Log evidence less the price of all scales and functions, by which fits compare.

        Each was chosen among many. Evidence that has been maximised over them does not know that.
        """
        if not all(self.problem.believable(s.log_evidence) for s in self.solutions):
            return -np.inf
        used = self.basis.n_hyper + len(self.active)
        return self.log_evidence - self.problem.data.bic_penalty * used

    @property
    def active(self) -> Index:
        """Functions that any machine uses."""
        return np.unique(np.concatenate([solution.active for solution in self.solutions]))

    def around(self) -> ScaledEvidence:
        """The evidence of the kept functions here, each with a precision of its own."""
        basis = self.basis.restrict(self.active)
        Phi, machines = self.problem.data.evaluate(basis), []
        for solution, t in zip(self.solutions, self.problem.data.targets.values(), strict=True):
            columns = np.searchsorted(self.active, solution.active)
            design = self.problem.data.design(Phi[:, columns])
            hyper = evidence_model(solution.likelihood, design, t).hyper_of(solution.alpha)
            log_alpha = np.log(hyper.alpha) - 2 * np.log(design.weight_unit)
            machines.append(
                SharedPrecisions(columns, np.arange(len(columns)), log_alpha, hyper.beta)
            )
        return ScaledEvidence(self.problem, basis, machines)


def learn_scales(problem: Problem, basis: Basis) -> tuple[Basis, list[Solution]]:
    """Learn the scales of a basis that has some, and fit with them.

    Parameters
    ----------
    problem : Problem
        Rows and targets.
    basis : Basis
        Candidate functions, at the scales that the data suggest.

    Returns
    -------
    basis : Basis
        All candidates at the learnt scales.
    solutions : list of Solution
        A solution for every target.

    Raises
    ------
    ValueError
        The likelihood has no evidence whose slope in the scales is known.
    """
    if not problem.likelihood.learns_scales:
        raise ValueError(
            "gamma='evidence' or 'ard' learns the scales of a kernel, expected numbers, 'scale' or "
            f"'auto' under {type(problem.likelihood).__name__} noise; learn gamma_ under Gaussian "
            "noise without the outliers, or choose gamma by cross-validation"
        )
    found = [Fit.of(problem, basis)]
    with problem.runner.interruptible():
        for better in _better(found[0]):
            found.append(better)
            if problem.runner.stopped:
                break
    return found[-1].basis, found[-1].solutions


def _better(first: Fit) -> Iterator[Fit]:
    """Fits at other scales, each at least as good as the ones before it."""
    problem, basis = first.problem, first.basis
    best = alternated(first)
    yield best
    crowd = with_crowd_scales(problem, basis, problem.runner)
    for start in (crowd, *at_multiples(basis, [NARROWER])):
        fit = alternated(Fit.of(problem, start), beside=best.worth)
        if fit.log_evidence >= first.log_evidence:
            best = max(best, fit, key=lambda one: one.worth)
        yield best
    yield without_idle_scales(best)


def with_crowd_scales(problem: Problem, basis: Basis, progress: Runner) -> Basis:
    """Stage 1: the basis at scales that suit all functions with one precision a family.

    Scales that are not worth their price to the crowd are zero.
    """
    few = basis.restrict(_thinned(problem, basis))
    crowds = [_crowded(problem, at) for at in (few, *at_multiples(few, FACTORS))]
    found = [crowd.ascended(FIRST_STEPS, progress, hold_scales=True) for crowd in crowds]
    _, best = max(found, key=lambda ending: ending[0])
    while True:
        best = best.ascended(CROWD_STEPS, progress)[1]
        basis = with_theta(basis, theta_of(best.basis))
        busy = progress.once(partial(_busy, best))
        if np.isfinite(busy).all():
            return basis
        basis = with_theta(basis, busy)
        best = ScaledEvidence(problem, with_theta(best.basis, busy), best.machines)


def at_multiples(basis: Basis, factors: Sequence[float]) -> list[Basis]:
    """Return the same functions with γ times each factor; none, if there is no γ to learn."""
    gammas = {name: value for name, value in basis.hyper.items() if name.endswith("gamma")}
    return [
        basis.with_hyper({name: factor * value for name, value in gammas.items()})
        for factor in factors
        if gammas
    ]


def families_of(basis: Basis) -> Index:
    """Labels of functions that share a precision in the full model, shape (n_functions,).

    Those of one kernel do, besides those that share one in every model.
    """
    labels = basis.groups.copy()
    for _, functions in basis.kernel_parts():
        labels[functions] = labels[functions].min(initial=len(labels))
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _thinned(problem: Problem, basis: Basis) -> Index:
    """Positions of functions, `CROWD` weights of each family at most.

    They are evenly spaced in their correlation with the target, whatever its sign.
    """
    most = max(1, CROWD // problem.likelihood.n_outputs)
    families = families_of(basis)
    if np.bincount(families).max() <= most:
        return np.arange(len(families))
    design = problem.data.design(problem.data.evaluate(basis))
    t = next(iter(problem.data.targets.values()))[:, 0]
    correlation = np.abs((design.row_weights * (t - t.mean())) @ design.columns(EVERY))
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
    Phi, families = problem.data.evaluate(basis), families_of(basis)
    members, machines = [families == family for family in np.unique(families)], []
    for t in problem.data.targets.values():
        design = problem.data.design(Phi.copy())
        inference = evidence_model(problem.likelihood, design, t)
        # Squares of norms may be out of range, where their logarithms are not.
        log_norm2 = -2 * np.log(design.weight_unit)
        log_alpha = np.array([logsumexp(log_norm2[own]) for own in members])
        log_alpha -= np.log(inference.norm2)
        machines.append(
            SharedPrecisions(np.arange(len(families)), families, log_alpha, inference.first_beta)
        )
    return ScaledEvidence(problem, basis, machines)


def alternated(fit: Fit, *, beside: float = -np.inf) -> Fit:
    """Stage 2: rounds of ascent and fit until one of them is not worth it.

    They end early where they will not catch up with a fit that is worth `beside`.
    """
    progress = fit.problem.runner
    for _ in range(fit.problem.config.max_iter):
        if not len(fit.active) or progress.stopped:
            break
        moved = fit
        with progress.interruptible():
            moved = _round(fit)
        if not moved.worth > fit.worth:
            break
        gain, fit = moved.worth - fit.worth, moved
        if gain < SETTLED or fit.worth + PATIENCE * gain < beside:
            break
    return fit


def _round(fit: Fit) -> Fit:
    """An ascent in the scales, and a fit at those it ends in."""
    # Where the evidence is that of Laplace's method, precisions follow eq. 16, as in every fit: its
    # slope would lead those of classes that can be told apart to zero.
    held = fit.problem.likelihood.discrete
    _, there = fit.around().ascended(STEPS, fit.problem.runner, hold_precisions=held)
    return fit.onward(theta_of(there.basis), there)


def without_idle_scales(fit: Fit) -> Fit:
    """Stage 3, with all functions and precisions free to make up for what goes."""
    while len(fit.active) and not fit.problem.runner.stopped:
        around = fit.around()
        log_scales = fit.problem.runner.once(partial(_busy, around))
        if np.isfinite(log_scales).all():
            break
        fewer = alternated(fit.onward(log_scales, around))
        if fewer.worth < fit.worth:
            break
        fit = fewer
    return fit


def _busy(evidence: ScaledEvidence) -> Array:
    """Logarithms of the scales, −∞ for those that go one after the other below their price."""
    log_scales, value = theta_of(evidence.basis), evidence.value()
    left = list(range(len(log_scales)))
    cost = np.full(len(left), np.inf)
    for k in map(int, np.flatnonzero(may_vanish(evidence.basis))):
        cost[k] = value - evidence.without(k).value()
    for k in np.argsort(cost):
        place = left.index(k)
        if cost[k] == 0 or not may_vanish(evidence.basis)[place]:
            continue  # of a scale that no kept function depends on nothing is known
        fewer = evidence.without(place)
        below = fewer.value()
        if value - below < evidence.problem.data.bic_penalty:
            evidence, value = fewer, below
            left.remove(k)
            log_scales[k] = -np.inf
    return log_scales
