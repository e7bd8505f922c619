"""One method on one split, and the rows of the table."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.metrics import root_mean_squared_error

from benchmarks.coverage.intervals import covered
from benchmarks.scales.measure import format_all, seconds_of
from benchmarks.scales.problems import some
from benchmarks.staged import Split
from benchmarks.uci.methods import LEVELS, Method
from benchmarks.uci.published import SD, Source

HEADER = [
    "method",
    "splits",
    "RMSE",
    "negative log density",
    *(f"{100 * level:g} % hold" for level in LEVELS),
]
HEADER += ["kept", "fit, s", "predict, s"]


class Measured(NamedTuple):
    """Of test rows root mean square error, negative log density in nats a row and per cent in each
    interval; what is kept; seconds. NaN is what a method has not.
    """

    error: float
    loss: float
    held: tuple[float, ...]
    kept: float
    fit_seconds: float
    predict_seconds: float


def measured(method: Method, split: Split) -> Measured:
    rows = some(np.arange(len(split.y_train)), method.most or len(split.y_train), seed=0)
    model = method.make(split)
    fit_seconds = seconds_of(lambda: model.fit(split.X_train[rows], split.y_train[rows]))
    start = time.process_time()
    answer = method.answer(model, split.X_test)
    predict_seconds = time.process_time() - start
    densities = np.nan if answer.std is None else norm.logpdf(split.y_test, answer.mean, answer.std)
    return Measured(
        root_mean_squared_error(split.y_test, answer.mean),
        -float(np.mean(densities)),
        tuple(100 * covered(answer.ends, split.y_test).mean(axis=1)),
        method.kept(model) if method.kept else np.nan,
        fit_seconds,
        predict_seconds,
    )


def measured_cells(label: str, found: Sequence[Measured]) -> list[str]:
    held = np.array([each.held for each in found])
    return [
        label,
        str(len(found)),
        format_known([each.error for each in found]),
        format_known([each.loss for each in found]),
        *(format_known(shares) for shares in held.T),
        format_known([each.kept for each in found], short),
        short([each.fit_seconds for each in found]),
        short([each.predict_seconds for each in found]),
    ]


def format_known(
    values: Sequence[float], write: Callable[[Sequence[float]], str] = format_all
) -> str:
    return "" if np.isnan(values).any() else write(values).replace("-", "−")


def short(values: Sequence[float]) -> str:
    """Write the mean with three digits that are not zero."""
    return f"{float(f'{np.mean(values):.3g}'):g}"


def missing_cells(method: Method) -> list[str]:
    """Say what has to be installed."""
    return [method.label, "", f"needs {method.package}", *([""] * (len(HEADER) - 3))]


def published_cells(source: Source, name: str) -> list[str]:
    figures, sign = source.figures[name], "SD" if source.kind == SD else "±"
    cells = [
        f"{figures.error:.2f} {sign} {figures.error_of_error:.2f}",
        f"{figures.loss:.2f} {sign} {figures.error_of_loss:.2f}",
    ]
    return [f"*{source.label}*", "", *cells, *([""] * (len(HEADER) - 4))]
