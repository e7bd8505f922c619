"""Input scale γ of a kernel as a number."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from relvec._numerics.checks import named_errors
from relvec._numerics.floats import ROUNDINGS, SMALLEST
from relvec._numerics.typing import Array

#: Names of scales that the evidence chooses: one, or one per feature.
LEARNT = ("evidence", "ard")


def resolve_gamma(
    gamma: str | ArrayLike, X: Array, weights: Array | None = None, power: int = 2
) -> float | Array:
    """Return γ as a positive number, or as one per feature.

    Parameters
    ----------
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like of shape (n_features,)
        "scale" and "auto" mean what they mean in ``SVR``: 1 / (n_features · variance of X), or 1
        where X does not vary, and 1 / n_features. "evidence" and "ard" are to be learnt, from
        1 / (n_features · sd of X to the `power`) on: of all inputs together, or of each feature,
        which is zero and stays so for one that does not vary.
    X : ndarray of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,), optional
        Frequency of each row.
    power : int
        γ has the unit of X to minus this power.
    """
    n_features = int(X.shape[1])
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1.0 / n_features
        if gamma in ("scale", "evidence"):
            variance, exponent = _variance(X, weights)
            root = 2 if gamma == "scale" else power
            unit = n_features * variance ** (0.5 * root)
            return _inverse(unit, root * exponent, gamma) if variance > 0 else 1.0
        if gamma == "ard":
            gammas, deviations = np.zeros(n_features), standard_deviations(X, weights)
            for d in np.flatnonzero(deviations):
                share, exponent = np.frexp(deviations[d])
                gammas[d] = _inverse(n_features * share**power, power * exponent, gamma)
            return gammas
        raise ValueError(
            f"gamma={gamma!r} is not known, expected 'scale', 'auto', 'evidence', 'ard', a "
            "positive number or one per feature"
        )
    with named_errors("gamma"):
        values: Array = check_array(
            gamma, dtype=np.float64, ensure_2d=False, ensure_min_samples=0, ensure_all_finite=False
        )
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n_features):
        raise ValueError(
            f"gamma has shape {values.shape}, expected one number or {n_features} of them, "
            "one per feature"
        )
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise ValueError(
            f"gamma={gamma!r}, expected a positive finite number, or one per feature of which some "
            "may be zero"
        )
    return values if values.ndim else float(values)


def _inverse(unit: float, exponent: int, gamma: str) -> float:
    """Return 1 / (unit · 2^exponent); what is out of range is refused."""
    with np.errstate(over="ignore", under="ignore"):
        found = float(np.ldexp(1.0 / unit, -exponent))
    if not SMALLEST <= found < np.inf:
        raise OverflowError(
            f"gamma={gamma!r} is out of the range of float64 for X of this size; rescale X"
        )
    return found


def _exponent(x: Array) -> int:
    """Return the power of two above all sizes of numbers: in units of it squares are in range."""
    return int(np.frexp(max(x.max(), -x.min()))[1])


def _variance(X: Array, weights: Array | None) -> tuple[float, int]:
    """Variance of all entries of X about their one mean, in units of 4^e, and e."""
    exponent = _exponent(X)
    X = np.ldexp(X, -exponent)
    mean = float(np.average(X, axis=0, weights=weights).mean())
    return float(np.average((X - mean) ** 2, axis=0, weights=weights).mean()), exponent


def standard_deviations(X: Array, weights: Array | None = None) -> Array:
    """Standard deviation of every feature, zero where it is no more than rounding."""
    found = np.zeros(X.shape[1])
    for d, x in enumerate(X.T):  # X may be too large for a copy
        exponent = _exponent(x)
        x = np.ldexp(x, -exponent)
        mean = float(np.average(x, weights=weights))
        deviation = float(np.sqrt(np.average((x - mean) ** 2, weights=weights)))
        if deviation > ROUNDINGS * abs(mean):
            found[d] = np.ldexp(deviation, exponent)
    return found
