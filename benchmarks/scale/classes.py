"""One fit of a million rows of two classes.

The width is learnt on a sample of the rows before the clock starts.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.metrics import log_loss

from benchmarks.scale.report import at_most, peak_gigabytes, print_lines, seconds_of
from benchmarks.scale.simulated import labels, learnt_width, log_odds
from relvec import RVC


class Size(NamedTuple):
    """Rows, centres, and bytes that may be held."""

    rows: int
    centers: int
    memory_limit: float


FULL, QUICK = Size(1_000_000, 1000, 1e9), Size(20_000, 200, 1e7)
SECONDS, GIGABYTES = 15 * 60, 2
N_TEST = 20_000


def run(quick: bool) -> None:
    size = QUICK if quick else FULL
    X, y = labels(size.rows)
    gamma = learnt_width(RVC, X, y)
    machine = RVC(gamma=gamma, centers=size.centers, memory_limit=size.memory_limit, random_state=0)
    seconds = seconds_of(lambda: machine.fit(X, y))
    peak = peak_gigabytes()
    fresh, known = labels(N_TEST, seed=2)
    found, true = machine.predict_proba(fresh), expit(log_odds(fresh))
    losses = [log_loss(known, p) for p in (found, true)]
    errors = [100 * np.mean((p > 0.5) != known) for p in (found[:, 1], true)]
    print_lines(
        f"{size.rows} rows x {X.shape[1]}, {size.centers} centres, two classes: "
        f"{len(machine.relevance_)} vectors of γ = {gamma:.3g}; fresh rows, found / by the true "
        f"probabilities: log loss {losses[0]:.4f} / {losses[1]:.4f} nats, "
        f"errors {errors[0]:.2f} / {errors[1]:.2f} %",
        [
            at_most("seconds of the fit", SECONDS, seconds, " s"),
            at_most("peak of memory", GIGABYTES, peak, " GiB"),
        ],
    )
