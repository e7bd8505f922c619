"""What packages for Python can do, by calls that succeed or raise.

``python -m benchmarks.features``. The table of all tools, with those that are not Python packages,
is ``docs/guide/comparison.md``. A package that is not installed is left out by name.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import ARDRegression
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import check_estimator

from benchmarks.table import print_table
from relvec import RVC, RVR

Make = Callable[..., Any]

rng = np.random.default_rng(0)
X = rng.uniform(-5, 5, (80, 2))
y = np.sinc(X[:, 0]) + 0.1 * rng.normal(size=80)
two, three = (y > 0.2).astype(int), np.digitize(X[:, 0], [-2, 2])
FAR = np.array([[0.0, 0.0], [1e3, 1e3]])


def kernel(A: np.ndarray, B: np.ndarray, **_: Any) -> Any:
    """Of two arrays of rows, or of two points, as some packages ask."""
    values = np.exp(-((np.atleast_2d(A)[:, None] - B) ** 2).sum(axis=-1))
    return values if A.ndim == 2 else values.item()


def fitted(make: Make, target: np.ndarray, rows: np.ndarray = X, **given: Any) -> Any:
    """Return a fitted estimator; of some packages `fit` returns nothing."""
    model = make()
    model.fit(rows, target, **given)
    return model


def far(make: Make) -> str:
    near, away = fitted(make, y).predict(FAR, return_std=True)[1]
    return "grows" if away > 1.2 * near else "does not grow"


def failed_checks(make: Make) -> str:
    results = check_estimator(make(), on_fail=None, on_skip=None)
    return f"{sum(r['status'] == 'failed' for r in results)} of {len(results)} fail"


def precomputed(target: np.ndarray, make: Make) -> Any:
    values = kernel(X, X)
    return fitted(partial(make, kernel="precomputed"), target, values).predict(values[:2])


REGRESSION: dict[str, Callable[[Make], Any]] = {
    "predictive standard deviation": lambda make: fitted(make, y).predict(X, return_std=True)[1],
    "covariance of predictions": lambda make: fitted(make, y).predict(X, return_cov=True)[1],
    "functions drawn": lambda make: fitted(make, y).sample_y(X),
    "error bar far from the data": far,
    "weights of rows": lambda make: fitted(make, y, sample_weight=np.ones(80)),
    "several targets": lambda make: fitted(make, np.column_stack([y, y])).predict(X),
    "a kernel of one's own": lambda make: fitted(partial(make, kernel=kernel), y).predict(X),
    "precomputed kernel": partial(precomputed, y),
    "estimator checks": failed_checks,
}
CLASSES: dict[str, Callable[[Make], Any]] = {
    "class probabilities": lambda make: fitted(make, two).predict_proba(X),
    "more than two classes": lambda make: fitted(make, three).predict(X),
    "weights of rows": lambda make: fitted(make, two, sample_weight=np.ones(80)),
    "weights of classes": lambda make: fitted(partial(make, class_weight="balanced"), two),
    "a kernel of one's own": lambda make: fitted(partial(make, kernel=kernel), two).predict(X),
    "precomputed kernel": partial(precomputed, two),
    "estimator checks": failed_checks,
}


#: Regressors and classifiers of packages that may not be installed, and what they are given.
OTHERS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("fastrvm", "RVR", "RVC", {}),
    ("sklearn_rvm", "EMRVR", "EMRVC", {"gamma": "scale"}),
]


def tools() -> tuple[dict[str, Make], dict[str, Make]]:
    process = partial(GaussianProcessRegressor, kernel=RBF() + WhiteKernel())
    regressors: dict[str, Make] = {"relvec `RVR`": RVR, "`SVR`": SVR}
    regressors |= {"Gaussian process": process, "`ARDRegression`": ARDRegression}
    classifiers: dict[str, Make] = {"relvec `RVC`": RVC, "`SVC`": SVC}
    classifiers |= {"Gaussian process": GaussianProcessClassifier}
    for package, regressor, classifier, given in OTHERS:
        try:
            module = import_module(package)
        except ImportError:
            print(f"{package} is not installed: left out\n")
            continue
        regressors[package] = partial(getattr(module, regressor), **given)
        classifiers[package] = partial(getattr(module, classifier), **given)
    return regressors, classifiers


def outcome(probe: Callable[[Make], Any], make: Make) -> str:
    try:
        found = probe(make)
    except Exception as error:  # whatever a package raises is what is to be told
        return f"raises {type(error).__name__}"
    return found if isinstance(found, str) else "yes"


def main() -> None:
    warnings.simplefilter("ignore")
    for title, some, probes in zip(
        ("regression", "classes"), tools(), (REGRESSION, CLASSES), strict=True
    ):
        print_table(
            [title, *some],
            [[name, *(outcome(f, make) for make in some.values())] for name, f in probes.items()],
        )
        print()


if __name__ == "__main__":
    main()
