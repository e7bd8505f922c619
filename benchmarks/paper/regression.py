"""Section 4.4.1 of Tipping (2001): regression error and vectors, beside an SVR on the same draws.

Each repetition draws its own noise or split. Inputs are standardised; the width of the Gaussian
kernel (for the SVR also C and epsilon) minimises the squared error of 5-fold cross-validation on
the training part. Errors of the sinc rows are ten times the root mean square deviation from the
function, the Friedman rows are mean squared deviations from the function, and the Boston row is
the mean squared error on the rows left out.

The second table fits the same functions once more with the noise learnt from the start, bottom-up:
it keeps fewer functions, and shows what they cost.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.compose import TransformedTargetRegressor
from sklearn.metrics import mean_squared_error, root_mean_squared_error
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from benchmarks.paper.draws import seeds
from benchmarks.staged import Split, load_staged
from benchmarks.starts import NOISE_LEARNT_AT_ONCE, fit_from
from benchmarks.table import format_mean, mean_and_error, print_table, verdict
from relvec import RVR
from relvec.datasets import make_friedman, make_sinc
from relvec.exceptions import RelvecWarning

Array = NDArray[np.float64]

GAMMA_TIMES_INPUTS = 2.0 ** np.arange(-7, 5)
SVR_C = [1.0, 10.0, 100.0, 1000.0]
SVR_EPSILON = [0.05, 0.1, 0.2, 0.4]


class Score(NamedTuple):
    """One fit of one repetition; `seconds` are those of the fit with the chosen width."""

    error: float
    vectors: int
    seconds: float = np.nan
    gamma: float = np.nan
    log_evidence: float = np.nan


@dataclass(frozen=True)
class Problem:
    """A row of the paper's table: how to draw it, how to measure it, what the paper found."""

    draw: Callable[[int], Split]
    error: Callable[[Array, Array], float]
    paper_svm: tuple[float, float]
    paper_rvm: tuple[float, float]


def draw_sinc(seed: int, noise: str) -> Split:
    X, y = make_sinc(noise=noise, random_state=seed)
    return Split(X, y, *make_sinc(1000, noise_scale=0))


def draw_friedman(seed: int, number: int) -> Split:
    rng = np.random.RandomState(seed)
    X, y = make_friedman(number, random_state=rng)
    return Split(X, y, *make_friedman(number, 1000, noise=False, random_state=rng))


def draw_boston(seed: int) -> Split:
    table = load_staged("boston_housing")
    X_train, X_test, y_train, y_test = train_test_split(
        table.X, table.y, train_size=481, test_size=25, random_state=seed
    )
    return Split(X_train, y_train, X_test, y_test)


def ten_times_rms(truth: Array, prediction: Array) -> float:
    return 10 * root_mean_squared_error(truth, prediction)


PROBLEMS = {
    "sinc-gaussian": Problem(
        partial(draw_sinc, noise="gaussian"), ten_times_rms, (0.378, 45.2), (0.326, 6.7)
    ),
    "sinc-uniform": Problem(
        partial(draw_sinc, noise="uniform"), ten_times_rms, (0.215, 44.3), (0.187, 7.0)
    ),
    "friedman1": Problem(
        partial(draw_friedman, number=1), mean_squared_error, (2.92, 116.6), (2.80, 59.4)
    ),
    "friedman2": Problem(
        partial(draw_friedman, number=2), mean_squared_error, (4140, 110.3), (3505, 6.9)
    ),
    "friedman3": Problem(
        partial(draw_friedman, number=3), mean_squared_error, (0.0202, 106.5), (0.0164, 11.5)
    ),
    "boston": Problem(draw_boston, mean_squared_error, (8.04, 142.8), (7.46, 39.0)),
}


def search_rvr(n_inputs: int, folds: KFold) -> GridSearchCV:
    model = make_pipeline(StandardScaler(), RVR())
    grid = {"rvr__gamma": GAMMA_TIMES_INPUTS / n_inputs}
    return GridSearchCV(model, grid, scoring="neg_mean_squared_error", cv=folds)


def search_svr(n_inputs: int, folds: KFold) -> GridSearchCV:
    """Like `search_rvr`; the target is standardised, so that C and epsilon are in its units."""
    model = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), SVR()), transformer=StandardScaler()
    )
    grid = {
        "regressor__svr__gamma": GAMMA_TIMES_INPUTS[::2] / n_inputs,
        "regressor__svr__C": SVR_C,
        "regressor__svr__epsilon": SVR_EPSILON,
    }
    return GridSearchCV(model, grid, scoring="neg_mean_squared_error", cv=folds)


