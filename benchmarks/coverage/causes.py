"""Why plain intervals are narrow: what of their variance is missing, and who can tell.

Truths: sums of six functions of the model, as in `truths`, and draws of Gaussian processes with the
kernel of the model, over normal inputs, which no few functions make up; 500 new rows each, noise of
standard deviation 0.3, whose variance is the unit here. Function: mean squared error of its mean at
new rows, its mean variance there under the posterior, and the error of the process that knows
everything but the function. Real problems are those of `staged`.

z² is the mean of squared errors over predicted variances, one where error bars are right: of the
rows of the fit left out in closed form, which keeps functions and precisions; of the same rows by
refits without their fold; of new rows. One factor: all standard deviations times the root of z² by
folds. It mends what is wrong with the size of error bars, not what is with their shape.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

from benchmarks.coverage import staged, truths
from benchmarks.coverage.intervals import LEVELS, Array, at_levels, covered, format_shares
from benchmarks.coverage.truths import NOISE, Truth
from benchmarks.paper.draws import seeds
from benchmarks.table import print_table
from relvec import RVR
from relvec._assess.conformal import CalibratedRegressor
from relvec._fitting.residuals import left_out
from relvec.basis import RBF

SIZES, N_NEW, N_FOLDS = [100, 300, 1000], 500, 5
#: Widths of the processes, by inputs.
WIDTHS = {1: 2.0, 2: 0.5, 4: 0.1, 8: 0.05}
HEADER = ["truth", "rows", "functions", "noise learnt", "function: error", "variance", "process"]
HEADER += ["z²: left out", "folds", "new", "50 / 80 / 95 %"]
REAL = ["problem", "functions", "z²: left out", "folds", "new", "plain", "one factor", "by folds"]
REAL += ["NLPD, plain", "one factor"]


def of_process(n: int, n_inputs: int, seed: int) -> Truth:
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n + N_NEW, n_inputs))
    values, vectors = np.linalg.eigh(RBF(gamma=WIDTHS[n_inputs]).fit(X).transform(X))
    f = vectors @ (np.sqrt(np.maximum(values, 0)) * rng.standard_normal(len(X)))
    y = f + NOISE * rng.standard_normal(len(X))
    return Truth(X[:n], y[:n], X[n:], y[n:], f[n:])


def process_error(truth: Truth, width: float) -> float:
    """Mean squared error of the process that the truth is a draw of."""
    kernel = kernels.RBF(1 / np.sqrt(2 * width))
    machine = GaussianProcessRegressor(kernel, alpha=NOISE**2, optimizer=None)
    return float(np.mean((machine.fit(truth.X, truth.y).predict(truth.Z) - truth.f) ** 2))


def left_out_square(model: RVR, X: Array, y: Array) -> float:
    """z² of the rows of the fit, in closed form."""
    residual, variance = left_out(model.fit_result_, model.basis_.evaluate(X), y[:, None])
    return float(np.mean(residual**2 / variance))


def fold_square(calibrated: CalibratedRegressor) -> float:
    mean, std = calibrated.predicted[0].T
    return float(np.mean(((calibrated.y[0] - mean) / std) ** 2))


def of_truth(truth: Truth, width: float) -> list[float]:
    """Everything that a row of the first table is the mean of."""
    model = RVR(gamma=width).fit(truth.X, truth.y)
    mean, std = model.predict(truth.Z, return_std=True)
    band = model.predict_latent(truth.Z, return_std=True)[1]
    held = covered(at_levels(model.predict_interval, truth.Z), truth.t)
    folds = fold_square(model.calibrate(truth.X, truth.y, cv=N_FOLDS))
    unit = NOISE**2
    return [
        len(model.relevance_),
        model.noise_variance_ / unit,
        np.mean((mean - truth.f) ** 2) / unit,
        np.mean(band**2) / unit,
        process_error(truth, width) / unit,
        left_out_square(model, truth.X, truth.y),
        folds,
        np.mean(((truth.t - mean) / std) ** 2),
        *held.mean(axis=1),
    ]


def of_truths(
    name: str, n: int, draw: Callable[[int], Truth], width: float, times: int
) -> list[str]:
    """Format a row of the first table."""
    found = np.mean([of_truth(draw(seed), width) for seed in seeds(times)], axis=0)
    cells = [f"{found[0]:.1f}", *[f"{value:.2f}" for value in found[1:8]]]
    return [name, str(n), *cells, format_shares(found[8:])]


def of_problem(name: str, n_splits: int, n_train: int, gamma: str) -> list[str]:
    """Format a row of the second table."""
    numbers, held = [], []
    for of in staged.parts(name, n_splits, n_train):
        split = of.split
        model = RVR(gamma=gamma).fit(split.X_train, split.y_train)
        by_folds = model.calibrate(split.X_train, split.y_train, of.of_folds(N_FOLDS))
        square = fold_square(by_folds)
        mean, std = model.predict(split.X_test, return_std=True)
        scaled = norm(*by_folds.predict(split.X_test, return_std=True))
        ends = [
            at_levels(model.predict_interval, split.X_test),
            np.array([scaled.interval(level) for level in LEVELS]),
            at_levels(by_folds.predict_interval, split.X_test),
        ]
        held.append(np.array([covered(each, split.y_test) for each in ends]))
        z2 = left_out_square(model, split.X_train, split.y_train), square
        new = np.mean(((split.y_test - mean) / std) ** 2)
        losses = staged.loss(model, split), staged.loss(by_folds, split)
        numbers.append([len(model.relevance_), *z2, new, *losses])
    functions, *z2, plain, factor = np.mean(numbers, axis=0)
    shares = [format_shares(each) for each in np.concatenate(held, axis=2).mean(axis=2)]
    cells = [f"{functions:.1f}", *[f"{value:.2f}" for value in z2], *shares]
    return [name, *cells, f"{plain:.3f}", f"{factor:.3f}"]


def run(names: Sequence[str], n_splits: int, n_train: int, gamma: str, *, times: int) -> None:
    """Print both tables."""
    print(__doc__)
    table, start = [], time.process_time()
    for n in truths.SIZES:
        draw = partial(truths.draw, n)
        table.append(of_truths("six functions", n, draw, truths.GAMMA, times))
    for n_inputs, width in WIDTHS.items():
        for n in SIZES:
            draw = partial(of_process, n, n_inputs)
            table.append(of_truths(f"process, {n_inputs} inputs", n, draw, width, times))
    print(f"{times} truths a row, {time.process_time() - start:.0f} s\n")
    print_table(HEADER, table)
    print(f"\nAt most {n_splits} splits a problem and {n_train} training rows, gamma={gamma!r}.\n")
    print_table(REAL, [of_problem(name, n_splits, n_train, gamma) for name in names])
