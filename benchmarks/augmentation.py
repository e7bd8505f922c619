"""Gain by `augment=True` where there are no data.

Loss is the negative log density of test targets in nats a row, or of test labels; lower is better.
Test rows are halved by their distance to the nearest training row. "draws" are functions of a
Gaussian process with the width that our kernel has (γ of "scale" in the other lines), with noise of
a tenth of their size; the training rows leave a gap in the middle, and the test rows go half as far
again as they. The process beside ours has a Gaussian kernel with one width and an amplitude, and
noise, all learnt by its evidence. For real data each split leaves out the middle third in one
input, where it has three different thirds; inputs and target are standardised on the training rows.
Means over the splits ± their standard errors, and in how many the augmented model has the lower
loss.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from benchmarks.paper.draws import seeds
from benchmarks.scales.problems import standardised
from benchmarks.staged import Split, load_raetsch, load_staged
from benchmarks.table import format_mean, print_table
from relvec import RVC, RVR

#: Width of the draws, their noise, and the inputs from where to where there are training rows.
GAMMA, NOISE, INNER, OUTER = 0.5, 0.1, 2.0, 6.0
N_TRAIN, N_TEST = 60, 400
HEADER = ["problem", "rows", "half", "plain", "augmented", "process", "augmented better"]

Splits = Iterator[tuple[Split, float | str]]


def draws(n_inputs: int, classes: bool, n_splits: int) -> Splits:
    """Functions of a Gaussian process around a gap, or in which of two halves their values lie."""
    for seed in seeds(n_splits):
        draw = np.random.RandomState(seed)
        X = draw.uniform(-1.5 * OUTER, 1.5 * OUTER, (200 * N_TEST, n_inputs))
        reach = np.abs(X).max(axis=1)
        train = np.flatnonzero((reach > INNER) & (reach < OUTER))[: N_TRAIN * n_inputs]
        test = np.setdiff1d(np.arange(len(X)), train)[:N_TEST]
        rows = np.concatenate([X[train], X[test]])
        root = np.linalg.cholesky(
            np.exp(-GAMMA * cdist(rows, rows, "sqeuclidean")) + 1e-10 * np.eye(len(rows))
        )
        f = root @ draw.standard_normal(len(rows)) + NOISE * draw.standard_normal(len(rows))
        y = (f > 0).astype(int) if classes else f
        n = len(train)
        yield Split(rows[:n], y[:n], rows[n:], y[n:]), GAMMA


def thirds(X: np.ndarray, y: np.ndarray) -> Splits:
    """Leave out the middle third in every input."""
    for column in X.T:
        low, high = np.quantile(column, [1 / 3, 2 / 3])
        middle = (column > low) & (column < high)
        if not (column <= low).any() or not (column >= high).any() or not middle.any():
            continue
        split = Split(X[~middle], y[~middle], X[middle], y[middle])
        yield standardised(split), "scale"


def staged(name: str, n_splits: int) -> Splits:
    table = load_staged(name)
    for split, gamma in islice(thirds(table.X, table.y), n_splits):
        center, scale = split.y_train.mean(), split.y_train.std()
        targets = {k: (getattr(split, k) - center) / scale for k in ("y_train", "y_test")}
        yield split._replace(**targets), gamma


def banana(n_splits: int) -> Splits:
    for split in load_raetsch("banana")[: n_splits // 2]:
        yield from thirds(split.X_train, split.y_train)


#: Whether targets are classes, and the splits, at most so many.
PROBLEMS: dict[str, tuple[bool, Callable[[int], Splits]]] = {
    "draws, 1 input": (False, partial(draws, 1, False)),
    "draws, 2 inputs": (False, partial(draws, 2, False)),
    "yacht": (False, partial(staged, "yacht_hydrodynamics")),
    "energy": (False, partial(staged, "energy_efficiency")),
    "boston": (False, partial(staged, "boston_housing")),
    "concrete": (False, partial(staged, "concrete")),
    "classes, 1 input": (True, partial(draws, 1, True)),
    "classes, 2 inputs": (True, partial(draws, 2, True)),
    "banana": (True, banana),
}


def process(classes: bool) -> GaussianProcessRegressor | GaussianProcessClassifier:
    kernel = ConstantKernel() * RBF()
    if classes:
        return GaussianProcessClassifier(kernel, random_state=0)
    return GaussianProcessRegressor(kernel + WhiteKernel(), normalize_y=True, random_state=0)


def losses(machine: object, split: Split, classes: bool) -> np.ndarray:
    """Negative log density of every test target."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the optimiser of the process
        machine.fit(split.X_train, split.y_train)
    if classes:
        chosen = np.searchsorted(machine.classes_, split.y_test)
        return -np.log(machine.predict_proba(split.X_test)[np.arange(len(chosen)), chosen])
    return -norm.logpdf(split.y_test, *machine.predict(split.X_test, return_std=True))


