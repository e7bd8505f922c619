"""The fast sequential solver: batches of exact additions and joint Newton steps in candidate space."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from relvec.design.base import Array, Design, Frame
from relvec.evidence import CandidateFactors, addition_gain, greedy_additions
from relvec.exceptions import EmptyModelWarning, NoiseFloorWarning, PrecisionWarning
from relvec.likelihoods.gaussian import NOISE_FLOOR, Gaussian
from relvec.solvers.acceptance import accept
from relvec.solvers.base import Pass, Solution, Solver
from relvec.solvers.newton import Model, Noise, climb
from relvec.solvers.opening import spanning_frame, sweep

#: Candidates looked at together, and the share of the best gain under which none of them is added.
BATCH, SHARE = 32, 0.1
#: Newton steps between two batches, and at most before a phase may end.
QUICK_STEPS, THOROUGH_STEPS = 2, 50
#: Noise at which the first start begins, as a share of the variance of the target.
FIRST_NOISE = 0.03
#: The frame is rebuilt when it holds this many times the active functions, and `BATCH` more.
SLACK = 1.3
#: Starts whose evidence is this close to the best, in nats, found the same optimum.
AGREEMENT = 1.0


@dataclass(frozen=True)
class Sequential(Solver):
    """Greedy ascent of the evidence from several starts that share the cached work.

    A pass adds a batch of functions, each the exact best given the earlier ones, and takes Newton steps
    in (log α, log β) that delete what has become useless (Tipping & Faul 2003 take one action at a
    time). Where the dictionary is numerically of low rank the first start opens top-down instead of
    empty. Learning the noise from an empty model lets it swallow the signal, so it is held until the
    first convergence. Each further start leaves the best model found so far with the noise held at
    half, then at twice, what was learnt there, and converges again.

    Parameters
    ----------
    tol : float
        A function is added, and a pass counts, if it raises the log evidence by this many nats.
    max_iter : int
        Passes of all starts together.
    n_starts : int
        Starts, of which the evidence picks the best.
    verbose : int
        Positive: print a row a pass.
    """

    tol: float = 0.01
    max_iter: int = 1000
    n_starts: int = 2
    verbose: int = 0

    def solve(self, design: Design, likelihood: Gaussian) -> Solution:
        """Maximise the evidence; see `Solver.solve`."""
        search = _Search(design, _noise(design, likelihood), self)
        endings = [search.open()]
        for start in range(1, self.n_starts):
            best = max(endings, key=_log_evidence)
            endings.append(search.leave(best.model, start))
        best = max(endings, key=_log_evidence)
        agree = sum(best.log_evidence - e.log_evidence <= AGREEMENT for e in endings)
        return _solution(design, search, best, f"{agree} of {self.n_starts} starts agree")


@dataclass
class _Ending:
    """Where one start ended."""

    model: Model
    log_evidence: float = -np.inf
    history: list[Pass] = field(default_factory=list)


def _log_evidence(ending: _Ending) -> float:
    return ending.log_evidence


def _noise(design: Design, likelihood: Gaussian) -> tuple[Noise, float]:
    """What may be done to the noise, and where its precision begins, in the design's units."""
    one = 1 / design.target_variance  # precision at which all of the target is noise
    if likelihood.noise_variance is not None:
        beta = design.target_scale**2 / likelihood.noise_variance
        return Noise(held=True, beta_max=beta), beta
    return Noise(held=False, beta_max=one / NOISE_FLOOR), one / FIRST_NOISE


