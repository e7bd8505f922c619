"""Top-down fits: updates of all precisions at once, from all functions, with pruning."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from relvec._design.base import Design
from relvec._evidence import (
    EvidenceModel,
    EvidenceState,
    Hyperparameters,
    SparseModel,
    evidence_model,
)
from relvec._evidence.base import WarmStart
from relvec._numerics.floats import EPSILON
from relvec._numerics.typing import Array, Index
from relvec.likelihoods.base import Likelihood
from relvec.solvers.base import Pass, Solution, Solver
from relvec.solvers.report import History, notes, so_far

#: A function leaves once the data determine its weight less than this, the γ_i of eq. 17 of a
#: function and a target in any units: the machine precision, as in App. B.1.
LEAST_DETERMINED = EPSILON
#: Noise precision over that of a function, both of unit norm, up to which many functions at once
#: leave their posterior digits. Only noise of rounding errors is less.
RESOLVED = 1e20


@dataclass(frozen=True)
class BackwardSolver(Solver):
    """What solvers share that begin with all functions and update all precisions at once.

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
    def of_weights(self, point: EvidenceState) -> tuple[Array, Array]:
        """Observations of each function's precision, and the sum of their squares times α."""

    @abstractmethod
    def of_noise(self, point: EvidenceState, n: float) -> tuple[Array, Array]:
        """Observations of each noise, out of n, and the sum of their squares."""

    def inference(self, likelihood: Likelihood, design: Design, t: Array) -> EvidenceModel:
        """What the updates see of the evidence."""
        return evidence_model(likelihood, design, t)

    def above_evidence(self, inference: EvidenceModel, everything: Hyperparameters) -> float:
        """What the objective has in addition to log evidence and hyperpriors: a constant."""
        del inference, everything
        return 0.0

    def accepted(
        self, inference: EvidenceModel, point: EvidenceState, t: Array
    ) -> tuple[SparseModel, float]:
        """The model in the users' units, and the log evidence that the search believed in."""
        del t
        return inference.finalize(point.hyper), inference.user_evidence(point.log_evidence)

    def solve(self, design: Design, t: Array, likelihood: Likelihood) -> Solution:
        """Maximise the evidence; see `Solver.solve`."""
        inference = self.inference(likelihood, design, t)
        if len(inference.noise.beta_max) > 1 and not self.alpha_prior.uniform:
            raise ValueError(
                f"alpha_prior={(self.alpha_prior.shape, self.alpha_prior.rate)}, expected (0, 0) "
                "for targets that share precisions and have units of their own; use "
                "multi_output='independent'"
            )
        descent = BackwardElimination(
            self, inference, lambda point: self.accepted(inference, point, t)[0]
        )
        with self.progress.interruptible(lambda: descent.reached is not None):
            descent.run()
        point = descent.best()
        accepted, believed = self.accepted(inference, point, t)
        stopped = descent.out_of_passes or self.progress.stopped
        prior = descent.log_prior(point.hyper)
        return Solution.of(
            replace(accepted, log_evidence=accepted.log_evidence + prior),
            history=descent.history,
            n_iter=descent.n_iter,
            notes=notes(
                inference,
                point.hyper,
                accepted,
                believed=believed,
                stopped=self.stopped() if stopped else None,
            ),
            summary=f"{'stopped' if stopped else 'converged'} after {descent.n_iter} passes from "
            f"all {descent.n_functions} functions",
        )


@dataclass(frozen=True)
class BackwardState:
    """Updates of all precisions between two passes.

    Attributes
    ----------
    hyper : Hyperparameters
        What the next pass looks at; that of the last one where the updates have ended.
    warm : WarmStart or None
        What the pass before it knew of the weights.
    spanned : ndarray of int
        Functions that the inference spans.
    n_iter : int
        Passes so far.
    history : list of Pass
    constant : float
        Prior of the functions that left, and what the solver adds.
    at_rest, ended : bool
        Whether there is no pass left because none promises anything; or for any reason.
    """

    hyper: Hyperparameters
    warm: WarmStart | None
    spanned: Index
    n_iter: int
    history: list[Pass]
    constant: float
    at_rest: bool = False
    ended: bool = False


