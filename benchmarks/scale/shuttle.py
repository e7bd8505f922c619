"""Statlog's shuttle: seven classes, some of them very rare, by one multinomial model.

A quarter of the rows of each class is held out. The inputs have heavy tails, and are replaced by
normal scores of their ranks among the training rows. The width is learnt on a sample of these
before the clock starts.
"""

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import QuantileTransformer

from benchmarks.scale.report import at_most, peak_gigabytes, print_lines, seconds_of
from benchmarks.scale.simulated import learnt_width
from benchmarks.scales.problems import load_arrays
from benchmarks.staged import Split
from relvec import RVC

N_CENTERS, QUICK_CENTERS, QUICK_ROWS = 500, 100, 4000
SECONDS, PERCENT = 300, 0.3


def run(quick: bool) -> None:
    X_train, y_train, X_test, y_test = loaded()
    if quick:
        X_train, y_train = X_train[:QUICK_ROWS], y_train[:QUICK_ROWS]
    gamma = learnt_width(RVC, X_train, y_train)
    machine = RVC(gamma=gamma, centers=QUICK_CENTERS if quick else N_CENTERS, random_state=0)
    seconds = seconds_of(lambda: machine.fit(X_train, y_train))
    error = 100 * float(np.mean(machine.predict(X_test) != y_test))
    print_lines(
        f"shuttle, {len(y_train)} rows, {len(machine.classes_)} classes: "
        f"{len(machine.relevance_)} vectors of γ = {gamma:.3g}, peak {peak_gigabytes():.2f} GiB",
        [
            at_most("seconds of the fit", SECONDS, seconds, " s"),
            at_most(f"errors on {len(y_test)} rows", PERCENT, error, " %"),
        ],
    )


def loaded() -> Split:
    table = load_arrays("shuttle", "shuttle.npz")
    X_train, X_test, y_train, y_test = train_test_split(
        table.X, table.y, test_size=0.25, stratify=table.y, random_state=0
    )
    scores = QuantileTransformer(output_distribution="normal", random_state=0).fit(X_train)
    return Split(scores.transform(X_train), y_train, scores.transform(X_test), y_test)
