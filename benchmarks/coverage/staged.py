"""Real problems: coverage of held-out rows, and how good the intervals are beside those of others.

Inputs are standardised on the training rows. Plain: `RVR` on all of them. By folds: the same model,
calibrated by refits without one of ten folds. Calibrated: `RVR` on three quarters, calibrated on
the others. Batteries are held out a cell at a time: a fold is a cell, and another cell calibrates.
Of the river the last rows are: folds are stretches of the later half, predicted from all rows
before them, and the last rows before the test rows calibrate; `--only durance_shuffled
xjtu_shuffled` draws rows of both at random, as of the other problems. Chosen: a model that is
chosen by the training rows, as `choice` says, in the place of the default one. Others: a Gaussian
process with a width for each input, a constant and white noise, fitted from one start, and
HistGradientBoostingRegressor(loss="quantile") with its defaults, a fit for each of the six
quantiles that the intervals end at. NLPD is the negative log density of test targets in nats a row;
quantiles have none, so boosting is compared by the pinball loss, the mean over those six quantiles,
in standard deviations of the training targets. NLPD and pinball loss: means over splits, of whose
shares the standard errors are.
"""

import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.model_selection import BaseCrossValidator, KFold, LeaveOneGroupOut, TimeSeriesSplit

from benchmarks.coverage.choice import Choice, choose
from benchmarks.coverage.intervals import (
    LEVELS,
    Array,
    Ends,
    at_levels,
    covered,
    format_shares,
    off,
    pinball,
)
from benchmarks.scales.gaussian_process import gaussian_process
from benchmarks.scales.measure import regression_loss
from benchmarks.scales.problems import N_TEST, PROBLEMS, some, standardised
from benchmarks.staged import Split, Table, load_staged
from benchmarks.table import print_table, verdict
from relvec import RVR, log_density
from relvec._assess.conformal import CalibratedRegressor

#: Folds that a model is chosen by, of which every candidate is fitted to, and that calibrate one.
CALIBRATING, CHOOSING, N_FOLDS = 0.25, 5, 10
#: Without tecator, whose 43 test rows cannot tell five points.
NAMES = ["boston", "concrete", "energy", "yacht", "power_plant", "bike", "elevators"]
NAMES += ["california", "durance", "xjtu"]
SHUFFLED = ["durance_shuffled", "xjtu_shuffled"]
#: Points that are allowed between coverage and level, and on how many problems that is wanted.
POINTS, WANTED = 5, {"RVR, plain": 8, "RVR, by folds": 10, "RVR, calibrated": 10}
WANTED |= {"chosen, plain": 8, "chosen, by folds": 10}


class Parts(NamedTuple):
    """A split, which of its training rows calibrate, and folds of them with their groups.

    `folds` makes as many folds as it is told, unless there is one for each group.
    """

    split: Split
    calibrating: np.ndarray
    folds: Callable[[int], BaseCrossValidator]
    groups: np.ndarray | None = None

    def of_folds(self, n_folds: int) -> list[tuple[np.ndarray, np.ndarray]]:
        return list(self.folds(n_folds).split(self.split.X_train, groups=self.groups))


class Found(NamedTuple):
    """Of one model: ends of its intervals, and NLPD where it has a density."""

    ends: Ends
    nlpd: float


def at_random(splits: Iterable[Split], n_train: int) -> Iterator[Parts]:
    for seed, split in enumerate(splits):
        rows = some(np.arange(len(split.y_train)), n_train, seed)
        split = split._replace(X_train=split.X_train[rows], y_train=split.y_train[rows])
        shuffled = np.random.RandomState(seed).permutation(len(rows))
        folds = partial(KFold, shuffle=True, random_state=seed)
        yield Parts(split, shuffled < CALIBRATING * len(rows), folds)


def in_time(splits: Iterable[Split], n_train: int) -> Iterator[Parts]:
    """The last rows, and of those again the last."""
    for split in splits:
        split = split._replace(X_train=split.X_train[-n_train:], y_train=split.y_train[-n_train:])
        n = len(split.y_train)
        yield Parts(split, np.arange(n) >= (1 - CALIBRATING) * n, partial(in_stretches, n))


