"""Warnings at the line of the user who called this package."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from relvec.exceptions import RelvecWarning

#: Packages whose lines are not the user's.
INSIDE = {"relvec", "sklearn", "joblib"}
#: Where an estimator is fitted many times to choose or to judge it.
SEARCHES = ("sklearn.model_selection", "sklearn.feature_selection", "relvec._assess.conformal")

#: Class and place of a warning.
Kind = tuple[type[RelvecWarning], str, int]


class _Worker:
    """A process or thread in which a search has its fits made."""


_WORKER = _Worker()
#: What was warned of in a search, by the object that searches or that is judged.
_warned: WeakKeyDictionary[Any, set[Kind]] = WeakKeyDictionary()


def warn_user(*found: RelvecWarning) -> None:
    """Issue each warning once, at the innermost line outside this package and scikit-learn.

    Decorators, pipelines and searches put any number of calls between that line and this one, so
    no fixed `stacklevel` names it. Of all fits that a search makes for a line, the first that
    warns does so for the others; workers of a search know nothing of each other, and each warns.
    """
    frame = _user_frame()
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    place = frame.f_code.co_filename, frame.f_lineno
    searches = _search()
    warned = None if searches is None else _warned.setdefault(searches, set())
    for warning in {(type(each), str(each)): each for each in found}.values():
        kind = type(warning), *place
        if warned is not None and kind in warned:
            continue
        if warned is not None:
            warning = warning.because("other fits made here may have met the same")
        module = frame.f_globals.get("__name__")
        warnings.warn_explicit(warning, type(warning), *place, module, registry)
        if warned is not None:
            warned.add(kind)


def _stack() -> Iterator[FrameType]:
    """Yield the frames from the innermost one of this module outwards."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _user_frame() -> FrameType:
    """Innermost frame outside the packages `INSIDE`, or the outermost of all."""
    for frame in _stack():
        if _module(frame).partition(".")[0] not in INSIDE:
            break
    return frame


def _search() -> Any:
    """Return the object that searches, or is judged, where a search has the fit made, or None.

    It is the first argument of the outermost function there, unless that is a private one, which
    is where the work of workers begins.
    """
    outermost = None
    for frame in _stack():
        if _module(frame).startswith(SEARCHES):
            outermost = frame
    if outermost is None:
        return None
    if outermost.f_code.co_name.startswith("_"):
        return _WORKER
    return outermost.f_locals[outermost.f_code.co_varnames[0]]


def _module(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name
