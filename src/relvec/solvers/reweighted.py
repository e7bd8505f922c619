"""Any solver under any likelihood; where noise is a mixture of Gaussians, by reweighting the rows.

Student-t noise is Gaussian with a precision of its own in every row, which the residuals tell. A
solver learns functions, precisions and σ² for the row precisions as they are; then these, σ² and ν
are learnt for the weights as they are; and the solver goes on from its model. Each raises the same
lower bound of the evidence.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial, singledispatch

import numpy as np

from relvec._design.base import Design
from relvec._evidence import Hyperparameters, evidence_model
from relvec._evidence.noise import NOISE_FLOOR
from relvec._evidence.posterior import Posterior
from relvec._evidence.scale_mixture import LARGEST_SQUARE, ScaleMixtureEvidence, Scales
from relvec._numerics.floats import ROUNDINGS, SMALLEST
from relvec._numerics.typing import Array, RowVector
from relvec.exceptions import NotConvergedWarning, RelvecWarning
from relvec.likelihoods.base import Likelihood
from relvec.likelihoods.gaussian import Gaussian
from relvec.likelihoods.student_t import StudentT
from relvec.solvers.base import Pass, Solution, Solver

#: The fit ends with a round whose scales, σ² and ν raise the bound by less than this share of
#: `tol`. In the first rounds, which raise it by more nats than the second, and in the last, the
#: solver begins anew, too: its model may be the one that other scales led to.
SETTLED, UNSETTLED = 0.01, 1.0


@singledispatch
def fit(
    likelihood: Likelihood,
    solver: Solver,
    design: Design,
    t: Array,
    begun: Hyperparameters | None = None,
) -> Solution:
    """Fit candidates to a target, from a model `begun` on if there is one.

    A likelihood that no solver maximises as it is registers how one does it: ``@fit.register``.
    """
    if begun is None:
        found = solver.solve(design, t, likelihood)
    else:
        found = solver.resume(design, t, likelihood, begun)
    if design.by_normal_equations and likelihood.quadratic:
        return _with_all_digits(found, solver, design, t, likelihood)
    return found


def _with_all_digits(
    found: Solution, solver: Solver, design: Design, t: RowVector, likelihood: Likelihood
) -> Solution:
    """Go on with the functions that were kept, where products of columns hid some of their digits.

    What the search believed there no longer counts, but that it ran out of passes does.
    """
    kept = design.restrict(found.active)
    hyper = evidence_model(found.likelihood, kept, t).hyper_of(found.alpha)
    hyper = hyper.in_units(1 / kept.weight_unit)
    again = solver.resume(kept, t, likelihood, hyper)
    stopped = tuple(note for note in found.notes if isinstance(note, NotConvergedWarning))
    return replace(
        again,
        active=found.active[again.active],
        history=found.history + again.history,
        n_iter=found.n_iter + again.n_iter,
        notes=stopped + again.notes,
        summary=found.summary,
    )


@fit.register
def _(
    likelihood: StudentT,
    solver: Solver,
    design: Design,
    t: Array,
    begun: Hyperparameters | None = None,
) -> Solution:
    """Rounds of fits with Gaussian noise; what was known of the noise is learnt again."""
    del likelihood
    return _Rounds(solver, design, t).run(begun)


class _Rounds:
    """Rounds of fits under Gaussian noise with a precision in every row.

    They begin with the scales that suit a constant, the median, and the heaviest tails: a fit under
    Gaussian noise would begin with functions that follow the outliers.
    """

    def __init__(self, solver: Solver, design: Design, t: Array) -> None:
        self.solver, self.design, self.t = solver, design, t
        self.copies = design.row_weights
        middle = median(t[:, 0], self.copies)
        self._distance = np.abs(t[:, 0] - middle)
        self._rounding = max(ROUNDINGS * abs(middle), float(np.sqrt(SMALLEST)))
        self._spread = spread(self._distance, self._rounding, self.copies)
        self.history: list[Pass] = []
        self.n_iter, self.progress = 0, solver.progress
        self._began = self.progress.once(self.progress.seconds)
        self._found: tuple[Solution, Scales] | None = None

    def run(self, begun: Hyperparameters | None) -> Solution:
        """Rounds to the end, or until Ctrl-C after one of them."""
        with self.progress.interruptible(lambda: self._found is not None):
            return self._run(begun)
        assert self._found is not None
        return self._solution(*self._found)

    def _run(self, begun: Hyperparameters | None) -> Solution:
        """Rounds until new scales, σ² and ν would raise the bound by next to nothing.

        A bound that falls has lost its digits, or is that of a solver which begins anew in every
        round and took another way; then the round before was the last.
        """
        square = np.minimum(self._distance / self._spread, np.sqrt(LARGEST_SQUARE)) ** 2
        scales = Scales(StudentT(self._spread**2), square)
        least = max(NOISE_FLOOR * scales.noise.scale2, self._rounding**2)
        unsettled, last, bound = True, False, -np.inf
        found: Solution | None = None
        reached: Scales | None = None
        while True:
            turned, rows = self._round(scales, least, begun, anew=unsettled or last)
            above = scales.above(scales.precision, self.copies)
            if found is not None and reached is not None:
                # Functions may have left that were worth less than `tol`.
                lost = max(1, len(found.active) - len(turned.active))
                if turned.log_evidence + above < bound - lost * self.solver.tol:
                    return self._solution(found, reached)
            found, bound = turned, turned.log_evidence + above
            self.history += rows
            reached = self._reached(found, scales.noise)
            self._found = found, reached
            learnt = reached.learnt(self.copies, least)
            gain = learnt.log_prob(self.copies) - reached.log_prob(self.copies)
            gain += reached.above(scales.precision, self.copies) - above
            at_rest = gain < SETTLED * self.solver.tol
            if at_rest and last:
                return self._solution(found, reached)
            if self.n_iter >= self.solver.max_iter or self.progress.stopped:
                return self._solution(found, reached, *self.solver.stopped())
            unsettled, last, scales = gain > UNSETTLED, at_rest, learnt
            begun = self._model(found, scales)

    def _round(
        self, scales: Scales, least: float, begun: Hyperparameters | None, *, anew: bool
    ) -> tuple[Solution, list[Pass]]:
        """Fit with the scales as they are, from the model so far or `anew`: the better of both."""
        rows, noise = self.design.with_precision(scales.precision), Gaussian(least_variance=least)
        above, tried = scales.above(scales.precision, self.copies), list[Solution]()
        histories = []
        for start in [None] if begun is None else [begun, None][: 1 + anew]:
            left = self.solver.max_iter - self.n_iter
            if tried and left < 1:
                break
            since = self.progress.once(self.progress.seconds) - self._began
            solver = replace(self.solver, max_iter=left)
            found = self.progress.once(partial(fit, noise, solver, rows, self.t, start))
            tried.append(found)
            histories.append([self._row(row, above, since) for row in found.history])
            self.n_iter += found.n_iter
        best = int(np.argmax([found.log_evidence for found in tried]))
        return tried[best], histories[best]

    def _reached(self, found: Solution, noise: StudentT) -> Scales:
        """The scales that are best for the weights of a fit."""
        assert isinstance(found.posterior, Posterior)
        noise = replace(noise, scale2=_scale2(found))
        return Scales.of(noise, self.design, self.t, found.posterior, found.active)

    def _row(self, row: Pass, above: float, since: float) -> Pass:
        """A row of the history of a round in that of all: the bound, and one start."""
        start = self.history[0].start if self.history else row.start
        return row._replace(
            start=start, log_evidence=row.log_evidence + above, seconds=row.seconds + since
        )

    def _model(self, found: Solution, scales: Scales) -> Hyperparameters:
        """The functions of a fit with their precisions, and σ², for the rows of a next round."""
        inference = ScaleMixtureEvidence(self.design.restrict(found.active), self.t, scales)
        hyper = inference.hyper_of(found.alpha)
        return replace(hyper.in_units(1 / inference.design.weight_unit), active=found.active)

    def _solution(self, found: Solution, scales: Scales, *stopped: RelvecWarning) -> Solution:
        """What was found, with the scales of the rows that are best for it."""
        kept = self.design.restrict(found.active)
        accepted = ScaleMixtureEvidence(kept, self.t, scales).settled(found.alpha)
        return replace(
            found,
            likelihood=accepted.likelihood,
            posterior=accepted.posterior,
            well_determined=accepted.well_determined,
            log_evidence=accepted.log_evidence + self.solver.alpha_prior.log_prob(found.alpha),
            history=self.history,
            n_iter=self.n_iter,
            notes=stopped or found.notes,
        )


def _scale2(found: Solution) -> float:
    """σ² of a fit under Gaussian noise."""
    assert isinstance(found.likelihood, Gaussian)
    assert isinstance(found.likelihood.noise_variance, float)
    return found.likelihood.noise_variance


def median(values: Array, copies: Array) -> float:
    """The value that half of all copies do not exceed."""
    order = np.argsort(values, kind="stable")
    counted = np.cumsum(copies[order])
    return float(values[order[np.searchsorted(counted, 0.5 * counted[-1])]])


def spread(distance: Array, rounding: float, copies: Array) -> float:
    """Median of the distances from the median, which few outliers do not move.

    Where more than half of the targets are equal, the root of the mean square; where all are, what
    `rounding` errors are about.
    """
    found = median(distance, copies)
    if found <= rounding:
        largest = max(float(distance.max()), rounding)
        found = largest * float(np.sqrt(copies @ (distance / largest) ** 2 / copies.sum()))
    return max(found, rounding)