def by_half(split: Split, gamma: float | str, classes: bool) -> np.ndarray:
    """Mean loss (near or far, plain or augmented or process)."""
    machine = RVC if classes else RVR
    machines = [machine(gamma=gamma), machine(gamma=gamma, augment=True), process(classes)]
    by_distance = cdist(split.X_test, split.X_train).min(axis=1).argsort(kind="stable")
    each = np.array([losses(one, split, classes)[by_distance] for one in machines])
    return np.array([half.mean(axis=1) for half in np.array_split(each, 2, axis=1)])


def rows(name: str, n_splits: int) -> list[list[str]]:
    classes, splits = PROBLEMS[name]
    found, n_rows = [], 0
    for split, gamma in splits(n_splits):
        found.append(by_half(split, gamma, classes))
        n_rows = max(n_rows, len(split.y_train))
    table = []
    for half, values in zip(("near", "far"), np.swapaxes(found, 0, 1), strict=True):
        better = f"{(values[:, 1] < values[:, 0]).sum()} of {len(values)}"
        first = [name, str(n_rows)] if half == "near" else ["", ""]
        table.append([*first, half, *map(format_mean, values.T), better])
    return table


def draw_picture(file: Path) -> None:
    """Draw the same rows with error bars of two standard deviations: plain, augmented, process."""
    import matplotlib.pyplot as plt

    ((split, gamma),) = draws(1, False, 1)
    machines = {
        "RVR()": RVR(gamma=gamma),
        "RVR(augment=True)": RVR(gamma=gamma, augment=True),
        "Gaussian process": process(False),
    }
    x = np.linspace(-1.5 * OUTER, 1.5 * OUTER, 400)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharey=True, layout="constrained")
    for ax, (name, machine) in zip(axes, machines.items(), strict=True):
        machine.fit(split.X_train, split.y_train)
        mean, std = machine.predict(x[:, None], return_std=True)
        ax.fill_between(x, mean - 2 * std, mean + 2 * std, color="C0", alpha=0.25, lw=0)
        ax.plot(x, mean, color="C0")
        ax.plot(split.X_test, split.y_test, ".", color="0.6", ms=3, label="not seen")
        ax.plot(split.X_train, split.y_train, ".", color="k", ms=5, label="training rows")
        ax.set_title(name)
        ax.set_xlabel("x")
    axes[0].set_ylabel("y")
    axes[0].legend(loc="lower left", fontsize="small", framealpha=0.9)
    figure.savefig(file, dpi=100)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.augmentation")
    parser.add_argument("--splits", type=int, default=20, help="splits at most of a problem")
    parser.add_argument("--only", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--picture", type=Path, help="draw the picture of the docs and stop")
    given = parser.parse_args(arguments)
    if given.picture:
        draw_picture(given.picture)
        return
    print(__doc__)
    print_table(HEADER, [row for name in given.only for row in rows(name, given.splits)])


if __name__ == "__main__":
    main()
