"""Real problems: which rows are trained on, and inputs standardised on those."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
from sklearn.model_selection import LeaveOneGroupOut, TimeSeriesSplit, train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.paper.classification import load_train_test
from benchmarks.paper.draws import seeds
from benchmarks.staged import Split, Table, find_staged, load_raetsch, load_staged

#: Rows that are drawn from a large data set at most.
N_TRAIN, N_TEST = 1000, 2000
#: Share of the rows that the published splits train on.
PUBLISHED_SHARE = 0.9
#: Rows that follow the training rows in time.
N_AHEAD = 400
#: Share of the rows that a class must have to be told from others.
RAREST = 0.01


@dataclass(frozen=True)
class Problem:
    """A data set: what is predicted, and its splits, as many as there are."""

    classes: bool
    splits: Callable[[], Iterator[Split]]

    def first(self, n_splits: int) -> list[Split]:
        """Return some splits, with inputs that have mean 0 and variance 1 in the training rows."""
        return [standardised(split) for split in islice(self.splits(), n_splits)]


def standardised(split: Split) -> Split:
    scaler = StandardScaler().fit(split.X_train)
    return split._replace(
        X_train=scaler.transform(split.X_train), X_test=scaler.transform(split.X_test)
    )


def parted(table: Table, train: np.ndarray, test: np.ndarray) -> Split:
    return Split(table.X[train], table.y[train], table.X[test], table.y[test])


def by_mask(name: str, most: int = N_TRAIN) -> Iterator[Split]:
    """Read the twenty published splits; of many training rows some are drawn."""
    table = load_staged(name)
    path = find_staged(name) / "test_mask_20splits.csv"
    masks = np.loadtxt(path, delimiter=",", skiprows=1, dtype=bool).T
    for seed, mask in zip(seeds(len(masks)), masks, strict=True):
        yield parted(table, some(np.flatnonzero(~mask), most, seed), np.flatnonzero(mask))


def published_rows(n_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to train and to test on by the rule of the published splits, one split after another."""
    random, n_train = np.random.RandomState(1), round(PUBLISHED_SHARE * n_rows)
    while True:
        shuffled = random.choice(np.arange(n_rows), n_rows, replace=False)
        yield shuffled[:n_train], shuffled[n_train:]


def some(rows: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Draw rows, or return all where there are no more than `most`."""
    if len(rows) <= most:
        return rows
    return np.random.RandomState(seed).choice(rows, most, replace=False)


def load_arrays(name: str, file: str) -> Table:
    with np.load(find_staged(name) / file, allow_pickle=False) as arrays:
        return Table(arrays["X"].astype(float), arrays["y"], ())


def drawn(name: str, file: str) -> Iterator[Split]:
    """Draw rows to train and to test on from a large table of numbers."""
    table = load_arrays(name, file)
    for seed in seeds(20):
        rows = some(np.arange(len(table.y)), N_TRAIN + N_TEST, seed)
        yield parted(table, rows[:N_TRAIN], rows[N_TRAIN:])


def drawn_classes(name: str, file: str) -> Iterator[Split]:
    """Draw rows of the classes that are not rare, each class in proportion."""
    table = load_arrays(name, file)
    _, label, counts = np.unique(table.y, return_inverse=True, return_counts=True)
    rows = np.flatnonzero((counts >= RAREST * len(label))[label])
    for seed in seeds(20):
        train, test = train_test_split(
            rows, train_size=N_TRAIN, test_size=N_TEST, stratify=label[rows], random_state=seed
        )
        yield parted(table, train, test)


def by_cell(name: str) -> Iterator[Split]:
    """Leave one battery out, whose number is the first column; inputs are finite in all rows."""
    table = load_staged(name)
    cells, finite = table.X[:, 0], np.isfinite(table.X).all(axis=0)
    inputs = table._replace(X=table.X[:, 1:][:, finite[1:]])
    for seed, (train, test) in enumerate(LeaveOneGroupOut().split(inputs.X, groups=cells)):
        yield parted(inputs, some(train, N_TRAIN, seed), test)


def by_time(name: str) -> Iterator[Split]:
    """Train on rows that end where the test rows begin."""
    table = load_staged(name)
    for train, test in TimeSeriesSplit(5, max_train_size=N_TRAIN, test_size=N_AHEAD).split(table.X):
        yield parted(table, train, test)


def by_order(name: str, n_test: int) -> Iterator[Split]:
    """Keep the last rows for the test."""
    table = load_staged(name)
    rows = np.arange(len(table.y))
    yield parted(table, rows[:-n_test], rows[-n_test:])


def train_test(name: str) -> Iterator[Split]:
    yield load_train_test(name)


def raetsch(name: str) -> Iterator[Split]:
    yield from load_raetsch(name)


PROBLEMS = {
    "boston": Problem(False, partial(by_mask, "boston_housing")),
    "concrete": Problem(False, partial(by_mask, "concrete")),
    "energy": Problem(False, partial(by_mask, "energy_efficiency")),
    "yacht": Problem(False, partial(by_mask, "yacht_hydrodynamics")),
    "power_plant": Problem(False, partial(by_mask, "power_plant")),
    "bike": Problem(False, partial(drawn, "bike_sharing", "bike.npz")),
    "elevators": Problem(False, partial(drawn, "elevators", "elevators.npz")),
    "california": Problem(False, partial(drawn, "california_housing", "california.npz")),
    "tecator": Problem(False, partial(by_order, "tecator", 43)),
    "durance": Problem(False, partial(by_time, "durance_streamflow")),
    "xjtu": Problem(False, partial(by_cell, "xjtu_battery_2c")),
    "ripley": Problem(True, partial(train_test, "ripley")),
    "pima": Problem(True, partial(train_test, "pima")),
    "banana": Problem(True, partial(raetsch, "banana")),
    "breast_cancer": Problem(True, partial(raetsch, "breast_cancer")),
    "titanic": Problem(True, partial(raetsch, "titanic")),
    "waveform": Problem(True, partial(raetsch, "waveform")),
    "german": Problem(True, partial(raetsch, "german")),
    "image": Problem(True, partial(raetsch, "image")),
    "shuttle": Problem(True, partial(drawn_classes, "shuttle", "shuttle.npz")),
}
