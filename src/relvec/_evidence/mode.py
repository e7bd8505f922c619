"""Mode of the posterior of the weights, by Newton's method."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property, partial
from math import isfinite
from typing import Protocol

import numpy as np

from relvec._design.base import Design
from relvec._evidence.curvature import Curvature, Information, PredictorCovariance
from relvec._evidence.gaussian import LOG_2PI
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.linalg import NotPositiveDefiniteError
from relvec._numerics.typing import Array, RowVector

#: A mode is found once a Newton step would raise the posterior by less than this, in nats; that
#: step is still taken. On the way of a search, where modes follow each other closely, less will do.
EXACTLY, CLOSELY = 1e-7, 1e-4
#: Share of what one step promised that the next may, if both are to have the same curvature.
CONTRACTION = 0.25
#: Newton steps to the mode at most, from another mode and from zero, and the least ascent that one
#: of them may be shortened to.
STEPS_NEARBY, MAX_STEPS, LEAST_ASCENT = 30, 200, 1e-12


class RowLikelihood(Protocol):
    """Log density of a row's target, and its derivatives; see `Likelihood`."""

    @property
    def quadratic(self) -> bool:
        """True where the curvature is the same everywhere."""

    def log_prob(self, t: Array, y: Array) -> Array:
        """Log density."""

    def gradient(self, t: Array, y: Array) -> Array:
        """∂ log p/∂y."""

    def neg_hessian(self, t: Array, y: Array) -> Array:
        """B = −∂² log p/∂y²."""

    def neg_hessian_gradient(self, t: Array, y: Array, variance: Array) -> Array:
        """∂ tr(B h)/∂y."""


@dataclass(frozen=True)
class LogLikelihood:
    """Log-likelihood at some weights and intercept; its methods take blocks of rows."""

    likelihood: RowLikelihood
    weights: Array  # (n_active, n_outputs)
    intercept: Array  # (n_outputs,), linear predictor where all functions are zero
    power: float = 1.0  # power that the likelihood is raised to

    def moved(self, weights: Array, intercept: Array) -> LogLikelihood:
        """The same at other weights."""
        return LogLikelihood(self.likelihood, weights, intercept, self.power)

    def linear_predictor(self, Phi: Array) -> Array:
        """Y = Φw and the intercept, shape (n_rows, n_outputs)."""
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is no ascent
            return self._linear_predictor(Phi)

    def _linear_predictor(self, Phi: Array) -> Array:
        y: Array = Phi @ self.weights + self.intercept
        return y

    def with_gradient(self, Phi: Array, t: Array, copies: Array) -> tuple[Array, ...]:
        """Sums over the rows: log p, and its gradient in weights and intercept."""
        with np.errstate(over="ignore", invalid="ignore"):
            y = self._linear_predictor(Phi)
            gradient = self.power * copies[:, None] * self.likelihood.gradient(t, y)
            log_prob = np.asarray(self.power * (copies @ self.likelihood.log_prob(t, y)))
            return log_prob, Phi.T @ gradient, gradient.sum(axis=0)

    def gradient(self, Phi: Array, t: Array, copies: Array) -> Array:
        """∂ log p/∂y of every row."""
        y = self.linear_predictor(Phi)
        return self.power * copies[:, None] * self.likelihood.gradient(t, y)

    def neg_hessian(self, Phi: Array, t: Array, copies: Array) -> Array:
        """−∂² log p/∂y² of every row."""
        with np.errstate(over="ignore", invalid="ignore"):
            B = self.likelihood.neg_hessian(t, self._linear_predictor(Phi))
            return self.power * copies[:, None, None] * B

    def log_det_gradient(
        self, covariance: PredictorCovariance, Phi: Array, t: Array, copies: Array
    ) -> Array:
        """∂ log|H|/∂y of every row."""
        y, variance = self.linear_predictor(Phi), covariance.variance(Phi)
        return self.power * copies[:, None] * self.likelihood.neg_hessian_gradient(t, y, variance)


