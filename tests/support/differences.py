"""Derivatives of any function by differences of its values."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def derivative(
    function: Callable[[Array], ArrayLike], x: ArrayLike, step: float | Array = 1e-3
) -> Array:
    """Central differences of fourth order, of the function's shape with x's coordinates last.

    Parameters
    ----------
    function : callable
        Takes an array of the shape of x.
    x : array-like of shape (n,) or (n_rows, n), or a number
        Of several rows all are moved at once: value i of the function depends on row i alone.
    step : float or array of shape (n,)
        A thousandth of the length on which the function changes, for each coordinate: the error is
        then some 1e-13 of its values. More where they are less exact than rounding leaves them.
    """
    x = np.asarray(x, dtype=float)
    slopes = []
    for direction in np.diag(np.broadcast_to(step, x.shape[-1:])) if x.ndim else [step]:
        near = np.subtract(function(x + direction), function(x - direction))
        far = np.subtract(function(x + 2 * direction), function(x - 2 * direction))
        slopes.append((8 * near - far) / (12 * np.max(direction)))
    return np.stack(slopes, axis=-1) if x.ndim else slopes[0]
