"""The mode of the posterior of the weights, and the way there."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np

from relvec._evidence.curvature import Curvature, Information
from relvec._evidence.rows import Rows, Terms, curvature_of, slope_of
from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.linalg import NotPositiveDefiniteError
from relvec._numerics.typing import Array, RowVector

#: A mode is found once a Newton step would raise the posterior by less than this, in nats; that
#: step is still taken. On the way of a search, where modes follow each other closely, less will do.
EXACTLY, CLOSELY = 1e-7, 1e-4
#: Share of what one step promised that the next may, if both are to have the same curvature.
CONTRACTION = 0.25
#: Newton steps to the mode at most, from the place of another mode and from none, and the least
#: ascent that one of them may be shortened to.
STEPS_NEARBY, MAX_STEPS, LEAST_ASCENT = 30, 200, 1e-12


class LinearPredictor:
    """The outputs of all rows under some weights, and what the likelihood says there.

    Nothing here depends on the prior.

    Parameters
    ----------
    rows : Rows
    Phi : RowVector, of shape (n_samples, n_active)
        Active functions.
    weights : ndarray of shape (n_active, n_outputs)
    level : ndarray of shape (n_outputs,)
        Outputs where all functions are zero.

    Attributes
    ----------
    y : RowVector, of shape (n_samples, n_outputs)
        The outputs.
    log_prob : float
        Log-likelihood.
    by_weight : ndarray of shape (n_active, n_outputs)
        Its slope in the weights.
    by_level : ndarray of shape (n_outputs,)
        Its slope in the level, zeros without an intercept.
    """

    def __init__(self, rows: Rows, Phi: RowVector, weights: Array, level: Array) -> None:
        self.rows, self.Phi, self.weights, self.level = rows, Phi, weights, level
        self.y = rows.design.map_rows(partial(outputs_of, weights, level), Phi)
        log_prob, self.by_weight, by_level = rows.sum(_at_outputs, Phi, self.y)
        self.log_prob = float(log_prob)
        self.by_level = by_level if rows.has_intercept else np.zeros_like(by_level)

    @cached_property
    def slope(self) -> RowVector:
        """∂ log p/∂y of every row."""
        return self.rows.map(slope_of, self.y)

    @cached_property
    def B(self) -> RowVector:  # noqa: N802 -- its symbol
        """−∂² log p/∂y² of every row."""
        return self.rows.map(curvature_of, self.y)

    @cached_property
    def information(self) -> Information:
        """Curvature of the log-likelihood in the weights and the level."""
        return Information(self.rows.design, self.Phi, self.B)


def outputs_of(weights: Array, level: Array, Phi: Array) -> Array:
    """X times weights and level."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is no ascent
        outputs: Array = Phi @ weights + level
    return outputs


def _at_outputs(terms: Terms, Phi: Array, y: Array, *given: Any) -> tuple[Array, ...]:
    """Log-likelihood and its slopes: one pass, because most places of an ascent need both."""
    with np.errstate(over="ignore", invalid="ignore"):
        slope, log_prob = terms.slope(y, *given), np.asarray(terms.log_prob(y, *given))
        return log_prob, Phi.T @ slope, slope.sum(axis=0)


class NewtonIterate:
    """Outputs with a prior: a place on the log posterior of the weights (eq. 24)."""

    def __init__(self, outputs: LinearPredictor, alpha: Array) -> None:
        self.outputs, self._alpha = outputs, alpha
        weights = outputs.weights
        with np.errstate(over="ignore", invalid="ignore"):
            penalty = 0.5 * float(alpha @ (weights * weights).sum(axis=1))
            self.height = outputs.log_prob - penalty

    @cached_property
    def curvature(self) -> Curvature:
        """Curvature of the log posterior, eq. 25."""
        return Curvature(self.outputs.information, self._alpha)

    def newton_step(self, bend: Curvature) -> tuple[Array, Array, float]:
        """Step of weights and level to the top of a paraboloid, and how high that is."""
        here = self.outputs
        by_weight = here.by_weight - self._alpha[:, None] * here.weights
        by_level = here.by_level
        step, level_step = bend.solve(by_weight, by_level)
        return step, level_step, 0.5 * float((by_weight * step).sum() + by_level @ level_step)

    def moved(self, step: Array, level_step: Array) -> NewtonIterate:
        """The place at the end of a step."""
        here = self.outputs
        weights, level = here.weights + step, here.level + level_step
        return NewtonIterate(LinearPredictor(here.rows, here.Phi, weights, level), self._alpha)

    def under(self, alpha: Array) -> NewtonIterate:
        """The same outputs under another prior."""
        return NewtonIterate(self.outputs, alpha)

    def usable(self) -> bool:
        """Whether the curvature has digits: far out the likelihood is flat."""
        try:
            return bool(np.isfinite(self.curvature.half_log_det))
        except NotPositiveDefiniteError:
            return False


def find_mode(
    place: NewtonIterate, tolerance: float, bend: Curvature | None = None
) -> tuple[NewtonIterate, bool]:
    """Newton ascent of the log posterior of the weights, which is concave.

    Near the mode the curvature at one place, or what is known of it, does for all steps. Further
    away every step has its own and is damped. From a place far out, where the likelihood is flat or
    bends sharply, it may take forever; then the ascent begins again without weights. Returns
    whether the mode was reached, too: with a prior as good as flat and classes that weights far
    apart separate, it may be out of reach.
    """
    mode = _followed(place, tolerance, bend)
    if mode is not None:
        return mode, True
    nowhere = place.moved(-place.outputs.weights, -place.outputs.level)
    if place.height >= nowhere.height and place.usable():
        mode, reached = _ascended(place, tolerance, STEPS_NEARBY)
        if reached:
            return mode, True
    return _ascended(nowhere, tolerance, MAX_STEPS)


def _followed(
    place: NewtonIterate, tolerance: float, bend: Curvature | None
) -> NewtonIterate | None:
    """The end of steps that share a curvature; None unless each promises far less than the last.

    A curvature costs the square of the weights in every row, a step their number. What is left
    after a step is a share of what it promised, not its square: the steps go on until that is the
    square of what is next to nothing.
    """
    if not np.isfinite(place.height) or (bend is None and not place.usable()):
        return None
    bend = place.curvature if bend is None else bend
    before = np.inf
    while True:
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is no ascent
            step, level_step, promised = place.newton_step(bend)
        share = promised / before if np.isfinite(before) else CONTRACTION
        if not (share <= CONTRACTION and np.isfinite(promised)):
            return None
        there = place.moved(step, level_step)
        if not there.height >= place.height - ROUNDINGS * abs(place.height):
            return None
        place, before = there, promised
        if share * promised < tolerance**2:
            return place if place.usable() else None


def _ascended(place: NewtonIterate, tolerance: float, max_steps: int) -> tuple[NewtonIterate, bool]:
    for _ in range(max_steps):
        step, level_step, promised = place.newton_step(place.curvature)
        rounding, size = ROUNDINGS * abs(place.height), 1.0
        found, least = promised < max(tolerance, rounding), max(rounding, LEAST_ASCENT)
        enough = place.height - (max(tolerance, rounding) if found else 0.0)
        while True:
            there = place.moved(size * step, size * level_step)
            if there.height >= enough and there.usable():
                break
            size *= 0.5
            if size * promised < least:  # rounding leaves no ascent
                return place, True
        place = there
        if found:
            return place, True
    return place, False