class NewtonIterate:
    """Weights and intercept, with the log posterior and its derivatives there (eq. 24).

    Parameters
    ----------
    log_likelihood : LogLikelihood
        At the weights.
    design : Design
    t : RowVector, of shape (n_samples, d)
        Targets.
    Phi : RowVector, of shape (n_samples, n_active)
        Active functions.
    alpha : ndarray of shape (n_active,)
        Prior precision of each function's weights.

    Attributes
    ----------
    log_posterior : float
        Log-likelihood less ½wᵀAw.
    by_weight : ndarray of shape (n_active, n_outputs)
        Its gradient in the weights.
    by_intercept : ndarray of shape (n_outputs,)
        Its gradient in the intercept, zeros where there is none.
    """

    _information: Information | None

    def __init__(
        self,
        log_likelihood: LogLikelihood,
        design: Design,
        t: RowVector,
        Phi: RowVector,
        alpha: Array,
    ) -> None:
        self._at, self.design, self.t, self.Phi = log_likelihood, design, t, Phi
        self.weights, self.intercept = log_likelihood.weights, log_likelihood.intercept
        self._rows, self._information = (Phi, t, design.row_weights), None
        self._log_prob, self._gradient, by_intercept = design.sum_rows(
            log_likelihood.with_gradient, *self._rows
        )
        self.by_intercept = by_intercept if design.has_intercept else np.zeros_like(by_intercept)
        self._set_prior(alpha)

    def _set_prior(self, alpha: Array) -> None:
        self.alpha = alpha
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is no ascent
            penalty = 0.5 * float(alpha @ (self.weights * self.weights).sum(axis=1))
            self.log_posterior = float(self._log_prob) - penalty
            self.by_weight = self._gradient - alpha[:, None] * self.weights

    @property
    def log_evidence(self) -> float:
        """Log evidence by Laplace's method (eq. R5), if this is the mode."""
        level = 0.5 * LOG_2PI * len(self.intercept) if self.design.has_intercept else 0.0
        return self.log_posterior - self.curvature.half_log_det + level

    @property
    def linear_predictor(self) -> RowVector:
        """Y of every row, shape (n_samples, n_outputs)."""
        return self.design.map_rows(self._at.linear_predictor, self.Phi)

    @cached_property
    def gradient(self) -> RowVector:
        """∂ log p/∂y of every row, shape (n_samples, n_outputs)."""
        return self.design.map_rows(self._at.gradient, *self._rows)

    @cached_property
    def B(self) -> RowVector:  # noqa: N802 -- its symbol
        """−∂² log p/∂y² of every row, shape (n_samples, n_outputs, n_outputs)."""
        return self.design.map_rows(self._at.neg_hessian, *self._rows)

    def log_det_gradient(self, covariance: PredictorCovariance) -> RowVector:
        """∂ log|H|/∂y of every row, shape (n_samples, n_outputs): h∘∂B/∂y with one output."""
        return self.design.map_rows(partial(self._at.log_det_gradient, covariance), *self._rows)

    @cached_property
    def curvature(self) -> Curvature:
        """Curvature of the log posterior, eq. 25."""
        if self._information is not None:
            return Curvature(self._information, self.alpha)
        return Curvature(Information(self.design, self.Phi, self.B), self.alpha)

    def newton_step(self, curvature: Curvature) -> tuple[Array, Array, float]:
        """Step of weights and intercept to the top of a paraboloid, and its height there."""
        step, shift = curvature.solve(self.by_weight, self.by_intercept)
        height = float((self.by_weight * step).sum() + self.by_intercept @ shift)
        return step, shift, 0.5 * height

    def moved(self, step: Array, shift: Array) -> NewtonIterate:
        """Iterate at the end of a step."""
        weights, intercept = self.weights + step, self.intercept + shift
        there = self._at.moved(weights, intercept)
        iterate = NewtonIterate(there, self.design, self.t, self.Phi, self.alpha)
        if there.likelihood.quadratic:
            iterate.curvature = self.curvature
        return iterate

    def restricted(self, hyper: Hyperparameters, weights: Array, intercept: Array) -> NewtonIterate:
        """Iterate at other weights, of fewer functions."""
        there = self._at.moved(weights, intercept)
        Phi = self.design.columns(hyper.active)
        return NewtonIterate(there, self.design, self.t, Phi, hyper.each)

    def under(self, alpha: Array) -> NewtonIterate:
        """Iterate of the same weights under another prior."""
        other = copy.copy(self)
        other._information = self.curvature.information
        del other.curvature
        other._set_prior(alpha)
        return other

    def usable(self) -> bool:
        """Return whether the curvature has digits: far out the likelihood is flat, or overflows."""
        try:
            return isfinite(self.curvature.half_log_det)
        except NotPositiveDefiniteError:
            return False


