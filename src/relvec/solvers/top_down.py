"""Top-down fits: updates of all precisions at once, from all functions, with pruning."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from relvec.design.base import Array, Design
from relvec.inference import Accepted, Inference, Model, Point, infer
from relvec.likelihoods.base import Likelihood
from relvec.precision import EPSILON
from relvec.solvers.base import Pass, Solution, Solver
from relvec.solvers.report import Journal, notes

#: A function leaves once the data determine its weight less than this, the γ_i of eq. 17 of a
#: function and a target in any units: the machine precision, as in App. B.1.
LEAST_DETERMINED = EPSILON
#: Noise precision over that of a function, both of unit norm, up to which many functions at once
#: leave their posterior digits. Only noise of rounding errors is less.
RESOLVED = 1e20


@dataclass(frozen=True)
class TopDown(Solver):
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
    def of_weights(self, point: Point) -> tuple[Array, Array]:
        """Observations of each function's precision, and the sum of their squares times α."""

    @abstractmethod
    def of_noise(self, point: Point, n: float) -> tuple[Array, Array]:
        """Observations of each noise, out of n, and the sum of their squares."""

    def inference(self, likelihood: Likelihood, design: Design, t: Array) -> Inference:
        """What the updates see of the evidence."""
        return infer(likelihood, design, t)

    def above_evidence(self, inference: Inference, everything: Point) -> float:
        """What the objective has in addition to log evidence and hyperpriors: a constant."""
        del inference, everything
        return 0.0

    def accepted(self, inference: Inference, point: Point, t: Array) -> tuple[Accepted, float]:
        """The model in the users' units, and the log evidence that the search believed in."""
        del t
        return inference.accept(point.model), inference.user_evidence(point.log_evidence)

    def solve(self, design: Design, t: Array, likelihood: Likelihood) -> Solution:
        """Maximise the evidence; see `Solver.solve`."""
        inference = self.inference(likelihood, design, t)
        if len(inference.noise.beta_max) > 1 and not self.alpha_prior.uniform:
            raise ValueError(
                f"alpha_prior={(self.alpha_prior.shape, self.alpha_prior.rate)}, expected (0, 0) "
                "for targets that share precisions and have units of their own; use "
                "multi_output='independent'"
            )
        descent = Descent(self, inference)
        point = descent.run()
        accepted, believed = self.accepted(inference, point, t)
        stopped = descent.out_of_passes
        prior = self.alpha_prior.log_prob(accepted.alpha)
        return Solution.of(
            replace(accepted, log_evidence=accepted.log_evidence + prior),
            history=descent.history,
            n_iter=descent.n_iter,
            notes=notes(
                inference,
                point.model,
                accepted,
                believed=believed,
                stopped_after=self.max_iter if stopped else None,
            ),
            summary=f"{'stopped' if stopped else 'converged'} after {descent.n_iter} passes from "
            f"all {descent.n_functions} functions",
        )


