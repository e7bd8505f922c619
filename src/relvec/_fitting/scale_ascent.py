"""Evidence of fixed functions in what their basis has to learn and in the precisions; its ascent.

θ are the logarithms of the values in `Basis.hyper` that are not zero, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from relvec._design.base import of_logs
from relvec._evidence import EvidenceModel, EvidenceState, evidence_model
from relvec._evidence.base import WarmStart
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._fitting.problem import Problem
from relvec._numerics.typing import Array
from relvec.basis.base import Basis

#: The logarithm of a value or a precision moves by so much in one ascent at most.
REACH = 6.0


def theta_of(basis: Basis) -> Array:
    """θ of a basis, shape (n_hyper,)."""
    return np.log(_nonzero(basis.hyper, basis.hyper))


def with_theta(basis: Basis, theta: Array) -> Basis:
    """Return the same functions at another θ, −∞ for what becomes zero."""
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


class ScaledEvidence:
    """Evidence of fixed functions, summed over the outputs, and its gradient (eq. 53).

    The coordinates are θ and then, output by output, log α and log β. Each of the `outputs` uses
    some functions, with precisions for them as they are and the target in the units of its design;
    Φ (n_samples, n_functions) are their values, where they are known.
    """

    def __init__(
        self,
        problem: Problem,
        basis: Basis,
        outputs: Sequence[Hyperparameters],
        Phi: Array | None = None,
    ) -> None:
        self.problem, self.basis, self.outputs = problem, basis, outputs
        self.Phi = problem.data.evaluate(basis) if Phi is None else Phi
        self.theta = theta_of(basis)
        logs = [np.log(np.append(hyper.alpha, hyper.beta)) for hyper in outputs]
        self.coordinates = np.concatenate([self.theta, *logs])
        self._ends = np.cumsum([len(self.theta), *map(len, logs)])[:-1]

    def at(self, theta: Array, *logs: Array) -> ScaledEvidence:
        """Return the evidence at another θ, and with other logs of α and β, if these are given."""
        outputs = list(map(_with_logs, self.outputs, logs)) if logs else self.outputs
        if np.array_equal(theta, self.theta):
            return ScaledEvidence(self.problem, self.basis, outputs, self.Phi)
        return ScaledEvidence(self.problem, with_theta(self.basis, theta), outputs)

    def value(self) -> float:
        """Log evidence of all outputs."""
        return sum(state.log_evidence for _, state in self._states([None] * len(self.outputs)))

    def ascended(
        self, steps: int, *, theta: bool = True, precisions: bool = True
    ) -> tuple[float, ScaledEvidence]:
        """Log evidence after quasi-Newton steps in θ, the precisions or both, and where it is."""
        first = self.coordinates
        free = np.where(np.arange(len(first)) < len(self.theta), theta, precisions)
        warm: list[WarmStart | None] = [None] * len(self.outputs)

        def at(moved: Array) -> ScaledEvidence:
            coordinates = first.copy()
            coordinates[free] = moved
            return self.at(*np.split(coordinates, self._ends))

        def downhill(moved: Array) -> tuple[float, Array]:
            value, gradient = at(moved).gradient(warm, theta=theta)
            return -value, -gradient[free]

        def ascent() -> tuple[float, Array]:
            bounds = np.stack([first[free] - REACH, first[free] + REACH], axis=1)
            found = minimize(
                downhill,
                first[free],
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxiter": steps},
            )
            return -float(found.fun), found.x

        runner = self.problem.runner
        with runner.part("ascent in the scales", 0):
            value, moved = runner.once(ascent)
        return value, at(moved)

    def gradient(
        self, warm: list[WarmStart | None] | None = None, *, theta: bool = True
    ) -> tuple[float, Array]:
        """Log evidence and its gradient in the coordinates, where wanted in `theta`.

        States of the outputs that are known in `warm` are begun from, and replaced.
        """
        warm = [None] * len(self.outputs) if warm is None else warm
        log_evidence, gradients, D = 0.0, [np.zeros(len(self.theta))], np.zeros_like(self.Phi)
        for j, (model, state) in enumerate(self._states(warm)):
            if not self.problem.believable(state.log_evidence):
                return -np.inf, np.zeros_like(self.coordinates)
            log_evidence += state.log_evidence
            hyper, warm[j] = self.outputs[j], state.warm_start()
            gradient = np.zeros(len(hyper.alpha) + len(hyper.beta))
            n_free = len(hyper.alpha) if model.noise.held else len(gradient)
            gradient[:n_free] = state.evidence_gradient()[:n_free]
            gradients.append(gradient)
            if theta:
                with np.errstate(over="ignore", invalid="ignore"):
                    D[:, hyper.active] += model.function_slope(state)
        if not np.isfinite(D).all():
            raise OverflowError(
                "the scales of functions that are next to nothing cannot be learnt: slopes exceed "
                "the range of float64; rescale X"
            )
        if theta:
            by_value = self.basis.hyper_gradient(self.problem.data.X, D)
            gradients[0] = _nonzero(by_value, self.basis.hyper)
        return log_evidence, np.concatenate(gradients)

    def _states(
        self, warm: Sequence[WarmStart | None]
    ) -> Iterator[tuple[EvidenceModel, EvidenceState]]:
        """Posterior of every output, looked for from states that are known."""
        targets = self.problem.data.targets.values()
        for hyper, start, t in zip(self.outputs, warm, targets, strict=True):
            design = self.problem.data.design(self.Phi[:, hyper.active], hyper.group)
            model = evidence_model(self.problem.likelihood, design, t).all_active()
            every = replace(hyper, active=np.arange(len(hyper.active)))
            yield model, model.at(every.in_units(design.weight_unit), start)


def _with_logs(hyper: Hyperparameters, logs: Array) -> Hyperparameters:
    """Return the same functions with other log α and log β, side by side."""
    alpha, log_beta = np.split(logs, [len(hyper.alpha)])
    return replace(hyper, alpha=of_logs(alpha), beta=np.exp(log_beta))
