"""Derivatives of functions of which only values are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relvec._numerics.floats import EPSILON
from relvec._numerics.typing import Array

#: Steps, each half of the one before, and orders of the extrapolation to a step of none: lower ones
#: than the first may agree by chance.
STEPS, FIRST, ORDERS = 24, 2, 6


def slopes(function: Callable[[Array], Array], x: Array) -> tuple[Array, Array]:
    """Return the derivative of each value of a function in its own argument, with its error.

    They are central differences at x (n, k), and how far these and those from either side disagree:
    infinite where the function has no values nearby. It maps arrays to arrays of their shape.
    """
    size = np.maximum(x.std(axis=0), np.abs(x).max(axis=0)) / 2
    step = np.broadcast_to(np.where(size > 0, size, 1.0), x.shape)
    with np.errstate(all="ignore"):
        found, error = _extrapolated(function, x, step, step, ratio=4.0)
        above, _ = _extrapolated(function, x, step, 0 * step, ratio=2.0)
        below, _ = _extrapolated(function, x, 0 * step, step, ratio=2.0)
        return found, np.maximum(error, np.abs(above - below))


def _extrapolated(
    function: Callable[[Array], Array], x: Array, up: Array, down: Array, *, ratio: float
) -> tuple[Array, Array]:
    """Differences over steps `up` and `down` from x, all (n, k), extrapolated to steps of zero.

    Halved steps have errors of powers of 1/ratio of the difference; the best by their agreement are
    taken, with an estimate of their error (Ridders, Advances in Engineering Software 4, 1982).
    """
    best, error = np.zeros_like(x), np.full_like(x, np.inf)
    earlier: list[Array] = []
    for _ in range(STEPS):
        high, low, width = function(x + up), function(x - down), (x + up) - (x - down)
        rounding = EPSILON * (np.abs(high) + np.abs(low)) / width
        row = [(high - low) / width]
        for order, rough in enumerate(earlier[:ORDERS], start=1):
            finer = (ratio**order * row[-1] - rough) / (ratio**order - 1)
            if order >= FIRST:
                near = (rough, row[-1], row[-2])
                own = np.max([np.abs(finer - each) for each in near], axis=0) + rounding
                best, error = np.where(own < error, finer, best), np.fmin(own, error)
            row.append(finer)
        earlier, up, down = row, up / 2, down / 2
    return best, error
