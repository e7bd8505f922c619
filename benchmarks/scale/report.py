"""Lines of what was wanted and what was measured, and how time and memory are."""

import resource
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.table import print_table, verdict

KILOBYTE, GIGABYTE = 2**10, 2**30


class Line(NamedTuple):
    """One promise: what it is of, what was wanted, what was measured, and whether that holds."""

    what: str
    wanted: str
    measured: str
    holds: bool


def at_most(what: str, wanted: float, measured: float, unit: str = "") -> Line:
    return Line(what, f"≤ {wanted:g}{unit}", f"{measured:.3g}{unit}", measured <= wanted)


def at_least(what: str, wanted: float, measured: float, unit: str = "") -> Line:
    return Line(what, f"≥ {wanted:g}{unit}", f"{measured:.3g}{unit}", measured >= wanted)


def print_lines(title: str, lines: Sequence[Line]) -> None:
    rows = [[line.what, line.wanted, line.measured, verdict(line.holds)] for line in lines]
    print(f"\n{title}\n")
    print_table(["", "wanted", "measured", "holds"], rows)


def seconds_of(action: Callable[[], object]) -> float:
    """Time on the clock: what is measured may use every core."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def peak_gigabytes() -> float:
    """The most memory that the process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KILOBYTE / GIGABYTE
