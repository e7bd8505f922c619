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
from benchmarks.table import print_table
from relvec import RVC, RVR
from relvec.datasets import Split

GAMMAS = ["scale", "evidence", "ard"]
SEARCHED = "searched"
HEADER = ["problem", "N", "d", "gamma", "NLPD or log loss", "RMSE or %", "vectors", "seconds"]
HEADER += ["times"]


def fit_all(problem: Problem, split: Split, with_search: bool) -> dict[str, Score]:
    machine = RVC if problem.classes else RVR
    fits = {gamma: score(machine(gamma=gamma), split) for gamma in GAMMAS}
    if with_search:
        fits[SEARCHED] = score(searched(problem.classes, split.X_train.shape[1]), split)
    return fits


def rows(name: str, n_splits: int, with_search: bool) -> list[list[str]]:
    """Fit every split of a problem, and format a row for each `gamma`."""
    problem = PROBLEMS[name]
    splits = problem.first(n_splits)
    fits = [fit_all(problem, split, with_search) for split in splits]
    shape = [str(number) for number in splits[0].X_train.shape]
    scale = np.array([fit["scale"].seconds for fit in fits])
    table = []
    for gamma in fits[0]:
        scores = [fit[gamma] for fit in fits]
        seconds = np.array([each.seconds for each in scores])
        cells = [format_all([each.loss for each in scores])]
        cells += [format_all([each.error * (100 if problem.classes else 1) for each in scores])]
        cells += [format_all([each.vectors for each in scores])]
        cells += [f"{np.median(seconds):.3f}", f"{np.median(seconds / scale):.1f}"]
        table.append([*([name, *shape] if not table else [""] * 3), gamma, *cells])
    return table


def run(names: Sequence[str], n_splits: int, with_search: bool) -> None:
    """Print the table for the problems in `names`."""
    print(__doc__)
    table = []
    for name in names:
        start = time.perf_counter()
        table += rows(name, n_splits, with_search)
        print(f"{name}: {time.perf_counter() - start:.0f} s in all", flush=True)
    print(f"\nAt most {n_splits} splits a problem.\n")
    print_table(HEADER, table)
