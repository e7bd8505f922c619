"""What outliers do to a fit under Gaussian and under Student-t noise.

``python -m benchmarks.outliers`` draws sinc data with normal noise, moves 5 % of the targets far
away, and prints the RMS error of the fitted function to the true one, for

- the clean targets under Gaussian noise,
- the targets with outliers under Gaussian noise,
- the same under Student-t noise,
- the clean targets under Student-t noise, and
- the rows that are no outliers under Gaussian noise, as one would fit them who knew which they are.

A line has the root of the mean square over the draws, the others over that of the clean fit,
in how many draws Student-t noise and who knows the outliers are within 1.2 of it, and the mean
time.
"""

import argparse
import time
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import print_table
from relvec import RVR
from relvec.datasets import make_sinc
from relvec.exceptions import EmptyModelWarning

Array = NDArray[np.float64]

#: Share of the targets that are outliers, and the kernel's γ = 1/r² of the paper's sinc figures.
SHARE, GAMMA = 0.05, 1 / 9
GRID = np.linspace(-10, 10, 1000)[:, None]


class Design(NamedTuple):
    """Rows, standard deviation of the noise, and how far outliers lie: from 0.4 to 1 times that."""

    n_samples: int
    noise: float
    distance: float


DESIGNS = [Design(50, 0.1, 5), Design(100, 0.1, 5), Design(100, 0.01, 100), Design(300, 0.2, 5)]


def draw(design: Design, seed: int) -> tuple[Array, Array, Array]:
    """Inputs, clean targets, and the same with outliers."""
    X, clean = make_sinc(design.n_samples, noise_scale=design.noise, random_state=seed)
    rng = np.random.RandomState(1000 + seed)
    moved = rng.permutation(len(clean))[: round(SHARE * len(clean))]
    size = design.distance * rng.uniform(0.4, 1, len(moved)) * rng.choice([-1, 1], len(moved))
    y = clean.copy()
    y[moved] += size
    return X, clean, y


def error(X: Array, y: Array, likelihood: str) -> float:
    """RMS distance of a fitted function from sinc."""
    model = RVR(gamma=GAMMA, likelihood=likelihood).fit(X, y)
    residual = model.predict(GRID) - np.sinc(GRID[:, 0] / np.pi)
    return float(np.sqrt(np.mean(residual**2)))


def measure(design: Design, n_draws: int) -> tuple[Array, float]:
    """Errors of the five fits in every draw, and the mean seconds of a Student-t fit."""
    errors, seconds = [], 0.0
    for seed in range(n_draws):
        X, clean, y = draw(design, seed)
        began = time.perf_counter()
        robust = error(X, y, "student_t")
        seconds += time.perf_counter() - began
        others = [error(X, t, name) for t, name in [(clean, "gaussian"), (y, "gaussian")]]
        known = y == clean
        without = error(X[known], y[known], "gaussian")
        errors.append([*others, robust, error(X, clean, "student_t"), without])
    return np.array(errors), seconds / n_draws


def main() -> None:
    """Print a line a design."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=50)
    n_draws = parser.parse_args().draws
    warnings.simplefilter("ignore", EmptyModelWarning)  # what outliers leave of a Gaussian fit
    rows = []
    for design in DESIGNS:
        errors, seconds = measure(design, n_draws)
        rms = np.sqrt((errors**2).mean(axis=0))
        within = (errors[:, [2, 4]] <= 1.2 * errors[:, :1]).sum(axis=0)
        rows.append(
            [
                f"{design.n_samples} rows, noise {design.noise:g}, outliers to {design.distance:g}",
                f"{rms[0]:.4f}",
                *(f"{ratio:.2f}" for ratio in rms[1:] / rms[0]),
                *(f"{count} of {n_draws}" for count in within),
                f"{seconds:.2f}",
            ]
        )
    print_table(
        [
            *["sinc", "clean RMS", "Gaussian", "Student-t", "Student-t, clean", "without outliers"],
            *["Student-t within 1.2", "without outliers", "s a fit"],
        ],
        rows,
    )


if __name__ == "__main__":
    main()
