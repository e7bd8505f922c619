"""The U.S.P.S. digits of section 4.4.2 of Tipping (2001): 7291 images to train on, 2007 to test on.

Ten models, one a class against the rest, as in the paper, whose vectors are the sum over the
models; then the multinomial model, whose vectors serve all classes. Pixels are in one unit and
stay as they are. The kernel width of the ten models, for the SVC with C, is chosen by 5-fold
cross-validation of 1000 training rows, by errors and by log loss, the median over five ways to make
the folds. The multinomial model takes the width by log loss.
"""

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from benchmarks.paper.classification import Measured, Score
from benchmarks.paper.widths import SCORING, SVC_C, Searched, choose, workers
from benchmarks.staged import Split, load_usps
from benchmarks.table import verdict
from relvec import RVC

N_SEARCH_ROWS = 1000
#: Error in per cent, and vectors.
PAPER_SVM, PAPER_RVM = (4.4, 2540), (5.1, 316)
GAMMA = 2.0 ** np.arange(-3, 4) / 256


def run(jobs: int) -> None:
    """Print what is found as soon as it is."""
    print(__doc__)
    split = load_usps()
    with workers(jobs) as parallel:
        svc, rvc = search_svc(split, parallel), search_rvc(split, parallel)
        report("SVC, ten models", score(svc, split, n_support), PAPER_SVM)
        for criterion, machines in rvc.items():
            name = f"RVC, ten models, width by {criterion}"
            report_rvc(name, score(machines, split, n_used))
        multinomial = RVC(gamma=rvc["log loss"].gamma)
        report_rvc("RVC, multinomial", score(multinomial, split, n_shared))


def search_rows(split: Split) -> Split:
    """Draw the training rows on which parameters are chosen."""
    X, X_others, y, y_others = train_test_split(
        split.X_train,
        split.y_train,
        train_size=N_SEARCH_ROWS,
        stratify=split.y_train,
        random_state=0,
    )
    return Split(X, y, X_others, y_others)


def search_svc(split: Split, parallel: Parallel) -> OneVsRestClassifier:
    grid = {"estimator__gamma": GAMMA, "estimator__C": SVC_C}
    searched = Searched(OneVsRestClassifier(SVC()), grid, ["errors"])
    (svc,) = choose(searched, [search_rows(split)], parallel).values()
    print(f"chosen: {svc}", flush=True)
    return svc


def search_rvc(split: Split, parallel: Parallel) -> dict[str, RVC]:
    """Choose the width by each criterion."""
    searched = Searched(RVC(multi_class="ovr"), {"gamma": GAMMA}, list(SCORING))
    rvc = choose(searched, [search_rows(split)], parallel)
    print(f"chosen: {rvc}", flush=True)
    return rvc


def n_support(machines: OneVsRestClassifier) -> int:
    return sum(len(machine.support_) for machine in machines.estimators_)


def n_used(machines: RVC) -> int:
    """Count the functions of every model; a model gives infinite precision to the others."""
    return int(np.isfinite(machines.weight_precision_).sum())


def n_shared(machine: RVC) -> int:
    return len(machine.relevance_)


def score(model: BaseEstimator, split: Split, n_vectors: Callable[[Any], int]) -> Measured:
    """Fit all training rows, and measure the errors on the test rows."""
    start = time.perf_counter()
    model.fit(split.X_train, split.y_train)
    seconds = time.perf_counter() - start
    error = 100 * float(np.mean(model.predict(split.X_test) != split.y_test))
    return Measured([Score(error, n_vectors(model), seconds)], len(split.y_test))


def report(name: str, found: Measured, paper: tuple[float, int]) -> None:
    """Print errors, vectors, time and memory."""
    error, error_se = found.error()
    vectors, _ = found.vectors()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\n{name}: error {error:.2f} ± {error_se:.2f} %, {vectors} vectors")
    print("  the paper's ten models: {:g} %, {} vectors".format(*paper))
    print(f"  fitted in {found.seconds():.0f} s; peak memory so far {peak:.1f} GiB", flush=True)


def report_rvc(name: str, found: Measured) -> None:
    """Print the same, and how it compares with the paper's."""
    report(name, found, PAPER_RVM)
    (error, error_se), (vectors, _), (paper_error, paper_vectors) = (
        found.error(),
        found.vectors(),
        PAPER_RVM,
    )
    print(f"  error <= paper + 2 se: {verdict(error <= paper_error + 2 * error_se)}")
    print(f"  vectors <= 1.2 paper: {verdict(vectors <= 1.2 * paper_vectors)}", flush=True)
