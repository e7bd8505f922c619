"""The search of the sequential solver: passes over the candidates, from several starts."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from relvec.design.base import Array, ClosedFrame, Design, Frame
from relvec.evidence import (
    ActiveSet,
    CandidateFactors,
    WeightPosterior,
    addition_gain,
    deletion_cost,
    greedy_additions,
)
from relvec.solvers.base import Pass
from relvec.solvers.newton import Model, Noise, climb
from relvec.solvers.opening import spanning_frame, sweep

#: Candidates looked at together, and the share of the best gain under which none of them is added.
BATCH, SHARE = 32, 0.03
#: Newton steps between two batches, and at most before a phase may end.
QUICK_STEPS, THOROUGH_STEPS = 1, 50
#: Noise that the bottom-up start begins with, as a share of the variance of the target.
FIRST_NOISE = 0.03
#: Functions to a row at which noise that is held too low makes the functions fit the noise.
CROWD = 1 / 3
#: A function that costs less than this, in nats, may share its place with others.
SHARED_COST = 1.0
#: The frame is rebuilt when it holds this many times the active functions, and this many more.
SLACK, SPARE = 1.3, 64


@dataclass(frozen=True)
class Ending:
    """Where a start, or a phase of it, ended.

    Attributes
    ----------
    model : Model
        Active functions and precisions.
    log_evidence : float
        In the design's units.
    history : list of Pass
        The passes that led there.
    """

    model: Model
    log_evidence: float = -np.inf
    history: list[Pass] = field(default_factory=list)


class Search:
    """What the starts share: the frame of all functions ever active, the passes made, the clock.

    Parameters
    ----------
    design : Design
        Candidates and target.
    noise : Noise
        What may be done to the noise precision.
    tol : float
        Nats that a function must be worth, and a pass must gain.
    max_iter : int
        Passes of all starts together.
    verbose : bool
        Print a row a pass.

    Attributes
    ----------
    n_iter : int
        Passes made.
    out_of_passes : bool
        Whether `max_iter` ended the search.
    low_rank : bool
        Whether few directions span the dictionary. Then the search neglects what they leave,
        until `settle`, and most of it costs nothing that grows with the rows.
    """

    def __init__(
        self, design: Design, noise: Noise, *, tol: float, max_iter: int, verbose: bool
    ) -> None:
        self.design, self.noise = design, noise
        self.tol, self.max_iter, self.verbose = tol, max_iter, verbose
        self.n_iter, self.out_of_passes = 0, False
        self._began = time.perf_counter()
        spanning = spanning_frame(design)
        self.low_rank = spanning is not None
        self._frame: Frame = design.frame() if spanning is None else ClosedFrame(spanning)

    def top_down(self, start: int) -> Ending:
        """Begin with all functions at once."""
        opened = Ending(sweep(self.design, self._frame, self.noise))
        return self._thinned(self._ascend(opened, self.noise, start))

    def bottom_up(self, start: int, *, hold_noise: bool = True) -> Ending:
        """Begin with no function, and the noise held until the first convergence.

        Learnt from the first step on, the noise swallows the signal.
        """
        beta = 1 / (FIRST_NOISE * self.design.target_variance)
        nothing = Model(np.empty(0, dtype=np.intp), np.empty(0), beta)
        data = ActiveSet.from_frame(self._frame, nothing.active, self.design.n_effective)
        first = self._add(nothing, *self._scan(nothing, data))
        if hold_noise:
            return self._held_then_free(first, start)
        return self._ascend(Ending(first), self.noise, start)

    def leave(self, model: Model, start: int) -> Ending:
        """Leave a model with the noise held at half (odd starts) or twice its variance."""
        self._span_also(model)
        return self._held_then_free(
            replace(model, beta=model.beta * (2.0 if start % 2 else 0.5)), start
        )

    def exhausted(self) -> bool:
        """Whether no pass is left for what is still to do, which `out_of_passes` then notes."""
        self.out_of_passes |= self.n_iter >= self.max_iter
        return self.out_of_passes

    def settle(self, best: Ending) -> Ending:
        """Converge with the functions as they are, where the search neglected a part of them."""
        if not self.low_rank or self.exhausted():
            return best
        self._span_only(best.model)
        return self._ascend(Ending(best.model), self.noise, best.history[-1].start)

    def _held_then_free(self, model: Model, start: int) -> Ending:
        held = self._ascend(Ending(model), replace(self.noise, held=True), start)
        if self.exhausted():
            return held
        beta = self.noise.released(held.model.beta)
        if beta != held.model.beta:  # evidence under noise that is not allowed compares with none
            held = Ending(replace(held.model, beta=beta))
        return self._ascend(held, self.noise, start)

    def _thinned(self, ending: Ending) -> Ending:
        """Delete functions that share one place, while that costs a tenth of `tol` nats in all.

        Near copies split a weight between them. Each alone looks worth its place as long as the
        precisions of the others stay as they are, so they are let move before the evidence is
        compared.
        """
        n, least = self.design.n_effective, ending.log_evidence - 0.1 * self.tol
        while not self.exhausted():
            model = ending.model
            data = ActiveSet.from_frame(self._frame, model.active, n)
            posterior = WeightPosterior.at(data, model.alpha, model.beta)
            cost = deletion_cost(posterior.variance.diagonal(), posterior.mean)
            if cost.min(initial=np.inf) > SHARED_COST:
                break
            fewer = model.keep(np.flatnonzero(np.arange(len(cost)) != cost.argmin()))
            fewer, _, posterior = climb(self._frame, fewer, n, self.noise, self.tol, THOROUGH_STEPS)
            if posterior.log_evidence < least:
                break
            ending = replace(ending, model=fewer, log_evidence=posterior.log_evidence)
        return ending

    def _ascend(self, ending: Ending, noise: Noise, start: int) -> Ending:
        """Make passes until, at full convergence, one adds no function or gains less than `tol`."""
        model, best, thorough = ending.model, replace(ending, history=list(ending.history)), False
        while True:
            steps = THOROUGH_STEPS if thorough else QUICK_STEPS
            model, data, posterior = climb(
                self._frame, model, self.design.n_effective, noise, self.tol, steps
            )
            stalled = posterior.log_evidence < best.log_evidence + self.tol
            if posterior.log_evidence >= best.log_evidence:
                best = Ending(model, posterior.log_evidence, best.history)
                self._record(best, start)
            self.n_iter += 1
            factors, gain = self._scan(model, data)
            finished = stalled or gain.max(initial=0.0) < self.tol
            crowded = noise != self.noise and len(model.active) > CROWD * self.design.n_effective
            if crowded or (thorough and finished) or self.exhausted():
                return best
            thorough = finished
            model = self._add(model, factors, gain)

    def _scan(self, model: Model, data: ActiveSet) -> tuple[CandidateFactors, Array]:
        """Factors of every candidate, and what adding it would gain."""
        factors = CandidateFactors.at(self._frame, data, model.alpha, model.beta)
        gain = addition_gain(factors.ratio())
        gain[model.active] = 0.0
        return factors, gain

    def _add(self, model: Model, factors: CandidateFactors, gain: Array) -> Model:
        """Add the best of a batch of candidates, if any is worth it, to model and frame."""
        frame = self._frame
        threshold = max(self.tol, SHARE * float(gain.max(initial=0.0)))
        size = min(BATCH, int((gain >= threshold).sum()))
        if not size:
            return model
        batch = np.argpartition(-gain, size - 1)[:size]
        rest = frame.rest(batch)
        block = factors.block(frame.coords[:, batch], rest)
        chosen, alpha = greedy_additions(block, factors.quality[batch], model.beta, threshold)
        model = model.add(batch[chosen], alpha)
        if len(frame.target) > SLACK * len(model.active) + SPARE:
            self._span_only(model)
        else:
            new = chosen[frame.rest_norm2[batch[chosen]] > 0]
            frame.extend(batch[new], rest[:, new])
        return model

    def _span_only(self, model: Model) -> None:
        """Begin a new frame that spans the active functions, exactly, and nothing else."""
        self._frame = self.design.frame()
        self._span_also(model)

    def _span_also(self, model: Model) -> None:
        """Make the frame span the active functions too."""
        missing = model.active[self._frame.rest_norm2[model.active] > 0]
        if len(missing):
            self._frame.extend(missing, self._frame.rest(missing))

    def _record(self, ending: Ending, start: int) -> None:
        row = Pass(
            start,
            self.design.to_user_evidence(ending.log_evidence),
            len(ending.model.active),
            self.design.target_scale**2 / ending.model.beta,
            time.perf_counter() - self._began,
        )
        ending.history.append(row)
        if self.verbose:
            _print_row(self.n_iter + 1, row)


def _print_row(number: int, row: Pass) -> None:
    if number == 1:
        print(" pass  start  log evidence  functions     noise sd   seconds")
    print(
        f"{number:5d}  {row.start:5d}  {row.log_evidence:12.3f}  {row.n_active:9d}"
        f"  {row.noise_variance**0.5:11.5g}  {row.seconds:8.2f}"
    )