@np.errstate(over="ignore", invalid="ignore")  # what overflows is no ascent
def find_mode(
    start: NewtonIterate, tolerance: float, curvature: Curvature | None = None
) -> tuple[NewtonIterate, bool]:
    """Newton ascent of the log posterior of the weights, which is concave.

    Near the mode the curvature at one iterate, or what is known of it, does for all steps. Further
    away every step has its own and is damped. From far out, where the likelihood is flat or bends
    sharply, it may take forever; then the ascent begins again without weights. Returns whether the
    mode was reached, too: with a prior as good as flat and classes that weights far apart separate,
    it may be out of reach.
    """
    at, reached = _with_one_curvature(start, tolerance, curvature)
    if reached:
        return at, True
    zero = start.moved(-start.weights, -start.intercept)
    if at.log_posterior >= zero.log_posterior and at.usable():
        mode, reached = _damped_newton(at, tolerance, STEPS_NEARBY)
        if reached:
            return mode, True
    return _damped_newton(zero, tolerance, MAX_STEPS)


def _with_one_curvature(
    at: NewtonIterate, tolerance: float, curvature: Curvature | None
) -> tuple[NewtonIterate, bool]:
    """The end of steps that share a curvature, as long as each promises far less than the last.

    A curvature costs the square of the weights in every row, a step their number. What is left
    after a step is a share of what it promised, not its square: the steps go on until that is the
    square of what is next to nothing. Returns whether they came there, by the curvature there, too.
    """
    if not isfinite(at.log_posterior) or (curvature is None and not at.usable()):
        return at, False
    curvature, start = at.curvature if curvature is None else curvature, at
    before = np.inf
    while True:
        step, shift, promised = at.newton_step(curvature)
        share = promised / before if isfinite(before) else CONTRACTION
        if not (share <= CONTRACTION and isfinite(promised)):
            return at, False
        there = at.moved(step, shift)
        if not there.log_posterior >= at.log_posterior - ROUNDINGS * abs(at.log_posterior):
            return at, False
        at, before = there, promised
        if share * promised < tolerance**2:
            if not at.usable():
                return start, False
            left = at.newton_step(at.curvature)[2]
            return at, left < max(tolerance, ROUNDINGS * abs(at.log_posterior))


def _damped_newton(
    at: NewtonIterate, tolerance: float, max_steps: int
) -> tuple[NewtonIterate, bool]:
    """Newton steps, each halved until it ascends, and whether they reached the mode."""
    for _ in range(max_steps):
        step, shift, promised = at.newton_step(at.curvature)
        rounding, size = ROUNDINGS * abs(at.log_posterior), 1.0
        found, least = promised < max(tolerance, rounding), max(rounding, LEAST_ASCENT)
        enough = at.log_posterior - (max(tolerance, rounding) if found else 0.0)
        while True:
            there = at.moved(size * step, size * shift)
            if there.log_posterior >= enough and there.usable():
                break
            size *= 0.5
            if not size * promised >= least:  # rounding, or what overflows, leaves no ascent
                return at, isfinite(promised) and isfinite(at.log_posterior)
        at = there
        if found:
            return at, True
    return at, False
