"""Public splits of six sets, and few rows drawn of larger ones; inputs as they are in the files."""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice

import numpy as np
from sklearn.datasets import load_diabetes

from benchmarks.paper.draws import seeds
from benchmarks.scales.problems import by_mask, load_arrays, parted, published_rows
from benchmarks.staged import Split, Table

ALL_ROWS = sys.maxsize
#: Splits of protein that were published, and draws of few rows that can be asked for.
N_PROTEIN, N_DRAWS = 5, 20
#: Share of a small set that is trained on at most.
LARGEST = 0.8


def by_rule(name: str, file: str, n_splits: int) -> Iterator[Split]:
    """Part the rows as the published splits do."""
    table = load_arrays(name, file)
    for train, test in islice(published_rows(len(table.y)), n_splits):
        yield parted(table, train, test)


PUBLIC: Mapping[str, Callable[[], Iterator[Split]]] = {
    "yacht": partial(by_mask, "yacht_hydrodynamics", ALL_ROWS),
    "boston": partial(by_mask, "boston_housing", ALL_ROWS),
    "energy": partial(by_mask, "energy_efficiency", ALL_ROWS),
    "concrete": partial(by_mask, "concrete", ALL_ROWS),
    "power": partial(by_mask, "power_plant", ALL_ROWS),
    "protein": partial(by_rule, "protein_casp", "protein.npz", N_PROTEIN),
}


def diabetes() -> Table:
    return Table(*load_diabetes(return_X_y=True), ())


LARGER: Mapping[str, Callable[[], Table]] = {
    "bike": partial(load_arrays, "bike_sharing", "bike.npz"),
    "california": partial(load_arrays, "california_housing", "california.npz"),
    "elevators": partial(load_arrays, "elevators", "elevators.npz"),
    "diabetes": diabetes,
    "kin40k": partial(load_arrays, "kin40k", "kin40k.npz"),
    "protein": partial(load_arrays, "protein_casp", "protein.npz"),
}


def few_rows(table: Table, n_rows: int) -> Iterator[Split]:
    """Draw rows to train on, and test on all others."""
    n_train = min(n_rows, round(LARGEST * len(table.y)))
    for seed in seeds(N_DRAWS):
        rows = np.random.RandomState(seed).permutation(len(table.y))
        yield parted(table, rows[:n_train], rows[n_train:])
