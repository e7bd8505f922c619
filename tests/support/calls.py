"""Calls inside the package while something runs: files, depth, and steps between files."""

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import relvec

PACKAGE = str(Path(relvec.__file__).parent)


@dataclass
class Calls:
    """Files of the functions called, the most open at a time, calls from one file to another."""

    files: set[str] = field(default_factory=set)
    depth: int = 0
    crossings: int = 0


def calls_during(run: Callable[[], Any]) -> Calls:
    """Calls of the package's functions, whoever calls them."""
    calls, stack = Calls(), []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE):
            return
        if event == "call":
            calls.files.add(file)
            calls.crossings += bool(stack) and stack[-1] != file
            stack.append(file)
            calls.depth = max(calls.depth, len(stack))
        elif event == "return" and stack:
            stack.pop()

    before = sys.getprofile()
    # a generator of an earlier test that is collected meanwhile would count as a call
    gc.collect()
    gc.disable()
    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(before)
        gc.enable()
    return calls
