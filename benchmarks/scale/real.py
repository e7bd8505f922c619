"""Large real problems: `RVR` on all rows, beside `SVR` and a linear model.

One split a problem: fold 0 of kin40k and the first of the published splits of protein; of the other
two a tenth of the rows is drawn. Inputs and targets are standardised on training rows. A tenth of
these is held out to choose the width of `RVR` by its density there, of six that are one for all
inputs or learnt for each on a sample, and the constants of `SVR` by its error there; neither is
timed. `SVR` is fitted to as many rows as it can take in the time of the fit of `RVR`, its density
is normal with the variance of the rows held out. NLPD is the negative log density of test targets
in nats a row; errors are in the units of the targets.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.base import clone
from sklearn.linear_model import BayesianRidge
from sklearn.metrics import root_mean_squared_error
from sklearn.svm import SVR

from benchmarks.scale.report import seconds_of
from benchmarks.scales.measure import regression_loss
from benchmarks.scales.problems import load_arrays, parted, published_rows, standardised
from benchmarks.staged import Split, find_staged
from benchmarks.table import print_table
from relvec import RVR

FILES = {
    "kin40k": ("kin40k", "kin40k.npz"),
    "protein": ("protein_casp", "protein.npz"),
    "flights": ("nyc_flights13", "flights.npz"),
    "california": ("california_housing", "california.npz"),
}
NAMES = list(FILES)
#: Share of the training rows that is held out to choose by.
SHARE = 0.1


class Size(NamedTuple):
    """Rows of a problem at most, centres, and rows and centres of the fits to choose by."""

    rows: int | None
    centers: int
    sample: int
    sample_centers: int


FULL, QUICK = Size(None, 2000, 10_000, 1000), Size(3000, 100, 1000, 50)
#: Rows and centres with which a width for each input is learnt.
LEARN_ROWS, LEARN_CENTERS = 2000, 200
FACTORS = (0.25, 1.0, 4.0)
#: Of the support vector machine: rows it begins with, how many more it is given each time.
FIRST_ROWS, GROWTH, CACHE = 1000, 1.5, 1000

Array = np.ndarray


class Row(NamedTuple):
    """What one model made of one problem."""

    model: str
    n_rows: int
    seconds: float
    vectors: int
    error: float
    loss: float

    def cells(self) -> list[str]:
        counts = [f"{self.n_rows}", f"{self.seconds:.1f}", f"{self.vectors}"]
        return [self.model, *counts, f"{self.error:.4g}", f"{self.loss:.4f}"]


def run(names: Sequence[str], quick: bool) -> None:
    size = QUICK if quick else FULL
    rows = [[name, *row.cells()] for name in names for row in rows_of(name, size)]
    print("\nReal problems\n")
    print_table(["problem", "model", "rows", "seconds", "vectors", "RMS error", "NLPD"], rows)


def rows_of(name: str, size: Size) -> Iterator[Row]:
    split, unit = in_units(load(name, size.rows))
    parts = held_out(split)
    machine = RVR(gamma=width(parts, size), centers=size.centers, random_state=0)
    seconds = seconds_of(lambda: machine.fit(split.X_train, split.y_train))
    yield row_of("RVR", machine, split, unit, seconds, len(machine.relevance_))
    yield vector_machine(parts, split, unit, seconds, size)
    linear = BayesianRidge()
    seconds = seconds_of(lambda: linear.fit(split.X_train, split.y_train))
    yield row_of("BayesianRidge", linear, split, unit, seconds, split.X_train.shape[1])


def load(name: str, most: int | None) -> Split:
    """The split of a problem, of its first rows at most so many to train on."""
    folder, file = FILES[name]
    table = load_arrays(folder, file)
    train, test = rows_to_train_and_test(name, len(table.y))
    return parted(table._replace(y=table.y.astype(float)), train[:most], test)


def rows_to_train_and_test(name: str, n_rows: int) -> tuple[Array, Array]:
    if name == "kin40k":
        folder, file = FILES[name]
        with np.load(find_staged(folder) / file) as arrays:
            test = arrays["test_mask"][:, 0]
        return np.flatnonzero(~test), np.flatnonzero(test)
    # The rule of the published splits of protein, and ours for problems without.
    return next(published_rows(n_rows))


def in_units(split: Split) -> tuple[Split, float]:
    """Inputs and targets of mean 0 and variance 1 in the training rows, and the unit of these."""
    mean, unit = split.y_train.mean(), float(split.y_train.std())
    y_train, y_test = (split.y_train - mean) / unit, (split.y_test - mean) / unit
    return standardised(split)._replace(y_train=y_train, y_test=y_test), unit


def held_out(split: Split) -> Split:
    """Training rows to fit with, and others to choose by."""
    shuffled = np.random.RandomState(0).permutation(len(split.y_train))
    n_left = round(SHARE * len(shuffled))
    left, fitted = shuffled[:n_left], shuffled[n_left:]
    X, y = split.X_train, split.y_train
    return Split(X[fitted], y[fitted], X[left], y[left])


def width(parts: Split, size: Size) -> Any:
    """γ under which some of the training rows predict best those that were held out."""
    X, y = parts.X_train[: size.sample], parts.y_train[: size.sample]
    few = RVR(gamma="ard", centers=min(LEARN_CENTERS, size.sample_centers), random_state=0)
    learnt = few.fit(X[:LEARN_ROWS], y[:LEARN_ROWS]).basis_.gamma_
    scale = np.full(X.shape[1], 1 / X.shape[1])

    def loss(gamma: Array) -> float:
        machine = RVR(gamma=gamma, centers=size.sample_centers, random_state=0).fit(X, y)
        return regression_loss(machine, parts.X_test, parts.y_test)

    return min((factor * gamma for gamma in (scale, learnt) for factor in FACTORS), key=loss)


def vector_machine(parts: Split, split: Split, unit: float, budget: float, size: Size) -> Row:
    """`SVR` on more and more rows, the last that took no longer than the budget."""
    machine, (X, y) = constants(parts, size), (parts.X_train, parts.y_train)
    found, n_rows, seconds = timed(machine, X[:FIRST_ROWS], y[:FIRST_ROWS])
    while n_rows < len(y):
        more = int(GROWTH * n_rows)
        larger = timed(machine, X[:more], y[:more])
        if larger[2] > budget:
            break
        found, n_rows, seconds = larger
    noise = root_mean_squared_error(parts.y_test, found.predict(parts.X_test))
    predicted = found.predict(split.X_test)
    error = root_mean_squared_error(split.y_test, predicted)
    loss = -float(norm.logpdf(split.y_test, predicted, noise).mean()) + np.log(unit)
    return Row("SVR", n_rows, seconds, len(found.support_), unit * error, loss)


def timed(machine: SVR, X: Array, y: Array) -> tuple[SVR, int, float]:
    """A fit, the rows that it took, and its time."""
    fitted = clone(machine)
    return fitted, len(y), seconds_of(lambda: fitted.fit(X, y))


def constants(parts: Split, size: Size) -> SVR:
    X, y = parts.X_train[: size.sample // 4], parts.y_train[: size.sample // 4]
    grid = product((1.0, 10.0, 100.0), FACTORS, (0.03, 0.1, 0.3))
    machines = [
        SVR(C=C, gamma=factor / X.shape[1], epsilon=epsilon, cache_size=CACHE)
        for C, factor, epsilon in grid
    ]

    def error(machine: SVR) -> float:
        return root_mean_squared_error(parts.y_test, machine.fit(X, y).predict(parts.X_test))

    return min(machines, key=error)


def row_of(name: str, machine: Any, split: Split, unit: float, seconds: float, vectors: int) -> Row:
    error = root_mean_squared_error(split.y_test, machine.predict(split.X_test))
    loss = regression_loss(machine, split.X_test, split.y_test) + np.log(unit)
    return Row(name, len(split.y_train), seconds, vectors, unit * error, loss)
