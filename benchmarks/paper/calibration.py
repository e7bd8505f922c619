"""Whether probabilities can be believed: appendix D.2 of Tipping (2001), and three real problems.

The SVC beside has its probabilities from Platt's sigmoid, fitted to decision values of 5-fold
cross-validation. On the real problems widths, for the SVC with C, have the least log loss in 5-fold
cross-validation of training rows, as in the table of section 4.4.2.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.paper.draws import seeds
from benchmarks.paper.widths import (
    SVC_C,
    choose,
    searched_platt,
    searched_rvc,
    with_sigmoid,
    workers,
)
from benchmarks.staged import Split, load_raetsch
from benchmarks.table import format_mean, print_table, verdict
from relvec import RVC
from relvec.datasets import make_overlapping_uniforms

Array = NDArray[np.float64]

UNIFORMS_GAMMA = 1 / 0.1**2
REGIONS = {"left": (0.0, 0.4), "overlap": (0.5, 1.0), "right": (1.1, 1.5)}

PROBLEMS = ["banana", "german", "waveform"]
PLATT = "SVC, Platt"
N_BINS, N_SIMULATIONS, EXCESS_LIMIT = 10, 1000, 0.02


def run(n_draws: int, n_splits: int, jobs: int) -> None:
    """Print both parts."""
    print(__doc__)
    with workers(jobs) as parallel:
        uniforms(n_draws, parallel)
        print()
        real_problems(n_splits, parallel)


def uniforms(n_draws: int, parallel: Parallel) -> None:
    """Print how far the log-odds are from 0 where neither class is the likelier."""
    draws = parallel(delayed(log_odds)(seed) for seed in seeds(n_draws))
    print(f"Two overlapping uniforms, 1000 rows, a Gaussian kernel of width 0.1, {n_draws} draws.")
    print("The true log-odds are 0 on [0.5, 1], infinite to the left of it and minus infinite to")
    print(
        "the right. Root mean square over [0.5, 1]; means over three intervals, median of draws.\n"
    )
    rows = []
    for name in draws[0]:
        overlap = [draw[name]["overlap"] for draw in draws]
        rms = np.sqrt(np.mean(np.square(overlap), axis=1))
        means = [np.median([draw[name][r].mean() for draw in draws]) for r in REGIONS]
        rows.append([name, format_mean(rms), f"{rms.max():.2f}", *(f"{y:.2f}" for y in means)])
    header = ["classifier", "RMS on [0.5, 1]", "largest"]
    print_table([*header, *(f"mean on [{a:g}, {b:g}]" for a, b in REGIONS.values())], rows)


def log_odds(seed: int) -> dict[str, dict[str, Array]]:
    """Fit one draw and return the log-odds of class 1 on a grid of each region."""
    X, y = make_overlapping_uniforms(random_state=seed)
    svc, rvc = fit_uniforms(X, y, seed)
    scaled = with_sigmoid(svc).fit(X, y)
    grids = {name: np.linspace(*ends, 201)[:, None] for name, ends in REGIONS.items()}
    return {
        "RVC": {name: rvc.decision_function(grid) for name, grid in grids.items()},
        PLATT: {name: logit(scaled.predict_proba(grid)[:, 1]) for name, grid in grids.items()},
    }


def fit_uniforms(X: Array, y: NDArray[np.int64], seed: int) -> tuple[SVC, RVC]:
    """Fit both classifiers with the paper's kernel, C of the SVC by cross-validated errors."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    search = GridSearchCV(SVC(gamma=UNIFORMS_GAMMA), {"C": SVC_C}, cv=folds)
    return search.fit(X, y).best_estimator_, RVC(gamma=UNIFORMS_GAMMA).fit(X, y)


class Score(NamedTuple):
    """Log loss on one split, its calibration error, and that of labels drawn from the model."""

    log_loss: float
    calibration_error: float
    chance: float


def real_problems(n_splits: int, parallel: Parallel) -> None:
    """Print calibration error and log loss."""
    print(f"Calibration error: mean over {N_BINS} bins of equal mass of the distance between mean")
    print("probability and share of class 1. Chance: the same for labels drawn from the same")
    print(f"probabilities, mean of {N_SIMULATIONS}. calibrated: excess over chance at most")
    print(f"{EXCESS_LIMIT}; better: log loss, mean over the splits, below that of the SVC.\n")
    rows = [row for name in PROBLEMS for row in problem_rows(name, n_splits, parallel)]
    header = ["problem", "probabilities", "log loss", "less the SVC's", "better"]
    print_table([*header, "calibration error", "chance", "excess", "calibrated"], rows)


def problem_rows(name: str, n_splits: int, parallel: Parallel) -> list[list[str]]:
    splits = load_raetsch(name)[:n_splits]
    n_inputs = splits[0].X_train.shape[1]
    rvc, svc = (
        choose(searched(n_inputs), splits, parallel)["log loss"]
        for searched in (searched_rvc, searched_platt)
    )
    models = {
        "RVC, integrated": clone(rvc).set_params(rvc__proba="integrated"),
        "RVC, mode": clone(rvc).set_params(rvc__proba="mode"),
        PLATT: svc,
    }
    scores = {
        label: parallel(delayed(score)(model, split, seed) for seed, split in enumerate(splits))
        for label, model in models.items()
    }
    return [problem_row(name, label, scores[label], scores[PLATT]) for label in models]


def score(model: BaseEstimator, split: Split, seed: int) -> Score:
    p = clone(model).fit(split.X_train, split.y_train).predict_proba(split.X_test)[:, 1]
    is_one = split.y_test == 1
    drawn = np.random.RandomState(seed).uniform(size=(N_SIMULATIONS, len(p))) < p
    (error,), chance = (calibration_errors(p, labels) for labels in (is_one[None], drawn))
    return Score(log_loss(is_one, p), error, chance.mean())


def calibration_errors(p: Array, is_one: NDArray[np.bool_]) -> Array:
    """Return the calibration error of `p` for each row of labels in `is_one`."""
    bins = np.array_split(np.argsort(p, kind="stable"), N_BINS)
    gaps = [len(rows) * np.abs(p[rows].mean() - is_one[:, rows].mean(axis=1)) for rows in bins]
    return np.sum(gaps, axis=0) / len(p)


def problem_row(name: str, label: str, scores: Sequence[Score], svc: Sequence[Score]) -> list[str]:
    losses, errors, chances = np.transpose(scores)
    less = losses - [score.log_loss for score in svc]
    excess = errors - chances
    return [
        name,
        label,
        format_mean(losses),
        "" if label == PLATT else format_mean(less),
        "" if label == PLATT else verdict(less.mean() < 0),
        format_mean(errors),
        f"{chances.mean():.4f}",
        format_mean(excess),
        "" if label == PLATT else verdict(excess.mean() <= EXCESS_LIMIT),
    ]
