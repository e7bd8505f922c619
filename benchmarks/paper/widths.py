"""How the kernel width of a classifier is chosen.

Inputs are standardised on the training rows. The width, for the SVC with C, is the best of a grid
in 5-fold cross-validation: the one with the fewest errors, and for probabilities also the one with
the least log loss, whose minimum is less flat than that of a count of errors. Of equally good ones
the smallest C and then the widest kernel is taken. As Rätsch, Onoda and Müller (2001) do, whose
splits these are, the training rows of each of the first five splits are searched, and the median of
what is found serves all splits. A problem with fewer splits has them searched again in other folds.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from statistics import median_low
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, parallel_config
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.staged import Split
from relvec import RVC
from relvec.exceptions import RelvecWarning

N_SEARCHES = 5
GAMMA_TIMES_INPUTS = 2.0 ** np.arange(-7, 5)
SVC_C = [0.1, 1.0, 10.0, 100.0, 1000.0]
SCORING = {"errors": "accuracy", "log loss": "neg_log_loss"}


class Searched(NamedTuple):
    """A classifier, the parameters to choose among, and by what to choose: keys of `SCORING`."""

    model: BaseEstimator
    grid: dict[str, Sequence[float]]
    criteria: Sequence[str]


def searched_svc(n_inputs: int) -> Searched:
    grid = {"svc__gamma": GAMMA_TIMES_INPUTS / n_inputs, "svc__C": SVC_C}
    return Searched(make_pipeline(StandardScaler(), SVC()), grid, ["errors"])


def searched_platt(n_inputs: int) -> Searched:
    """The SVC with Platt's sigmoid, fitted to decision values of 5-fold cross-validation."""
    svc = searched_svc(n_inputs)
    grid = {f"estimator__{name}": values for name, values in svc.grid.items()}
    return Searched(with_sigmoid(svc.model), grid, ["log loss"])


def with_sigmoid(svc: BaseEstimator) -> CalibratedClassifierCV:
    return CalibratedClassifierCV(svc, method="sigmoid", cv=5, ensemble=False)


def searched_rvc(n_inputs: int) -> Searched:
    grid = {"rvc__gamma": GAMMA_TIMES_INPUTS / n_inputs}
    return Searched(make_pipeline(StandardScaler(), RVC()), grid, ["errors", "log loss"])


@contextmanager
def workers(jobs: int) -> Iterator[Parallel]:
    """Give processes with one BLAS thread each; a single job runs in this one."""
    with (
        threadpool_limits(1),
        parallel_config("loky", inner_max_num_threads=1),
        Parallel(n_jobs=jobs) as parallel,
    ):
        yield parallel


def choose(
    searched: Searched, splits: Sequence[Split], parallel: Parallel
) -> dict[str, BaseEstimator]:
    """Return the model, not fitted, with the parameters that each criterion finds."""
    found = parallel(
        delayed(best_parameters)(searched, split.X_train, split.y_train, seed)
        for seed, split in zip(range(N_SEARCHES), cycle(splits), strict=False)
    )
    chosen = {}
    for criterion in searched.criteria:
        best = [search[criterion] for search in found]
        median = {name: median_low(each[name] for each in best) for name in searched.grid}
        chosen[criterion] = clone(searched.model).set_params(**median)
    return chosen


def best_parameters(
    searched: Searched, X: np.ndarray, y: np.ndarray, seed: int
) -> dict[str, dict[str, float]]:
    """Search the grid by cross-validation, and return the best parameters by each criterion."""
    scoring = {criterion: SCORING[criterion] for criterion in searched.criteria}
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    search = GridSearchCV(searched.model, searched.grid, scoring=scoring, cv=folds, refit=False)
    with warnings.catch_warnings():
        # Some widths of the grid interpolate their training part, and cross-validation drops them.
        warnings.simplefilter("ignore", RelvecWarning)
        results = search.fit(X, y).cv_results_
    best = {criterion: np.argmin(results[f"rank_test_{criterion}"]) for criterion in scoring}
    return {criterion: results["params"][index] for criterion, index in best.items()}
