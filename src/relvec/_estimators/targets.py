"""Targets that are numbers: which columns are fitted together, noise known by row, exposures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from relvec._numerics.checks import in_memory, named_errors, refuse_no_numbers
from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.typing import Array, Index
from relvec.likelihoods import Likelihood

#: Precision of a row beside the common one up to which sums over the rows stay in range.
LARGEST_PRECISION = 1e50


@dataclass(frozen=True)
class TargetLayout:
    """Columns of y by the search that they are fitted in."""

    columns: dict[str, Index]  # columns of each search, by the name that messages call it
    #: (n_targets,), position of each column of y among those of the searches, one after the other
    order: Index

    @classmethod
    def of(cls, varies: NDArray[np.bool_], *, shared: bool) -> TargetLayout:
        """Lay out columns, of which some vary from row to row.

        `shared` functions are those of all columns but the constant ones, which have no relevance
        to share and no scale to measure weights by.
        """
        every = np.arange(len(varies))
        if len(every) == 1:
            return cls({"": every}, every)
        varying = every[varies] if shared else every[:0]
        alone = np.setdiff1d(every, varying)
        columns = {"": varying} if len(varying) else {}
        columns |= {f"target {k}: ": np.array([k]) for k in alone.tolist()}
        return cls(columns, np.argsort(np.append(varying, alone)))

    def targets(self, y: Array) -> dict[str, Array]:
        """Return the columns of y (n_samples, n_targets) of each search, by the same names."""
        return {name: y[:, columns] for name, columns in self.columns.items()}


def varying(y: Array) -> NDArray[np.bool_]:
    """Return whether columns of y (n_samples, n_targets) vary by more than rounding."""
    half_range = y.max(axis=0) / 2 - y.min(axis=0) / 2
    varies: NDArray[np.bool_] = half_range > ROUNDINGS * (np.abs(y).max(axis=0) / 2)
    return varies


def check_row_variances(variances: ArrayLike, n_samples: int) -> Array:
    """Return the noise variances of all rows as an array."""
    return check_positive_rows(variances, n_samples, "noise_variance_per_row")


def check_positive_rows(values: ArrayLike, n_samples: int, name: str) -> Array:
    """Return positive numbers, one a row, as an array (n_samples,)."""
    values = in_memory(values)
    if np.shape(values) != (n_samples,):
        raise ValueError(f"{name} has shape {np.shape(values)}, expected {(n_samples,)}")
    refuse_no_numbers(name, values)
    with named_errors(name):
        checked: Array = check_array(values, ensure_2d=False, dtype=np.float64, input_name=name)
    if (checked <= 0).any():
        raise ValueError(f"{name} has a minimum of {checked.min():g}, expected numbers > 0")
    return checked


def mean_variance(variances: Array, weights: Array | None) -> float:
    """Mean over the rows with their frequencies, exact where all are the same."""
    least = variances.min()
    return float(least + np.average(variances - least, weights=weights))


def relative_precision(variances: Array, common: float) -> Array:
    """Precision of each row's noise in units of that of a common variance, (n_samples,)."""
    with np.errstate(over="ignore", under="ignore"):
        precision: Array = common / variances
    if not ((precision < LARGEST_PRECISION) & (precision > 1 / LARGEST_PRECISION)).all():
        raise OverflowError(
            f"noise_variance_per_row reaches from {variances.min():g} to {variances.max():g}, "
            "which is too far for float64"
        )
    return precision


def log_exposure(exposure: ArrayLike | None, n_samples: int, likelihood: Likelihood) -> Array:
    """Return the logarithm of the exposure of each row, (n_samples,), zeros where there is none."""
    if exposure is None:
        return np.zeros(n_samples)
    if not likelihood.takes_offset:
        raise ValueError(
            f"exposure is given, expected None under {type(likelihood).__name__} noise: exposures "
            "are those of counts, with likelihood='poisson'"
        )
    return np.log(check_positive_rows(exposure, n_samples, "exposure"))


def with_exposure(t: Array, exposure: ArrayLike | None, likelihood: Likelihood) -> Array:
    """Return targets (n_samples, d) with the logarithm of their exposure as one more column.

    They are returned as they are where there is no exposure.
    """
    if exposure is None:
        return t
    return np.column_stack([t, log_exposure(exposure, len(t), likelihood)])