class BackwardElimination:
    """One fit from all functions.

    Parameters
    ----------
    solver : BackwardSolver
        With the updates.
    inference : EvidenceModel
        The evidence of models of the candidates.
    accepted : callable, default=None
        Makes of a point what callbacks are told that ask for it.

    Attributes
    ----------
    n_iter : int
        Passes made, the first of which is the model of all functions.
    n_functions : int
        Functions at the beginning.
    out_of_passes : bool
        Whether `max_iter`, the user or a callback ended the fit.
    history : list of Pass
    found, reached : EvidenceState or None
        Where the updates came to rest, and where they are.
    """

    found: EvidenceState | None = None
    reached: EvidenceState | None = None

    def __init__(
        self,
        solver: BackwardSolver,
        inference: EvidenceModel,
        accepted: Callable[[EvidenceState], SparseModel] | None = None,
    ) -> None:
        self.solver, self.inference, self._accepted = solver, inference, accepted
        self.n_iter, self.out_of_passes = 0, False
        self.history: list[Pass] = []
        self._functions = self._spanned = np.flatnonzero(np.isfinite(inference.design.scale))
        self.n_functions = len(self._functions)
        self._unit2 = self._squared_units()
        self._prior = solver.alpha_prior.in_units(1 / self._unit2)
        self._constant = 0.0
        self._rest = inference.thorough.tol_share * solver.tol
        self._journal = History(inference, solver.progress, verbose=solver.verbose > 0)

    def _squared_units(self) -> Array:
        """Square of a standardised candidate's weight in the users' units, if a prior has any."""
        if self.solver.alpha_prior.uniform:
            return np.ones(self.inference.design.shape[1])
        with np.errstate(over="ignore", under="ignore"):
            unit2: Array = self.inference.weight_unit() ** 2
        if not (np.isfinite(unit2) & (unit2 > 0)).all():
            raise OverflowError(
                "alpha_prior in the units of X and y exceeds the range of float64; rescale them"
            )
        return unit2

    def run(self) -> EvidenceState:
        """The model that the updates end in."""
        everything = self._everything()
        self._constant = self.solver.above_evidence(self.inference, everything)
        self.found = self._converged(everything, None, self._rest)
        self.found = self._thinned(self.found)
        while not (self.out_of_passes or self._prior.bounds_precisions):
            longer = self._with_best_of_the_deleted(self.found)
            if longer is None or self.exhausted():
                break
            earlier = self.history
            found = self._thinned(self._converged(longer, self.found.warm_start(), self._rest))
            if found.log_evidence <= self.found.log_evidence:
                self.history = earlier
                break
            self.found = found
        return self.found

    def best(self) -> EvidenceState:
        """Where the fit has come to."""
        points = [point for point in (self.found, self.reached) if point is not None]
        if self.solver.progress.stopped:
            return max(points, key=lambda point: point.log_evidence)
        return points[0]

    def opening(self) -> Hyperparameters:
        """Where the updates lead while a pass promises `tol`: a beginning for another search."""
        return self._converged(self._everything(), None, self.solver.tol).hyper

    def _everything(self) -> Hyperparameters:
        """All functions, each with the same share of the outputs' variance."""
        inference, m = self.inference.all_active(), self.n_functions
        alpha = np.full(m, m / (inference.n * inference.output_variance))
        beta = inference.noise.beta_max if inference.noise.held else inference.first_beta
        return Hyperparameters.of_functions(inference.design, self._functions, alpha, beta)

    def _converged(
        self, hyper: Hyperparameters, warm: WarmStart | None, rest: float
    ) -> EvidenceState:
        """Make passes until one promises less than `rest`, and no function is worth nothing."""
        first = BackwardState(hyper, warm, self._spanned, self.n_iter, self.history, self._constant)
        solution = None if self._accepted is None else partial(self._so_far, self._accepted)
        self.reached = None
        last = self.solver.progress.passes(first, partial(self._pass, rest), solution)
        if self.reached is None:  # another process made all passes
            self._go_on(last)
            self.reached = self._pruned(self._at(last.hyper, last.warm))
        if not last.at_rest:
            self.exhausted()
        return self.reached

    def _pass(self, rest: float, at: BackwardState) -> BackwardState:
        """The posterior where the last update led, and the next update."""
        self._go_on(at)
        self.reached = point = self._pruned(self._at(at.hyper, at.warm))
        self._record(point)
        hyper, by_functions, by_noise = self._updated(point)
        needed = by_functions[point.deletion_costs() > 0].sum() + by_noise
        fewer = self._without_infinite(point) if needed < self.solver.tol else point
        if fewer is not point:
            hyper = fewer.hyper
        at_rest = fewer is point and by_functions.sum() + by_noise < rest
        if at_rest or self.exhausted():
            return replace(
                at, n_iter=self.n_iter, history=self.history, at_rest=at_rest, ended=True
            )
        return BackwardState(
            hyper, fewer.warm_start(), self._spanned, self.n_iter, self.history, self._constant
        )

    def _go_on(self, at: BackwardState) -> None:
        """Be where the updates are, which another process may have made."""
        if len(at.spanned) < len(self._spanned):
            self.inference.span_only(at.spanned)
        self._spanned, self._constant = at.spanned, at.constant
        self.n_iter, self.history = at.n_iter, at.history

    def _so_far(
        self, accepted: Callable[[EvidenceState], SparseModel], at: BackwardState
    ) -> Solution:
        """Where the updates are as a solution."""
        assert self.reached is not None
        return so_far(accepted(self.reached), at.history, at.n_iter)

    def _updated(self, point: EvidenceState) -> tuple[Hyperparameters, Array, float]:
        """Precisions of the next pass, and the nats that each function's and the noise's promise.

        Where an update takes a precision from s to c observations over s, the slope of the
        objective in its logarithm is ½(c − s): every step is upwards.
        """
        hyper, prior = point.hyper, self._prior.of(point.hyper.of_groups(point.hyper.active))
        counted, squares = self.solver.of_weights(point)
        counted, squares = counted + 2 * prior.shape, squares + 2 * prior.rate * hyper.alpha
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = counted / squares  # eq. 44 and 48
            promised = 0.5 * (counted - squares) * np.log(factor)
        beta, by_noise = self._updated_noise(point)
        alpha = np.maximum(hyper.alpha * factor, hyper.beta.max() / RESOLVED)
        return replace(hyper, alpha=alpha, beta=beta), promised, by_noise

    def _updated_noise(self, point: EvidenceState) -> tuple[Array, float]:
        noise, beta, n = self.inference.noise, point.hyper.beta, self.inference.n
        if noise.held:
            return beta, 0.0
        freedom, misfit = self.solver.of_noise(point, n)
        spent = beta * (misfit + 2 * noise.prior.rate)
        slope = 0.5 * (freedom + 2 * noise.prior.shape - spent)
        free = noise.may_move(beta, slope, n, n - point.determined().sum(axis=0))
        resolved = RESOLVED * point.hyper.alpha.min(initial=1.0)
        precision = np.minimum(noise.precision(freedom, misfit), np.maximum(beta, resolved))
        updated = np.where(free, precision, beta)  # eq. 46 and 50
        return updated, float((slope * np.log(updated / beta)).sum())

    def _thinned(self, point: EvidenceState) -> EvidenceState:
        """Leave out functions that are worth less than `tol`, the others following.

        They are near copies of others. Rows of history above what is left go with them.
        """
        while not (self.out_of_passes or self._prior.bounds_precisions):
            kept, tol = point.kept_after_deletions(self.solver.tol), self.solver.tol
            if len(kept) == len(point.hyper.alpha):
                break
            fewer, lost = point.keep(kept), len(point.hyper.alpha) - len(kept)
            if fewer.log_evidence < point.log_evidence - tol * lost - point.allowed_decrease:
                break
            if self.exhausted():
                break
            most = self._objective(fewer)
            self.history = [row for row in self.history if row.log_evidence <= most]
            point = self._converged(fewer.hyper, fewer.warm_start(), self._rest)
        return point

    def _pruned(self, point: EvidenceState) -> EvidenceState:
        """Leave out functions that the data say nothing of; what their priors say stays."""
        while not (needed := point.hyper.total(point.well_determined()) >= LEAST_DETERMINED).all():
            self._constant += self.log_prior(point.hyper.keep(np.flatnonzero(~needed)))
            point = self._at(point.hyper.keep(np.flatnonzero(needed)), point.warm_start())
        return point

    def _without_infinite(self, point: EvidenceState) -> EvidenceState:
        """Leave out the functions whose best precision is infinite, if there are any."""
        if self._prior.bounds_precisions or len(kept := point.kept_after_deletions(0.0)) == len(
            point.hyper.alpha
        ):
            return point
        fewer = point.keep(kept)
        # Where the posterior is approximate, what a deletion gains is as well.
        return fewer if fewer.log_evidence >= point.log_evidence - point.allowed_decrease else point

    def _at(self, hyper: Hyperparameters, warm: WarmStart | None) -> EvidenceState:
        """Another model, without what half of the functions took that are gone by then."""
        hyper = hyper.keep(np.flatnonzero(np.isfinite(hyper.alpha)))
        if 2 * len(hyper.active) <= len(self._spanned):
            self._spanned = hyper.active
            self.inference.span_only(hyper.active)
        return self.inference.at(hyper, warm)

    def _with_best_of_the_deleted(self, point: EvidenceState) -> Hyperparameters | None:
        """The function back that would raise the evidence most, if by `tol` (App. B.1)."""
        self.inference.span_only(point.hyper.active)
        scores = self.inference.scores(self.inference.at(point.hyper, point.warm_start()))
        best = np.argsort(-scores.gain)[:1]
        longer = scores.added(point.hyper, best, self.solver.tol)
        return longer if len(longer.alpha) > len(point.hyper.alpha) else None

    def _record(self, point: EvidenceState) -> None:
        self.n_iter += 1
        row = self._journal.row(self.n_iter, 0, self._objective(point), point.hyper)
        self.history = [*self.history, row]

    def exhausted(self) -> bool:
        """Whether no pass is left for what is still to do, which `out_of_passes` then notes."""
        self.out_of_passes |= self.n_iter >= self.solver.max_iter or self.solver.progress.stopped
        return self.out_of_passes

    def _objective(self, point: EvidenceState) -> float:
        """Eq. 36 in the users' units, and what the solver adds to it."""
        evidence = self.inference.user_evidence(point.log_evidence)
        return evidence + self.log_prior(point.hyper) + self._constant

    def log_prior(self, hyper: Hyperparameters) -> float:
        """Prior of a model's precisions, in the users' units."""
        unit2 = hyper.of_groups(self._unit2[hyper.active])
        return self.solver.alpha_prior.log_prob(hyper.alpha / unit2)
