"""The evidence of fixed functions as a function of input scales and precisions, and its ascent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from relvec._design.base import in_units, of_logs
from relvec._evidence import EvidenceModel, EvidenceState, Hyperparameters, evidence_model
from relvec._evidence.base import WarmStart
from relvec._fitting.problem import Problem
from relvec._numerics.typing import Array, Index
from relvec._runner.runner import Runner
from relvec.basis.base import Basis

#: How far one ascent may move the logarithm of a scale or a precision.
REACH = 6.0


def theta_of(basis: Basis) -> Array:
    """Logarithms of the values in `Basis.hyper` that are not zero, shape (n_hyper,)."""
    return np.log(_nonzero(basis.hyper, basis.hyper))


def with_theta(basis: Basis, theta: Array) -> Basis:
    """Return the same functions at exp(θ), where θ may be −∞ for what becomes zero."""
    values: dict[str, float | Array] = {}
    begin = 0
    for name, value in basis.hyper.items():
        each = np.array(value, dtype=np.float64, ndmin=1)
        used = np.flatnonzero(each)
        each[used] = np.exp(theta[begin : begin + len(used)])
        values[name] = each if np.ndim(value) else float(each[0])
        begin += len(used)
    return basis.with_hyper(values)


def may_vanish(basis: Basis) -> NDArray[np.bool_]:
    """Entries of θ that may be −∞, shape (n_hyper,): of an input, beside which there is another."""
    counts = [(np.ndim(value), np.count_nonzero(value)) for value in basis.hyper.values()]
    return np.repeat([bool(ndim) and count > 1 for ndim, count in counts], [n for _, n in counts])


def _nonzero(values: Mapping[str, float | Array], hyper: Mapping[str, float | Array]) -> Array:
    """Entries of `values` where those of `hyper` are not zero, one after the other."""
    return np.concatenate(
        [np.atleast_1d(values[name])[np.flatnonzero(value)] for name, value in hyper.items()]
    )


@dataclass(frozen=True)
class SharedPrecisions:
    """The functions that one machine uses, families of which share a precision.

    Attributes
    ----------
    columns : ndarray of int, shape (n_active,)
        Positions of the functions in the basis.
    family : ndarray of int, shape (n_active,)
        Family of each.
    log_alpha : ndarray of shape (n_families,)
        Logarithm of the precision of each family's weights, for the functions as they are and the
        target in the units of its design.
    beta : ndarray of shape (n_noises,)
        Noise precisions.
    """

    columns: Index
    family: Index
    log_alpha: Array
    beta: Array

    @property
    def logs(self) -> Array:
        """Logarithms of all precisions."""
        return np.append(self.log_alpha, np.log(self.beta))

    def moved(self, logs: Array) -> SharedPrecisions:
        """The same with other precisions."""
        k = len(self.log_alpha)
        return replace(self, log_alpha=logs[:k], beta=np.exp(logs[k:]))

    def hyper(self, active: Index) -> Hyperparameters:
        """The model, if the functions of the basis are the candidates `active`."""
        return Hyperparameters(
            active[self.columns], of_logs(self.log_alpha[self.family]), self.beta
        )

    def tied(self, slope: Array, *, beta_held: bool) -> Array:
        """Slope in `logs`, given that in every function's log α and in log β."""
        k = len(self.family)
        by_family = np.bincount(self.family, slope[:k], len(self.log_alpha))
        return np.append(by_family, np.zeros(len(self.beta)) if beta_held else slope[k:])


