"""A process is killed in the middle of its fit, and another one goes on from the checkpoint.

Differences are the largest ones over rows, of what both fits predict.
"""

import multiprocessing
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.base import clone

from benchmarks.scale.report import Line, print_lines, seconds_of
from benchmarks.scale.simulated import inputs, labels, numbers
from relvec import RVC, RVR

Array = np.ndarray
Estimator = RVR | RVC

#: Rows and centres.
SIZE, QUICK_SIZE = (100_000, 500), (10_000, 150)
GAMMA, LIMIT, N_TEST, LOOK, WANTED = 0.05, 1e6, 2000, 0.01, 1e-10


def run(quick: bool) -> None:
    n_rows, n_centers = QUICK_SIZE if quick else SIZE
    shared = {"gamma": GAMMA, "centers": n_centers, "memory_limit": LIMIT, "random_state": 0}
    lines = [
        line_of("Gaussian noise", RVR(**shared, n_starts=3), *numbers(n_rows)),
        line_of("two classes", RVC(**shared), *labels(n_rows)),
    ]
    print_lines(f"Killed and resumed, {n_rows} rows, {n_centers} centres", lines)


def line_of(name: str, unfitted: Estimator, X: Array, y: Array) -> Line:
    undisturbed = clone(unfitted)
    seconds = seconds_of(lambda: undisturbed.fit(X, y))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "fit.checkpoint"
        resumed = clone(unfitted).set_params(checkpoint=path)
        killed_after = kill(resumed, X, y, path, seconds / 2)
        seconds_left = seconds_of(lambda: resumed.fit(X, y))
    queries = inputs(N_TEST, seed=2)
    largest = float(np.abs(answers(resumed, queries) - answers(undisturbed, queries)).max())
    what = f"{name}, killed after {killed_after:.1f} s of {seconds:.1f}, {seconds_left:.1f} s left"
    return Line(what, f"≤ {WANTED:g}", f"{largest:.1e}", largest <= WANTED)


def kill(machine: Estimator, X: Array, y: Array, path: Path, seconds: float) -> float:
    """Kill a fit in a process of its own after some time, but not before it has left something."""
    process = multiprocessing.get_context("spawn").Process(target=machine.fit, args=(X, y))
    process.start()
    begin = time.perf_counter()
    while not path.exists() or time.perf_counter() - begin < seconds:
        if not process.is_alive():
            raise RuntimeError("the fit ended before it was killed")
        time.sleep(LOOK)
    process.kill()
    process.join()
    return time.perf_counter() - begin


def answers(machine: Estimator, queries: Array) -> Array:
    if isinstance(machine, RVC):
        return machine.predict_proba(queries)
    return np.column_stack(machine.predict(queries, return_std=True))
