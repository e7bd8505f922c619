"""Linear models: SparseBayesianRegressor beside scikit-learn's ARDRegression, both with defaults.

Spectra come with the split that belongs to them: tecator 172 and 43 rows, the soils of nirsoil 618
and 207 less those whose response was not measured. Their error is the root mean square over the
test rows, in units of the target. The other problems have a known function, and their error is the
root mean square deviation from it at fresh rows, drawn like the others. ARDRegression prunes by a
precision in units of the columns, so it is fitted to the columns as they are and, once more, to
standardised ones. Columns are the coefficients that are not zero.

no worse: error at most 1 % above the lower of ARDRegression's two, or under 1e-6 of the spread of
the target; fewer: no more columns than ARDRegression with that error.
"""

import argparse
import multiprocessing as mp
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.linear_model import ARDRegression
from sklearn.metrics import root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.staged import Split, find_staged, load_staged
from benchmarks.table import print_table, verdict
from relvec import SparseBayesianRegressor
from relvec.exceptions import RelvecWarning
from tests.support import inputs

Array = NDArray[np.float64]

TEST_ROWS = 500
SOIL_RESPONSES = ("Nt", "Ciso", "CEC")


class Score(NamedTuple):
    """One fit: its error, how many columns it uses, and how long it took."""

    error: float
    columns: int
    seconds: float


def tecator() -> Split:
    """Fat of meat from 100 channels: calibration and monitoring rows, then the test rows."""
    table = load_staged("tecator")
    return Split(table.X[:172], table.y[:172], table.X[172:], table.y[172:])


def nirsoil(response: str) -> Split:
    """A property of soils from 700 channels."""
    with np.load(find_staged("nirsoil") / "nirsoil.npz", allow_pickle=False) as file:
        X, y, train = file["X"].astype(np.float64), file[response], file["train"] == 1
    known = np.isfinite(y)
    train, test = known & train, known & ~train
    return Split(X[train], y[train], X[test], y[test])


def with_truth(
    draw: Callable[[], tuple[Array, Array]], function: Callable[[Array], Array]
) -> Split:
    """Training rows of `draw`, and fresh normal rows with the values of the function."""
    X, y = draw()
    fresh = np.random.RandomState(0).standard_normal((TEST_ROWS, X.shape[1]))
    return Split(X, y, fresh, function(fresh))


def weighted(columns: list[int], weights: list[float]) -> Callable[[Array], Array]:
    return lambda X: X[:, columns] @ np.array(weights)


def parallel_columns() -> Split:
    """Columns 0, 1 and 3 have one direction at the fresh rows too."""
    X, y = inputs.parallel_columns()
    a, b = np.random.RandomState(0).standard_normal((2, TEST_ROWS))
    return Split(X, y, np.column_stack([a, a, b, 2 * a]), 1.5 * a)


def wide(n_samples: int = 1000, n_columns: int = 20_000) -> Split:
    """Ten of very many independent columns matter; the noise has a standard deviation of 0.5."""
    draw = np.random.RandomState(0)
    X = draw.standard_normal((n_samples, n_columns))
    columns = draw.choice(n_columns, 10, replace=False).tolist()
    function = weighted(columns, draw.standard_normal(10).tolist())
    y = function(X) + 0.5 * draw.standard_normal(n_samples)
    return with_truth(lambda: (X, y), function)


PROBLEMS: dict[str, Callable[[], Split]] = {
    "tecator": tecator,
    **{f"nirsoil {response}": partial(nirsoil, response) for response in SOIL_RESPONSES},
    "two strong columns": partial(
        with_truth, inputs.two_strong_columns, weighted([0, 3], [3.0, -2.0])
    ),
    "one column is the target": partial(
        with_truth, inputs.one_column_is_the_target, weighted([1], [1.0])
    ),
    "plane": partial(with_truth, inputs.plane, weighted([0, 1], [1.0, -0.5])),
    "parallel columns": parallel_columns,
    "more columns than rows": partial(
        with_truth, inputs.more_columns_than_rows, weighted([3, 77], [2.0, -3.0])
    ),
    "centred columns": partial(with_truth, inputs.centred_columns, weighted([0], [1.0])),
    "two of six columns": partial(
        with_truth, inputs.two_of_six_columns, weighted([0, 4], [1.0, 0.5])
    ),
    "eight thousand rows": partial(
        with_truth, inputs.eight_thousand_rows, lambda X: X[:, 0] + 0.5 * X[:, 1] ** 2
    ),
    "60 x 20000": partial(with_truth, inputs.wide_float32, weighted([*range(5)], [1.0] * 5)),
    "1000 x 20000": wide,
}


def score(model: Any, split: Split) -> Score:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelvecWarning)
        model.fit(split.X_train, split.y_train)
    seconds = time.perf_counter() - began
    error = root_mean_squared_error(split.y_test, model.predict(split.X_test))
    linear = model[-1] if hasattr(model, "steps") else model
    return Score(float(error), int(np.count_nonzero(linear.coef_)), seconds)


def machines(n_starts: int | None) -> dict[str, Callable[[], RegressorMixin]]:
    return {
        "relvec": partial(SparseBayesianRegressor, n_starts=n_starts),
        "ARD": ARDRegression,
        "ARD, standardised": lambda: make_pipeline(StandardScaler(), ARDRegression()),
    }


def _send_score(name: str, machine: str, n_starts: int | None, to: Any) -> None:
    to.send(score(machines(n_starts)[machine](), PROBLEMS[name]()))


def within(limit: float, *arguments: Any) -> Score | None:
    """Score of a fit in a process of its own, or None if it takes longer than `limit` seconds."""
    mine, theirs = mp.Pipe(duplex=False)
    process = mp.Process(target=_send_score, args=(*arguments, theirs))
    process.start()
    theirs.close()
    found = mine.recv() if mine.poll(limit) else None
    process.kill()
    process.join()
    return found


def row(name: str, n_starts: int | None, limit: float) -> list[str]:
    """Format one row of the table."""
    scores = {machine: within(limit, name, machine, n_starts) for machine in machines(n_starts)}
    ours, *others = scores.values()
    split = PROBLEMS[name]()
    finished = [other for other in others if other is not None]
    holds = ["-", "-"]
    if ours and finished:
        best = min(finished)
        exact = 1e-6 * float(np.std(split.y_test))
        holds = [
            verdict(ours.error <= max(1.01 * best.error, exact)),
            verdict(ours.columns <= best.columns),
        ]
    shape = "{} x {}".format(*split.X_train.shape)
    return [name, shape, *_cells(scores.values(), limit), *holds]


def _cells(scores: Any, limit: float) -> Iterator[str]:
    for attribute, form in (("error", "{:.4g}"), ("columns", "{}"), ("seconds", "{:.2f}")):
        for found in scores:
            late = f">{limit:g}" if attribute == "seconds" else "-"
            yield late if found is None else form.format(getattr(found, attribute))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", choices=PROBLEMS, nargs="+", default=list(PROBLEMS))
    parser.add_argument("--n-starts", type=int, help="starts of SparseBayesianRegressor")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that a fit may take")
    options = parser.parse_args()
    print(__doc__)
    header = ["problem", "rows x columns"]
    for what in ("error", "columns", "seconds"):
        header += [f"{what}: relvec", "ARD", "ARD std"]
    header += ["no worse", "fewer"]
    rows = [row(name, options.n_starts, options.limit) for name in options.problem]
    print_table(header, rows)


if __name__ == "__main__":
    main()
