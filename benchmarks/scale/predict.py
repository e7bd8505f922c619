"""Predictions a second, with 20 vectors in eight dimensions.

The best of some rounds counts. Three targets share their vectors.
"""

import numpy as np

from benchmarks.scale.report import Line, at_least, at_most, print_lines, seconds_of
from benchmarks.scale.simulated import inputs
from relvec import RVR
from relvec.basis import RBF, Centers

N_ROWS, QUICK_ROWS, N_TRAIN, N_CENTERS, N_TARGETS, ROUNDS = 1_000_000, 100_000, 2000, 20, 3, 5
MILLIONS_A_SECOND, BY_MEAN, GAMMA, NOISE_SCALE = 1.0, 3.0, 0.1, 0.05


def run(quick: bool) -> None:
    queries = inputs(QUICK_ROWS if quick else N_ROWS, seed=2)
    lines = []
    for n_targets in (1, N_TARGETS):
        machine = fitted(n_targets)
        assert len(machine.relevance_) == N_CENTERS
        lines += lines_of(machine, queries, n_targets)
    print_lines(f"Predictions at {len(queries)} rows, {N_CENTERS} vectors", lines)


def fitted(n_targets: int) -> RVR:
    """A model that keeps all its functions: its targets are made of them."""
    X, rng = inputs(N_TRAIN, seed=0), np.random.RandomState(1)
    centers = inputs(N_CENTERS, seed=3)
    functions = RBF(gamma=GAMMA).place(X, Centers.at(centers), None).evaluate(X)
    y = 3 * functions @ rng.standard_normal((N_CENTERS, n_targets))
    y += NOISE_SCALE * rng.standard_normal(y.shape)
    return RVR(gamma=GAMMA, centers=centers).fit(X, np.squeeze(y))


def lines_of(machine: RVR, queries: np.ndarray, n_targets: int) -> list[Line]:
    mean = min(seconds_of(lambda: machine.predict(queries)) for _ in range(ROUNDS))
    both = min(seconds_of(lambda: machine.predict(queries, return_std=True)) for _ in range(ROUNDS))
    targets = "one target" if n_targets == 1 else f"{n_targets} targets"
    rate = len(queries) / mean / 1e6
    return [
        at_least(f"means a second, {targets}", MILLIONS_A_SECOND, rate, " million"),
        at_most(f"time with error bars beside means, {targets}", BY_MEAN, both / mean, "x"),
    ]
