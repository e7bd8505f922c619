"""The mode of the posterior of the weights, and the way there."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from relvec.design.base import Array
from relvec.inference.curvature import Curvature, Information
from relvec.likelihoods.base import Likelihood
from relvec.linalg import NotPositiveDefiniteError
from relvec.precision import ROUNDINGS

#: A mode is found once a Newton step would raise the posterior by less than this, in nats; that
#: step is still taken. On the way of a search, where modes follow each other closely, less will do.
EXACTLY, CLOSELY = 1e-7, 1e-4
#: Newton steps to the mode at most, from the place of another mode and from none, and the least
#: ascent that one of them may be shortened to.
STEPS_NEARBY, MAX_STEPS, LEAST_ASCENT = 30, 200, 1e-12


class Rows:
    """What the likelihood makes of the outputs of all rows, copies of a row counted.

    Parameters
    ----------
    likelihood : Likelihood
    t : ndarray of shape (n_samples, d)
    weights : ndarray of shape (n_samples,)
    has_intercept : bool
        Whether a flat-prior intercept is part of the outputs.
    """

    def __init__(
        self, likelihood: Likelihood, t: Array, weights: Array, has_intercept: bool
    ) -> None:
        self.likelihood, self.t, self.weights = likelihood, t, weights
        self.has_intercept = has_intercept

    def tempered(self, beta: float) -> Rows:
        """The likelihood to the power β."""
        return Rows(self.likelihood, self.t, beta * self.weights, self.has_intercept)

    def log_prob(self, y: Array) -> float:
        """Log-likelihood."""
        return float(self.weights @ self.likelihood.log_prob(self.t, y))

    def slope(self, y: Array) -> Array:
        """∂ log p/∂y."""
        return self.weights[:, None] * self.likelihood.slope(self.t, y)

    def curvature(self, y: Array) -> Array:
        """B."""
        return self.weights[:, None, None] * self.likelihood.curvature(self.t, y)

    def curvature_slope(self, y: Array, spread: Array) -> Array:
        """∂ tr(B h)/∂y."""
        return self.weights[:, None] * self.likelihood.curvature_slope(self.t, y, spread)


class Outputs:
    """The outputs of all rows under some weights, and what the likelihood says there.

    Nothing here depends on the prior.

    Parameters
    ----------
    rows : Rows
    Phi : ndarray of shape (n_samples, n_active)
        Active functions.
    weights : ndarray of shape (n_active, n_outputs)
    level : ndarray of shape (n_outputs,)
        Outputs where all functions are zero.
    """

    def __init__(self, rows: Rows, Phi: Array, weights: Array, level: Array) -> None:
        self.rows, self.Phi, self.weights, self.level = rows, Phi, weights, level
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is no ascent
            self.y = Phi @ weights + level
            self.log_prob = rows.log_prob(self.y)

    @cached_property
    def slope(self) -> Array:
        """∂ log p/∂y of every row."""
        return self.rows.slope(self.y)

    @cached_property
    def information(self) -> Information:
        """Curvature of the log-likelihood in the weights and the level."""
        return Information(self.Phi, self.rows.curvature(self.y), self.rows.has_intercept)


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
        by_weight, by_level = here.information.gradient(here.slope)
        by_weight -= self._alpha[:, None] * here.weights
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
