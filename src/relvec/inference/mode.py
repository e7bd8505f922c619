"""The mode of the posterior of the weights, and the way there."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np

from relvec.design.base import Array, RowVector
from relvec.inference.curvature import Curvature, Information
from relvec.inference.rows import Rows, Terms, curvature_of, slope_of
from relvec.linalg import NotPositiveDefiniteError
from relvec.precision import ROUNDINGS

#: A mode is found once a Newton step would raise the posterior by less than this, in nats; that
#: step is still taken. On the way of a search, where modes follow each other closely, less will do.
EXACTLY, CLOSELY = 1e-7, 1e-4
#: Newton steps to the mode at most, from the place of another mode and from none, and the least
#: ascent that one of them may be shortened to.
STEPS_NEARBY, MAX_STEPS, LEAST_ASCENT = 30, 200, 1e-12


class Outputs:
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
    B : RowVector, of shape (n_samples, n_outputs, n_outputs)
        −∂² log p/∂y² there.
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
        self.B = rows.map(curvature_of, self.y)
        # One pass for all that costs little: at most places of an ascent all of it is needed.
        log_prob, self.by_weight, by_level, *bend = rows.sum(_at_outputs, Phi, self.y, self.B)
        self.log_prob, self._bend = float(log_prob), bend
        self.by_level = by_level if rows.has_intercept else np.zeros_like(by_level)

    @cached_property
    def slope(self) -> RowVector:
        """∂ log p/∂y of every row."""
        return self.rows.map(slope_of, self.y)

    @cached_property
    def information(self) -> Information:
        """Curvature of the log-likelihood in the weights and the level."""
        return Information(self.rows.design, self.Phi, self.B, *self._bend)


def outputs_of(weights: Array, level: Array, Phi: Array) -> Array:
    """X times weights and level."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is no ascent
        outputs: Array = Phi @ weights + level
    return outputs


def _at_outputs(terms: Terms, Phi: Array, y: Array, B: Array, *given: Any) -> tuple[Array, ...]:
    """Log-likelihood, its slopes, the curvature in the level, functions under its trace."""
    with np.errstate(over="ignore", invalid="ignore"):
        slope, log_prob = terms.slope(y, *given), np.asarray(terms.log_prob(y, *given))
        weighted = np.einsum("nrr->n", B) @ Phi
        return log_prob, Phi.T @ slope, slope.sum(axis=0), B.sum(axis=0), weighted


class Place:
    """Outputs with a prior: a place on the log posterior of the weights (eq. 24)."""

    def __init__(self, outputs: Outputs, alpha: Array) -> None:
        self.outputs, self._alpha = outputs, alpha
        weights = outputs.weights
        with np.errstate(over="ignore", invalid="ignore"):
            penalty = 0.5 * float(alpha @ (weights * weights).sum(axis=1))
            self.height = outputs.log_prob - penalty

    @cached_property
    def curvature(self) -> Curvature:
        """Curvature of the log posterior, eq. 25."""
        return Curvature(self.outputs.information, self._alpha)

    def newton_step(self) -> tuple[Array, Array, float]:
        """Step of weights and level to the top of the paraboloid here, and how high that is."""
        here = self.outputs
        by_weight = here.by_weight - self._alpha[:, None] * here.weights
        by_level = here.by_level
        step, level_step = self.curvature.solve(by_weight, by_level)
        return step, level_step, 0.5 * float((by_weight * step).sum() + by_level @ level_step)

    def moved(self, step: Array, level_step: Array) -> Place:
        """The place at the end of a step."""
        here = self.outputs
        weights, level = here.weights + step, here.level + level_step
        return Place(Outputs(here.rows, here.Phi, weights, level), self._alpha)

    def under(self, alpha: Array) -> Place:
        """The same outputs under another prior."""
        return Place(self.outputs, alpha)

    def usable(self) -> bool:
        """Whether the curvature has digits: far out the likelihood is flat."""
        try:
            return bool(np.isfinite(self.curvature.half_log_det))
        except NotPositiveDefiniteError:
            return False


def climb_to_mode(place: Place, tolerance: float) -> tuple[Place, bool]:
    """Damped Newton ascent of the log posterior of the weights, which is concave.

    From a place far out, where the likelihood is flat or bends sharply, it may take forever; then
    the ascent begins again without weights. Returns whether the mode was reached, too: with a
    prior as good as flat and classes that weights far apart separate, it may be out of reach.
    """
    nowhere = place.moved(-place.outputs.weights, -place.outputs.level)
    if place.height >= nowhere.height and place.usable():
        mode, reached = _ascended(place, tolerance, STEPS_NEARBY)
        if reached:
            return mode, True
    return _ascended(nowhere, tolerance, MAX_STEPS)


def _ascended(place: Place, tolerance: float, max_steps: int) -> tuple[Place, bool]:
    for _ in range(max_steps):
        step, level_step, promised = place.newton_step()
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
