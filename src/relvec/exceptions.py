"""Warnings of a fit; each names the parameter to change, and its `code` is what programs read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, NamedTuple, Self

from sklearn.exceptions import ConvergenceWarning


class Advice(NamedTuple):
    """One thing to do about a warning or a finding.

    Attributes
    ----------
    text : str
        What to do; ``{}`` stands for the parameter.
    parameter : str, default=""
        Name of the parameter or method that it takes, if any.
    value : str or bool, default=None
        What to set the parameter to, if that is one value.
    """

    text: str
    parameter: str = ""
    value: str | bool | None = None

    def worded(self, options: Mapping[str, str] | None = None) -> str:
        """Return the advice in words: those of Python, or of a command with `options`.

        See `sentence`, which does so for all advice.
        """
        if options is None:
            setting = "" if self.value is None else f"={self.value!r}"
            return self.text.format(f"{self.parameter}{setting}")
        setting = "" if self.value is None else f" {self.value}"
        return self.text.format(f"{options.get(self.parameter, '')}{setting}")


def sentence(fact: str, advice: Iterable[Advice], options: Mapping[str, str] | None = None) -> str:
    """Return a fact and the advice on it, in the words of Python or of a command.

    Parameters
    ----------
    fact : str
        What happened.
    advice : iterable of Advice
        What can be done about it.
    options : mapping of str to str, default=None
        Option of a command for each parameter that it sets, in the words of which advice is given;
        advice on other parameters is left out. None gives all, in the words of Python.

    Returns
    -------
    sentence : str
        The fact, a semicolon, and all advice.

    Examples
    --------
    >>> from relvec.exceptions import Advice, sentence
    >>> advice = [Advice("use {}", "gamma", "ard"), Advice("set {}", "noise_variance")]
    >>> print(sentence("all rows look alike", advice))
    all rows look alike; use gamma='ard', or set noise_variance
    >>> print(sentence("all rows look alike", advice, {"gamma": "--gamma"}))
    all rows look alike; use --gamma ard
    """
    possible = [
        each.worded(options)
        for each in advice
        if options is None or not each.parameter or each.parameter in options
    ]
    return "; ".join([fact, ", or ".join(possible)]) if possible else fact


class RelvecWarning(UserWarning):
    """Base class of this package's warnings.

    Parameters
    ----------
    fact : str
        What happened.
    *advice : Advice
        What can be done about it.

    Attributes
    ----------
    code : str
        Name of the finding in ``diagnose()``; stable, while the text may change.
    """

    code: ClassVar[str] = "warning"

    def __init__(self, fact: str, *advice: Advice) -> None:
        super().__init__(fact, *advice)
        self.fact, self.advice = fact, advice

    def __str__(self) -> str:
        return sentence(self.fact, self.advice)

    def of(self, name: str) -> Self:
        """Return the warning with the name of its target before it."""
        return type(self)(f"{name}{self.fact}", *self.advice)

    def without(self, parameter: str) -> Self:
        """Return the warning without advice on a parameter."""
        return type(self)(self.fact, *(each for each in self.advice if each.parameter != parameter))

    def because(self, cause: str, *advice: Advice) -> Self:
        """Return the warning with a cause, and with more advice before its own."""
        return type(self)(f"{self.fact}; {cause}", *advice, *self.advice)


class NotConvergedWarning(RelvecWarning, ConvergenceWarning):  # type: ignore[misc]
    """The fit ran out of `max_iter` passes."""

    code = "not_converged"


class InterruptedWarning(RelvecWarning, ConvergenceWarning):  # type: ignore[misc]
    """Ctrl-C or a callback ended the fit before it came to rest; the model is the best so far."""

    code = "interrupted"


class UnderfitWarning(RelvecWarning):
    """Residuals of near rows are alike: the function misses most of what X tells of y."""

    code = "underfit"


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


class CheckpointWarning(RelvecWarning):
    """The file of `checkpoint` could not be written or removed; the fit goes on without it."""

    code = "checkpoint_failed"
