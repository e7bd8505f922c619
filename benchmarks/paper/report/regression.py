"""The benchmark table of section 4.4.1, and Friedman's function 1 with learnt input scales."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from joblib import delayed
from matplotlib.figure import Figure

from benchmarks.paper import regression, scales
from benchmarks.paper.draws import ENTROPY, seeds
from benchmarks.paper.regression import PROBLEMS, Score
from benchmarks.paper.report.comparison import Found, comparison
from benchmarks.paper.report.page import Part, Picture, Table
from benchmarks.paper.report.settings import Settings
from benchmarks.paper.scales import LearntScales
from benchmarks.table import format_mean
from relvec.display import BLUE, INK

#: The paper repeats everything 100 times; what takes over five minutes so is repeated less often.
REPETITIONS = {
    "sinc-gaussian": 100,
    "sinc-uniform": 100,
    "friedman1": 100,
    "friedman2": 20,
    "friedman3": 20,
    "boston": 20,
}
#: The paper has a table of its own for this one.
APART = "friedman1"
TOGETHER = [name for name in REPETITIONS if name != APART]
MACHINES = {"SVR": "svr", "RVR": "rvr"}


class Row(NamedTuple):
    """The scores of every repetition, by machine."""

    scores: dict[str, Sequence[Score]]
    n_repetitions: int
    n_rows: int
    n_inputs: int
    seconds: float


def build(settings: Settings) -> Part:
    counts = {name: settings.count(usual) for name, usual in REPETITIONS.items()}
    part = Part(
        "Section 4.4.1: regression",
        [
            "Errors of the sinc rows are ten times the root mean square deviation from the "
            "function, those of the Friedman rows mean squared deviations from the function, and "
            "that of Boston is the mean squared error on the rows left out. Inputs are "
            "standardised; the width of the Gaussian kernel, for the SVR with C and ε, minimises "
            "the squared error of 5-fold cross-validation.",
            'On Friedman\'s function 1 an RVR with gamma="ard" learns a scale for each of its ten '
            "inputs from the evidence, on the same draws and without cross-validation. Inputs 6 "
            "to 10 have no effect.",
        ],
        "Each repetition draws its own rows, noise or split, with seeds from "
        f"numpy.random.SeedSequence({ENTROPY}).",
    )
    rows = {}
    for name, count in counts.items():
        with part.names_missing_data(f"Section 4.4.1, {name}"):
            rows[name] = measured(name, count, settings)
    learnt = settings.parallel(
        delayed(scales.fit_friedman)(PROBLEMS[APART], seed) for seed in seeds(counts[APART])
    )
    part.contents = [
        table("Error", "error", 0, rows),
        table("Vectors", "vectors", 1, rows),
        friedman(rows[APART], learnt),
        picture(learnt),
        inputs(learnt),
        seconds(rows),
    ]
    return part


def measured(name: str, count: int, settings: Settings) -> Row:
    start = time.perf_counter()
    n_rows, n_inputs = PROBLEMS[name].draw(0).X_train.shape
    fits = settings.parallel(
        delayed(regression.scores)(PROBLEMS[name], seed) for seed in seeds(count)
    )
    scores = {label: [fit[key] for fit in fits] for label, key in MACHINES.items()}
    return Row(scores, count, n_rows, n_inputs, time.perf_counter() - start)


def table(caption: str, attribute: str, index: int, rows: dict[str, Row]) -> Table:
    """Compare errors or vectors, which stand at `index` in the paper's pairs."""
    paper = {
        name: (PROBLEMS[name].paper_svm[index], PROBLEMS[name].paper_rvm[index])
        for name in TOGETHER
    }
    found = {}
    for name in [name for name in paper if name in rows]:
        row = rows[name]
        values = [[getattr(s, attribute) for s in row.scores[label]] for label in MACHINES]
        means, texts = [float(np.mean(v)) for v in values], [format_mean(v) for v in values]
        found[name] = Found(row.n_rows, row.n_inputs, row.n_repetitions, means, texts)
    return comparison(caption, "repetitions", list(MACHINES), paper, found)


def friedman(row: Row, learnt: Sequence[LearntScales]) -> Table:
    paper = [PROBLEMS[APART].paper_svm, PROBLEMS[APART].paper_rvm, scales.PAPER_FRIEDMAN]
    scores = [*row.scores.values(), [each.score for each in learnt]]
    header = ["SVM", "RVM", "η-RVM"]
    return Table(
        f"Friedman's function 1, {row.n_repetitions} repetitions",
        ["", *(f"paper {name}" for name in header), *MACHINES, 'RVR, gamma="ard"'],
        [
            ["error", *(f"{error:g}" for error, _ in paper)]
            + [format_mean([s.error for s in each]) for each in scores],
            ["vectors", *(f"{vectors:g}" for _, vectors in paper)]
            + [format_mean([s.vectors for s in each]) for each in scores],
            ["seconds a fit", "", "", ""]
            + [f"{np.mean([s.seconds for s in each]):.3f}" for each in scores],
            ["longest fit, seconds", "", "", ""]
            + [f"{max(s.seconds for s in each):.3f}" for each in scores],
        ],
        f"{row.n_rows} rows to train on, 1000 without noise to test on. Seconds are those of the "
        "last fit; the first two models also need their cross-validation.",
    )


def inputs(learnt: Sequence[LearntScales]) -> Table:
    gamma = np.array([each.gamma for each in learnt])
    relevance = np.array([each.relevance for each in learnt])
    return Table(
        "What the learnt scales say of each input",
        ["input", "effect", "η, median", "η, largest", "relevance, median", "η = 0 in"],
        [
            [
                f"x{number + 1}",
                "yes" if number < 5 else "none",
                f"{np.median(gamma[:, number]):.3g}",
                f"{gamma[:, number].max():.3g}",
                f"{np.median(relevance[:, number]):.3g}",
                f"{np.mean(gamma[:, number] == 0):.0%}",
            ]
            for number in range(gamma.shape[1])
        ],
        "η is in inverse squared units of the input, which is uniform on [0, 1]; relevance is free "
        "of units. The function is linear in x4 and x5, which a wide kernel describes.",
    )


def picture(learnt: Sequence[LearntScales]) -> Picture:
    relevance = np.array([each.relevance for each in learnt])
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    ax = figure.subplots()
    across = np.arange(1, relevance.shape[1] + 1)
    ax.plot(across, relevance.T, ".", color=BLUE, alpha=0.4)
    ax.plot(across, np.median(relevance, axis=0), "_", color=INK, markersize=22)
    ax.set(xticks=across, xlabel="input", ylabel="relevance")
    return Picture(
        figure,
        "Ten columns of points: the first five lie above zero, the last five at it.",
        "The relevance that each repetition finds for the inputs of Friedman's function 1; bars "
        "are medians. Not a figure of the paper.",
    )


def seconds(rows: dict[str, Row]) -> Table:
    return Table(
        "Seconds",
        ["problem", *(f"a fit, {name}" for name in MACHINES), "in all"],
        [
            [name]
            + [f"{np.mean([s.seconds for s in row.scores[label]]):.3f}" for label in MACHINES]
            + [f"{row.seconds:.0f}"]
            for name, row in rows.items()
        ],
        "Means of the fit with the chosen parameters; in all, with every search.",
    )
