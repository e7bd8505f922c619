"""Medians of values that count differently."""

from __future__ import annotations

import numpy as np

from relvec._numerics.typing import Array


def weighted_median(values: Array, frequency: Array | None) -> float:
    """Return the median of values (n,) with frequency weights, where these are copies of each."""
    if frequency is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    counted = np.cumsum(frequency[order])
    half = 0.5 * counted[-1]
    low, high = (order[np.searchsorted(counted, half, side)] for side in ("left", "right"))
    return float(0.5 * values[low] + 0.5 * values[high])
