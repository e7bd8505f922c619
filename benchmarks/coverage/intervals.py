"""Intervals at several levels at once, and what is measured of them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: Ends of the intervals of every level, of shape (n_levels, 2, n_rows).
Ends = Array

LEVELS = [0.5, 0.8, 0.95]


def at_levels(interval: Callable[[Array, float], tuple[Array, Array]], X: Array) -> Ends:
    """Ask a model for its intervals at all levels."""
    return np.array([interval(X, level) for level in LEVELS])


def covered(ends: Ends, y: Array) -> NDArray[np.bool_]:
    """Which rows lie in their intervals, of shape (n_levels, n_rows)."""
    return (ends[:, 0] <= y) & (y <= ends[:, 1])


def pinball(ends: Ends, y: Array) -> float:
    """Mean pinball loss of the ends as the quantiles they are to be, in units of y."""
    tails = 0.5 * (1 - np.array(LEVELS))
    levels = np.column_stack([tails, 1 - tails])[:, :, None]
    above = y - ends
    return float(np.maximum(levels * above, (levels - 1) * above).mean())


def off(shares: Array) -> float:
    """Return the largest deviation of shares from the levels, in points."""
    return float(100 * np.abs(shares - LEVELS).max())


def format_shares(shares: Array) -> str:
    return " / ".join(f"{100 * share:.1f}" for share in shares)