def fit_both(problem: Problem, split: Split, seed: int) -> tuple[dict[str, Score], Pipeline]:
    """Fit the SVR and the RVR, and return their scores and the RVR after its scaler."""
    folds = KFold(5, shuffle=True, random_state=seed)
    n_inputs = split.X_train.shape[1]
    svr = search_svr(n_inputs, folds).fit(split.X_train, split.y_train)
    with warnings.catch_warnings():
        # Some widths of the grid interpolate their training part, and cross-validation drops them.
        warnings.simplefilter("ignore", RelvecWarning)
        rvr = search_rvr(n_inputs, folds).fit(split.X_train, split.y_train)
    machine = rvr.best_estimator_[-1]
    n_support = len(svr.best_estimator_.regressor_[-1].support_)
    svr_error = problem.error(split.y_test, svr.predict(split.X_test))
    rvr_error = problem.error(split.y_test, rvr.predict(split.X_test))
    n_relevance = len(machine.relevance_)
    return {
        "svr": Score(svr_error, n_support, svr.refit_time_),
        "rvr": Score(rvr_error, n_relevance, rvr.refit_time_, machine.gamma, machine.log_evidence_),
    }, rvr.best_estimator_


def scores(problem: Problem, seed: int) -> dict[str, Score]:
    """Fit one draw by the SVR and the RVR."""
    return fit_both(problem, problem.draw(seed), seed)[0]


def repetition(problem: Problem, seed: int) -> dict[str, Score]:
    """Fit one draw by both, and once more with the RVR's width and the noise learnt at once."""
    split = problem.draw(seed)
    found, (scaler, machine) = fit_both(problem, split, seed)
    scaled = split._replace(
        X_train=scaler.transform(split.X_train), X_test=scaler.transform(split.X_test)
    )
    return found | {"at once": score_noise_learnt_at_once(problem, scaled, machine.gamma)}


def score_noise_learnt_at_once(problem: Problem, split: Split, gamma: float) -> Score:
    Phi = rbf_kernel(split.X_train, gamma=gamma)
    fit = fit_from(NOISE_LEARNT_AT_ONCE, Phi, split.y_train)
    kept = rbf_kernel(split.X_test, split.X_train[fit.active], gamma=gamma)
    error = problem.error(split.y_test, fit.posterior.latent_mean(kept)[:, 0])
    return Score(error, len(fit.active), log_evidence=fit.log_evidence)


def row(problem: Problem, svr: Sequence[Score], rvr: Sequence[Score]) -> list[str]:
    """Format one row of the table from the scores of all repetitions."""
    error, error_se = mean_and_error([score.error for score in rvr])
    vectors, vectors_se = mean_and_error([score.vectors for score in rvr])
    paper_error, paper_vectors = problem.paper_rvm
    return [
        "{:g} / {:g}".format(*problem.paper_svm),
        "{:g} / {:g}".format(*problem.paper_rvm),
        format_mean([score.error for score in svr]),
        format_mean([score.error for score in rvr]),
        verdict(error <= paper_error + 2 * error_se),
        format_mean([score.vectors for score in svr]),
        format_mean([score.vectors for score in rvr]),
        verdict(vectors <= 1.2 * paper_vectors + 2 * vectors_se),
        f"{np.mean([score.seconds for score in svr]):.3f}",
        f"{np.mean([score.seconds for score in rvr]):.3f}",
    ]


def row_beside_at_once(rvr: Sequence[Score], at_once: Sequence[Score]) -> list[str]:
    """Format one row of the second table; differences are the RVR's less the other fit's."""
    pairs = list(zip(rvr, at_once, strict=True))
    return [
        f"{np.median([score.gamma for score in rvr]):.3g}",
        format_mean([score.vectors for score in rvr]),
        format_mean([score.vectors for score in at_once]),
        format_mean([score.error for score in rvr]),
        format_mean([score.error for score in at_once]),
        format_mean([ours.error - theirs.error for ours, theirs in pairs]),
        format_mean([ours.log_evidence - theirs.log_evidence for ours, theirs in pairs]),
    ]


def run(names: Sequence[str], repetitions: int, jobs: int) -> None:
    """Print both tables for the problems in `names`."""
    rows, rows_beside = [], []
    for name in names:
        fits = Parallel(n_jobs=jobs)(
            delayed(repetition)(PROBLEMS[name], seed) for seed in seeds(repetitions)
        )
        by_machine = {machine: [fit[machine] for fit in fits] for machine in fits[0]}
        rows.append([name, *row(PROBLEMS[name], by_machine["svr"], by_machine["rvr"])])
        rows_beside.append([name, *row_beside_at_once(by_machine["rvr"], by_machine["at once"])])
    header = ["problem", "paper SVM", "paper RVM", "SVR error", "RVR error", "no worse"]
    header += ["SVR vectors", "RVR vectors", "as sparse", "SVR seconds", "RVR seconds"]
    print(__doc__)
    print(f"{repetitions} repetitions; mean ± its standard error; seconds of the final fit.")
    print("no worse: error <= paper + 2 se; as sparse: vectors <= 1.2 paper + 2 se.\n")
    print_table(header, rows)
    header = ["problem", "gamma", "RVR vectors", "at once", "RVR error", "at once"]
    header += ["RVR error less", "RVR evidence less"]
    print()
    print_table(header, rows_beside)
