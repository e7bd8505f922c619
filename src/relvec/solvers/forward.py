"""The search of the sequential solver: passes over the candidates, from several starts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from relvec._evidence.base import (
    AscentLimits,
    CandidateScores,
    EvidenceModel,
    EvidenceState,
    WarmStart,
)
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.noise import Noise
from relvec._numerics.typing import Array
from relvec._runner.runner import Runner
from relvec.solvers.backward import BackwardElimination
from relvec.solvers.base import Pass, Solution
from relvec.solvers.fixed_point import FixedPoint
from relvec.solvers.newton import newton_ascent, polish
from relvec.solvers.report import History, so_far

#: Candidates looked at together, and the share of the best gain under which none of them is added.
BATCH, SHARE = 32, 0.03
#: Functions to a row at which noise that is held too low makes the functions fit the noise.
CROWD = 1 / 3
#: A function that costs less than this, in nats, may share its place with others.
SHARED_COST = 1.0


@dataclass(frozen=True)
class LocalOptimum:
    """Where a start, or a phase of it, ended.

    Attributes
    ----------
    hyper : Hyperparameters
        Active functions and precisions.
    log_evidence : float
        In the design's units.
    history : list of Pass
        The passes that led there.
    """

    hyper: Hyperparameters
    log_evidence: float = -np.inf
    history: list[Pass] = field(default_factory=list)


@dataclass(frozen=True)
class ForwardState:
    """An ascent between two passes.

    Attributes
    ----------
    hyper : Hyperparameters
        Where the next pass begins.
    best : LocalOptimum
        Where the best pass ended.
    n_iter : int
        Passes of all starts so far.
    warm : WarmStart or None
        What the last pass knew of the weights.
    thorough : bool
        Whether the next pass goes on to full convergence.
    at_rest, ended : bool
        Whether there is none because nothing is left to do; or for any reason.
    known : ndarray of shape (n_candidates,) or None
        What the candidates were worth, see `CandidateScores`.
    """

    hyper: Hyperparameters
    best: LocalOptimum
    n_iter: int
    warm: WarmStart | None = None
    thorough: bool = False
    at_rest: bool = False
    ended: bool = False
    known: Array | None = None


class ForwardSelection:
    """What the starts share: the inference with its cached work, the passes made, the clock.

    Parameters
    ----------
    inference : EvidenceModel
        The evidence of models of the candidates.
    tol : float
        Nats that a function must be worth, and a pass must gain.
    max_iter : int
        Passes of all starts together.
    verbose : bool
        Print a row a pass.
    progress : Runner
        Of the fit.

    Attributes
    ----------
    n_iter : int
        Passes made.
    out_of_passes : bool
        Whether `max_iter`, the user or a callback ended the search.
    reached : LocalOptimum or None
        Where the start that is being made has come to.
    """

    def __init__(
        self,
        inference: EvidenceModel,
        *,
        tol: float,
        max_iter: int,
        verbose: bool,
        progress: Runner | None = None,
    ) -> None:
        self.inference, self.noise = inference, inference.noise
        self.tol, self.max_iter = tol, max_iter
        self.n_iter, self.out_of_passes = 0, False
        self.reached: LocalOptimum | None = None
        self.progress = Runner() if progress is None else progress
        self._journal = History(inference, self.progress, verbose=verbose)

    def top_down(self, opening: Hyperparameters, start: int) -> LocalOptimum:
        """Begin with a model that all functions at once led to.

        Where that neglected a part of them, the ascent goes on with the functions as they are, and
        so do later starts: what was neglected may be all that others bring.
        """
        found = self._ascend(LocalOptimum(opening), self.noise, start)
        thinned = self.progress.once(partial(self._thinned, found, start))
        return self._refined(thinned, start)

    def onward(self, hyper: Hyperparameters, start: int) -> LocalOptimum:
        """Begin with a model of few functions, none of which shares its place."""
        return self._refined(self._ascend(LocalOptimum(hyper), self.noise, start), start)

    def _refined(self, best: LocalOptimum, start: int) -> LocalOptimum:
        if self.exhausted() or not self.inference.refine(best.hyper):
            return best
        return self._ascend(LocalOptimum(best.hyper), self.noise, start)

    def bottom_up(self, start: int, *, hold_noise: bool = True) -> LocalOptimum:
        """Begin with no function, and the noise held until the first convergence.

        Learnt from the first step on, the noise swallows the signal.
        """
        first = self.progress.once(self._first)
        if hold_noise:
            return self._held_then_free(first, start)
        return self._ascend(LocalOptimum(first), self.noise, start)

    def _first(self) -> Hyperparameters:
        """The first functions."""
        nothing = self.inference.at(Hyperparameters.empty(self.inference.first_beta))
        return self._add(nothing, self.inference.scores(nothing))

    def by_updates(self, start: int) -> LocalOptimum:
        """Begin where MacKay's updates lead from all functions, none of them neglected."""
        opening, n_updates = self.progress.once(self._updated)
        self.n_iter += n_updates
        self.inference.span_only(opening.active)
        return self.top_down(opening, start)

    def _updated(self) -> tuple[Hyperparameters, int]:
        """Where MacKay's updates lead from all functions, and how many there were."""
        left = self.max_iter - self.n_iter
        updates = FixedPoint(tol=self.tol, max_iter=left, progress=self.progress)
        descent = BackwardElimination(updates, self.inference)
        return descent.opening(), descent.n_iter - 1  # the first was no update

    def leave(self, hyper: Hyperparameters, start: int) -> LocalOptimum:
        """Leave a model with the noise held at half (odd starts) or twice its variance."""
        return self._held_then_free(
            replace(hyper, beta=hyper.beta * (2.0 if start % 2 else 0.5)), start
        )

    def exhausted(self) -> bool:
        """Whether no pass is left for what is still to do, which `out_of_passes` then notes."""
        self.out_of_passes |= self.n_iter >= self.max_iter or self.progress.stopped
        return self.out_of_passes

    def _held_then_free(self, hyper: Hyperparameters, start: int) -> LocalOptimum:
        held = self._ascend(LocalOptimum(hyper), replace(self.noise, held=True), start)
        if self.exhausted():
            return held
        beta = self.noise.released(held.hyper.beta)
        # Evidence under noise that is not allowed compares with none.
        if (beta != held.hyper.beta).any():
            held = LocalOptimum(replace(held.hyper, beta=beta))
        elif self.noise.held:
            return held
        return self._ascend(held, self.noise, start)

    def _thinned(self, ending: LocalOptimum, start: int) -> LocalOptimum:
        """Delete functions that share one place, while that costs a tenth of `tol` nats in all.

        Near copies split a weight between them. Each alone looks worth its place as long as the
        precisions of the others stay as they are, so they are let move before the evidence is
        compared. What was worth its place once is not looked at again.
        """
        point = whole = self.inference.at(ending.hyper)
        needed: set[int] = set()
        while not self.exhausted():
            cost, hyper = point.deletion_costs(), point.hyper
            active = hyper.of_groups(hyper.active)
            cost[np.isin(active, list(needed))] = np.inf
            if cost.min(initial=np.inf) > SHARED_COST:
                break
            cheapest = int(cost.argmin())
            rest = np.flatnonzero(np.arange(len(cost)) != cheapest)
            fewer = self._climb(point.keep(rest), self.noise, self.inference.thorough)
            if fewer.log_evidence < ending.log_evidence - 0.1 * self.tol:
                needed.add(int(active[cheapest]))
            else:
                point = fewer
        if point is whole:
            return ending
        return self._instead(ending, self._settled(point, self.noise), start)

    def _instead(self, ending: LocalOptimum, point: EvidenceState, start: int) -> LocalOptimum:
        """The ending with another point in the place of its last pass; rows above it go."""
        evidence = self.inference.user_evidence(point.log_evidence)
        earlier = [row for row in ending.history[:-1] if row.log_evidence <= evidence]
        return self._recorded(LocalOptimum(point.hyper, point.log_evidence, earlier), start)

    def _climb(self, point: EvidenceState, noise: Noise, effort: AscentLimits) -> EvidenceState:
        return newton_ascent(point, self.inference.n, noise, self.tol, effort)

    def _settled(self, point: EvidenceState, noise: Noise) -> EvidenceState:
        """A point at rest where nothing but rounding moves it, if that takes no passes."""
        steps = self.inference.polish_steps
        return polish(point, self.inference.n, noise, self.tol, steps) if steps else point

    def _ascend(self, ending: LocalOptimum, noise: Noise, start: int) -> LocalOptimum:
        """Make passes until, at full convergence, one adds no function or gains less than `tol`."""
        first = ForwardState(ending.hyper, ending, self.n_iter)
        last = self.progress.passes(first, partial(self._pass, noise, start), self._so_far)
        self.n_iter, self.reached = last.n_iter, last.best
        if not last.at_rest:
            self.exhausted()
        return last.best

    def _pass(self, noise: Noise, start: int, at: ForwardState) -> ForwardState:
        """Newton steps in the precisions, and the best of the candidates for the next pass."""
        self.n_iter, best = at.n_iter, at.best
        effort = self.inference.thorough if at.thorough else self.inference.quick
        point = self._climb(self.inference.at(at.hyper, at.warm), noise, effort)
        stalled = point.log_evidence < best.log_evidence + self.tol
        if point.log_evidence >= best.log_evidence:
            reached = LocalOptimum(point.hyper, point.log_evidence, best.history)
            best = self._recorded(reached, start)
        self.n_iter += 1
        scores = self.inference.scores(point, self.tol, at.known)
        finished = stalled or scores.gain.max(initial=0.0) < self.tol
        crowded = noise.held != self.noise.held and len(point.mean) > CROWD * self.inference.n
        at_rest = at.thorough and finished
        if at_rest:
            best = self._rested(best, noise, start)
        self.reached = best
        if at_rest or crowded or self.exhausted():
            return replace(at, best=best, n_iter=self.n_iter, at_rest=at_rest, ended=True)
        added, warm = self._add(point, scores), point.warm_start()
        return ForwardState(added, best, self.n_iter, warm, finished, known=scores.known)

    def _so_far(self, at: ForwardState) -> Solution:
        """The best pass so far as a solution."""
        return so_far(self.inference.finalize(at.best.hyper), at.best.history, at.n_iter)

    def _rested(self, best: LocalOptimum, noise: Noise, start: int) -> LocalOptimum:
        """The best pass again, to where its steps come to rest: a point that no way there moves."""
        point = self.inference.at(best.hyper)
        if not point.allowed_decrease:
            settled = self._settled(point, noise)
            return replace(best, hyper=settled.hyper, log_evidence=settled.log_evidence)
        rested = self._climb(point, noise, self.inference.thorough)
        return self._instead(best, rested, start) if np.isfinite(rested.log_evidence) else best

    def _add(self, point: EvidenceState, scores: CandidateScores) -> Hyperparameters:
        """Add the best of a batch of candidates, if any is worth it."""
        gain = scores.gain
        threshold = max(self.tol, SHARE * float(gain.max(initial=0.0)))
        size = min(BATCH, int((gain >= threshold).sum()))
        if not size:
            return point.hyper
        batch = np.argpartition(-gain, size - 1)[:size]
        return scores.added(point.hyper, batch, threshold)

    def _recorded(self, ending: LocalOptimum, start: int) -> LocalOptimum:
        """The ending with a row for its pass."""
        evidence = self.inference.user_evidence(ending.log_evidence)
        row = self._journal.row(self.n_iter + 1, start, evidence, ending.hyper)
        return replace(ending, history=[*ending.history, row])
