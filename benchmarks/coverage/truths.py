"""Truths inside the model: coverage of new observations, averaged over draws of everything.

A truth is a sum of 6 Gaussian functions of known width, centred on rows, with weights N(0, 1), over
rows that are uniform on [-1, 1], and noise of standard deviation 0.3. The model is an RVR with that
width and its defaults. Plain intervals come from a fit to all n rows, and are calibrated by refits
without one of five folds; calibrated ones from a fit to one half of them, which has the centres,
and calibration on the other. 500 new rows a truth. With m calibration rows, what is promised of an
interval that is asked to cover c is ⌈c(m + 1)⌉/(m + 1).
"""

import time
from typing import NamedTuple

import numpy as np

from benchmarks.coverage.intervals import LEVELS, Array, at_levels, covered, format_shares, off
from benchmarks.paper.draws import seeds
from benchmarks.table import print_table, verdict
from relvec import RVR
from relvec.basis import RBF

SIZES, N_FOLDS = [40, 100, 400], 5
N_FUNCTIONS, GAMMA, NOISE, N_NEW = 6, 20.0, 0.3, 500
#: Points that are allowed between coverage and level.
POINTS = 3
HEADER = ["rows", "intervals", "50 / 80 / 95 %", "standard errors", "promised", f"within {POINTS}"]


class Truth(NamedTuple):
    """Rows and targets, new ones, and the function there."""

    X: Array
    y: Array
    Z: Array
    t: Array
    f: Array


def draw(n: int, seed: int) -> Truth:
    """Draw a truth, observe it at n rows, with centres in the first half, and at new ones."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1, 1, (n + N_NEW, 1))
    centers = X[rng.choice(n // 2, N_FUNCTIONS, replace=False)]
    f = RBF(gamma=GAMMA).fit(centers).transform(X) @ rng.standard_normal(N_FUNCTIONS)
    y = f + NOISE * rng.standard_normal(n + N_NEW)
    return Truth(X[:n], y[:n], X[n:], y[n:], f[n:])


def shares(n: int, seed: int) -> Array:
    """Covered shares of the new rows: plain, by folds, calibrated; of shape (3, n_levels)."""
    X, y, Z, t, _ = draw(n, seed)
    half = n // 2
    plain = RVR(gamma=GAMMA).fit(X, y)
    by_folds = plain.calibrate(X, y, cv=N_FOLDS)
    calibrated = RVR(gamma=GAMMA).fit(X[:half], y[:half]).calibrate(X[half:], y[half:])
    ends = [at_levels(model.predict_interval, Z) for model in (plain, by_folds, calibrated)]
    return np.array([covered(each, t).mean(axis=1) for each in ends])


def promised(n_calibration: int) -> Array:
    """Return the mean coverage of split-conformal intervals."""
    ranks = np.ceil(np.array(LEVELS) * (n_calibration + 1))
    return ranks / (n_calibration + 1)


def run(n_truths: int) -> None:
    """Print the table for all sizes."""
    print(__doc__)
    rows = []
    for n in SIZES:
        start = time.process_time()
        found = np.array([shares(n, seed) for seed in seeds(n_truths)])
        means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(n_truths)
        for number, (name, what) in enumerate(
            [("plain", "-"), ("by folds", "-"), ("calibrated", format_shares(promised(n - n // 2)))]
        ):
            cells = [format_shares(means[number]), format_shares(errors[number]), what]
            rows.append([str(n), name, *cells, verdict(off(means[number]) <= POINTS)])
        print(f"n = {n}: {time.process_time() - start:.0f} s", flush=True)
    print(f"\n{n_truths} truths; within {POINTS}: all three levels within {POINTS} points.\n")
    print_table(HEADER, rows)
