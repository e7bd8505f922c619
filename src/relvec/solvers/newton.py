"""Newton ascent of the evidence in (log α, log β) over the active functions, with deletions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relvec._evidence.base import AscentLimits, EvidenceState
from relvec._evidence.gains import kept_after_deletions
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.noise import Noise
from relvec._numerics.linalg import NotPositiveDefiniteError, solve_positive
from relvec._numerics.typing import Array

#: Most that a step changes the logarithm of a precision, and most dampings tried to raise L.
MAX_LOG_STEP, MAX_TRIES = 3.0, 12


def newton_ascent(
    state: EvidenceState, n: float, noise: Noise, tol: float, effort: AscentLimits
) -> EvidenceState:
    """Raise the evidence by Newton steps, with deletions before and after each.

    A deletion costs less than `tol` nats. Where the gradient is that of the evidence every step
    raises it, and the climb ends when a step gains next to nothing; elsewhere when the gradient is
    next to zero, and each step may lower the evidence a little on the way there.
    """
    damping, next_to_nothing = 0.0, effort.tol_share * tol
    for _ in range(effort.steps):
        state = prune(state, tol)
        slope = state.gradient()
        free = _free(state, slope, noise, n)
        gradient = slope[free]
        if not len(gradient) or np.abs(gradient).max() < next_to_nothing:
            break
        curvature = -state.hessian()[free][:, free]
        for _ in range(MAX_TRIES):
            step = _newton_step(curvature, gradient, damping)
            if step is not None:
                there = state.move(_moved(state.hyper, free, step, noise.beta_max))
                if there.log_evidence >= state.log_evidence - state.allowed_decrease:
                    break
                if not state.allowed_decrease and float(gradient @ step) <= next_to_nothing:
                    return prune(state, tol)  # no shorter step raises it by more
            damping = max(10 * damping, 1e-2)
        else:
            break
        gained = there.log_evidence - state.log_evidence
        state = there
        damping = 0.1 * damping if damping > 1e-3 else 0.0
        if gained < next_to_nothing and not state.allowed_decrease:
            break
    return prune(state, tol)


def polish(state: EvidenceState, n: float, noise: Noise, tol: float, steps: int) -> EvidenceState:
    """Go on from where a climb came to rest, to where the slope is flat but for rounding.

    What a climb leaves is next to nothing in nats, but not in precisions that the evidence hardly
    feels, and in its last digits the evidence no longer tells which way is up: whole Newton steps
    are taken as long as each flattens the slope.
    """
    slope = state.gradient()
    for _ in range(steps):
        free = _free(state, slope, noise, n)
        steepest = np.abs(slope[free]).max(initial=0.0)
        if not 0 < steepest < tol:
            break
        step = _newton_step(-state.hessian()[free][:, free], slope[free], 0.0)
        if step is None:
            break
        there = state.move(_moved(state.hyper, free, step, noise.beta_max))
        slope = there.gradient()
        if np.abs(slope[free]).max() >= steepest:
            break
        state = there
    return state


def promised(state: EvidenceState, n: float, noise: Noise) -> float:
    """Rise of the evidence that a Newton step promises, zero where the evidence is not concave."""
    slope = state.gradient()
    free = _free(state, slope, noise, n)
    step = _newton_step(-state.hessian()[free][:, free], slope[free], 0.0)
    return 0.0 if step is None else 0.5 * float(slope[free] @ step)


def _free(state: EvidenceState, gradient: Array, noise: Noise, n: float) -> NDArray[np.bool_]:
    """Which coordinates are free to move: every log α, and the log β of each noise that may."""
    free, k = np.ones(len(gradient), dtype=np.bool_), len(state.hyper.alpha)
    if noise.held:
        free[k:] = False
    else:
        slope = gradient[k:]
        freedom = n - state.used() if (slope > 0).any() else n  # β may fall whatever it is
        free[k:] = noise.may_move(state.hyper.beta, slope, n, freedom)
    return free


def _newton_step(curvature: Array, gradient: Array, damping: float) -> Array | None:
    """Damped Newton step, capped; None where the damped curvature is not positive definite."""
    damped = curvature.copy()
    damped.flat[:: len(damped) + 1] += damping
    try:
        step = solve_positive(damped, gradient)
    except NotPositiveDefiniteError:
        return None
    longest = float(np.abs(step).max())
    return step if longest <= MAX_LOG_STEP else step * (MAX_LOG_STEP / longest)


def _moved(
    hyper: Hyperparameters, free: NDArray[np.bool_], step: Array, beta_max: Array
) -> Hyperparameters:
    k, growth = len(hyper.alpha), np.exp(step)
    if len(step) == k:
        return hyper.at(hyper.alpha * growth, hyper.beta)
    beta = hyper.beta.copy()
    beta[free[k:]] *= growth[k:]
    return hyper.at(hyper.alpha * growth[:k], np.minimum(beta, beta_max))


def prune(state: EvidenceState, tol: float) -> EvidenceState:
    """Delete the functions that cost least, while each costs less than `tol` nats.

    What deletions cost is known exactly where the posterior is; elsewhere it is an estimate, which
    the evidence of the smaller model has to confirm: of all of them, or else, of groups, of one.
    """
    while True:
        for most in (np.inf,) if state.hyper.single else (np.inf, 1):
            which = kept_after_deletions(state.variances, state.means, state.hyper, tol, most)
            lost = len(state.hyper.alpha) - len(which)
            if not lost:
                return state
            shorter = state.keep(which)
            if shorter.log_evidence >= state.log_evidence - tol * lost:
                break
        else:
            return state
        state = shorter
