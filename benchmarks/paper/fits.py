"""One fit of a support or relevance vector machine for regression."""

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR

from relvec import RVR

Array = NDArray[np.float64]


class Fitted(NamedTuple):
    machine: SVR | RVR
    n_functions: int
    seconds: float


def fit(machine: SVR | RVR | GridSearchCV, X: Array, y: Array) -> Fitted:
    """Fit and time; of a search the last fit, with the parameters that it chose."""
    start = time.perf_counter()
    machine.fit(X, y)
    seconds = time.perf_counter() - start
    if isinstance(machine, GridSearchCV):
        machine, seconds = machine.best_estimator_, machine.refit_time_
    kept = machine.support_ if isinstance(machine, SVR) else machine.relevance_
    return Fitted(machine, len(kept), seconds)
