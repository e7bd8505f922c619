"""Newton ascent of the evidence in (log α, log β) over the active functions, with deletions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from relvec.design.base import Array, Design, Frame, Index
from relvec.evidence import ActiveSet, WeightPosterior, deletion_cost
from relvec.likelihoods.gaussian import NOISE_FLOOR, Gaussian
from relvec.linalg import NotPositiveDefiniteError, cholesky, solve_positive

#: Share of `tol` that is next to nothing.
NOTHING = 1e-6
#: Most that a step changes the logarithm of a precision, and most dampings tried to raise L.
MAX_LOG_STEP, MAX_TRIES = 3.0, 12
#: β rises no further when less than this share of the observations is left to tell the noise from.
LEAST_FREEDOM = 0.2
#: The posterior without a function follows from the one with it. That costs digits where the
#: function's Σ̂_ii is smaller than the first, or leaves one smaller than the second: recompute then.
SAFE_PIVOT, SAFE_VARIANCE = 0.1, 1e-8


@dataclass(frozen=True)
class Model:
    """A point of the search: which functions are active, and the precisions."""

    active: Index
    alpha: Array
    beta: float

    def keep(self, which: Index) -> Model:
        """Return the model with the functions at some positions only."""
        return replace(self, active=self.active[which], alpha=self.alpha[which])

    def add(self, index: Index, alpha: Array) -> Model:
        """Return the model with more functions at its end."""
        return replace(
            self, active=np.append(self.active, index), alpha=np.append(self.alpha, alpha)
        )


@dataclass(frozen=True)
class Noise:
    """What may be done to the noise precision β.

    Attributes
    ----------
    held : bool
        β stays as it is.
    beta_max : float
        Its ceiling; the known value, where the noise is known.
    """

    held: bool
    beta_max: float

    @classmethod
    def of(cls, design: Design, likelihood: Gaussian) -> Noise:
        """Known noise is held; noise to be learnt has a floor relative to the target's variance."""
        if likelihood.noise_variance is not None:
            beta = design.target_scale**2 / likelihood.noise_variance
            if not 0 < beta < np.inf:
                raise OverflowError(
                    f"noise_variance={likelihood.noise_variance!r} beside the variance of y exceeds"
                    " the range of float64; rescale y"
                )
            return cls(held=True, beta_max=beta)
        return cls(held=False, beta_max=1 / (NOISE_FLOOR * design.target_variance))

    def may_move(self, beta: float, slope: float, n: float, posterior: WeightPosterior) -> bool:
        """Whether β is free to follow the slope ∂L/∂log β."""
        if self.held or slope <= 0:
            return not self.held
        freedom = n - float(posterior.well_determined().sum())
        return beta < self.beta_max and freedom > LEAST_FREEDOM * n

    def released(self, beta: float) -> float:
        """β from which to go on after it was held elsewhere."""
        return self.beta_max if self.held else min(beta, self.beta_max)

    def precision(self, freedom: float, misfit: float) -> float:
        """β = (N − Σγ)/r of eq. 18, up to the ceiling; the noise is at most the whole target."""
        if freedom >= self.beta_max * misfit:
            return self.beta_max
        return max(freedom / misfit, 1.0)


def climb(
    frame: Frame, model: Model, n: float, noise: Noise, tol: float, max_steps: int
) -> tuple[Model, ActiveSet, WeightPosterior]:
    """Raise the evidence by at most `max_steps` Newton steps, with deletions before and after each.

    Every step raises it; a deletion costs less than `tol` nats. Stops when a step gains, or every
    entry of the gradient is, next to nothing.
    """
    data = ActiveSet.from_frame(frame, model.active, n)
    posterior = WeightPosterior.at(data, model.alpha, model.beta)
    damping = 0.0
    for _ in range(max_steps):
        model, data, posterior = _prune(model, data, posterior, tol)
        gradient = posterior.gradient(n, model.beta)
        size = len(model.alpha) + noise.may_move(model.beta, gradient[-1], n, posterior)
        gradient = gradient[:size]
        if not size or np.abs(gradient).max() < NOTHING * tol:
            break
        curvature = -posterior.hessian(model.beta)[:size, :size]
        for _ in range(MAX_TRIES):
            step = _newton_step(curvature, gradient, damping)
            if step is not None:
                trial = _moved(model, step, noise.beta_max)
                there = WeightPosterior.at(data, trial.alpha, trial.beta)
                if there.log_evidence >= posterior.log_evidence:
                    break
            damping = max(10 * damping, 1e-2)
        else:
            break
        gained = there.log_evidence - posterior.log_evidence
        model, posterior = trial, there
        damping = 0.1 * damping if damping > 1e-3 else 0.0
        if gained < NOTHING * tol:
            break
    return _prune(model, data, posterior, tol)


def _newton_step(curvature: Array, gradient: Array, damping: float) -> Array | None:
    """Damped Newton step, capped; None where the damped curvature is not positive definite."""
    damped = curvature.copy()
    damped.flat[:: len(damped) + 1] += damping
    try:
        step = solve_positive(cholesky(damped), gradient)
    except NotPositiveDefiniteError:
        return None
    return step * min(1.0, MAX_LOG_STEP / float(np.abs(step).max()))


def _moved(model: Model, step: Array, beta_max: float) -> Model:
    k = len(model.alpha)
    beta = min(model.beta * float(np.exp(step[k])), beta_max) if len(step) > k else model.beta
    return replace(model, alpha=model.alpha * np.exp(step[:k]), beta=beta)


def _prune(
    model: Model, data: ActiveSet, posterior: WeightPosterior, tol: float
) -> tuple[Model, ActiveSet, WeightPosterior]:
    """Delete, one at a time, the function that costs least, while it costs less than `tol` nats.

    A function whose best α is infinite (q² < s) costs less than nothing. The others that go are
    near copies of their neighbours, which take over.
    """
    while len(model.alpha):
        cost = deletion_cost(posterior.variance.diagonal(), posterior.mean)
        worst = int(cost.argmin())
        if cost[worst] >= tol:
            break
        rest = np.flatnonzero(np.arange(len(cost)) != worst)
        model = model.keep(rest)
        data = replace(data, R=data.R[:, rest])
        V, m = posterior.variance, posterior.mean
        column = V[rest, worst] / V[worst, worst]
        variance = V[np.ix_(rest, rest)] - np.multiply.outer(column, V[worst, rest])
        if V[worst, worst] < SAFE_PIVOT or variance.diagonal().min(initial=1.0) < SAFE_VARIANCE:
            posterior = WeightPosterior.at(data, model.alpha, model.beta)
            continue
        mean = m[rest] - column * m[worst]
        misfit = data.misfit(mean / np.sqrt(model.alpha))
        posterior = WeightPosterior(
            variance, mean, misfit, posterior.log_evidence - float(cost[worst])
        )
    return model, data, posterior
