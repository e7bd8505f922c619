"""Correlation of Gaussian noise between rows that follow each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relvec._numerics.checks import check_finite
from relvec._numerics.compact import Compact
from relvec._numerics.typing import Array

#: Steps that are whole up to rounding.
WHOLE = 1e-6


@dataclass(frozen=True)
class AR1(Compact):
    """Noise whose correlation falls by a factor ρ with every step: an autoregression of order one.

    Rows k steps of time apart have noise of the correlation ρ^k, eq. R14. Between times that are no
    multiples of a step ρ is not negative (an Ornstein-Uhlenbeck process).

    Parameters
    ----------
    rho : float, default=None
        ρ, between −1 and 1. None learns it.
    std_error : float, default=None
        Standard error of a ρ that was learnt, from the curvature of the log evidence; NaN where ρ
        is at an end of its range.
    step : float, default=1.0
        Time of one step, set by a fit: 1 without times, otherwise the least difference in time of
        two rows of a series if all others are multiples of it, or else the median difference. In
        seconds where times are dates.

    Examples
    --------
    >>> from relvec.likelihoods import AR1
    >>> AR1(0.5).correlation([1, 2, 4]).tolist()
    [0.5, 0.25, 0.0625]
    """

    rho: float | None = None
    std_error: float | None = None
    step: float = 1.0

    def check(self) -> None:
        """Raise unless ρ is None or between −1 and 1."""
        if self.rho is not None:
            check_finite(self.rho, "rho")
            if not -1 < self.rho < 1:
                raise ValueError(f"rho={self.rho!r}, expected None or a number > -1 and < 1")

    def correlation(self, time: Array) -> Array:
        """Return the correlation of the noise of rows so much time apart."""
        if self.rho is None:
            raise ValueError("rho=None, expected a number: it has not been learnt yet")
        correlation: Array = np.float64(self.rho) ** self.steps(time)
        return correlation

    def unexplained(self, time: Array) -> Array:
        """Return 1 less the square of that, with all its digits."""
        assert self.rho is not None
        with np.errstate(divide="ignore"):
            unexplained: Array = -np.expm1(2 * self.steps(time) * np.log(np.abs(self.rho)))
        return unexplained

    def steps(self, time: Array) -> Array:
        """Return how many steps a time has, whole ones where ρ is negative."""
        steps: Array = np.asarray(time) / self.step
        if self.rho is None or self.rho >= 0:
            return steps
        whole = steps.round()
        if not np.allclose(steps, whole, rtol=WHOLE, atol=WHOLE):
            raise ValueError(
                f"rho={self.rho!r}, expected a number >= 0 for times that are no multiples of "
                f"step={self.step!r} apart"
            )
        return whole
