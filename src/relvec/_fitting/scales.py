"""Learn what a basis has to learn, such as input scales, from the evidence (Tipping 2001, app. C).

1. In a full model, of all functions or a subset of them, those of one kernel share a precision. No
   functions are chosen yet, so that only the scales can explain the targets.
2. Sparse fits at these scales alternate with an ascent in the scales and the precisions of the
   functions that were kept, until the penalised evidence rises no more.
3. The scale of an input that does not gain ½ log N nats (Schwarz's criterion) becomes zero. So it
   does already at the end of the first stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from relvec._design import Design
from relvec._design.base import EVERY
from relvec._evidence import evidence_model
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._fitting.alternating import hyper_of
from relvec._fitting.problem import Problem
from relvec._fitting.scale_ascent import ScaledEvidence, may_vanish
from relvec._numerics.groups import Groups
from relvec._numerics.typing import Array, Index
from relvec.basis.base import Basis
from relvec.solvers import Solution

#: Factors of the γ that the data suggest, besides 1: the first stage starts with the best.
FACTORS = (1 / 64, 1 / 16, 1 / 4, 4.0, 16.0)
#: The second stage starts from those that the data suggest as well, and from so many times them.
NARROWER = 4.0
#: Weights of each group of functions in the full model at most.
SUBSET = 200
#: Steps there for each factor, and with the scales free; steps of an ascent in the second stage.
FIRST_STEPS, FULL_STEPS, STEPS = 5, 60, 20
#: Gain in nats under which the second stage ends.
LEAST_GAIN = 0.1
#: A start is given up that is further behind another than so many times what its last round gained.
PATIENCE = 5.0


@dataclass(frozen=True)
class Fit:
    """A sparse fit of every output at some scales."""

    problem: Problem
    basis: Basis
    solutions: list[Solution]

    @classmethod
    def of(
        cls,
        problem: Problem,
        basis: Basis,
        begun: list[Hyperparameters] | None = None,
        design: Design | None = None,
    ) -> Fit:
        """Fit a basis; see `Problem.solve`."""
        with problem.runner.part("fit at some scales", problem.n_tasks):
            return cls(problem, basis, problem.solve(basis, begun, design))

    def refitted(self, kept: ScaledEvidence) -> Fit:
        """Fit at other scales, from the precisions on that the `kept` functions have there."""
        begun = [replace(hyper, active=self.active[hyper.active]) for hyper in kept.outputs]
        return Fit.of(self.problem, self.basis.with_hyper(kept.basis.hyper), begun)

    @property
    def log_evidence(self) -> float:
        """Log evidence of all outputs."""
        return sum(solution.log_evidence for solution in self.solutions)

    @property
    def penalised_evidence(self) -> float:
        """Log evidence less ½ log N for each learnt value and function, by which fits compare.

        Each was chosen among many, and evidence that has been maximised over them does not know.
        """
        if not all(self.problem.believable(s.log_evidence) for s in self.solutions):
            return -np.inf
        n_chosen = self.basis.n_hyper + len(self.active)
        return self.log_evidence - self.problem.data.bic_penalty * n_chosen

    @cached_property
    def active(self) -> Index:
        """Functions that any output uses."""
        return np.unique(np.concatenate([solution.active for solution in self.solutions]))

    def kept(self) -> ScaledEvidence:
        """Evidence of the functions that were kept."""
        data, basis, outputs = self.problem.data, self.basis.restrict(self.active), []
        Phi = data.evaluate(basis)
        for solution, t in zip(self.solutions, data.targets.values(), strict=True):
            columns = np.searchsorted(self.active, solution.active)
            design = data.design(Phi[:, columns], basis.groups[columns])
            hyper = hyper_of(solution, solution.likelihood, design, t)
            outputs.append(replace(hyper, active=columns[hyper.active]))
        return ScaledEvidence(self.problem, basis, outputs, Phi)


def learn_scales(problem: Problem, basis: Basis) -> tuple[Basis, list[Solution]]:
    """Learn the values in `Basis.hyper`, and fit with them.

    Returned are all candidates at the learnt values, and the solution of every output. Likelihoods
    whose evidence has no known gradient in the functions are refused.
    """
    if not problem.likelihood.learns_scales:
        raise ValueError(
            f"{', '.join(basis.hyper)} to be learnt, as with gamma='evidence' or 'ard', expected "
            f"numbers, 'scale' or 'auto' under {type(problem.likelihood).__name__}, which has "
            "parameters of its own to learn; learn them under Gaussian noise, without outliers, or "
            "choose them by cross-validation"
        )
    fits = _fits(problem, basis)
    best = next(fits)
    with problem.runner.interruptible():
        for better in fits:
            best = better
            if problem.runner.stopped:
                break
    return best.basis, best.solutions


def _fits(problem: Problem, basis: Basis) -> Iterator[Fit]:
    """Fits at one set of values after another, each at least as good as the ones before."""
    design = problem.data.candidates(basis, problem.likelihood)
    subset = basis.restrict(_subset(problem, basis, design))
    first = Fit.of(problem, basis, design=design)
    del design  # which may be as large as the memory
    yield first
    best = alternated(first)
    yield best
    full = basis.with_hyper(full_model(problem, subset).hyper)
    for start in (full, *at_multiples(basis, [NARROWER])):
        fit = alternated(Fit.of(problem, start), beside=best.penalised_evidence)
        if fit.log_evidence >= first.log_evidence:
            best = max(best, fit, key=lambda one: one.penalised_evidence)
        yield best
    yield without_irrelevant_inputs(best)


def at_multiples(basis: Basis, factors: Sequence[float]) -> list[Basis]:
    """Return the same functions with γ times each factor; none, if there is no γ to learn."""
    gammas = {name: value for name, value in basis.hyper.items() if name.endswith("gamma")}
    return [
        basis.with_hyper({name: factor * value for name, value in gammas.items()})
        for factor in factors
        if gammas
    ]


def full_model(problem: Problem, subset: Basis) -> Basis:
    """Stage 1: the functions at scales that suit all of them, with one precision a kernel."""
    starts = (_full(problem, basis) for basis in (subset, *at_multiples(subset, FACTORS)))
    found = (start.ascended(FIRST_STEPS, theta=False) for start in starts)
    _, best = max(found, key=lambda ending: ending[0])
    while True:
        _, best = best.ascended(FULL_STEPS)
        fewer = with_relevant_inputs(best)
        if len(fewer.theta) == len(best.theta):
            return best.basis
        best = fewer


def groups_by_kernel(basis: Basis) -> Groups:
    """Functions that share a precision in the full model: those of a kernel, and `Basis.groups`."""
    labels = basis.groups.copy()
    for _, functions in basis.kernel_parts():
        labels[functions] = labels[functions].min(initial=len(labels))
    return Groups.of_labels(labels)


def _subset(problem: Problem, basis: Basis, design: Design) -> Index:
    """Positions of functions for the full model, `SUBSET` weights of each group at most.

    They are evenly spaced in their correlation with the target, whatever its sign.
    """
    most, groups = max(1, SUBSET // problem.likelihood.n_outputs), groups_by_kernel(basis)
    if groups.sizes.max() <= most:
        return np.arange(len(groups.label))
    t = next(iter(problem.data.targets.values()))[:, 0]
    correlation = np.abs((design.row_weights * (t - t.mean())) @ design.columns(EVERY))
    order, chosen = np.argsort(correlation, kind="stable"), []
    for group in range(groups.count):
        members = order[groups.label[order] == group]
        spaced = np.linspace(0, len(members) - 1, min(most, len(members)))
        chosen.append(members[spaced.round().astype(np.intp)])
    return np.sort(np.concatenate(chosen))


def _full(problem: Problem, basis: Basis) -> ScaledEvidence:
    """Evidence of all functions, with a guess of the precisions.

    Each group begins with the whole of the target to explain, its functions with equal shares.
    """
    data, groups, outputs = problem.data, groups_by_kernel(basis), []
    Phi, every = data.evaluate(basis), np.arange(len(groups.label))
    for t in data.targets.values():
        design = data.design(Phi.copy(), groups.label)
        model = evidence_model(problem.likelihood, design, t)
        hyper = Hyperparameters(every, groups.sizes / model.norm2, model.first_beta, groups.label)
        outputs.append(hyper.in_units(1 / design.weight_unit))
    return ScaledEvidence(problem, basis, outputs, Phi)


def alternated(fit: Fit, *, beside: float = -np.inf) -> Fit:
    """Stage 2: rounds of ascent and fit while the penalised evidence rises.

    They end early where they will not catch up with that of another fit, `beside`.
    """
    runner = fit.problem.runner
    for _ in range(fit.problem.config.max_iter):
        if not len(fit.active) or runner.stopped:
            break
        moved = fit
        with runner.interruptible():
            # Where the evidence is that of Laplace's method, precisions follow eq. 16, as in every
            # fit: its gradient would lead those of classes that can be told apart to zero.
            precisions = fit.problem.likelihood.quadratic
            moved = fit.refitted(fit.kept().ascended(STEPS, precisions=precisions)[1])
        gain = moved.penalised_evidence - fit.penalised_evidence
        if not gain > 0:
            break
        fit = moved
        if gain < LEAST_GAIN or fit.penalised_evidence + PATIENCE * gain < beside:
            break
    return fit


def without_irrelevant_inputs(fit: Fit) -> Fit:
    """Stage 3, with all functions and precisions free to make up for what goes."""
    while len(fit.active) and not fit.problem.runner.stopped:
        kept = fit.kept()
        fewer = with_relevant_inputs(kept)
        if len(fewer.theta) == len(kept.theta):
            break
        other = alternated(fit.refitted(fewer))
        if other.penalised_evidence < fit.penalised_evidence:
            break
        fit = other
    return fit


def with_relevant_inputs(evidence: ScaledEvidence) -> ScaledEvidence:
    """Return the evidence with scales of zero for inputs that gain less than the BIC penalty."""
    return evidence.at(evidence.problem.runner.once(partial(_relevant, evidence)))


def _relevant(evidence: ScaledEvidence) -> Array:
    """θ, −∞ for the scales that go one after the other, the one that costs least first."""
    left, value = evidence.theta, evidence.value()

    def without(entry: int) -> Array:
        return np.where(np.arange(len(left)) == entry, -np.inf, left)

    costs = {
        entry: value - evidence.at(without(entry)).value()
        for entry in np.flatnonzero(may_vanish(evidence.basis)).tolist()
    }
    for entry in sorted(costs, key=lambda entry: costs[entry]):
        others = may_vanish(evidence.at(left).basis)[np.isfinite(left[:entry]).sum()]
        if not others or not costs[entry]:
            continue  # of a scale that no kept function depends on nothing is known
        fewer = evidence.at(without(entry)).value()
        if value - fewer < evidence.problem.data.bic_penalty:
            left, value = without(entry), fewer
    return left
