"""Warnings of a fit; each names the parameter to change, and its `code` is what programs read."""

from __future__ import annotations

from typing import ClassVar

from sklearn.exceptions import ConvergenceWarning


class RelvecWarning(UserWarning):
    """Base class of this package's warnings.

    Attributes
    ----------
    code : str
        Name of the finding in ``diagnose()``; stable, while the text may change.
    """

    code: ClassVar[str] = "warning"


class NotConvergedWarning(RelvecWarning, ConvergenceWarning):  # type: ignore[misc]
    """The fit ran out of `max_iter` passes."""

    code = "not_converged"


class InterruptedWarning(RelvecWarning, ConvergenceWarning):  # type: ignore[misc]
    """Ctrl-C or a callback ended the fit before it came to rest; the model is the best so far."""

    code = "interrupted"


class NoiseFloorWarning(RelvecWarning):
    """The learnt noise reached its floor: the targets are noise-free or are being interpolated."""

    code = "noise_floor"


class EmptyModelWarning(RelvecWarning):
    """No basis function raises the evidence: the model predicts a constant."""

    code = "empty_model"


class CentersWarning(RelvecWarning):
    """There are more rows than can all carry a candidate function; a random subset does."""

    code = "centers_drawn"


class PrecisionWarning(RelvecWarning):
    """The evidence of the kept functions is not what the search believed: digits were lost."""

    code = "digits_lost"


class RoundingWarning(RelvecWarning):
    """Columns of X hold rounding errors beside all others, and are taken for constants."""

    code = "columns_lost"
