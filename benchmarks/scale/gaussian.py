"""One fit of a million rows with Gaussian noise, beside a tenth of them, and beside its floor.

The width is learnt on a sample of the rows before the clock starts, and then that of
``gamma="scale"``, under which many more functions are kept. The floor is what no fit can do
without: the kernel at all rows, block by block on as many threads as BLAS has, and the symmetric
product of each block.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas
from sklearn.utils import gen_batches
from threadpoolctl import threadpool_limits

from benchmarks.scale.report import at_most, peak_gigabytes, print_lines, seconds_of
from benchmarks.scale.simulated import function, inputs, learnt_width, numbers
from relvec import RVR
from relvec._fitting.data import block_size
from relvec._numerics.linalg import blas_threads
from relvec.basis import RBF, Centers


class Size(NamedTuple):
    """Rows, fewer rows, centres, and bytes that may be held."""

    rows: int
    fewer: int
    centers: int
    memory_limit: float


FULL, QUICK = Size(1_000_000, 100_000, 2000, 1e9), Size(60_000, 30_000, 1000, 1e8)
SECONDS, GIGABYTES, BY_ROWS, BY_FLOOR = 240, 2, 1.2, 1.6
N_TEST = 10_000


def run(quick: bool) -> None:
    size = QUICK if quick else FULL
    X, y = numbers(size.rows)
    learnt, by_default = learnt_width(RVR, X, y), 1 / (X.shape[1] * float(X.var()))
    for gamma, name in ((learnt, "learnt on a sample"), (by_default, "by default")):
        few = fitted(size, gamma, X[: size.fewer], y[: size.fewer])[1]
        machine, many = fitted(size, gamma, X, y)
        peak = peak_gigabytes()
        floor = floor_seconds(gamma, X, size.centers)
        by_rows = (many / size.rows) / (few / size.fewer)
        print_lines(
            f"{size.rows} rows x {X.shape[1]}, {size.centers} centres, Gaussian noise, γ = "
            f"{gamma:.3g} {name}: {len(machine.relevance_)} vectors, {described(machine)}; floor "
            f"{floor:.3g} s",
            [
                at_most("seconds of the fit", SECONDS, many, " s"),
                at_most("peak of memory", GIGABYTES, peak, " GiB"),
                at_most(f"time a row, beside {size.fewer} rows", BY_ROWS, by_rows, "x"),
                at_most("time beside the floor", BY_FLOOR, many / floor, "x"),
            ],
        )


def described(machine: RVR) -> str:
    fresh = inputs(N_TEST, seed=2)
    error = float(np.sqrt(np.mean((machine.predict(fresh) - function(fresh)) ** 2)))
    noise = float(np.sqrt(machine.noise_variance_))
    return f"noise {noise:.4g}, RMS error to the function {error:.3g}"


def fitted(size: Size, gamma: float, X: np.ndarray, y: np.ndarray) -> tuple[RVR, float]:
    machine = RVR(gamma=gamma, centers=size.centers, memory_limit=size.memory_limit, random_state=0)
    return machine, seconds_of(lambda: machine.fit(X, y))


def floor_seconds(gamma: float, X: np.ndarray, n_centers: int) -> float:
    """Seconds of the kernel at all rows and of one symmetric product, in the blocks of the fit."""
    basis = RBF(gamma=gamma).place(X, Centers.on(X, np.arange(n_centers)), None)
    threads = blas_threads()

    def look(block: slice) -> float:
        columns = basis.evaluate(X[block])
        return float(blas.dsyrk(1.0, columns.T)[0, 0])

    def look_at_all() -> None:
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
            list(pool.map(look, gen_batches(len(X), block_size(basis))))

    return seconds_of(look_at_all)
