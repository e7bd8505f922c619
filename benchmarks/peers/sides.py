"""One fit of either side. Each imports its package itself: a process that times one must not load
the other's threads.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks.peers.problems import Problem
from tests.support.reference import log_evidence

#: One process fits again and again for this long, so that a short fit is timed well.
SECONDS_A_RUN = 1.0


class Outcome(NamedTuple):
    """Seconds of a fit, functions kept, and the log evidence or the share of test errors."""

    seconds: float
    n_active: int
    score: float


def fit_relvec(problem: Problem) -> Outcome:
    from relvec import RVC, RVR

    if problem.test is not None:
        model = RVC(gamma=problem.gamma)
        seconds = seconds_to(lambda: model.fit(problem.X, problem.y))
        return Outcome(seconds, len(model.relevance_), errors(model, problem))
    regressor = RVR(gamma=problem.gamma, fit_intercept=False)
    seconds = seconds_to(lambda: regressor.fit(problem.X, problem.y))
    kept = problem.X[regressor.relevance_rows_]
    Phi = rbf_kernel(problem.X, kept, gamma=problem.gamma)
    beta = 1 / regressor.noise_variance_
    evidence = log_evidence(Phi, problem.y, regressor.weight_precision_, beta)
    return Outcome(seconds, len(regressor.relevance_), evidence)


def fit_fastrvm(problem: Problem) -> Outcome:
    from fastrvm import RVC, RVR

    if problem.test is not None:
        model = RVC(gamma=problem.gamma)
        seconds = seconds_to(lambda: model.fit(problem.X, problem.y))
        return Outcome(seconds, int(np.sum(model.n_relevance_)), errors(model, problem))
    regressor = RVR(gamma=problem.gamma, fit_intercept=False)
    seconds = seconds_to(lambda: regressor.fit(problem.X, problem.y))
    constant = len(problem.y) / 2 * np.log(2 * np.pi)
    evidence = float(regressor.scores_[-1]) - constant
    return Outcome(seconds, int(regressor.n_relevance_), evidence)


SIDES: dict[str, Callable[[Problem], Outcome]] = {"relvec": fit_relvec, "fastrvm": fit_fastrvm}


def errors(model: Any, problem: Problem) -> float:
    """Share of the test rows that a classifier gets wrong."""
    assert problem.test is not None
    X, y = problem.test
    return float(np.mean(model.predict(X) != y))


def seconds_to(action: Callable[[], object]) -> float:
    """Return the shortest time of `action` over about `SECONDS_A_RUN`."""
    times: list[float] = []
    while sum(times) < SECONDS_A_RUN:
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)