class Descent:
    """One fit from all functions.

    Parameters
    ----------
    solver : TopDown
        With the updates.
    inference : Inference
        The evidence of models of the candidates.

    Attributes
    ----------
    n_iter : int
        Passes made, the first of which is the model of all functions.
    n_functions : int
        Functions at the beginning.
    out_of_passes : bool
        Whether `max_iter` ended the fit.
    history : list of Pass
    """

    def __init__(self, solver: TopDown, inference: Inference) -> None:
        self.solver, self.inference = solver, inference
        self.n_iter, self.out_of_passes = 0, False
        self.history: list[Pass] = []
        self._functions = np.flatnonzero(np.isfinite(inference.design.scale))
        self.n_functions = self._spanned = len(self._functions)
        self._unit2 = self._squared_units()
        self._prior = solver.alpha_prior.in_units(1 / self._unit2)
        self._constant = 0.0
        self._rest = inference.thorough.rest * solver.tol
        self._journal = Journal(inference, verbose=solver.verbose > 0)

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

    def run(self) -> Point:
        """The model that the updates end in."""
        everything = self._everything()
        self._constant = self.solver.above_evidence(self.inference, everything)
        point = self._thinned(self._converged(everything, self._rest))
        while not (self.out_of_passes or self._prior.bounds_precisions):
            longer = self._with_best_of_the_deleted(point)
            if longer is None or self._exhausted():
                break
            earlier = list(self.history)
            found = self._thinned(self._converged(longer, self._rest))
            if found.log_evidence <= point.log_evidence:
                self.history = earlier
                break
            point = found
        return point

    def opening(self) -> Model:
        """Where the updates lead while a pass promises `tol`: a beginning for another search."""
        return self._converged(self._everything(), self.solver.tol).model

    def _everything(self) -> Point:
        """All functions, each with the same share of the outputs' variance."""
        inference, m = self.inference, self.n_functions
        alpha = np.full(m, m / (inference.n * inference.output_variance))
        beta = inference.noise.beta_max if inference.noise.held else inference.first_beta
        return inference.all_active().point(Model(self._functions, alpha, beta))

    def _converged(self, point: Point, rest: float) -> Point:
        """Make passes until one promises less than `rest`, and no function is worth nothing."""
        point = self._pruned(point)
        self._record(point)
        while True:
            model, by_functions, by_noise = self._updated(point)
            needed = by_functions[point.deletion_costs() > 0].sum() + by_noise
            fewer = self._without_infinite(point) if needed < self.solver.tol else point
            if fewer is not point:
                model = fewer.model
            elif by_functions.sum() + by_noise < rest:
                return point
            if self._exhausted():
                return point
            point = self._pruned(self._at(model, fewer))
            self._record(point)

    def _updated(self, point: Point) -> tuple[Model, Array, float]:
        """Precisions of the next pass, and the nats that each function's and the noise's promise.

        Where an update takes a precision from s to c observations over s, the slope of the
        objective in its logarithm is ½(c − s): every step is upwards.
        """
        model, prior = point.model, self._prior.of(point.model.active)
        counted, squares = self.solver.of_weights(point)
        counted, squares = counted + 2 * prior.shape, squares + 2 * prior.rate * model.alpha
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = counted / squares  # eq. 44 and 48
            promised = 0.5 * (counted - squares) * np.log(factor)
        beta, by_noise = self._updated_noise(point)
        alpha = np.maximum(model.alpha * factor, model.beta.max() / RESOLVED)
        return replace(model, alpha=alpha, beta=beta), promised, by_noise

    def _updated_noise(self, point: Point) -> tuple[Array, float]:
        noise, beta, n = self.inference.noise, point.model.beta, self.inference.n
        if noise.held:
            return beta, 0.0
        freedom, misfit = self.solver.of_noise(point, n)
        spent = beta * (misfit + 2 * noise.prior.rate)
        slope = 0.5 * (freedom + 2 * noise.prior.shape - spent)
        free = noise.may_move(beta, slope, n, n - point.determined().sum(axis=0))
        resolved = RESOLVED * point.model.alpha.min(initial=1.0)
        precision = np.minimum(noise.precision(freedom, misfit), np.maximum(beta, resolved))
        updated = np.where(free, precision, beta)  # eq. 46 and 50
        return updated, float((slope * np.log(updated / beta)).sum())

    def _thinned(self, point: Point) -> Point:
        """Leave out functions that are worth less than `tol`, the others following.

        They are near copies of others. Rows of history above what is left go with them.
        """
        while not (self.out_of_passes or self._prior.bounds_precisions):
            kept, tol = point.worth_keeping(self.solver.tol), self.solver.tol
            if len(kept) == len(point.mean):
                break
            fewer, lost = point.keep(kept), len(point.mean) - len(kept)
            if fewer.log_evidence < point.log_evidence - tol * lost - point.fall:
                break
            if self._exhausted():
                break
            most = self._objective(fewer)
            self.history = [row for row in self.history if row.log_evidence <= most]
            point = self._converged(self._at(fewer.model, fewer), self._rest)
        return point

    def _pruned(self, point: Point) -> Point:
        """Leave out functions that the data say nothing of; what their priors say stays."""
        while not (needed := point.well_determined() >= LEAST_DETERMINED).all():
            self._constant += self._log_prior(point.model.keep(np.flatnonzero(~needed)))
            point = self._at(point.model.keep(np.flatnonzero(needed)), point)
        return point

    def _without_infinite(self, point: Point) -> Point:
        """Leave out the functions whose best precision is infinite, if there are any."""
        if self._prior.bounds_precisions or len(kept := point.worth_keeping(0.0)) == len(
            point.mean
        ):
            return point
        fewer = point.keep(kept)
        # Where the posterior is approximate, what a deletion gains is as well.
        return fewer if fewer.log_evidence >= point.log_evidence - point.fall else point

    def _at(self, model: Model, near: Point) -> Point:
        """Another model, without what half of the functions took that are gone by then."""
        model = model.keep(np.flatnonzero(np.isfinite(model.alpha)))
        if 2 * len(model.active) <= self._spanned:
            self._spanned = len(model.active)
            self.inference.span_only(model.active)
        return self.inference.point(model, near.near())

    def _with_best_of_the_deleted(self, point: Point) -> Point | None:
        """The function back that would raise the evidence most, if by `tol` (App. B.1)."""
        self.inference.span_only(point.model.active)
        scan = self.inference.scan(self.inference.point(point.model, point.near()))
        added = scan.additions(np.argsort(-scan.gain)[:1], self.solver.tol)
        if not len(added[0]):
            return None
        return self.inference.point(point.model.add(*added), point.near())

    def _record(self, point: Point) -> None:
        self.n_iter += 1
        objective = self._objective(point)
        self.history.append(self._journal.row(self.n_iter, 0, objective, point.model))

    def _exhausted(self) -> bool:
        """Whether no pass is left for what is still to do, which `out_of_passes` then notes."""
        self.out_of_passes |= self.n_iter >= self.solver.max_iter
        return self.out_of_passes

    def _objective(self, point: Point) -> float:
        """Eq. 36 in the users' units, and what the solver adds to it."""
        evidence = self.inference.user_evidence(point.log_evidence)
        return evidence + self._log_prior(point.model) + self._constant

    def _log_prior(self, model: Model) -> float:
        """Prior of a model's precisions, in the users' units."""
        return self.solver.alpha_prior.log_prob(model.alpha / self._unit2[model.active])
