"""The form of both benchmark tables: the paper's numbers, then ours, and how they relate."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.paper.report.page import Table


class Found(NamedTuple):
    """What was found on one problem: its size, and a mean and its text for each machine."""

    n_rows: int
    n_inputs: int
    n_repeated: int
    means: Sequence[float]
    texts: Sequence[str]


def comparison(
    caption: str,
    repeated: str,
    machines: Sequence[str],
    paper: Mapping[str, tuple[float, float]],
    found: Mapping[str, Found],
) -> Table:
    """Show every problem of `paper`, SVM and RVM; the first of `machines` is the SVM."""
    rows = []
    for name, published in paper.items():
        sizes, texts = [""] * 3, ["missing"] * len(machines)
        if name in found:
            sizes, texts = [str(size) for size in found[name][:3]], list(found[name].texts)
        rows.append([name, *sizes, *(f"{value:g}" for value in published), *texts])
    means = [each.means for each in found.values()]
    ours = [f"{mean:.2f}" for mean in normalised(means)] if means else ["missing"] * len(machines)
    theirs = [f"{mean:.2f}" for mean in normalised(list(paper.values()))]
    rows.append(["normalised mean", "", "", "", *theirs, *ours])
    return Table(
        caption,
        ["problem", "N", "d", repeated, "paper SVM", "paper RVM", *machines],
        rows,
        "Normalised: divided by the SVM's, mean over the problems that are not missing.",
    )


def normalised(means: Sequence[Sequence[float]]) -> Sequence[float]:
    """Divide each row by its first entry, and average over the rows."""
    values = np.array(means, dtype=float)
    return (values / values[:, :1]).mean(axis=0)
