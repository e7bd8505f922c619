"""Checks of numbers; scikit-learn's own let NaN through, which passes every comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from relvec._numerics.typing import Array

#: Weight of a row up to which sums over the rows stay well inside the range of float64.
LARGEST_WEIGHT = 1e50


@contextmanager
def named_errors(*names: str) -> Iterator[None]:
    """Have NumPy and scikit-learn name the argument, one of these, that they refuse."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if re.search(rf"\b({'|'.join(names)})\b", str(error)):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{' or '.join(names)}: {error}") from error


def check_finite(value: Any, name: str) -> None:
    """Raise unless `value` is a finite real number."""
    usable = isinstance(value, Real) and bool(np.isfinite(float(value)))
    _check(value, name, usable, "a finite number")


def check_positive(value: Any, name: str, expected: str = "a finite number > 0") -> None:
    """Raise unless `value` is a finite real number above zero."""
    usable = isinstance(value, Real) and bool(np.isfinite(float(value))) and float(value) > 0
    _check(value, name, usable, expected)


def check_not_negative(value: Any, name: str) -> None:
    """Raise unless `value` is a finite real number of zero or more."""
    usable = isinstance(value, Real) and bool(np.isfinite(float(value))) and float(value) >= 0
    _check(value, name, usable, "a finite number >= 0")


def check_count(value: Any, name: str, most: float = np.inf) -> None:
    """Raise unless `value` is a whole number from 1 to `most`."""
    usable = isinstance(value, Integral) and 1 <= int(value) <= most
    _check(value, name, usable, "an int >= 1" + (f" and <= {most}" if most < np.inf else ""))


def check_coverage(value: Any, name: str = "coverage") -> None:
    """Raise unless `value` is a probability strictly between zero and one."""
    usable = isinstance(value, Real) and 0 < float(value) < 1
    _check(value, name, usable, "a probability > 0 and < 1")


def _check(value: Any, name: str, usable: bool, expected: str) -> None:
    if isinstance(value, bool) or not usable:
        kind = ValueError if isinstance(value, Real) else TypeError
        raise kind(f"{name}={value!r}, expected {expected}")


def check_weights(sample_weight: ArrayLike | None, n_samples: int) -> Array | None:
    """Return weights as an array, or None where every row counts once."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight)
    with named_errors("sample_weight"):
        weights: Array = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
        )
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected {(n_samples,)}")
    if (weights < 0).any():
        raise ValueError(f"sample_weight has a minimum of {weights.min():g}, expected none below 0")
    positive = weights[weights > 0]
    if weights.max() > LARGEST_WEIGHT or positive.min(initial=1.0) < 1 / LARGEST_WEIGHT:
        raise OverflowError(
            f"sample_weight reaches from {positive.min():g} to {weights.max():g}, expected zeros "
            f"and numbers from {1 / LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
        )
    if not weights.any():
        raise ValueError("sample_weight is zero in every row, expected a positive one")
    return None if (weights == 1).all() else weights
