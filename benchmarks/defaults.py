"""What the default search finds: beside ten starts, and where there is nothing to find.

``signals``: functions of one input, evenly spaced and drawn rows. Share of draws whose evidence
from defaults is within 2 nats of the best of ten starts, the largest distance, the draws that are
more than 10 nats below without a finding of `underfit`, and the median of the times beside each
other. ``noise``: share of draws of columns of noise of which `SparseBayesianRegressor` keeps none,
its mean squared error beside that of the mean of y, share of draws in which one true column of the
noise's variance is found, and in which three strong ones are and nothing else; then what `RVR`
keeps of 100 functions.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import print_table
from relvec import RVR, SparseBayesianRegressor
from relvec.exceptions import RelvecWarning

Array = NDArray[np.float64]

ROWS = (50, 100, 200, 400)
COLUMNS = ((20, 40), (40, 100), (60, 60), (60, 400), (100, 500), (200, 1000))
FRESH_ROWS = 1000


class Signal(NamedTuple):
    """A function of one input on an interval, and the standard deviation of its noise."""

    function: Callable[[Array], Array]
    low: float
    high: float
    noise: float

    def draw(self, n: int, even: bool, seed: int) -> tuple[Array, Array]:
        rng = np.random.default_rng(seed)
        x = np.linspace(self.low, self.high, n)
        if not even:
            x = np.sort(rng.uniform(self.low, self.high, n))
        return x[:, None], self.function(x) + self.noise * rng.standard_normal(n)


def sine(periods: float) -> Signal:
    return Signal(lambda x: np.sin(periods * np.pi * x), -1.0, 1.0, 0.05)


def doppler(x: Array) -> Array:
    """Donoho and Johnstone's (1994)."""
    value: Array = np.sqrt(x * (1 - x)) * np.sin(2.1 * np.pi / (x + 0.05))
    return value


SIGNALS = {f"sine, {periods} periods": sine(periods) for periods in (1.5, 2, 3, 4, 6)} | {
    "sin x on [0, 20]": Signal(np.sin, 0.0, 20.0, 0.1),
    "sin x on [0, 30]": Signal(np.sin, 0.0, 30.0, 0.1),
    "sinc": Signal(lambda x: np.sinc(x / np.pi), -20.0, 20.0, 0.05),
    "step": Signal(lambda x: (x > 0.1).astype(float), -1.0, 1.0, 0.05),
    "Doppler": Signal(doppler, 0.0, 1.0, 0.03),
}


def fitted(model: RVR, X: Array, y: Array) -> tuple[RVR, float]:
    """Return the fitted model, and the processor time that it took in seconds."""
    start = time.process_time()
    model.fit(X, y)
    return model, time.process_time() - start


def signals(draws: int, rows: tuple[int, ...]) -> None:
    table = []
    for name, signal in SIGNALS.items():
        short, unnamed, times = [], 0, []
        for n in rows:
            for even in (True, False):
                for seed in range(draws):
                    X, y = signal.draw(n, even, seed)
                    model, took = fitted(RVR(), X, y)
                    more, longer = fitted(RVR(n_starts=10), X, y)
                    below = more.log_evidence_ - model.log_evidence_
                    named = "underfit" in model.diagnose(X, y).codes
                    short.append(below)
                    times.append(longer / took)
                    unnamed += below > 10 and not named
        within = np.mean(np.array(short) < 2)
        cells = f"{within:.3f}", f"{max(short):.1f}", str(unnamed), f"{np.median(times):.1f}"
        table.append((name, *cells))
    header = ("signal", "within 2 nats", "farthest", "over 10, not said", "time of ten starts")
    print_table(header, table)


def drawn(n: int, m: int, seed: int, weights: tuple[float, ...]) -> tuple[Array, Array, Array]:
    """Rows of m columns, the first of which make up the targets, and fresh rows."""
    rng = np.random.default_rng([n, m, seed])
    X, w = rng.standard_normal((n, m)), np.zeros(m)
    w[: len(weights)] = weights
    return X, X @ w + rng.standard_normal(n), rng.standard_normal((FRESH_ROWS, m))


def noise(draws: int) -> None:
    table = []
    for n, m in COLUMNS:
        nothing, errors, one, three = 0, [], 0, 0
        for seed in range(draws):
            X, y, fresh = drawn(n, m, seed, ())
            model = SparseBayesianRegressor().fit(X, y)
            nothing += not len(model.relevance_)
            # errors of fresh targets, of which the noise has the variance 1
            errors.append((1 + np.mean(model.predict(fresh) ** 2)) / (1 + y.mean() ** 2))
            X, y, _ = drawn(n, m, seed, (1.0,))
            one += 0 in SparseBayesianRegressor().fit(X, y).relevance_
            X, y, _ = drawn(n, m, seed, (3.0, 3.0, 3.0))
            three += list(SparseBayesianRegressor().fit(X, y).relevance_) == [0, 1, 2]
        shares = [f"{count / draws:.2f}" for count in (nothing, one, three)]
        error = f"{np.mean(errors):.3f}"
        table.append((f"{n} rows, {m} columns", shares[0], error, *shares[1:]))
    print_table(("noise", "keeps nothing", "error", "one found", "three alone"), table)
    kept = []
    for seed in range(draws):
        X, y, _ = drawn(100, 50, seed, ())
        kept.append(len(RVR().fit(X, y).relevance_))
    print(f"\nRVR on 50 inputs of noise keeps {np.mean(kept):.1f} of 100 functions")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", choices=("signals", "noise"))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, nargs="*", default=list(ROWS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", RelvecWarning)
    if arguments.part == "noise":
        noise(arguments.draws)
    else:
        signals(arguments.draws, tuple(arguments.rows))


if __name__ == "__main__":
    main()
