"""One block of rows on one core, and what a billion rows take at that speed.

A fit with Gaussian noise passes over all rows once with all candidates: it evaluates them at a
block, and adds the products of their columns to those of the blocks before. What it holds does not
depend on the number of rows, and blocks do not wait for each other, so that the time of a block is
all there is to know.
"""

import numpy as np

from benchmarks.scale.report import seconds_of
from benchmarks.scale.simulated import N_FEATURES, numbers
from benchmarks.table import print_table
from relvec._design.moments import Moments
from relvec._numerics.linalg import single_threaded
from relvec.basis import RBF, Centers

N_ROWS, N_CENTERS, ROUNDS, GAMMA = 4096, 2000, 5, 0.05
BILLION, CORES, HOUR = 10**9, (1, 16, 64, 256), 3600


def run(quick: bool) -> None:
    rounds = 1 if quick else ROUNDS
    X, y = numbers(N_ROWS)
    basis = RBF(gamma=GAMMA).place(X, Centers.on(X, np.arange(N_CENTERS)), None)
    total = Moments.of(basis.evaluate(X), y[:, None].copy(), None)

    def look() -> None:
        nonlocal total
        total += Moments.of(basis.evaluate(X), y[:, None].copy(), None)

    with single_threaded():
        kernel = min(seconds_of(lambda: basis.evaluate(X)) for _ in range(rounds))
        both = min(seconds_of(look) for _ in range(rounds))
    print(
        f"\nOne block of {N_ROWS} rows x {N_FEATURES} with {N_CENTERS} candidates on one core: "
        f"{both:.3g} s, of which the kernel {kernel:.3g} s; {both / N_ROWS * 1e6:.3g} µs a row\n"
    )
    hours = BILLION / N_ROWS * both / HOUR
    print_table(
        ["cores", f"hours for {BILLION:.0e} rows"],
        [[str(cores), f"{hours / cores:.3g}"] for cores in CORES],
    )
