"""Figure 3 of Tipping (2001): 100 of Ripley's 250 training rows, a Gaussian kernel of width 0.5.

Each draw takes other 100 rows; errors are those on the 1000 test rows. C of the SVC minimises the
errors of 5-fold cross-validation on the 100 rows.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.paper.classification import load_train_test
from benchmarks.paper.draws import seeds
from benchmarks.paper.widths import SVC_C, workers
from benchmarks.staged import Split
from benchmarks.table import format_mean, print_table, verdict
from relvec import RVC
from relvec.display import BLUE, INK, STEEL

Array = NDArray[np.float64]

GAMMA = 1 / 0.5**2
N_TRAIN = 100
#: Test error in per cent, and vectors.
PAPER_SVM, PAPER_RVM = (10.6, 38), (9.3, 4)
WANTED_VECTORS = 6


class Draw(NamedTuple):
    """One training set, and both classifiers fitted to it."""

    split: Split
    svc: SVC
    rvc: RVC

    def error(self, model: SVC | RVC) -> float:
        return 100 * float(np.mean(model.predict(self.split.X_test) != self.split.y_test))


def draw(seed: int) -> Draw:
    everything = load_train_test("ripley")
    n_rows = len(everything.y_train)
    rows = np.random.RandomState(seed).choice(n_rows, N_TRAIN, replace=False)
    split = everything._replace(X_train=everything.X_train[rows], y_train=everything.y_train[rows])
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    search = GridSearchCV(SVC(gamma=GAMMA), {"C": SVC_C}, cv=folds)
    svc = search.fit(split.X_train, split.y_train).best_estimator_
    return Draw(split, svc, RVC(gamma=GAMMA).fit(split.X_train, split.y_train))


def run(n_draws: int, out: Path) -> None:
    """Print errors and vectors over the draws, and draw the first of them."""
    with workers(1):
        draws = [draw(seed) for seed in seeds(n_draws)]
    errors = {
        "SVC": [draw.error(draw.svc) for draw in draws],
        "RVC": [draw.error(draw.rvc) for draw in draws],
    }
    vectors = {
        "SVC": [len(draw.svc.support_) for draw in draws],
        "RVC": [len(draw.rvc.relevance_) for draw in draws],
    }
    print(__doc__)
    print(f"{n_draws} draws, mean ± its standard error. The last columns are the shares of draws")
    print("with no larger an error, and with no more vectors, than the paper's one draw.\n")
    rows = [
        row(name, paper, np.array(errors[name]), np.array(vectors[name]))
        for name, paper in (("SVC", PAPER_SVM), ("RVC", PAPER_RVM))
    ]
    header = ["classifier", "paper", "error", "lowest", "highest", "vectors"]
    print_table([*header, "error <=", "vectors <="], rows)
    difference = np.subtract(errors["RVC"], errors["SVC"])
    print(f"\nRVC error less the SVC's: {format_mean(difference)}")
    print(f"RVC error no higher than the SVC's: {verdict(difference.mean() <= 0)}")
    few = np.mean(vectors["RVC"]) <= WANTED_VECTORS
    print(f"RVC keeps at most {WANTED_VECTORS} vectors on average: {verdict(few)}")
    picture(draws[0]).savefig(out, dpi=150)
    print(f"The first draw is drawn in {out}")


def row(name: str, paper: tuple[float, int], errors: Array, vectors: Array) -> list[str]:
    paper_error, paper_vectors = paper
    return [
        name,
        f"{paper_error:g} / {paper_vectors}",
        format_mean(errors),
        f"{errors.min():.1f}",
        f"{errors.max():.1f}",
        format_mean(vectors),
        f"{np.mean(errors <= paper_error):.0%}",
        f"{np.mean(vectors <= paper_vectors):.0%}",
    ]


def picture(draw: Draw) -> Figure:
    """Draw both boundaries, for the RVC also probabilities 1/4 and 3/4, with vectors circled."""
    figure = Figure(figsize=(9, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    plot(left, draw, draw.svc, draw.svc.support_vectors_, "decision_function", {0.0: "dashed"})
    quarters = {0.25: "dotted", 0.5: "dashed", 0.75: "dotted"}
    plot(right, draw, draw.rvc, draw.rvc.relevance_vectors_, "predict_proba", quarters)
    figure.supxlabel(
        "dashed: boundary, dotted: probability 1/4 and 3/4, circled: vectors", fontsize=9
    )
    return figure


def plot(
    ax: Axes, draw: Draw, model: SVC | RVC, vectors: Array, response: str, levels: dict[float, str]
) -> None:
    X, y = draw.split.X_train, draw.split.y_train
    DecisionBoundaryDisplay.from_estimator(
        model,
        X,
        response_method=response,
        plot_method="contour",
        ax=ax,
        eps=0.25,
        grid_resolution=200,
        levels=list(levels),
        linestyles=list(levels.values()),
        colors=BLUE,
    )
    for label, marker, color in ((0, "o", STEEL), (1, "x", INK)):
        ax.scatter(*X[y == label].T, s=18, marker=marker, color=color)
    ax.scatter(*vectors.T, s=110, facecolor="none", edgecolor=INK, linewidth=1.4)
    name, error = type(model).__name__, draw.error(model)
    ax.set(title=f"{name}: {len(vectors)} vectors, {error:.1f} % test error", aspect="equal")
