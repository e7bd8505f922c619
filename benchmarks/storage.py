"""Bytes of stored models beside the formula, and memory of predictions: ``benchmarks.storage``."""

import pickle
import tracemalloc
import warnings
from zipfile import ZIP_DEFLATED

import numpy as np
import skops.io

from relvec import RVC, RVR
from relvec.basis import RBF, LinearKernel
from relvec.exceptions import RelvecWarning

OVERHEAD = 20 * 1024
QUERIES = 200_000


def sinc(n, d=10, seed=71):
    """sin(x)/x of the first of d columns, with noise."""
    draw = np.random.RandomState(seed)
    X = draw.uniform(-8.0, 8.0, size=(n, d))
    return X, np.sinc(X[:, 0] / np.pi) + 0.1 * draw.standard_normal(n)


def formula(model):
    """8·(K(K + 1)/2 + K·d + 5K) bytes + 20 KiB, a root and vectors of K for every fitted output."""
    sizes = [machine.posterior.mean.size for machine in model.fit_result_.outputs]
    points = len(model.relevance_) * model.n_features_in_
    return 8 * (points + sum(K * (K + 1) // 2 + 5 * K for K in sizes)) + OVERHEAD


def peak(call):
    """Bytes allocated at the highest point of a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def cases():
    """Name, model and data of each row."""
    X, y = sinc(1500)
    three = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    yield "regression, 1500 x 10", RVR(), X, y
    yield "one column", RVR(), X[:, :1], y
    yield "every row a function", RVR(gamma=1e6, noise_variance=1e-3), X, y
    yield "sum and product", RVR(kernel=RBF() * (LinearKernel() + RBF(gamma=0.1))), X, y
    yield "two targets", RVR(), X, np.column_stack([y, y**2])
    yield "two classes", RVC(), X, y > 0
    yield "three classes", RVC(), X, three
    yield "one against the rest", RVC(multi_class="ovr"), X, three


def main():
    """Print a row a case."""
    warnings.simplefilter("ignore", RelvecWarning)
    head = ("functions", "KiB allowed", "pickle", "skops", "predict MiB", "a query KiB")
    print(f"{'':22s}" + "".join(f"{name:>13s}" for name in head))
    for name, model, X, y in cases():
        model.fit(X, y)
        sizes = formula(model), len(pickle.dumps(model))
        safe = len(skops.io.dumps(model, compression=ZIP_DEFLATED))
        queries = sinc(QUERIES)[0][:, : X.shape[1]]
        if isinstance(model, RVC):
            used = peak(lambda m=model, q=queries: m.predict_proba(q))
        else:
            used = peak(lambda m=model, q=queries: m.predict(q, return_std=True))
        row = [len(model.relevance_), *(size / 1024 for size in (*sizes, safe))]
        row += [used / 2**20, used / QUERIES / 1024]
        print(f"{name:22s}" + "".join(f"{value:13.1f}" for value in row), flush=True)


if __name__ == "__main__":
    main()
