"""Plain text tables, and what goes into their cells."""

import math
from collections.abc import Sequence

import numpy as np

#: Share of a mean by which equal values may differ.
ROUNDING = 1e-12


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under a header, the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, ["-" * width for width in widths], *rows):
        first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        right = (cell.strip().rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        print("  ".join([first, *right]).rstrip())


def markdown(cells: Sequence[str]) -> str:
    """Write a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def verdict(holds: bool) -> str:
    return "yes" if holds else "NO"


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def format_mean(values: Sequence[float]) -> str:
    """Write the standard error with two digits, and the mean with as many decimals as it."""
    mean, error = mean_and_error(values)
    known = error > ROUNDING * abs(mean)
    decimals = max(0, 1 - math.floor(math.log10(error))) if known else 2
    return f"{mean:.{decimals}f} ± {error:.{decimals}f}"
