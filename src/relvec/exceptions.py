"""Warnings that tell a user what a fit found out; every one names the parameter that changes it."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning


class RelvecWarning(UserWarning):
    """Base class of this package's warnings."""


class NoiseFloorWarning(RelvecWarning):
    """The learnt noise reached its floor: the targets are noise-free or are being interpolated."""


class EmptyModelWarning(RelvecWarning):
    """No basis function raises the evidence: the model predicts a constant."""


class InterruptedWarning(RelvecWarning, ConvergenceWarning):  # type: ignore[misc]
    """Ctrl-C or a callback ended the fit before it came to rest; the model is the best so far."""


class CentersWarning(RelvecWarning):
    """There are more rows than can all carry a candidate function; a random subset does."""


class PrecisionWarning(RelvecWarning):
    """The evidence of the kept functions is not what the search believed: digits were lost."""
