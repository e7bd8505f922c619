"""Warnings at the line of the user who called this package."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

#: Packages whose lines are not the user's.
INSIDE = {"relvec", "sklearn", "joblib"}


def warn_user(*found: Warning) -> None:
    """Issue each warning once, at the innermost line outside this package and scikit-learn.

    Decorators, pipelines and searches put any number of calls between that line and this one, so
    no fixed `stacklevel` names it.
    """
    frame = _user_frame()
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    for warning in {(type(each), str(each)): each for each in found}.values():
        place = frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__")
        warnings.warn_explicit(warning, type(warning), *place, registry)


def _user_frame() -> FrameType:
    """Innermost frame outside the packages `INSIDE`, or the outermost of all."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _package(frame) in INSIDE:
        frame = frame.f_back
    return frame


def _package(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0]
