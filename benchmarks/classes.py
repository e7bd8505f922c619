"""`RVC` as it is against a searched support vector machine and logistic regression, on seven sets.

Five stratified folds, inputs standardised on the training rows. `RVC` and `LogisticRegression` have
their defaults, and *processes* are `RVC("processes", approximation="variational")`. The `SVC` has C
and the width that are most accurate in five folds of the training rows, and Platt's probabilities
from another five. Larger sets are cut to rows drawn once.
Errors of all test rows in per cent, log loss in nats a row, functions that either `RVC` keeps,
processor seconds of one fit of each and of the search for the `SVC`.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping
from time import process_time

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.paper.widths import with_sigmoid
from benchmarks.staged import load_raetsch, load_staged
from benchmarks.table import print_table, verdict
from relvec import RVC

Array = NDArray[np.float64]
Data = tuple[Array, NDArray[np.int64]]

N_FOLDS = 5
SVC_C, GAMMA_TIMES_INPUTS = (0.1, 1, 10, 100, 1000), np.array([0.1, 0.3, 1, 3, 10])
#: The models in the order of the columns.
MODELS = ("RVC", "processes", "SVC", "logistic")
#: Error and log loss that either `RVC` should have, by those of the others.
ERROR_RATIO, EXCESS_LOSS = 1.1, 0.02


def drawn(X: Array, y: NDArray[np.int64], n_rows: int) -> Data:
    """Some of the rows."""
    rows = np.random.RandomState(0).permutation(len(y))[:n_rows]
    return X[rows], y[rows]


def pima() -> Data:
    tables = [load_staged("pima", f"{part}.csv") for part in ("train", "test")]
    X, y = (np.concatenate([table[k] for table in tables]) for k in (0, 1))
    return X, y.astype(np.int64)


def raetsch(name: str, n_rows: int) -> Data:
    """Rows that a split has on either side, each once."""
    split = load_raetsch(name)[0]
    X, y = np.vstack([split.X_train, split.X_test]), np.append(split.y_train, split.y_test)
    return drawn(X, y, n_rows)


SETS: Mapping[str, Callable[[], Data]] = {
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "Pima": pima,
    "German": lambda: raetsch("german", 1000),
    "banana": lambda: raetsch("banana", 1000),
    "image": lambda: raetsch("image", 1000),
    "digits": lambda: drawn(*load_digits(return_X_y=True), 900),
}


def searched_svc(X: Array, y: NDArray[np.int64]) -> BaseEstimator:
    grid = {"C": SVC_C, "gamma": GAMMA_TIMES_INPUTS / X.shape[1]}
    return GridSearchCV(SVC(), grid, cv=N_FOLDS).fit(X, y).best_estimator_


FITS: Mapping[str, Callable[[Array, NDArray[np.int64]], BaseEstimator]] = {
    "RVC": lambda X, y: RVC().fit(X, y),
    "processes": lambda X, y: RVC("processes", approximation="variational").fit(X, y),
    "SVC": searched_svc,
}


def measured(X: Array, y: NDArray[np.int64]) -> dict[str, float]:
    """Wrong labels and log loss of each model over all folds, and what a fit takes and keeps."""
    labels, sums = np.unique(y), defaultdict[str, float](float)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        scaler = StandardScaler().fit(X[train])
        Z, Z_test = scaler.transform(X[train]), scaler.transform(X[test])
        fitted = {}
        for name, fit in FITS.items():
            begun = process_time()
            fitted[name] = fit(Z, y[train])
            sums[f"seconds {name}"] += (process_time() - begun) / N_FOLDS
        rvc, processes, svc = fitted.values()
        for name in ("RVC", "processes"):
            sums[f"kept {name}"] += len(fitted[name].relevance_) / N_FOLDS
        logistic = LogisticRegression(max_iter=10_000).fit(Z, y[train])
        platt = with_sigmoid(clone(svc)).fit(Z, y[train])
        for name, label, proba in (
            ("RVC", rvc, rvc),
            ("processes", processes, processes),
            ("SVC", svc, platt),
            ("logistic", logistic, logistic),
        ):
            sums[f"wrong {name}"] += (label.predict(Z_test) != y[test]).sum()
            p = proba.predict_proba(Z_test)
            sums[f"loss {name}"] += log_loss(y[test], p, labels=labels) * len(test) / len(y)
    return sums


def line(name: str, found: Mapping[str, float], n_rows: int) -> list[str]:
    wrong, losses = ([found[f"{what} {m}"] for m in MODELS] for what in ("wrong", "loss"))
    accurate = [each <= ERROR_RATIO * wrong[2] + 1 for each in wrong[:2]]
    reliable = [each <= min(losses[2:]) + EXCESS_LOSS for each in losses[:2]]
    return [
        name,
        " / ".join(f"{100 * each / n_rows:.1f}" for each in wrong),
        " / ".join(map(verdict, accurate)),
        " / ".join(f"{loss:.3f}" for loss in losses),
        " / ".join(map(verdict, reliable)),
        " / ".join(f"{found[f'kept {m}']:.0f}" for m in MODELS[:2]),
        " / ".join(f"{found[f'seconds {m}']:.2f}" for m in MODELS[:3]),
    ]


def run(names: list[str]) -> None:
    """Print the table."""
    print(__doc__)
    rows = []
    with threadpool_limits(1):
        for name in names:
            X, y = SETS[name]()
            rows.append(line(f"{name}, {len(y)} × {X.shape[1]}", measured(X, y), len(y)))
    header = [
        "set",
        f"error, {' / '.join(MODELS)}",
        f"at most {ERROR_RATIO:g} × SVC + a row",
        f"log loss, {' / '.join(MODELS)}",
        f"within {EXCESS_LOSS:g} of the better",
        "kept",
        f"seconds, {' / '.join(MODELS[:3])}",
    ]
    print_table(header, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(SETS), default=list(SETS))
    run(parser.parse_args().only)