class _Search:
    """What the starts share: the frame of all functions ever active, the passes made, the clock."""

    def __init__(self, design: Design, noise: tuple[Noise, float], options: Sequential) -> None:
        self.design, self.options = design, options
        self.noise, self.first_beta = noise
        self.n_iter = 0
        self.out_of_passes = False
        self._began = time.perf_counter()
        self._frame: Frame

    def open(self) -> _Ending:
        """Run the first start: top-down where the rank is low, otherwise from the empty model."""
        spanning = spanning_frame(self.design)
        if spanning is not None:
            model = sweep(self.design, spanning, self.noise)
            self._span(model)
            ending = _Ending(model)
        else:
            self._frame = self.design.frame()
            nothing = Model(np.empty(0, dtype=np.intp), np.empty(0), self.first_beta)
            ending = self._ascend(_Ending(nothing), replace(self.noise, held=True), 0)
        return self._ascend(ending, self.noise, 0)

    def leave(self, model: Model, start: int) -> _Ending:
        """Start again from a converged model, with the noise held at half or twice its variance."""
        beta = model.beta * (2.0 if start % 2 else 0.5)
        ending = _Ending(replace(model, beta=min(beta, max(self.noise.beta_max, model.beta))))
        ending = self._ascend(ending, replace(self.noise, held=True), start)
        if self.noise.held:
            ending.model = replace(ending.model, beta=self.first_beta)
        return self._ascend(ending, self.noise, start)

    def _ascend(self, ending: _Ending, noise: Noise, start: int) -> _Ending:
        """Make passes until one at full convergence neither adds a function nor gains `tol` nats."""
        tol, n = self.options.tol, self.design.n_effective
        model, history, reached, thorough = ending.model, list(ending.history), -np.inf, False
        while True:
            steps = THOROUGH_STEPS if thorough else QUICK_STEPS
            model, data, posterior = climb(self._frame, model, n, noise, tol, steps)
            self._record(history, start, model, posterior.log_evidence)
            factors = CandidateFactors.at(self._frame, data, model.alpha, model.beta)
            ratio = factors.ratio()
            ratio[model.active] = 0.0
            gain = addition_gain(ratio)
            best = float(gain.max(initial=0.0))
            stalled = posterior.log_evidence < reached + tol
            reached = max(reached, posterior.log_evidence)
            self.out_of_passes |= self.n_iter >= self.options.max_iter
            if self.out_of_passes or (thorough and (best < tol or stalled)):
                return _Ending(model, posterior.log_evidence, history)
            thorough = best < tol or stalled
            if best >= tol:
                model = self._add(model, factors, gain, max(tol, SHARE * best))

    def _add(
        self, model: Model, factors: CandidateFactors, gain: Array, threshold: float
    ) -> Model:
        """Add the best of a batch of candidates, and make the frame span them."""
        frame = self._frame
        size = min(BATCH, int((gain >= threshold).sum()))
        batch = np.argpartition(-gain, size - 1)[:size]
        rest = frame.rest(batch)
        block = factors.block(frame.coords[:, batch], rest)
        chosen, alpha = greedy_additions(block, factors.quality[batch], model.beta, threshold)
        model = model.add(batch[chosen], alpha)
        if len(frame.target) > SLACK * len(model.active) + BATCH:
            self._span(model)
        else:
            outside = chosen[frame.rest_norm2[batch[chosen]] > 0]
            frame.extend(batch[outside], rest[:, outside])
        return model

    def _span(self, model: Model) -> None:
        """Begin a new frame that spans the active functions, exactly, and nothing else."""
        self._frame = self.design.frame()
        self._frame.extend(model.active, self._frame.rest(model.active))

    def _record(self, history: list[Pass], start: int, model: Model, log_evidence: float) -> None:
        self.n_iter += 1
        row = Pass(
            start,
            self.design.to_user_evidence(log_evidence),
            len(model.active),
            self.design.target_scale**2 / model.beta,
            time.perf_counter() - self._began,
        )
        history.append(row)
        if self.options.verbose > 0:
            if self.n_iter == 1:
                print(" pass  start  log evidence  functions     noise sd   seconds")
            print(
                f"{self.n_iter:5d}  {start:5d}  {row.log_evidence:12.3f}  {row.n_active:9d}"
                f"  {row.noise_variance**0.5:11.5g}  {row.seconds:8.2f}"
            )


def _solution(design: Design, search: _Search, best: _Ending, agreement: str) -> Solution:
    """Accept the best model and say in words how the search went."""
    tol, max_iter = search.options.tol, search.options.max_iter
    accepted = accept(design, best.model)
    believed = design.to_user_evidence(best.log_evidence)
    notes: list[Warning] = []
    if search.out_of_passes:
        notes.append(
            ConvergenceWarning(f"stopped after max_iter={max_iter} passes; raise max_iter")
        )
    if abs(believed - accepted.log_evidence) > max(tol, 1e-6 * abs(believed)):
        notes.append(
            PrecisionWarning(
                f"the search believed in a log evidence of {believed:.6g} but the kept functions have "
                f"{accepted.log_evidence:.6g}; use a narrower kernel or a larger noise_variance"
            )
        )
    if not len(accepted.active):
        notes.append(
            EmptyModelWarning(
                "no basis function raises the evidence: the model predicts a constant; "
                "check gamma and the targets"
            )
        )
    if not search.noise.held and best.model.beta >= search.noise.beta_max:
        notes.append(
            NoiseFloorWarning(
                f"noise at its floor, {NOISE_FLOOR:g} of the variance of y: the targets are noise-free "
                "or are being interpolated; set noise_variance if you know it"
            )
        )
    return Solution(
        active=accepted.active,
        alpha=accepted.alpha,
        likelihood=Gaussian(accepted.noise_variance),
        posterior=accepted.posterior,
        well_determined=accepted.well_determined,
        log_evidence=accepted.log_evidence,
        history=best.history,
        n_iter=search.n_iter,
        notes=tuple(notes),
        summary=f"no other function raises the log evidence by {tol:g}; {agreement}"
        if not search.out_of_passes
        else agreement,
    )
