"""`gamma="ard"` against the Gaussian process of scikit-learn with a width for each input.

The kernel of the process is a constant times an anisotropic RBF plus white noise, fitted by its
default optimiser with two restarts and `normalize_y`. Inputs are standardised on training rows.
NLPD is the negative log density of test targets in nats a row; seconds are processor time of a fit,
and of the mean and standard deviation of 10,000 queries (the test rows again and again), the
least of three.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.metrics import root_mean_squared_error

from benchmarks.scales.measure import format_all, regression_loss, seconds_of
from benchmarks.scales.problems import PROBLEMS
from benchmarks.staged import Split
from benchmarks.table import print_table, verdict
from relvec import RVR

NAMES = ["boston", "concrete", "energy", "yacht"]
N_QUERIES, N_TIMES = 10_000, 3
#: What is wanted: error at most this many times the other's, NLPD at most so much above, and times
#: as fast in a fit and in a prediction.
ERROR_RATIO, NLPD_ABOVE, FIT_FASTER, PREDICT_FASTER = 1.05, 0.05, 5, 20

HEADER = ["problem", "RMSE, RVR", "GP", "ratio", "holds", "NLPD, RVR", "GP", "above", "holds"]
HEADER += ["vectors", "fit s, RVR", "GP", "faster", "holds", "predict s, RVR", "GP", "faster"]
HEADER += ["holds"]


class Outcome(NamedTuple):
    error: float
    nlpd: float
    fit_seconds: float
    predict_seconds: float
    vectors: int


def gaussian_process(n_widths: int) -> GaussianProcessRegressor:
    """A process with as many widths as inputs, or with one for all of them."""
    kernel = ConstantKernel() * RBF(np.ones(n_widths)) + WhiteKernel()
    return GaussianProcessRegressor(
        kernel, n_restarts_optimizer=2, normalize_y=True, random_state=0
    )


def outcome(machine: RVR | GaussianProcessRegressor, split: Split) -> Outcome:
    fit_seconds = seconds_of(lambda: machine.fit(split.X_train, split.y_train))
    queries = np.resize(split.X_test, (N_QUERIES, split.X_test.shape[1]))
    predict_seconds = min(
        seconds_of(lambda: machine.predict(queries, return_std=True)) for _ in range(N_TIMES)
    )
    return Outcome(
        root_mean_squared_error(split.y_test, machine.predict(split.X_test)),
        regression_loss(machine, split.X_test, split.y_test),
        fit_seconds,
        predict_seconds,
        len(machine.relevance_ if isinstance(machine, RVR) else machine.X_train_),
    )


def row(name: str, n_splits: int) -> list[str]:
    """Fit every split of a problem by both, and format the means of errors and sums of seconds."""
    splits = PROBLEMS[name].first(n_splits)
    pairs = [
        (outcome(RVR(gamma="ard"), split), outcome(gaussian_process(split.X_train.shape[1]), split))
        for split in splits
    ]
    ours, theirs = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    ratio = ours[:, 0].mean() / theirs[:, 0].mean()
    above = (ours[:, 1] - theirs[:, 1]).mean()
    cells = [format_all(ours[:, 0]), format_all(theirs[:, 0]), f"{ratio:.3f}"]
    cells += [verdict(ratio <= ERROR_RATIO), format_all(ours[:, 1]), format_all(theirs[:, 1])]
    cells += [format_all(ours[:, 1] - theirs[:, 1]), verdict(above <= NLPD_ABOVE)]
    cells += [f"{ours[:, 4].mean():.1f}"]
    for column, wanted in ((2, FIT_FASTER), (3, PREDICT_FASTER)):
        seconds = ours[:, column].mean(), theirs[:, column].mean()
        faster = seconds[1] / seconds[0]
        cells += [f"{each:.3g}" for each in seconds] + [f"{faster:.1f}", verdict(faster >= wanted)]
    return [name, *cells]


def run(names: Sequence[str], n_splits: int) -> None:
    """Print the table for the problems in `names`."""
    print(__doc__)
    table = []
    for name in names:
        start = time.perf_counter()
        table.append(row(name, n_splits))
        print(f"{name}: {time.perf_counter() - start:.0f} s in all", flush=True)
    print(f"\nMeans over {n_splits} splits ± their standard errors. Holds: error at most", end=" ")
    print(f"{ERROR_RATIO:g} times, NLPD at most {NLPD_ABOVE:g} above,")
    print(f"{FIT_FASTER} times as fast to fit and {PREDICT_FASTER} times to predict.\n")
    print_table(HEADER, table)
