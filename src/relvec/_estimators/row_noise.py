"""Noise whose variance is known for every row."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from relvec._numerics.checks import named_errors
from relvec._numerics.typing import Array

#: Precision of a row beside the common one up to which sums over the rows stay in range.
LARGEST_PRECISION = 1e50


def check_row_variances(variances: ArrayLike, n_samples: int) -> Array:
    """Return the noise variances of all rows as an array."""
    if np.shape(variances) != (n_samples,):
        raise ValueError(
            f"noise_variance_per_row has shape {np.shape(variances)}, expected {(n_samples,)}"
        )
    with named_errors("noise_variance_per_row"):
        checked: Array = check_array(
            variances, ensure_2d=False, dtype=np.float64, input_name="noise_variance_per_row"
        )
    if (checked <= 0).any():
        raise ValueError(
            f"noise_variance_per_row has a minimum of {checked.min():g}, expected numbers > 0"
        )
    return checked


def mean_variance(variances: Array, weights: Array | None) -> float:
    """Mean over all copies of the rows, exact where all are the same."""
    least = variances.min()
    return float(least + np.average(variances - least, weights=weights))


def relative_precision(variances: Array, common: float) -> Array:
    """Precision of each row's noise in units of that of a common variance."""
    with np.errstate(over="ignore", under="ignore"):
        precision: Array = common / variances
    if not ((precision < LARGEST_PRECISION) & (precision > 1 / LARGEST_PRECISION)).all():
        raise OverflowError(
            f"noise_variance_per_row reaches from {variances.min():g} to {variances.max():g}, "
            "which is too far for float64"
        )
    return precision
