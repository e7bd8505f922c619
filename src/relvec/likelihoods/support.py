"""Values that a target may have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relvec._numerics.typing import Array


@dataclass(frozen=True)
class Interval:
    """Interval of real numbers, or of the integers in it.

    Parameters
    ----------
    low, high : float
        Ends.
    low_inclusive, high_inclusive : bool
        Whether the ends belong to it; infinite ends do not.
    integer : bool
        Whether its values are integers, which have probabilities and not densities. `check` looks
        at the ends alone.

    Examples
    --------
    >>> from relvec.likelihoods import Interval
    >>> print(Interval(0.0, low_inclusive=False))
    numbers > 0
    """

    low: float = -np.inf
    high: float = np.inf
    low_inclusive: bool = True
    high_inclusive: bool = True
    integer: bool = False

    @property
    def non_negative(self) -> bool:
        """True where no value is negative."""
        return self.low >= 0

    def check(self, t: Array) -> None:
        """Raise ValueError, naming the offending value, unless all values lie between the ends."""
        if np.isfinite(self.low):
            least = float(t.min())
            if least < self.low or (least == self.low and not self.low_inclusive):
                raise ValueError(f"y has a minimum of {least:g}, expected {self}")
        if np.isfinite(self.high):
            most = float(t.max())
            if most > self.high or (most == self.high and not self.high_inclusive):
                raise ValueError(f"y has a maximum of {most:g}, expected {self}")

    def __str__(self) -> str:
        ends = []
        if np.isfinite(self.low):
            ends.append(f">{'=' * self.low_inclusive} {self.low:g}")
        if np.isfinite(self.high):
            ends.append(f"<{'=' * self.high_inclusive} {self.high:g}")
        kind = "counts" if self.integer else "numbers"
        return " ".join([kind, " and ".join(ends)]).rstrip()
