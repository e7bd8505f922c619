"""Different ways to the same model: where rows are kept, and in how many pieces they come.

The dense design holds all candidates at all rows, the blocked one computes them block by block, and
that of Dask wherever its chunks are. `partial_fit` sees the rows in ten pieces. Differences are the
largest ones over rows, of means in standard deviations of the targets, and of error bars beside
themselves.
"""

from collections.abc import Callable, Iterator

import dask.array as da
import numpy as np
from sklearn.base import clone

from benchmarks.scale.report import Line, print_lines
from benchmarks.scale.simulated import inputs, numbers
from relvec import RVR

#: Rows and centres: few functions, whose root comes from QR, and many, from their products.
SIZES, QUICK_SIZES = [(50_000, 100), (60_000, 600)], [(10_000, 50)]
GAMMA, PIECES, WANTED, N_TEST = 0.05, 10, 1e-8, 2000
#: Bytes up to which the design is dense, for all sizes and for none.
ENDLESS, TINY = 1e12, 1e5

Array = np.ndarray


def run(quick: bool) -> None:
    lines = [
        line
        for n_rows, n_centers in (QUICK_SIZES if quick else SIZES)
        for line in comparisons(n_rows, n_centers)
    ]
    print_lines("The same model", lines)


def comparisons(n_rows: int, n_centers: int) -> Iterator[Line]:
    X, y = numbers(n_rows)
    unfitted = RVR(gamma=GAMMA, centers=X[:n_centers], memory_limit=ENDLESS)
    dense = clone(unfitted).fit(X, y)
    ways: dict[str, Callable[[RVR], RVR]] = {
        "blocked": lambda machine: machine.set_params(memory_limit=TINY).fit(X, y),
        "Dask": lambda machine: machine.fit(*in_chunks(X, y)),
        f"partial_fit in {PIECES} pieces": lambda machine: in_pieces(machine, X, y),
    }
    for name, fit in ways.items():
        found = fit(clone(unfitted))
        largest = difference(found, dense, float(y.std()))
        kept = f"{len(found.relevance_)} and {len(dense.relevance_)} vectors"
        what = f"{name} beside dense, {n_rows} rows, {n_centers} centres, {kept}"
        yield Line(what, f"≤ {WANTED:g}", f"{largest:.1e}", largest <= WANTED)


def in_chunks(X: Array, y: Array) -> tuple[da.Array, da.Array]:
    size = -(-len(X) // PIECES)
    return da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size)


def in_pieces(machine: RVR, X: Array, y: Array) -> RVR:
    for rows in np.array_split(np.arange(len(X)), PIECES):
        machine.partial_fit(X[rows], y[rows])
    return machine


def difference(one: RVR, other: RVR, unit: float) -> float:
    queries = inputs(N_TEST, seed=2)
    (mean, std), (mean_of_other, std_of_other) = (
        machine.predict_latent(queries, return_std=True) for machine in (one, other)
    )
    means, bars = np.abs(mean - mean_of_other) / unit, np.abs(std / std_of_other - 1)
    return float(max(means.max(), bars.max()))