def in_stretches(n: int, n_folds: int) -> TimeSeriesSplit:
    """The later half in so many stretches, each predicted from all rows before it."""
    return TimeSeriesSplit(n_folds, test_size=n // (2 * n_folds))


def batteries() -> tuple[Table, np.ndarray]:
    """Inputs that are finite in all rows, and the cell of each row."""
    table = load_staged("xjtu_battery_2c")
    finite = np.isfinite(table.X).all(axis=0)
    return table._replace(X=table.X[:, finite][:, 1:]), table.X[:, 0]


def by_cell(n_splits: int, n_train: int) -> Iterator[Parts]:
    """One cell is held out, and the next one calibrates."""
    table, cells = batteries()
    known = np.unique(cells)
    for seed, cell in enumerate(known[:n_splits]):
        other, n = known[(seed + 1) % len(known)], int(CALIBRATING * n_train)
        rows = np.concatenate(
            [
                some(np.flatnonzero((cells != cell) & (cells != other)), n_train - n, seed),
                some(np.flatnonzero(cells == other), n, seed),
            ]
        )
        test = cells == cell
        split = standardised(Split(table.X[rows], table.y[rows], table.X[test], table.y[test]))
        yield Parts(split, cells[rows] == other, lambda _: LeaveOneGroupOut(), cells[rows])


def shuffled(name: str, n_splits: int) -> Iterator[Split]:
    """Train and test on rows drawn at random, whatever time and cell they are of."""
    table = load_staged("durance_streamflow") if name.startswith("durance") else batteries()[0]
    for seed in range(n_splits):
        train, test = np.split(np.random.RandomState(seed).permutation(len(table.y)), 2)
        test = test[:N_TEST]
        yield standardised(Split(table.X[train], table.y[train], table.X[test], table.y[test]))


def parts(name: str, n_splits: int, n_train: int) -> Iterator[Parts]:
    if name == "xjtu":
        return by_cell(n_splits, n_train)
    if name in SHUFFLED:
        return at_random(shuffled(name, n_splits), n_train)
    splits = PROBLEMS[name].first(n_splits)
    return in_time(splits, n_train) if name == "durance" else at_random(splits, n_train)


def boosted(split: Split) -> Ends:
    """Intervals between quantiles, each boosted for itself and put in order."""
    tails = 0.5 * (1 - np.array(LEVELS))
    levels = np.column_stack([tails, 1 - tails]).ravel()
    found = [
        HistGradientBoostingRegressor(loss="quantile", quantile=level, random_state=0)
        .fit(split.X_train, split.y_train)
        .predict(split.X_test)
        for level in levels
    ]
    return np.sort(np.reshape(found, (len(LEVELS), 2, -1)), axis=1)


def process(split: Split) -> Found:
    machine = gaussian_process(split.X_train.shape[1]).set_params(n_restarts_optimizer=0)
    with warnings.catch_warnings():  # a width at its bound is what an input without effect has
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(split.X_train, split.y_train)
    return Found(at_levels(partial(normal, machine), split.X_test), loss(machine, split))


def normal(machine: GaussianProcessRegressor, X: Array, level: float) -> tuple[Array, Array]:
    lower, upper = norm(*machine.predict(X, return_std=True)).interval(level)
    return lower, upper


def loss(machine: RVR | CalibratedRegressor | GaussianProcessRegressor, split: Split) -> float:
    if isinstance(machine, RVR):
        return -log_density(machine, split.X_test, split.y_test)
    return regression_loss(machine, split.X_test, split.y_test)


def calibrated_by(of: Parts, choice: Choice, model: RVR) -> CalibratedRegressor:
    """Calibrate a model that was fitted to all training rows."""
    y = choice.target(of.split.y_train)
    return model.calibrate(of.split.X_train, y, of.of_folds(N_FOLDS))


def found(model: RVR | CalibratedRegressor, choice: Choice, split: Split) -> Found:
    """Measure intervals and densities of the target itself."""
    t = choice.target(split.y_test)
    slope = float(choice.slope(split.y_test).mean())
    density = loss(model, split._replace(y_test=t)) - slope
    return Found(choice.ends(model, split.X_test), density)


def fit_all(of: Parts, gamma: str, also: Collection[str]) -> dict[str, Found]:
    split, own = of.split, ~of.calibrating
    default = Choice({"gamma": gamma}, logarithm=False)
    plain = default.fit(split)
    part = RVR(gamma=gamma).fit(split.X_train[own], split.y_train[own])
    calibrated = part.calibrate(split.X_train[~own], split.y_train[~own])
    every = {
        "RVR, plain": found(plain, default, split),
        "RVR, by folds": found(calibrated_by(of, default, plain), default, split),
        "RVR, calibrated": found(calibrated, default, split),
    }
    if "chosen" in also:
        choice = choose(split, of.of_folds(CHOOSING))
        model = choice.fit(split)
        kept = [len(of_kind.relevance_) for of_kind in (model, plain)]
        print(f"chosen: {choice}, {kept[0]} functions; default: {kept[1]}", flush=True)
        every["chosen, plain"] = found(model, choice, split)
        every["chosen, by folds"] = found(calibrated_by(of, choice, model), choice, split)
    if "others" in also:
        every["Gaussian process"] = process(split)
        every["boosting"] = Found(boosted(split), np.nan)
    return every


def rows(
    name: str, all_parts: Sequence[Parts], fits: Sequence[dict[str, Found]]
) -> list[list[str]]:
    """Format a row for each model from the fits of all splits."""
    targets = [of.split.y_test for of in all_parts]
    table = []
    for model in fits[0]:
        held = [covered(fit[model].ends, y) for fit, y in zip(fits, targets, strict=True)]
        shares = np.concatenate(held, axis=1).mean(axis=1)
        by_split = np.array([each.mean(axis=1) for each in held])
        errors = by_split.std(axis=0, ddof=1) / np.sqrt(len(held)) if len(held) > 1 else None
        losses = [
            pinball(fit[model].ends, of.split.y_test) / of.split.y_train.std()
            for fit, of in zip(fits, all_parts, strict=True)
        ]
        nlpd = np.mean([fit[model].nlpd for fit in fits])
        first = [name, str(sum(map(len, targets)))] if not table else ["", ""]
        cells = [format_shares(shares), "-" if errors is None else format_shares(errors)]
        cells += [f"{off(shares):.1f}", verdict(off(shares) <= POINTS)]
        cells += ["-" if np.isnan(nlpd) else f"{nlpd:.3f}", f"{np.mean(losses):.4f}"]
        table.append([*first, model, *cells])
    return table


HEADER = ["problem", "test rows", "model", "50 / 80 / 95 %", "standard errors", "off by"]
HEADER += [f"within {POINTS}", "NLPD", "pinball"]


def run(
    names: Sequence[str], n_splits: int, n_train: int, gamma: str, *, also: Collection[str]
) -> None:
    """Print the table for the problems in `names`, and on how many each model is within reach."""
    print(__doc__)
    table = []
    for name in names:
        start = time.process_time()
        all_parts = list(parts(name, n_splits, n_train))
        table += rows(name, all_parts, [fit_all(of, gamma, also) for of in all_parts])
        print(f"{name}: {time.process_time() - start:.0f} s", flush=True)
    print(f"\nAt most {n_splits} splits a problem and {n_train} training rows, gamma={gamma!r};")
    print("off by: the largest of three.\n")
    print_table(HEADER, table)
    print()
    for model in dict.fromkeys(row[2] for row in table):
        within = sum(row[6] == verdict(True) for row in table if row[2] == model)
        wanted = f" (wanted: {WANTED[model]})" if model in WANTED else ""
        print(f"{model}: within {POINTS} points on {within} of {len(names)}{wanted}")
