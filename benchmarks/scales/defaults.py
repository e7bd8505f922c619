"""Which `gamma` should be the default: real problems, each input standardised on training rows.

NLPD is the negative log density of test targets in nats a row, log loss that of test labels. Errors
are root mean squares, and per cent for classes. "searched" is one width of seven, a factor of 4
apart, by the likelihood of 5-fold cross-validation. Seconds are processor time of a fit, a search
with all of its fits, and "times" is their ratio to "scale", its median over the splits. Means over
the splits ± their standard errors.
"""

import time
from collections.abc import Sequence

import numpy as np

from benchmarks.scales.measure import Score, format_all, score, searched
from benchmarks.scales.problems import PROBLEMS, Problem
from benchmarks.staged import Split
from benchmarks.table import print_table
from relvec import RVC, RVR

GAMMAS = ["scale", "evidence", "ard"]
SEARCHED = "searched"
HEADER = ["problem", "N", "d", "gamma", "NLPD or log loss", "RMSE or %", "vectors", "seconds"]
HEADER += ["times"]
#: Nats a row that are a difference.
NOTABLE = 0.01
SUMMARY = ["gamma", "lower loss", "higher loss", "loss above", "error", "vectors", "times"]


def fit_all(problem: Problem, split: Split, with_search: bool) -> dict[str, Score]:
    machine = RVC if problem.classes else RVR
    fits = {gamma: score(machine(gamma=gamma), split) for gamma in GAMMAS}
    if with_search:
        fits[SEARCHED] = score(searched(problem.classes, split.X_train.shape[1]), split)
    return fits


def rows(name: str, splits: Sequence[Split], fits: Sequence[dict[str, Score]]) -> list[list[str]]:
    """Format a row for each `gamma` from the fits of all splits."""
    percent = 100 if PROBLEMS[name].classes else 1
    shape = [str(number) for number in splits[0].X_train.shape]
    table = []
    for gamma in fits[0]:
        scores = [fit[gamma] for fit in fits]
        cells = [format_all([each.loss for each in scores])]
        cells += [format_all([percent * each.error for each in scores])]
        cells += [format_all([each.vectors for each in scores])]
        cells += [
            f"{np.median([each.seconds for each in scores]):.3f}",
            f"{times(gamma, fits):.1f}",
        ]
        table.append([*([name, *shape] if not table else [""] * 3), gamma, *cells])
    return table


def times(gamma: str, fits: Sequence[dict[str, Score]]) -> float:
    """Return how many times the seconds of "scale" a fit takes."""
    return float(np.median([fit[gamma].seconds / fit["scale"].seconds for fit in fits]))


def summary(gamma: str, problems: Sequence[Sequence[dict[str, Score]]]) -> list[str]:
    """Format what a `gamma` changes against "scale", over all problems."""

    def means(gamma: str, attribute: str) -> np.ndarray:
        return np.array(
            [np.mean([getattr(f[gamma], attribute) for f in fits]) for fits in problems]
        )

    above = means(gamma, "loss") - means("scale", "loss")
    ratios = [means(gamma, what) / means("scale", what) for what in ("error", "vectors")]
    return [
        gamma,
        f"{np.sum(above < -NOTABLE)}",
        f"{np.sum(above > NOTABLE)}",
        f"{np.median(above):+.3f}",
        *(f"{np.median(ratio):.2f}" for ratio in ratios),
        f"{np.median([times(gamma, fits) for fits in problems]):.1f}",
    ]


def run(names: Sequence[str], n_splits: int, with_search: bool) -> None:
    """Print the table for the problems in `names`, and what they have in common."""
    print(__doc__)
    table, problems = [], []
    for name in names:
        start = time.perf_counter()
        splits = PROBLEMS[name].first(n_splits)
        problems.append([fit_all(PROBLEMS[name], split, with_search) for split in splits])
        table += rows(name, splits, problems[-1])
        print(f"{name}: {time.perf_counter() - start:.0f} s in all", flush=True)
    print(f"\nAt most {n_splits} splits a problem.\n")
    print_table(HEADER, table)
    print(f'\nAgainst "scale": problems whose loss is over {NOTABLE} nats a row lower, or higher;')
    print("medians over problems of the difference in loss and of the ratios of the others.\n")
    print_table(SUMMARY, [summary(gamma, problems) for gamma in list(problems[0][0])[1:]])
