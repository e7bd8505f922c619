"""Findings of a diagnosis, which estimators return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Self

from relvec.exceptions import Advice, sentence


@dataclass(frozen=True)
class Finding:
    """One thing that a specialist would say of a fit.

    Attributes
    ----------
    code : str
        Its name.
    fact : str
        The finding in words.
    numbers : mapping of str to float
        The quantities it rests on.
    advice : tuple of Advice
        What to do about it, of which anything helps; each with the parameter to change.
    """

    code: str
    fact: str
    numbers: Mapping[str, float]
    advice: tuple[Advice, ...] = ()

    @property
    def sentence(self) -> str:
        """The finding in words, and what to do about it."""
        return sentence(self.fact, self.advice)

    def for_command(self, options: Mapping[str, str]) -> Self:
        """Return the finding with what a command has `options` for, each by its parameter."""
        return replace(self, fact=sentence(self.fact, self.advice, options), advice=())

    def possible(self, model: Any) -> Self:
        """Return the finding with the advice that somebody with a model can take."""
        names = {"", *model.get_params(deep=False), *signature(model.fit).parameters}
        advice = [
            each
            for each in self.advice
            if each.parameter in names or callable(getattr(model, each.parameter, None))
        ]
        return replace(self, advice=tuple(advice))

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}"


class Diagnosis(list[Finding]):
    """Findings in a list that prints one a line."""

    @property
    def codes(self) -> list[str]:
        """Names of the findings."""
        return [finding.code for finding in self]

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "nothing to report"

    __repr__ = __str__
