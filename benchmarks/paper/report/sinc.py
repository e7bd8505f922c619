"""Figures 1 and 2: sinc through the linear-spline kernel, by support and relevance vectors."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from joblib import delayed
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.svm import SVR

from benchmarks.paper import sinc
from benchmarks.paper.fits import fit
from benchmarks.paper.report.page import Part, Picture, Table
from benchmarks.paper.report.settings import Settings
from benchmarks.paper.sinc import GRID, TRUTH, Array, Result
from benchmarks.table import format_mean
from relvec import RVR
from relvec.basis import LinearSpline
from relvec.datasets import make_sinc
from relvec.display import BLUE, INK, STEEL

N_DRAWS = 50
LEFT_END = -10.0
#: C does not matter without noise, as long as no dual coefficient reaches it.
C_WITHOUT_NOISE = 100.0
SVR_GRID = {"C": [0.01, 0.1, 1.0, 10.0], "epsilon": [0.05, 0.1, 0.15, 0.2, 0.3]}


class Fit(NamedTuple):
    machine: SVR | RVR
    result: Result
    seconds: float


def shifted_spline(X: Array, Z: Array) -> Array:
    """Eq. 29 with inputs counted from the left end, where alone it is a Mercer kernel."""
    return LinearSpline().k(X - LEFT_END, Z - LEFT_END)


def measure(machine: SVR | RVR | GridSearchCV, X: Array, y: Array) -> Fit:
    machine, n_functions, seconds = fit(machine, X, y)
    log_evidence = np.nan if isinstance(machine, SVR) else machine.log_evidence_
    return Fit(machine, sinc.result(machine.predict(GRID), n_functions, log_evidence), seconds)


def noisy(seed: int) -> tuple[Array, Array]:
    return make_sinc(noise="uniform", noise_scale=0.2, random_state=seed)


def fit_noisy(seed: int) -> tuple[Fit, Fit]:
    folds = KFold(5, shuffle=True, random_state=seed)
    svr = SVR(kernel=shifted_spline)
    search = GridSearchCV(svr, SVR_GRID, scoring="neg_mean_squared_error", cv=folds)
    return measure(search, *noisy(seed)), measure(RVR(LinearSpline()), *noisy(seed))


def build(settings: Settings) -> Part:
    n_draws = settings.count(N_DRAWS)
    exact = make_sinc(noise_scale=0)
    svr = SVR(kernel=shifted_spline, C=C_WITHOUT_NOISE, epsilon=0.01)
    rvr = RVR(LinearSpline(), noise_variance=0.01**2)
    figure_1 = measure(svr, *exact), measure(rvr, *exact)
    draws = settings.parallel(delayed(fit_noisy)(seed) for seed in range(n_draws))
    return Part(
        "Figures 1 and 2: sinc",
        [
            "100 equally spaced points in [−10, 10] and the linear-spline kernel of eq. 29. Figure "
            "1 has no noise; ε of the SVR and the noise of the RVR are held at 0.01. Figure 2 has "
            "uniform noise in [−0.2, 0.2], which the RVR learns; C and ε of the SVR minimise the "
            "squared error of 5-fold cross-validation. The RVR has an intercept with a flat prior.",
            "Eq. 29 is no Mercer kernel where inputs are negative. The RVR takes it as it is; the "
            "SVR, which then diverges, is given inputs counted from −10.",
        ],
        f"Figure 2 has {n_draws} draws of the noise, seeds 0 to {n_draws - 1}; seed 0 is drawn.",
        [
            picture(1, exact, figure_1),
            picture(2, noisy(0), draws[0]),
            table(figure_1, draws),
        ],
    )


def table(figure_1: tuple[Fit, Fit], draws: list[tuple[Fit, Fit]]) -> Table:
    by_machine = list(zip(*draws, strict=True))

    def means(attribute: str) -> list[str]:
        return [
            format_mean([getattr(each.result, attribute) for each in fits]) for fits in by_machine
        ]

    def mean_seconds(fits: Sequence[Fit]) -> str:
        return f"{np.mean([each.seconds for each in fits]):.4f}"

    rms = np.array([ours.result.rms_error for _, ours in draws])
    vectors = np.array([ours.result.vectors for _, ours in draws])
    vectors_1, largest = zip(sinc.PAPER_1_SVM, sinc.PAPER_1_RVM, strict=True)
    vectors_2, rms_2 = zip(sinc.PAPER_2_SVM, sinc.PAPER_2_RVM, strict=True)
    found = [each.result for each in figure_1]
    return Table(
        "Figures 1 and 2 in numbers",
        ["", "paper SVM", "paper RVM", "SVR", "RVR"],
        [
            ["Figure 1: vectors", *map(str, [*vectors_1, *(each.vectors for each in found)])],
            [
                "Figure 1: largest error",
                *map("{:.4f}".format, [*largest, *(each.largest_error for each in found)]),
            ],
            ["Figure 1: seconds", "", "", *(mean_seconds([each]) for each in figure_1)],
            ["Figure 2: vectors", *map(str, vectors_2), *means("vectors")],
            ["Figure 2: RMS error", *map("{:.4f}".format, rms_2), *means("rms_error")],
            ["Figure 2: seconds", "", "", *map(mean_seconds, by_machine)],
        ],
        "Errors are measured to the true function on 2001 points; seconds are those of one fit. "
        f"The paper's Figure 2 is one draw: {np.mean(rms <= rms_2[1]):.0%} of these have no larger "
        f"an RMS error than its RVM, {np.mean(vectors <= vectors_2[1]):.0%} no more vectors.",
    )


def picture(number: int, data: tuple[Array, Array], fits: tuple[Fit, Fit]) -> Picture:
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    for ax, each in zip(figure.subplots(1, 2, sharey=True), fits, strict=True):
        plot(ax, each, *data)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    kept = " and ".join(f"{each.result.vectors}" for each in fits)
    noise = "without noise" if number == 1 else "with uniform noise"
    return Picture(
        figure,
        f"Two curves close to sinc; {kept} of 100 points circled.",
        f"Figure {number}: support (left) and relevance (right) vector approximations to sinc "
        f"{noise}; vectors circled.",
    )


def plot(ax: Axes, each: Fit, X: Array, y: Array) -> None:
    svm = isinstance(each.machine, SVR)
    kept = each.machine.support_ if svm else each.machine.relevance_rows_
    x = GRID[:, 0]
    ax.plot(x, TRUTH, color=STEEL, linewidth=3, label="truth")
    ax.plot(x, each.machine.predict(GRID), color=BLUE, linewidth=1.2, label="estimate")
    ax.plot(X[:, 0], y, ".", color=INK, markersize=3, label="data")
    ring = {"markersize": 9, "markerfacecolor": "none", "markeredgecolor": INK}
    ax.plot(X[kept, 0], y[kept], "o", **ring, label="vectors kept")
    ax.set(title=f"{'SVR' if svm else 'RVR'}: {each.result.vectors} vectors", xlabel="x")
