"""Fit under any likelihood: a search alone, or alternating with what the likelihood learns.

A solver learns functions, precisions and Gaussian noise for the likelihood as it is. Then the
likelihood learns parameters of its own (`Likelihood.learn`) for the posterior of the weights as it
is, and the solver goes on from its model. Each raises the same evidence, or lower bound of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from relvec._design.base import Design
from relvec._evidence import evidence_model
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.posterior import Posterior
from relvec._evidence.scale_mixture import ScaleMixtureEvidence, predictor_moments
from relvec._numerics.typing import Array, RowVector
from relvec._runner.runner import Runner
from relvec.exceptions import NotConvergedWarning
from relvec.likelihoods.base import Likelihood
from relvec.likelihoods.student_t import StudentT
from relvec.solvers.base import Pass, Solution, Solver, evidence_rounding, first_of_best

#: The fit ends with a round after which the likelihood would gain less than this share of `tol`. In
#: the first rounds, which gain more nats than the second, and in the last, the solver begins anew,
#: too: its model may be the one that another likelihood led to.
SETTLED, UNSETTLED = 0.01, 1.0


def fit(
    likelihood: Likelihood,
    solver: Solver,
    design: Design,
    t: RowVector,
    begun: Hyperparameters | None = None,
    runner: Runner | None = None,
    *,
    learn: bool = True,
) -> Solution:
    """Fit candidates to a target, from hyperparameters `begun` on if there are any.

    Without `learn` the likelihood's own parameters stay as they are.
    """
    runner = Runner() if runner is None else runner
    if learn and likelihood.hyper and not likelihood.quadratic:
        return Alternation(likelihood, solver, design, t, runner).run(begun)
    found = runner.run(solver, solver.evidence_model(likelihood, design, t), begun)
    if design.by_normal_equations and likelihood.quadratic:
        kept = design.restrict(found.active)
        if not kept.by_normal_equations:
            return _with_all_digits(found, solver, kept, t, likelihood, runner)
    return found


def _with_all_digits(
    found: Solution,
    solver: Solver,
    kept: Design,
    t: RowVector,
    likelihood: Likelihood,
    runner: Runner,
) -> Solution:
    """Go on with the functions that were kept, where products of columns hid digits that matter.

    What the search believed there no longer counts, but that it ran out of passes does.
    """
    hyper = hyper_of(found, found.likelihood, kept, t)
    again = runner.run(solver, solver.evidence_model(likelihood, kept, t), hyper)
    stopped = tuple(note for note in found.warnings if isinstance(note, NotConvergedWarning))
    return replace(
        again,
        active=found.active[again.active],
        history=found.history + again.history,
        n_iter=found.n_iter + again.n_iter,
        warnings=stopped + again.warnings,
        status=found.status,
    )


def hyper_of(
    found: Solution, likelihood: Likelihood, kept: Design, t: RowVector
) -> Hyperparameters:
    """Hyperparameters of a solution for a design of its functions, in units of raw columns."""
    return evidence_model(likelihood, kept, t).hyper_of(found.alpha).in_units(1 / kept.weight_unit)


class _Round(NamedTuple):
    """A likelihood, and mean and variance of the linear predictor at the rows."""

    likelihood: Likelihood
    mean: Array
    variance: Array

    def learnt(self, t: Array, frequency: Array) -> _Round:
        """The same moments, with the likelihood that is best for them."""
        better = self.likelihood.learn(t, self.mean, self.variance, frequency)
        return self._replace(likelihood=better)

    def expected(self, t: Array, frequency: Array) -> float:
        """Expected log-likelihood, by the surrogate."""
        value, _, weight = self.likelihood.surrogate(t, self.mean, self.variance)
        return float(frequency @ (value - 0.5 * np.einsum("nrs,nsr->n", weight, self.variance)))

    def above(self, t: Array, precision: Array | None, frequency: Array) -> float:
        """Expected log-likelihood above that of the likelihood that the search works under."""
        if precision is None:
            return 0.0
        return float(
            frequency @ self.likelihood.above_conditional(t, self.mean, self.variance, precision)
        )


class Alternation:
    """Rounds of searches, target t (n_samples, d), after each of which the likelihood learns."""

    def __init__(
        self, likelihood: Likelihood, solver: Solver, design: Design, t: Array, runner: Runner
    ) -> None:
        self.solver, self.design, self.t = solver, design, t
        self.frequency = design.row_weights
        self._first = _Round(*likelihood.initial(t, self.frequency))
        self.history: list[Pass] = []
        self.n_iter, self.runner = 0, runner
        self._found: tuple[Solution, _Round] | None = None

    def run(self, begun: Hyperparameters | None) -> Solution:
        """Rounds to the end, or until Ctrl-C after one of them."""
        with self.runner.interruptible(lambda: self._found is not None):
            return self._run(begun)
        assert self._found is not None
        return self._solution(*self._found)

    def _run(self, begun: Hyperparameters | None) -> Solution:
        """Rounds until the likelihood would gain next to nothing.

        An evidence that falls has lost its digits, or is that of a solver which begins anew in
        every round and took another way; then the round before was the last.
        """
        at, unsettled, last, bound = self._first, True, False, -np.inf
        while True:
            likelihood, precision = at.likelihood.conditional(self.t, at.mean, at.variance)
            above = at.above(self.t, precision, self.frequency)
            turned, rows = self._search(likelihood, precision, above, begun, unsettled or last)
            if self._found is not None:
                # Functions may have left that were worth less than `tol`.
                lost = max(1, len(self._found[0].active) - len(turned.active))
                if turned.log_evidence + above < bound - lost * self.solver.tol:
                    return self._solution(*self._found)
            bound = turned.log_evidence + above
            self.history += rows
            reached = self._reached(turned, at.likelihood)
            self._found = turned, reached
            learnt = reached.learnt(self.t, self.frequency)
            gain = learnt.expected(self.t, self.frequency)
            gain -= reached.expected(self.t, self.frequency)
            gain += reached.above(self.t, precision, self.frequency) - above
            at_rest = abs(gain) < SETTLED * self.solver.tol
            if at_rest and last:
                return self._solution(turned, reached)
            if self.n_iter >= self.solver.max_iter or self.runner.stopped:
                return self._solution(turned, reached, at_rest=False)
            unsettled, last, at = gain > UNSETTLED, at_rest, learnt
            begun = self._begun(turned, at)

    def _search(
        self,
        likelihood: Likelihood,
        precision: Array | None,
        above: float,
        begun: Hyperparameters | None,
        anew: bool,
    ) -> tuple[Solution, list[Pass]]:
        """Search from the model so far or `anew`: the better of both, with its history.

        One that begins anew is better by more than rounding. It leaves out rows below the bound
        that was reached before.
        """
        rows = self.design if precision is None else self.design.with_precision(precision)
        tried, histories = list[Solution](), []
        for start in [None] if begun is None else [begun, None][: 1 + anew]:
            left = self.solver.max_iter - self.n_iter
            if tried and left < 1:
                break
            solver = replace(self.solver, max_iter=left)
            found = fit(likelihood, solver, rows, self.t, start, self.runner, learn=False)
            tried.append(found)
            histories.append([self._row(row, above) for row in found.history])
            self.n_iter += found.n_iter
        n = float(self.frequency.sum())
        best = first_of_best([found.log_evidence for found in tried], n)
        history = histories[best]
        if best:
            least = self.history[-1].log_evidence if self.history else -np.inf
            least -= evidence_rounding(least, n)
            history = [row for row in history[:-1] if row.log_evidence >= least] + history[-1:]
        return tried[best], history

    def _reached(self, found: Solution, likelihood: Likelihood) -> _Round:
        """The likelihood with what a search learnt, and the moments of its linear predictor."""
        assert isinstance(found.posterior, Posterior)
        moments = predictor_moments(self.design, found.posterior, found.active)
        return _Round(likelihood.with_conditional(found.likelihood), *moments)

    def _row(self, row: Pass, above: float) -> Pass:
        """A row of the history of a round in that of all: the bound, and one start."""
        start = self.history[0].start if self.history else row.start
        return row._replace(start=start, log_evidence=row.log_evidence + above)

    def _begun(self, found: Solution, at: _Round) -> Hyperparameters:
        """Hyperparameters of a solution for the rows of the next round."""
        likelihood, precision = at.likelihood.conditional(self.t, at.mean, at.variance, known=True)
        kept = self.design.restrict(found.active)
        kept = kept if precision is None else kept.with_precision(precision)
        return replace(hyper_of(found, likelihood, kept, self.t), active=found.active)

    def _solution(self, found: Solution, at: _Round, *, at_rest: bool = True) -> Solution:
        """The solution, with the scales of the rows that are best for it where there are any."""
        if isinstance(at.likelihood, StudentT):
            kept = self.design.restrict(found.active)
            square = at.likelihood.expected_square(self.t, at.mean, at.variance)
            rows = ScaleMixtureEvidence(kept, self.t, at.likelihood, square)
            best = rows.at_precisions(found.alpha)
            evidence = best.log_evidence + self.solver.alpha_prior.log_prob(found.alpha)
            found = replace(
                found,
                likelihood=best.likelihood,
                posterior=best.posterior,
                well_determined=best.well_determined,
                log_evidence=evidence,
            )
        found = replace(found, history=self.history, n_iter=self.n_iter)
        if at_rest:
            return found
        code = self.runner.stopped or "max_iter"
        warnings = () if self.runner.stopped else (self.solver.not_converged(),)
        return replace(found, warnings=warnings, status=replace(found.status, code=code))
