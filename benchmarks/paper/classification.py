"""Section 4.4.2 of Tipping (2001): classification error and vectors, beside an SVC.

The splits are the paper's: the first ten of Rätsch's hundred, and the one split of Pima.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from benchmarks.paper import widths
from benchmarks.paper.widths import Searched, choose, searched_rvc, searched_svc, workers
from benchmarks.staged import Split, load_raetsch, load_staged
from benchmarks.table import mean_and_error, print_table, verdict


class Score(NamedTuple):
    """One fit on one split: per cent of errors, vectors kept, seconds of the fit."""

    error: float
    vectors: int
    seconds: float


class Measured(NamedTuple):
    """The scores of one classifier on the splits of a problem."""

    scores: Sequence[Score]
    n_test: int
    gamma: float = np.nan

    def error(self) -> tuple[float, float]:
        """Return the mean and its standard error: over splits, or over one test set's rows."""
        errors = [score.error for score in self.scores]
        if len(errors) > 1:
            return mean_and_error(errors)
        return errors[0], float(np.sqrt(errors[0] * (100 - errors[0]) / self.n_test))

    def vectors(self) -> tuple[float, float]:
        """Return the mean and its standard error over splits, 0 where there is one split."""
        vectors = [score.vectors for score in self.scores]
        return mean_and_error(vectors) if len(vectors) > 1 else (vectors[0], 0.0)

    def seconds(self) -> float:
        return float(np.mean([score.seconds for score in self.scores]))


@dataclass(frozen=True)
class Problem:
    """A row of the paper's table: its splits, and the error in per cent and vectors found there."""

    load: Callable[[], Sequence[Split]]
    paper_svm: tuple[float, float]
    paper_rvm: tuple[float, float]


def load_train_test(name: str) -> Split:
    """Read a problem that comes as a file to train on and a file to test on."""
    train, test = (load_staged(name, file) for file in ("train.csv", "test.csv"))
    return Split(train.X, train.y, test.X, test.y)


def load_pima() -> list[Split]:
    return [load_train_test("pima")]


PROBLEMS = {
    "pima": Problem(load_pima, (20.1, 109), (19.6, 4)),
    "banana": Problem(partial(load_raetsch, "banana"), (10.9, 135.2), (10.8, 11.4)),
    "breast_cancer": Problem(partial(load_raetsch, "breast_cancer"), (26.9, 116.7), (29.9, 6.3)),
    "titanic": Problem(partial(load_raetsch, "titanic"), (22.1, 93.7), (23.0, 65.3)),
    "waveform": Problem(partial(load_raetsch, "waveform"), (10.3, 146.4), (10.9, 14.6)),
    "german": Problem(partial(load_raetsch, "german"), (22.6, 411.2), (22.2, 12.5)),
    "image": Problem(partial(load_raetsch, "image"), (3.0, 166.6), (3.9, 34.6)),
}

HEADER = ["problem", "paper SVM", "paper RVM", "SVC error", "SVC vectors", "SVC seconds"]
HEADER += ["width by", "RVC gamma", "RVC error", "no worse", "RVC vectors", "as sparse"]
HEADER += ["RVC seconds"]


def n_vectors(model: Pipeline) -> int:
    classifier = model[-1]
    return len(classifier.support_ if isinstance(classifier, SVC) else classifier.relevance_)


def score(model: Pipeline, split: Split) -> Score:
    start = time.perf_counter()
    fitted = clone(model).fit(split.X_train, split.y_train)
    seconds = time.perf_counter() - start
    error = 100 * np.mean(fitted.predict(split.X_test) != split.y_test)
    return Score(float(error), n_vectors(fitted), seconds)


def measure(searched: Searched, splits: Sequence[Split], parallel: Parallel) -> dict[str, Measured]:
    """Choose the width by each criterion, then score every split with it."""
    n_test = len(splits[0].y_test)
    return {
        criterion: Measured(
            parallel(delayed(score)(model, split) for split in splits), n_test, model[-1].gamma
        )
        for criterion, model in choose(searched, splits, parallel).items()
    }


def svc_cells(name: str, svc: Measured) -> list[str]:
    return [
        name,
        "{:g} / {:g}".format(*PROBLEMS[name].paper_svm),
        "{:g} / {:g}".format(*PROBLEMS[name].paper_rvm),
        "{:.2f} ± {:.2f}".format(*svc.error()),
        "{:.1f} ± {:.1f}".format(*svc.vectors()),
        f"{svc.seconds():.3f}",
    ]


def rvc_cells(criterion: str, rvc: Measured, paper: tuple[float, float]) -> list[str]:
    (error, error_se), (vectors, vectors_se) = rvc.error(), rvc.vectors()
    paper_error, paper_vectors = paper
    return [
        criterion,
        f"{rvc.gamma:.3g}",
        f"{error:.2f} ± {error_se:.2f}",
        verdict(error <= paper_error + 2 * error_se),
        f"{vectors:.1f} ± {vectors_se:.1f}",
        verdict(vectors <= 1.2 * paper_vectors + 2 * vectors_se),
        f"{rvc.seconds():.3f}",
    ]


def rows(name: str, n_splits: int, parallel: Parallel) -> list[list[str]]:
    """Measure one problem, and format a row for each criterion."""
    splits = PROBLEMS[name].load()[:n_splits]
    n_inputs = splits[0].X_train.shape[1]
    (svc,) = measure(searched_svc(n_inputs), splits, parallel).values()
    rvc = measure(searched_rvc(n_inputs), splits, parallel)
    right = [rvc_cells(by, found, PROBLEMS[name].paper_rvm) for by, found in rvc.items()]
    left = svc_cells(name, svc)
    return [*left, *right[0]], *([*[""] * len(left), *cells] for cells in right[1:])


def run(names: Sequence[str], n_splits: int, jobs: int) -> None:
    """Print the table for the problems in `names`."""
    print(f"{__doc__}\n{widths.__doc__}")
    table = []
    with workers(jobs) as parallel:
        for name in names:
            start = time.perf_counter()
            table += rows(name, n_splits, parallel)
            print(f"{name}: {time.perf_counter() - start:.0f} s in all", flush=True)
    print(
        "\nErrors in per cent, mean ± its standard error over the splits; for a single split, the"
    )
    print("standard error of a share of its test rows. Seconds of one fit.")
    print("no worse: error <= paper + 2 se; as sparse: vectors <= 1.2 paper + 2 se.\n")
    print_table(HEADER, table)
