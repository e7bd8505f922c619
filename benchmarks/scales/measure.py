"""One fit of one split, and what is measured of it.

Seconds are those of the process, so that other work on the machine counts little.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

from benchmarks.staged import Split
from benchmarks.table import format_mean
from relvec import RVC, RVR
from relvec.exceptions import RelvecWarning

#: Factors of gamma="scale" among which cross-validation chooses.
FACTORS = 4.0 ** np.arange(-3, 4)


class Score(NamedTuple):
    """Of test rows the loss in nats a row and RMS error or share of errors; vectors; seconds."""

    loss: float
    error: float
    vectors: int
    seconds: float
    machine: Any


def seconds_of(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def regression_loss(machine: BaseEstimator, X: np.ndarray, y: np.ndarray) -> float:
    """Negative log density of the targets, their mean over the rows."""
    mean, std = machine.predict(X, return_std=True)
    return -float(norm.logpdf(y, mean, std).mean())


def class_loss(machine: BaseEstimator, X: np.ndarray, y: np.ndarray) -> float:
    return float(log_loss(y, machine.predict_proba(X), labels=machine.classes_))


def score(machine: RVR | RVC | GridSearchCV, split: Split) -> Score:
    """Fit and measure; a search is timed with all its fits."""
    search = isinstance(machine, GridSearchCV)
    with warnings.catch_warnings():
        if search:  # some widths interpolate their training part, and cross-validation drops them
            warnings.simplefilter("ignore", RelvecWarning)
        seconds = seconds_of(lambda: machine.fit(split.X_train, split.y_train))
    fitted = machine.best_estimator_ if search else machine
    predicted = fitted.predict(split.X_test)
    if isinstance(fitted, RVC):
        loss = class_loss(fitted, split.X_test, split.y_test)
        error = float(np.mean(predicted != split.y_test))
    else:
        loss = regression_loss(fitted, split.X_test, split.y_test)
        error = root_mean_squared_error(split.y_test, predicted)
    return Score(loss, error, len(fitted.relevance_), seconds, fitted)


def searched(classes: bool, n_inputs: int) -> GridSearchCV:
    """One width by the likelihood of 5-fold cross-validation; inputs have variance 1."""
    grid = {"gamma": FACTORS / n_inputs}
    if classes:
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        return GridSearchCV(RVC(), grid, scoring=lambda *of: -class_loss(*of), cv=folds)
    folds = KFold(5, shuffle=True, random_state=0)
    return GridSearchCV(RVR(), grid, scoring=lambda *of: -regression_loss(*of), cv=folds)


def format_all(values: Sequence[float]) -> str:
    """Write a mean with its standard error, where there are several values."""
    return format_mean(values) if len(values) > 1 else f"{values[0]:.4g}"
