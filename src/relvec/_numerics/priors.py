"""Gamma priors on precisions (eq. 6), uniform over log precisions by default."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._numerics.checks import check_not_negative
from relvec._numerics.typing import Array


@dataclass(frozen=True)
class Gamma:
    """p(log α) ∝ α^a e^(−bα): the Gamma prior of eq. 6, over log α and without its constant.

    Without the constant the prior of a = b = 0, uniform over log α, is a case like the others.
    """

    shape: float = 0.0  # a, half a number of observations
    #: b, in inverse units of the precision; one for each precision where their units differ
    rate: float | Array = 0.0

    @cached_property
    def uniform(self) -> bool:
        """True if all scales are equally likely."""
        return self.shape == 0 and not np.any(self.rate)

    @property
    def bounds_precisions(self) -> bool:
        """True if no precision can be infinite (Tipping 2001, footnote 7)."""
        return bool(np.any(self.rate))

    def log_prob(self, precision: Array) -> float:
        """Σ(a log α − bα), the last terms of eq. 36."""
        if self.uniform:
            return 0.0
        return float((self.shape * np.log(precision) - self.rate * precision).sum())

    def slope(self, precision: Array) -> Array:
        """The derivative in each log α, a − bα."""
        return self.shape - self.rate * precision

    def curvature(self, precision: Array) -> Array:
        """The second derivative in each log α, −bα."""
        return -self.rate * precision

    def in_units(self, unit: float | Array) -> Gamma:
        """The same prior of α/unit, where the present one is of α."""
        return self if not self.bounds_precisions else Gamma(self.shape, self.rate * unit)

    def of(self, index: NDArray[np.intp]) -> Gamma:
        """Prior of some precisions, out of those that have a rate each."""
        return Gamma(self.shape, self.rate[index]) if isinstance(self.rate, np.ndarray) else self


#: All scales are equally likely.
UNIFORM = Gamma()


def check_gamma(value: Any, name: str) -> Gamma:
    """Build a prior from a pair (shape, rate), or raise."""
    try:
        shape, rate = value
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r}, expected a pair of numbers (shape, rate)") from None
    check_not_negative(shape, f"shape of {name}")
    check_not_negative(rate, f"rate of {name}")
    return Gamma(float(shape), float(rate))


def check_weight_prior(value: Any, name: str) -> Gamma:
    """Build a prior on the precisions of weights, or raise."""
    prior = check_gamma(value, name)
    if prior.shape > 0 and prior.rate == 0:
        raise ValueError(
            f"{name}={value!r} has a shape without a rate, expected a rate > 0 as well: a function "
            "that the data do not need would have a precision that grows without end, because its "
            "posterior has no maximum"
        )
    return prior
