"""Groups of columns that matter, found by the evidence and by a group lasso.

Three of many groups of five columns have weights drawn from a normal distribution; the noise has a
standard deviation of a half. The group lasso is skglm's, its penalty chosen among twenty by five
folds. exact: the groups kept are the three; largest: the three with the largest weights are.
"""

import argparse
import importlib
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from benchmarks.table import print_table
from relvec import SparseBayesianRegressor

Array = NDArray[np.float64]

SIZE, TRUE = 5, 3
#: Rows and groups.
PROBLEMS = [(30, 20), (45, 20), (60, 20), (60, 40), (100, 60), (200, 100)]
PENALTIES, FOLDS = np.geomspace(1, 0.01, 20), 5


def problem(n_rows: int, n_groups: int, seed: int) -> tuple[Array, Array, NDArray[np.intp]]:
    """Columns, target and the groups that matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_groups * SIZE))
    truth = np.sort(rng.choice(n_groups, TRUE, replace=False))
    weights = np.repeat(np.isin(np.arange(n_groups), truth), SIZE) * rng.standard_normal(X.shape[1])
    return X, X @ weights + 0.5 * rng.standard_normal(n_rows), truth


def by_evidence(X: Array, y: Array) -> Array:
    labels = np.arange(X.shape[1]) // SIZE
    return SparseBayesianRegressor(groups=labels).fit(X, y).coef_


def by_lasso(X: Array, y: Array) -> Array:
    lasso: Any = importlib.import_module("skglm").GroupLasso
    blocks = X.T.reshape(-1, SIZE, len(y))
    largest = np.linalg.norm((blocks - blocks.mean(axis=2, keepdims=True)) @ y, axis=1).max()
    penalties = largest / len(y) * PENALTIES
    errors = np.zeros(len(penalties))
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(X):
        model = lasso(groups=SIZE, warm_start=True)
        for place, penalty in enumerate(penalties):
            model.set_params(alpha=penalty).fit(X[train], y[train])
            errors[place] += ((model.predict(X[test]) - y[test]) ** 2).sum()
    return lasso(groups=SIZE, alpha=penalties[errors.argmin()]).fit(X, y).coef_


METHODS = {"evidence": by_evidence, "group lasso": by_lasso}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    for find in METHODS.values():  # what is compiled, or imported, when first used
        find(*problem(30, 10, 0)[:2])
    rows = []
    for n_rows, n_groups in PROBLEMS:
        for name, find in METHODS.items():
            exact, largest, begun = 0, 0, time.perf_counter()
            for seed in range(draws):
                X, y, truth = problem(n_rows, n_groups, seed)
                sizes = np.linalg.norm(find(X, y).reshape(-1, SIZE), axis=1)
                exact += np.array_equal(np.flatnonzero(sizes > 0), truth)
                largest += np.array_equal(np.sort(np.argsort(-sizes)[:TRUE]), truth)
            seconds = (time.perf_counter() - begun) / draws
            rows.append(
                [f"{n_rows} × {n_groups}", name, str(exact), str(largest), f"{seconds:.3f}"]
            )
    print_table(["rows × groups", "method", f"exact of {draws}", "largest", "seconds"], rows)


if __name__ == "__main__":
    main()
