"""The U.S.P.S. digits of section 4.4.2 of Tipping (2001): 7291 images to train on, 2007 to test on.

Ten machines, one a class against the rest, as in the paper, whose vectors are the sum over the
machines; then the multinomial machine, whose vectors serve all classes. Pixels are in one unit and
stay as they are. The kernel width of the ten machines, for the SVC with C, is chosen by 5-fold
cross-validation of 1000 training rows, by errors and by log loss, the median over five ways to make
the folds. The multinomial machine takes the width by log loss.
"""

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from benchmarks.paper.widths import SCORING, SVC_C, Searched, choose, workers
from benchmarks.table import verdict
from relvec import RVC
from relvec.datasets import Split, load_usps

N_SEARCH_ROWS = 1000
#: Error in per cent, and vectors.
PAPER_SVM, PAPER_RVM = (4.4, 2540), (5.1, 316)
GAMMA = 2.0 ** np.arange(-3, 4) / 256


def run(jobs: int) -> None:
    """Print what is found as soon as it is."""
    print(__doc__)
    split = load_usps()
    X, X_others, y, y_others = train_test_split(
        split.X_train,
        split.y_train,
        train_size=N_SEARCH_ROWS,
        stratify=split.y_train,
        random_state=0,
    )
    rows = Split(X, y, X_others, y_others)
    svc_grid = {"estimator__gamma": GAMMA, "estimator__C": SVC_C}
    with workers(jobs) as parallel:
        searched = Searched(OneVsRestClassifier(SVC()), svc_grid, ["errors"])
        (svc,) = choose(searched, [rows], parallel).values()
        print(f"chosen: {svc}", flush=True)
        searched = Searched(RVC(multi_class="ovr"), {"gamma": GAMMA}, list(SCORING))
        rvc = choose(searched, [rows], parallel)
        print(f"chosen: {rvc}", flush=True)
        report("SVC, ten machines", svc, split, n_support, PAPER_SVM)
        for criterion, machines in rvc.items():
            report(f"RVC, ten machines, width by {criterion}", machines, split, n_used, PAPER_RVM)
        multinomial = RVC(gamma=rvc["log loss"].gamma)
        report("RVC, multinomial", multinomial, split, n_shared, PAPER_RVM)


def n_support(machines: OneVsRestClassifier) -> int:
    return sum(len(machine.support_) for machine in machines.estimators_)


def n_used(machines: RVC) -> int:
    """Count the functions of every machine; a machine gives infinite precision to the others."""
    return int(np.isfinite(machines.weight_precision_).sum())


def n_shared(machine: RVC) -> int:
    return len(machine.relevance_)


def report(
    name: str,
    model: BaseEstimator,
    split: Split,
    n_vectors: Callable[[Any], int],
    paper: tuple[float, int],
) -> None:
    """Fit all training rows, and print errors on the test rows, vectors, time and memory."""
    start = time.perf_counter()
    model.fit(split.X_train, split.y_train)
    seconds = time.perf_counter() - start
    error = 100 * float(np.mean(model.predict(split.X_test) != split.y_test))
    error_se = float(np.sqrt(error * (100 - error) / len(split.y_test)))
    vectors, (paper_error, paper_vectors) = n_vectors(model), paper
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\n{name}: error {error:.2f} ± {error_se:.2f} %, {vectors} vectors")
    print(f"  the paper's ten machines: {paper_error:g} %, {paper_vectors} vectors")
    if isinstance(model, RVC):
        print(f"  error <= paper + 2 se: {verdict(error <= paper_error + 2 * error_se)}")
        print(f"  vectors <= 1.2 paper: {verdict(vectors <= 1.2 * paper_vectors)}")
    print(f"  fitted in {seconds:.0f} s; peak memory so far {peak:.1f} GiB", flush=True)