class ScaledEvidence:
    """Evidence of fixed functions, all machines together, and its slope (eq. 53).

    A place is a vector of the log scales of the basis and then the log precisions of each machine.

    Parameters
    ----------
    problem : Problem
        With the targets.
    basis : Basis
        The functions.
    machines : sequence of Tied
        Which of them each machine uses.
    """

    def __init__(
        self, problem: Problem, basis: Basis, machines: Sequence[SharedPrecisions]
    ) -> None:
        self.problem, self.basis, self.machines = problem, basis, machines
        self.place = np.concatenate([theta_of(basis), *[m.logs for m in machines]])
        self._ends = np.cumsum([basis.n_hyper, *[len(m.logs) for m in machines]])[:-1]
        self._near: list[WarmStart | None] = [None] * len(machines)

    def at(self, place: Array) -> ScaledEvidence:
        """The same functions elsewhere."""
        scales, *logs = np.split(place, self._ends)
        moved = [machine.moved(part) for machine, part in zip(self.machines, logs, strict=True)]
        return ScaledEvidence(self.problem, with_theta(self.basis, scales), moved)

    def without(self, scale: int) -> ScaledEvidence:
        """The same with one scale zero."""
        values = theta_of(self.basis)
        values[scale] = -np.inf
        return ScaledEvidence(self.problem, with_theta(self.basis, values), self.machines)

    def value(self) -> float:
        """L here."""
        return sum(point.log_evidence for _, point in self._points())

    def ascended(
        self,
        steps: int,
        progress: Runner,
        *,
        hold_scales: bool = False,
        hold_precisions: bool = False,
    ) -> tuple[float, ScaledEvidence]:
        """L after some steps uphill of a quasi-Newton method, and where that is."""
        reach = np.full(len(self.place), REACH)
        reach[: self.basis.n_hyper] *= not hold_scales
        reach[self.basis.n_hyper :] *= not hold_precisions

        def downhill(place: Array) -> tuple[float, Array]:
            value, slope = self.at(place).slope(self._near)
            return -value, -slope

        def ascent() -> tuple[float, Array]:
            found = minimize(
                downhill,
                self.place,
                jac=True,
                method="L-BFGS-B",
                bounds=np.column_stack([self.place - reach, self.place + reach]),
                options={"maxiter": steps},
            )
            return -float(found.fun), found.x

        with progress.part("ascent in the scales", 0):
            value, place = progress.once(ascent)
        return value, self.at(place)

    def slope(self, near: list[WarmStart | None] | None = None) -> tuple[float, Array]:
        """L and its slope at the place; what is known `near` is begun from and replaced."""
        log_evidence, slopes = 0.0, []
        D = np.zeros((len(self.problem.data.X), len(self.basis.rows_)))
        for number, (inference, point) in enumerate(self._points(near)):
            if not self.problem.believable(point.log_evidence):
                return -np.inf, np.zeros_like(self.place)
            if near is not None:
                near[number] = point.warm_start()
            machine = self.machines[number]
            log_evidence += point.log_evidence
            with np.errstate(over="ignore", invalid="ignore"):
                D[:, machine.columns] += inference.function_slope(point)
            slopes.append(machine.tied(point.evidence_gradient(), beta_held=inference.noise.held))
        if not np.isfinite(D).all():
            raise OverflowError(
                "the scales of functions that are next to nothing cannot be learnt: slopes exceed "
                "the range of float64; rescale X"
            )
        by_scale = _nonzero(self.basis.hyper_gradient(self.problem.data.X, D), self.basis.hyper)
        return log_evidence, np.concatenate([by_scale, *slopes])

    def _points(
        self, near: list[WarmStart | None] | None = None
    ) -> list[tuple[EvidenceModel, EvidenceState]]:
        """Posterior of every machine at the place."""
        Phi, found = self.problem.data.evaluate(self.basis), []
        begun = near or [None] * len(self.machines)
        for machine, start, t in zip(
            self.machines, begun, self.problem.data.targets.values(), strict=True
        ):
            design = self.problem.data.design(Phi[:, machine.columns])
            inference = evidence_model(self.problem.likelihood, design, t).all_active()
            alpha = in_units(of_logs(machine.log_alpha[machine.family]), design.weight_unit)
            hyper = Hyperparameters(np.arange(len(alpha)), alpha, machine.beta)
            found.append((inference, inference.at(hyper, start)))
        return found
