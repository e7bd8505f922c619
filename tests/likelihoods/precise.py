"""Derivatives in many digits."""

import mpmath


def derivatives(function, at, digits=60, order=3):
    """A function of mpmath and its derivatives at one place, as float64 numbers."""
    with mpmath.workdps(digits):
        found = [mpmath.diff(function, mpmath.mpf(at), n) for n in range(order + 1)]
    return [float(value) for value in found]
