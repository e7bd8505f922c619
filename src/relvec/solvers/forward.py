"""Forward selection: batches of exact additions and joint Newton steps, from several starts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from relvec._design.base import in_units
from relvec._evidence import EvidenceModel
from relvec._evidence.base import CandidateScores, EvidenceState
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.noise import Noise
from relvec.solvers.base import (
    AGREEMENT,
    LocalOptimum,
    Pass,
    Solution,
    Solver,
    Status,
    first_of_best,
    rows_up_to,
    with_opposite,
)
from relvec.solvers.exchange import better_exchange
from relvec.solvers.large_groups import MAX_DENSITY, is_large, without_large_group
from relvec.solvers.newton import newton_ascent, polish
from relvec.solvers.starts import (
    BOTTOM_UP,
    BOTTOM_UP_PENALISED,
    FROM_BEST,
    FROM_FEW,
    FROM_LOW_RANK,
    FROM_NOTHING,
    FROM_UPDATES,
    ForwardState,
    Start,
)
from relvec.solvers.updates import FixedPoint

#: Weights up to which a start by updates of all functions is affordable: a pass costs their cube.
MAX_WEIGHTS = 800
#: Candidates added together at most, and the share of the best gain under which none is added.
BATCH, SHARE = 32, 0.03
#: Share of the directions beyond which a low-rank start may have had too few for the function.
NEARLY_ALL = 0.7
#: A function that costs less than this, in nats, may be a near copy of others.
COPY_COST = 1.0

#: Nats by which a function's best precision, fitted to the rows, makes the evidence too high: the
#: price of a fitted parameter by Akaike's criterion (1974).
FITTED_PARAMETER = 1.0


@dataclass(frozen=True)
class Sequential(Solver):
    """Forward selection from several starts that share the cached work.

    A pass adds a batch of functions, each the exact best given the earlier ones, takes Newton steps
    in (log α, log β), and deletes what is not worth `tol` (Tipping & Faul 2003 take one action at a
    time). Learning the noise from an empty model lets it swallow the signal, so it is held until
    the first convergence. Where few directions span the dictionary, a start from all functions
    at once comes first; it costs little there, and finds what additions alone do not. Where that
    needs nearly all directions, a bottom-up start follows, which neglects nothing.
    Further starts begin bottom-up, from no function with the noise learnt, where MacKay's updates
    lead from all functions if they are not too many, and from the best model so far with the noise
    held at half or twice what was learnt there.
    """

    def __post_init__(self) -> None:
        if not self.alpha_prior.uniform:
            prior = (self.alpha_prior.shape, self.alpha_prior.rate)
            raise ValueError(
                f"alpha_prior={prior}, expected (0, 0) with solver='sequential': under any other "
                "prior of the precisions what a function is worth has no closed form, and with a "
                "rate none could be left out; use solver='fixed_point', 'em' or 'variational'"
            )

    def init(self, model: EvidenceModel, start: Hyperparameters | None = None) -> ForwardState:
        if start is None:
            starts = self.starts(model)
        else:
            units = model.design.weight_unit[start.active]
            starts = (Start(FROM_FEW, start.in_units(units)),)
        nothing = Hyperparameters.empty(model.first_beta)
        begun = ForwardState(starts, (), nothing, nothing, only=start is not None)
        return self._entered(model, begun.next_start())

    def starts(self, model: EvidenceModel) -> tuple[Start, ...]:
        """All starts in turn: `n_starts`, and one more where the first may have missed much."""
        starts, few = [Start(BOTTOM_UP), Start(FROM_NOTHING)], model.of_few_rows()
        if self.multiplicity_penalty:
            starts = [Start(FROM_NOTHING), Start(BOTTOM_UP_PENALISED)]
        low_rank, n_starts = self.low_rank_start(model), self.n_starts
        if low_rank and model.tempers:
            low_rank, n_starts = (*low_rank, Start(FROM_BEST)), n_starts + 1
        elif any(start.n_groups > NEARLY_ALL * model.n_directions() for start in low_rank):
            n_starts = max(n_starts, 2)
        starts = [*low_rank, *starts]
        if few is not None:
            found = replace(self, n_starts=1).solve(few)
            alpha = in_units(found.alpha, model.design.weight_unit[found.active])
            hyper = Hyperparameters.of_functions(model.design, found.active, alpha, np.ones(1))
            starts.insert(0, Start(FROM_FEW, hyper))
        if model.design.shape[1] * model.n_outputs <= MAX_WEIGHTS:
            starts.append(Start(FROM_UPDATES))
        starts += [Start(FROM_BEST)] * (n_starts - len(starts))
        return tuple(starts[:n_starts])

    def low_rank_start(self, model: EvidenceModel) -> tuple[Start, ...]:
        """One start where few directions span the dictionary, else none.

        Of several models that all functions lead to, from where the best comes to rest.
        """
        models = model.low_rank_starts()
        if len(models) > 1:
            limits = model.n, model.noise, self.tol, model.thorough
            states = [newton_ascent(model.at(hyper), *limits) for hyper in models]
            ends = tuple(LocalOptimum(state.hyper, state.log_evidence, ()) for state in states)
            models = (self._best(ends).hyper,)
        return tuple(Start(FROM_LOW_RANK, hyper) for hyper in models)

    def done(self, state: ForwardState) -> bool:
        return state.n_iter >= self.max_iter or not (state.starts or state.stages)

    def step(self, model: EvidenceModel, state: ForwardState) -> ForwardState:
        if not state.stages:
            state = self._entered(model, state.changed(endings=state.reached).next_start())
        priced = self._priced(state)
        match state.stages[0]:
            case "update":
                after = priced._updated(model, state)
            case "exchange":
                after = priced._exchanged(model, state)
            case _:
                after = priced._pass(model, state)
        ended = len(after.stages) < len(state.stages) or after.stages[0] == "exchange"
        if not ended or after.n_iter >= self.max_iter:
            return after
        after = priced._entered(model, after)
        return after if after.starts or after.stages else self._worth_their_price(model, after)

    def restore(self, model: EvidenceModel, state: ForwardState) -> None:
        if state.updates is not None:
            FixedPoint().restore(model, state.updates)
        elif state.exact:
            model.span_only(state.best.active)

    def result(self, model: EvidenceModel, state: ForwardState) -> Solution:
        reached = state.reached
        priced = self._priced(state)
        best = priced._best(reached)
        least = priced._penalised(best) - AGREEMENT
        agreed = len([each for each in reached if priced._penalised(each) >= least])
        words = self._status(state, len(reached), agreed)
        # A start that the search adds to the only one asked for is there to find what that missed.
        repeated = len(reached) > 1 and self.n_starts > 1
        status = Status(*words, len(reached), agreed if repeated else 0)
        best = replace(best, hyper=with_opposite(model.design, best.hyper))
        return self.solution(model, best, state.n_iter, status)

    def _status(self, state: ForwardState, n_starts: int, agreed: int) -> tuple[str, str]:
        """Code and text."""
        code, ended = "converged", "converged"
        if state.starts or state.stages:
            code, ended = "max_iter" if state.n_iter >= self.max_iter else "running", "stopped"
        text = f"{ended} after {state.n_iter} passes"
        if n_starts == 1:
            return code, f"{text} from one start"
        return code, f"{text}: {agreed} of {n_starts} starts within {AGREEMENT:g} nat of the best"

    def _priced(self, state: ForwardState) -> Sequential:
        """Solver for which functions have to be worth what they have to in the present start."""
        if not state.price:
            return self
        penalty = max(state.price, self.multiplicity_penalty)
        return replace(self, tol=max(state.price, self.tol), multiplicity_penalty=penalty)

    def _penalised(self, ending: LocalOptimum) -> float:
        """Log evidence of a start less the penalty of its functions."""
        return ending.log_evidence - self.multiplicity_penalty * len(ending.hyper.alpha)

    def _best(self, endings: tuple[LocalOptimum, ...]) -> LocalOptimum:
        """The best of some endings; of those that rounding does not tell apart, the first."""
        return endings[first_of_best([self._penalised(ending) for ending in endings], 0)]

    def _worth_their_price(self, model: EvidenceModel, state: ForwardState) -> ForwardState:
        """Make another start where all functions together are not worth their price.

        As many functions as there are rows can fit noise that is learnt a little each. Where no
        function at all is better than the best model less a price for each of its functions, the
        search begins with none, and adds none that is not worth so much.
        """
        best, price = self._best(state.reached), max(FITTED_PARAMETER, self.multiplicity_penalty)
        few = len(best.hyper.alpha) <= MAX_DENSITY * model.n
        if state.only or state.price or few or model.noise.held:
            return state
        nothing = self._nothing(model)
        if best.log_evidence - price * len(best.hyper.alpha) >= nothing.log_evidence:
            return state
        return state.changed(starts=(Start(FROM_NOTHING, nothing.hyper, price),))

    def _nothing(self, model: EvidenceModel) -> EvidenceState:
        """The model without functions, its noise learnt or known."""
        empty = model.at(Hyperparameters.empty(model.noise.released(model.first_beta)))
        return newton_ascent(empty, model.n, model.noise, self.tol, model.thorough)

    # From stage to stage

    def _entered(self, model: EvidenceModel, state: ForwardState) -> ForwardState:
        """Go on to the next stage that makes passes, if the start has any left."""
        while state.stages:
            match state.stages[0]:
                case "add first":
                    nothing = model.at(Hyperparameters.empty(model.first_beta))
                    state = state.changed(hyper=self._grown(model, nothing, model.scores(nothing)))
                case "empty":
                    state = state.changed(hyper=self._nothing(model).hyper)
                case "perturb noise":
                    best = self._best(state.endings).hyper
                    factor = 2.0 if len(state.endings) % 2 else 0.5
                    state = state.changed(hyper=best.at(best.alpha, best.beta * factor))
                case "delete copies":
                    state = self._without_copies(model, state)
                case "exchange":
                    # Several starts that were asked for also show how sure the best is.
                    ends = state.reached[-1:] if self.n_starts > 1 else state.reached
                    better = better_exchange(model, ends, self.tol, self.multiplicity_penalty)
                    if better is not None:
                        return state.ascending(better)
                case "polish":
                    state = self._polished(model, state)
                case _:
                    state, passes = self._prepared(model, state)
                    if passes:
                        return state
            state = state.after_stage()
        return state

    def _prepared(self, model: EvidenceModel, state: ForwardState) -> tuple[ForwardState, bool]:
        """Prepare the first pass of a stage, if it has to make any."""
        match state.stages[0]:
            case "update":
                return state.changed(updates=FixedPoint(tol=self.tol).init(model)), True
            case "release":
                beta = model.noise.released(state.best.beta)
                # Evidence under noise that is not allowed compares with none.
                if (beta != state.best.beta).any():
                    return state.ascending(state.best.at(state.best.alpha, beta)), True
                same = state.ascending(state.best, state.best_warm, fresh=False)
                return same, not model.noise.held
            case "delete large group":
                price = max(FITTED_PARAMETER, self.tol, self.multiplicity_penalty)
                ending = model, state.best, state.log_evidence, price, self.tol
                fewer = None if state.best.single else without_large_group(*ending)
                return state.ascending(fewer or state.best, state.best_warm), fewer is not None
            case "refine":
                neglected = model.refine(state.best)
                return state.ascending(state.best, state.best_warm).changed(exact=True), neglected
        return state.ascending(state.hyper), True

    def _updated(self, model: EvidenceModel, state: ForwardState) -> ForwardState:
        """Update all precisions, until a pass promises less than `tol`."""
        assert state.updates is not None
        updates, _ = FixedPoint(tol=self.tol).update(model, state.updates, self.tol)
        state = state.changed(updates=updates, n_iter=state.n_iter + 1)
        if not updates.at_rest:
            return state
        model.span_only(updates.reached.active)
        state = state.changed(hyper=updates.reached, updates=None, exact=True)
        return state.after_stage()

    def _exchanged(self, model: EvidenceModel, state: ForwardState) -> ForwardState:
        """Go on from an exchange to where its precisions come to rest."""
        there = model.at(state.hyper)
        there = newton_ascent(there, model.n, model.noise, self.tol, model.thorough)
        evidence = model.user_evidence(there.log_evidence)
        earlier = rows_up_to(state.history, evidence, model.n)
        after = self._recorded(model, state.changed(n_iter=state.n_iter + 1), there, earlier)
        if self._penalised(after.reached[-1]) > self._penalised(state.reached[-1]):
            return after
        return state.changed(n_iter=after.n_iter).after_stage()  # lost to rounding

    # A pass

    def _pass(self, model: EvidenceModel, state: ForwardState) -> ForwardState:
        """Newton steps in the precisions, and the best of the candidates for the next pass."""
        holds = state.stages[0] == "hold" and not model.noise.held
        noise = replace(model.noise, held=True) if holds else model.noise
        limits = model.thorough if state.thorough else model.quick
        from_best = state.hyper is state.best
        there = newton_ascent(model.at(state.hyper, state.warm), model.n, noise, self.tol, limits)
        least = -np.inf if state.fresh else state.log_evidence
        stalled = there.log_evidence < least + self.tol
        if there.log_evidence >= least:
            state = self._recorded(model, state, there, () if state.fresh else state.history)
        state = state.changed(n_iter=state.n_iter + 1, fresh=False)
        scores = model.scores(there, self.tol, state.known)
        finished = stalled or scores.gain.max(initial=0.0) < self.tol
        if state.thorough and finished:
            if there.allowed_decrease:
                state = self._settled(model, state, noise, there if from_best else None)
            return state.after_stage()
        if holds and is_large(there, model.n):
            return state.after_stage()
        if state.n_iter >= self.max_iter:
            return state
        hyper = self._grown(model, there, scores)
        warm = state.best_warm if there.hyper is state.best else there.warm_start()
        return state.changed(hyper=hyper, warm=warm, thorough=finished, known=scores.known)

    def _grown(
        self, model: EvidenceModel, here: EvidenceState, scores: CandidateScores
    ) -> Hyperparameters:
        """Add the best of a batch of candidates, if any is worth it."""
        gain = scores.gain
        threshold = max(self.tol, SHARE * float(gain.max(initial=0.0)))
        size = min(BATCH, int((gain >= threshold).sum()))
        if not size:
            return here.hyper
        batch = np.argpartition(-gain, size - 1)[:size]
        return scores.added(here.hyper, batch, threshold)

    def _settled(
        self, model: EvidenceModel, state: ForwardState, noise: Noise, there: EvidenceState | None
    ) -> ForwardState:
        """Go where steps lead from the best pass that need not raise the evidence, if not known."""
        if there is None:
            here = model.at(state.best, state.best_warm)
            there = newton_ascent(here, model.n, noise, self.tol, model.thorough)
        return self._replaced(model, state, there) if np.isfinite(there.log_evidence) else state

    def _polished(self, model: EvidenceModel, state: ForwardState) -> ForwardState:
        """Polish the best model, if that takes no passes over rows."""
        if not model.polish_steps:
            return state
        here = model.at(state.best, state.best_warm)
        here = polish(here, model.n, model.noise, self.tol, model.polish_steps)
        return self._replaced(model, state, here)

    def _without_copies(self, model: EvidenceModel, state: ForwardState) -> ForwardState:
        """Delete functions that the others take over from, for less than what they have to gain.

        Near copies split a weight between them, and a function that was added first may have kept
        others out. Each looks worth its place as long as the other precisions stay as they are, so
        those are let move before the evidence is compared. Deletions cost a tenth of `tol` nats in
        all, or less than the penalty each. What was worth its place once is not looked at again.
        """
        here = whole = model.at(state.best, state.best_warm)
        penalty, needed = self.multiplicity_penalty, set[int]()
        least = here.log_evidence - 0.1 * self.tol
        while True:
            cost, active = here.deletion_costs(), here.hyper.of_groups(here.hyper.active)
            cost[np.isin(active, list(needed))] = np.inf
            if cost.min(initial=np.inf) > max(COPY_COST, 2 * penalty):
                break
            cheapest = int(cost.argmin())
            fewer = here.keep(np.flatnonzero(np.arange(len(cost)) != cheapest))
            fewer = newton_ascent(fewer, model.n, model.noise, self.tol, model.thorough)
            if fewer.log_evidence < (here.log_evidence - penalty if penalty else least):
                needed.add(int(active[cheapest]))
            else:
                here = fewer
        if here is whole:
            return state
        return self._replaced(model, state, here)

    def _replaced(
        self, model: EvidenceModel, state: ForwardState, there: EvidenceState
    ) -> ForwardState:
        """Put a state in the place of the last pass; rows of history above it go."""
        evidence = model.user_evidence(there.log_evidence)
        earlier = rows_up_to(state.history[:-1], evidence, model.n)
        return self._recorded(model, state, there, earlier)

    def _recorded(
        self,
        model: EvidenceModel,
        state: ForwardState,
        there: EvidenceState,
        earlier: tuple[Pass, ...],
    ) -> ForwardState:
        """Take a pass as the best so far, with a row behind the `earlier` ones."""
        evidence = model.user_evidence(there.log_evidence)
        row = self.row(model, len(state.endings), evidence, there.hyper)
        return state.changed(
            best=there.hyper,
            best_warm=there.warm_start(),
            log_evidence=there.log_evidence,
            history=(*earlier, row),
        )
