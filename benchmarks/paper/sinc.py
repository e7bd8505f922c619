"""Figures 1 and 2 of Tipping (2001): sinc through the linear-spline kernel, 100 points on a grid.

Each setting of the intercept is fitted by the package and by a top-down MacKay fit of the same
dictionary (`tests.support.reference`). Log evidence compares within a setting, not between
settings.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import print_table
from relvec import RVR
from relvec.basis import Basis, Bias, Concatenate, LinearSpline
from relvec.datasets import make_sinc
from tests.support.reference import top_down

Array = NDArray[np.float64]

GRID, TRUTH = make_sinc(2001, noise_scale=0)
#: Vectors and largest error in the paper's Figure 1, vectors and RMS error in its Figure 2.
PAPER_1_SVM, PAPER_1_RVM = (36, 0.0100), (9, 0.0070)
PAPER_2_SVM, PAPER_2_RVM = (29, 0.0291), (6, 0.0245)


@dataclass(frozen=True)
class Setting:
    """How the constant enters the model."""

    name: str
    basis: Basis
    fit_intercept: bool


SETTINGS = [
    Setting("fit_intercept=True", LinearSpline(), True),
    Setting("no constant", LinearSpline(), False),
    Setting("Bias in the dictionary", Concatenate([Bias(), LinearSpline()]), False),
]


class Result(NamedTuple):
    vectors: int
    largest_error: float
    rms_error: float
    log_evidence: float


def result(prediction: Array, vectors: int, log_evidence: float) -> Result:
    error = prediction - TRUTH
    rms = float(np.sqrt(np.mean(error**2)))
    return Result(vectors, float(np.abs(error).max()), rms, log_evidence)


def fit_package(setting: Setting, X: Array, y: Array, noise_variance: float | None) -> Result:
    model = RVR(
        setting.basis, fit_intercept=setting.fit_intercept, noise_variance=noise_variance
    ).fit(X, y)
    return result(model.predict(GRID), len(model.relevance_), model.log_evidence_)


def fit_top_down(setting: Setting, X: Array, y: Array, noise_variance: float | None) -> Result:
    basis = setting.basis.fit(X)
    fit = top_down(
        basis.transform(X), y, fit_intercept=setting.fit_intercept, noise_variance=noise_variance
    )
    return result(fit.predict(basis.transform(GRID)), len(fit.active), fit.log_evidence)


def run(draws: int) -> None:
    """Print both figures' numbers."""
    print(__doc__)
    figure_1()
    figure_2(draws)


def figure_1() -> None:
    X, y = make_sinc(noise_scale=0)
    rows = []
    for setting in SETTINGS:
        for name, fit in (("relvec", fit_package), ("top-down", fit_top_down)):
            found = fit(setting, X, y, 0.01**2)
            numbers = [f"{found.largest_error:.4f}", f"{found.rms_error:.4f}"]
            numbers += [f"{found.log_evidence:.2f}"]
            rows.append([setting.name, name, str(found.vectors), *numbers])
    print("Figure 1: no noise in the data, noise sd held at 0.01; errors on a grid of 2001 points.")
    print("The paper: {} vectors, largest error {}.\n".format(*PAPER_1_RVM))
    print_table(["constant", "fit", "vectors", "largest", "RMS", "log evidence"], rows)


def figure_2(draws: int) -> None:
    print(f"\nFigure 2: uniform noise in [-0.2, 0.2], noise learnt, {draws} draws.")
    print("The paper's draw: {} vectors, RMS error {}; the last two".format(*PAPER_2_RVM))
    print("columns are the draws with no more vectors and with no larger RMS error than that.\n")
    rows = []
    for setting in SETTINGS:
        ours, reference = [], []
        for seed in range(draws):
            X, y = make_sinc(noise="uniform", noise_scale=0.2, random_state=seed)
            ours.append(fit_package(setting, X, y, None))
            reference.append(fit_top_down(setting, X, y, None))
        gap = np.subtract(*(np.array(fits)[:, 3] for fits in (ours, reference)))
        rows.append(figure_2_row(setting.name, "relvec", np.array(ours), gap))
        rows.append(figure_2_row("", "top-down", np.array(reference), None))
    header = ["constant", "fit", "log evidence", "within 1 nat", "vectors", "RMS"]
    header += ["<= 6 vectors", "<= 0.0245"]
    print_table(header, rows)


def figure_2_row(setting: str, name: str, results: Array, gap: Array | None) -> list[str]:
    """Format the means over draws; `gap` is the evidence above the top-down fit's."""
    vectors, _, rms, log_evidence = results.T
    paper_vectors, paper_rms = PAPER_2_RVM
    return [
        setting,
        name,
        f"{log_evidence.mean():.2f}",
        "" if gap is None else f"{np.mean(gap >= -1):.0%}",
        f"{vectors.mean():.2f}",
        f"{rms.mean():.4f}",
        f"{np.mean(vectors <= paper_vectors):.0%}",
        f"{np.mean(rms <= paper_rms):.0%}",
    ]
