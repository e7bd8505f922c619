"""Backward elimination: updates of all precisions at once, from all functions, with pruning."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from relvec._evidence import EvidenceModel, EvidenceState
from relvec._evidence.base import WarmStart
from relvec._evidence.gains import kept_after_deletions
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._numerics.floats import EPSILON
from relvec._numerics.priors import Gamma
from relvec._numerics.typing import Array, Index
from relvec.solvers.base import LocalOptimum, Pass, Solution, Solver, Status, rows_up_to

#: A function leaves once the data determine its weight less than this, the γ_i of eq. 17 of a
#: function and a target in any units: the machine precision, as in App. B.1.
LEAST_DETERMINED = EPSILON
#: Noise precision over that of a function, both of unit norm, up to which many functions at once
#: leave their posterior digits. Only noise of rounding errors is less.
RESOLVED = 1e20


@dataclass(frozen=True)
class BackwardState:
    """Backward elimination between two passes."""

    hyper: Hyperparameters  # where the next pass looks
    reached: Hyperparameters  # where the last pass was, less the functions that it pruned
    spanned: Index  # functions that the evidence model spans
    #: what the objective has in addition: the priors of the functions that left, and what the
    #: solver adds
    constant: float
    log_evidence: float = -np.inf  # at `reached`, in the design's units
    n_iter: int = 0  # passes so far
    history: tuple[Pass, ...] = ()
    warm: WarmStart | None = None  # what the last pass knew of the weights
    #: where the updates came to rest before a function that had left came back
    found: LocalOptimum | None = None
    at_rest: bool = False  # whether the last pass promised next to nothing
    came_back: bool = False  # whether the next pass has a function back that had left
    ended: bool = False  # whether nothing is left to be tried


@dataclass(frozen=True)
class BackwardSolver(Solver):
    """Search that begins with all functions and updates all precisions at once.

    An update takes each precision to a number of observations over the sum of their squares; the
    solvers differ in what they count. Functions leave whose γ_i falls under the machine precision
    (App. B.1) and, once a pass promises less than `tol` but for them, those without which the
    evidence is higher: their best precision is infinite (q² ≤ s), which updates approach and do not
    reach. At rest, functions leave that are worth less than `tol`, and one that left and would
    raise the evidence by `tol` comes back. With a rate in `alpha_prior` no precision is infinite,
    and functions leave by their γ_i alone.

    Every pass costs the cube of the functions that are left, at first of all.
    """

    def __post_init__(self) -> None:
        if self.n_starts > 1:
            raise ValueError(
                f"n_starts={self.n_starts}, expected 1: the solver begins with all functions, and "
                "another start would take the same way; only solver='sequential' has others"
            )

    @abstractmethod
    def of_weights(self, here: EvidenceState) -> tuple[Array, Array]:
        """Observations of each precision, and the sum of their squares times α."""

    @abstractmethod
    def of_noise(self, here: EvidenceState, n: float) -> tuple[Array, Array]:
        """Observations of each noise, out of n, and the sum of their squares."""

    def added_constant(self, model: EvidenceModel, everything: Hyperparameters) -> float:
        """Constant of the objective in addition to log evidence and hyperpriors."""
        return 0.0

    def init(self, model: EvidenceModel, start: Hyperparameters | None = None) -> BackwardState:
        if len(model.noise.beta_max) > 1 and not self.alpha_prior.uniform:
            raise ValueError(
                f"alpha_prior={(self.alpha_prior.shape, self.alpha_prior.rate)}, expected (0, 0) "
                "for targets that share precisions and have units of their own; use "
                "multi_output='independent'"
            )
        hyper, spanned = self.first_hyper(model.all_active()), _usable(model)
        self._prior(model, hyper)  # which refuses what exceeds float64
        return BackwardState(hyper, hyper, spanned, self.added_constant(model, hyper))

    def first_hyper(self, model: EvidenceModel) -> Hyperparameters:
        """All functions, each with the same share of the outputs' variance."""
        every = _usable(model)
        alpha = np.full(len(every), len(every) / (model.n * model.output_variance))
        beta = model.noise.beta_max if model.noise.held else model.first_beta
        return Hyperparameters.of_functions(model.design, every, alpha, beta)

    def done(self, state: BackwardState) -> bool:
        return state.ended or state.n_iter >= self.max_iter

    def step(self, model: EvidenceModel, state: BackwardState) -> BackwardState:
        if state.came_back:
            found = LocalOptimum(state.reached, state.log_evidence, state.history)
            state = replace(state, found=found, came_back=False)
        state, here = self.update(model, state, model.thorough.tol_share * self.tol)
        evidence = self._objective(model, here) + state.constant
        row = self.row(model, 0, evidence, here.hyper)
        state = replace(state, history=(*state.history, row))
        return self._after_rest(model, state, here) if state.at_rest else state

    def restore(self, model: EvidenceModel, state: BackwardState) -> None:
        model.all_active()
        if len(state.spanned) < len(_usable(model)):
            model.span_only(state.spanned)

    def result(self, model: EvidenceModel, state: BackwardState) -> Solution:
        """See `Solver.result`; the evidence has the hyperprior."""
        best = LocalOptimum(state.reached, state.log_evidence, state.history)
        if state.found is not None and state.log_evidence <= state.found.log_evidence:
            best = state.found
        code = "max_iter" if state.n_iter >= self.max_iter else "running"
        text = f"after {state.n_iter} passes from all {len(_usable(model))} functions"
        status = Status(code, f"stopped {text}")
        if state.ended:
            status = Status("converged", f"converged {text}")
        believed = self.believed(model, best)
        found = self.solution(model, best, state.n_iter, status, believed)
        log_prior = self._log_prior(model, best.hyper)
        return replace(found, log_evidence=found.log_evidence + log_prior)

    def believed(self, model: EvidenceModel, best: LocalOptimum) -> float:
        """Log evidence in the users' units that is compared with that of a fresh factorisation."""
        return model.user_evidence(best.log_evidence)

    # A pass

    def update(
        self, model: EvidenceModel, state: BackwardState, rest: float
    ) -> tuple[BackwardState, EvidenceState]:
        """Update all precisions once; at rest where that promises less than `rest` nats.

        Returns the state after it, and the posterior that it follows from.
        """
        here, state = self._pruned(model, state)
        hyper, by_functions, by_noise = self._updated(model, here)
        needed = by_functions[here.deletion_costs() > 0].sum() + by_noise
        fewer = self._without_infinite(here) if needed < self.tol else here
        return replace(
            state,
            hyper=hyper if fewer is here else fewer.hyper,
            reached=here.hyper,
            log_evidence=here.log_evidence,
            n_iter=state.n_iter + 1,
            warm=fewer.warm_start(),
            at_rest=fewer is here and bool(by_functions.sum() + by_noise < rest),
        ), here

    def _updated(
        self, model: EvidenceModel, here: EvidenceState
    ) -> tuple[Hyperparameters, Array, float]:
        """Precisions of the next pass, and the nats that each function's and the noise's promise.

        Where an update takes a precision from s to c observations over s, the slope of the
        objective in its logarithm is ½(c − s): every step is upwards.
        """
        hyper, prior = here.hyper, self._prior(model, here.hyper)
        counted, squares = self.of_weights(here)
        counted, squares = counted + 2 * prior.shape, squares + 2 * prior.rate * hyper.alpha
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = counted / squares  # eq. 44 and 48
            promised = 0.5 * (counted - squares) * np.log(factor)
        beta, by_noise = self._updated_noise(model, here)
        alpha = np.maximum(hyper.alpha * factor, hyper.beta.max() / RESOLVED)
        return hyper.at(alpha, beta), promised, by_noise

    def _updated_noise(self, model: EvidenceModel, here: EvidenceState) -> tuple[Array, float]:
        noise, beta, n = model.noise, here.hyper.beta, model.n
        if noise.held:
            return beta, 0.0
        freedom, misfit = self.of_noise(here, n)
        spent = beta * (misfit + 2 * noise.prior.rate)
        slope = 0.5 * (freedom + 2 * noise.prior.shape - spent)
        free = noise.may_move(beta, slope, n, n - here.determined().sum(axis=0))
        resolved = RESOLVED * here.hyper.alpha.min(initial=1.0)
        precision = np.minimum(noise.precision(freedom, misfit), np.maximum(beta, resolved))
        updated = np.where(free, precision, beta)  # eq. 46 and 50
        return updated, float((slope * np.log(updated / beta)).sum())

    def _pruned(
        self, model: EvidenceModel, state: BackwardState
    ) -> tuple[EvidenceState, BackwardState]:
        """Posterior without functions that the data say nothing of; what their priors say stays."""
        here, state = _posterior(model, state, state.hyper, state.warm)
        while not (needed := here.hyper.total(here.well_determined()) >= LEAST_DETERMINED).all():
            left = self._log_prior(model, here.hyper.keep(np.flatnonzero(~needed)))
            state = replace(state, constant=state.constant + left)
            kept = here.hyper.keep(np.flatnonzero(needed))
            here, state = _posterior(model, state, kept, here.warm_start())
        return here, state

    def _without_infinite(self, here: EvidenceState) -> EvidenceState:
        """Leave out the functions whose best precision is infinite, if there are any."""
        if self.alpha_prior.bounds_precisions:
            return here
        kept = kept_after_deletions(here.variances, here.means, here.hyper, 0.0)
        if len(kept) == len(here.hyper.alpha):
            return here
        fewer = here.keep(kept)
        # Where the posterior is approximate, what a deletion gains is as well.
        return fewer if fewer.log_evidence >= here.log_evidence - here.allowed_decrease else here

    # At rest

    def _after_rest(
        self, model: EvidenceModel, state: BackwardState, here: EvidenceState
    ) -> BackwardState:
        """Go on without functions that are worth less than `tol`, or with one that is worth more.

        Rows of history above what is left of the evidence go with the functions.
        """
        ended, out_of_passes = replace(state, ended=True), state.n_iter >= self.max_iter
        if self.alpha_prior.bounds_precisions:
            return ended
        fewer = self._without_copies(here)
        if fewer is not here:
            if out_of_passes:
                return state
            most = self._objective(model, fewer) + state.constant
            history = rows_up_to(state.history, most, model.n)
            return replace(state, hyper=fewer.hyper, warm=fewer.warm_start(), history=history)
        if state.found is not None and here.log_evidence <= state.found.log_evidence:
            return ended
        longer = self._with_best_of_the_deleted(model, here)
        if longer is None:
            return ended
        if out_of_passes:
            return state
        return replace(state, hyper=longer, warm=here.warm_start(), came_back=True)

    def _without_copies(self, here: EvidenceState) -> EvidenceState:
        """Leave out functions that are worth less than `tol`, near copies of others, if any are."""
        kept = kept_after_deletions(here.variances, here.means, here.hyper, self.tol)
        lost = len(here.hyper.alpha) - len(kept)
        if not lost:
            return here
        fewer = here.keep(kept)
        allowed = self.tol * lost + here.allowed_decrease
        return fewer if fewer.log_evidence >= here.log_evidence - allowed else here

    def _with_best_of_the_deleted(
        self, model: EvidenceModel, here: EvidenceState
    ) -> Hyperparameters | None:
        """The function back that would raise the evidence most, if by `tol` (App. B.1)."""
        model.span_only(here.hyper.active)
        scores = model.scores(model.at(here.hyper, here.warm_start()))
        longer = scores.added(here.hyper, np.argsort(-scores.gain)[:1], self.tol)
        return longer if len(longer.alpha) > len(here.hyper.alpha) else None

    # The objective

    def _objective(self, model: EvidenceModel, here: EvidenceState) -> float:
        """Eq. 36 in the users' units."""
        return model.user_evidence(here.log_evidence) + self._log_prior(model, here.hyper)

    def _log_prior(self, model: EvidenceModel, hyper: Hyperparameters) -> float:
        """Log prior of precisions in the users' units."""
        if self.alpha_prior.uniform:
            return 0.0
        return self.alpha_prior.log_prob(hyper.alpha / self._squared_units(model, hyper))

    def _prior(self, model: EvidenceModel, hyper: Hyperparameters) -> Gamma:
        """Prior of each precision for candidates of unit norm."""
        if self.alpha_prior.uniform:
            return self.alpha_prior
        return self.alpha_prior.in_units(1 / self._squared_units(model, hyper))

    def _squared_units(self, model: EvidenceModel, hyper: Hyperparameters) -> Array:
        """Square of the unit of each group's weights, shape (n_groups,)."""
        with np.errstate(over="ignore", under="ignore"):
            unit2: Array = hyper.of_groups(model.weight_unit()[hyper.active]) ** 2
        if not (np.isfinite(unit2) & (unit2 > 0)).all():
            raise OverflowError(
                "alpha_prior in the units of X and y exceeds the range of float64; rescale them"
            )
        return unit2


def _usable(model: EvidenceModel) -> Index:
    """Candidates that are no constant columns."""
    return np.flatnonzero(np.isfinite(model.design.scale))


def _posterior(
    model: EvidenceModel, state: BackwardState, hyper: Hyperparameters, warm: WarmStart | None
) -> tuple[EvidenceState, BackwardState]:
    """Posterior at finite precisions, without what half of the functions took that are gone."""
    hyper = hyper.keep(np.flatnonzero(np.isfinite(hyper.alpha)))
    if 2 * len(hyper.active) <= len(state.spanned):
        state = replace(state, spanned=hyper.active)
        model.span_only(hyper.active)
    return model.at(hyper, warm), state
