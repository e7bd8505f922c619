"""``relvec demo``: real data that scikit-learn ships, fitted, judged and drawn in two panels."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from relvec._commands import arguments, files
from relvec._commands.terminal import print_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HELP = "fit a real data set and draw it"
DESCRIPTION = (
    "Fit a data set that scikit-learn ships, say how good the fit is on rows held "
    "out, and draw it in two panels: how far diabetes progresses, or which tumours are benign."
)
EXAMPLES = """\
demo
demo --task classification --out tumours.png"""


def draw_regression(figure: Figure) -> str:
    """Draw one input of scikit-learn's diabetes data by itself, then all ten together."""
    from sklearn.datasets import load_diabetes

    from relvec import RVR
    from relvec._commands.holdout import HoldoutFit
    from relvec._commands.tasks import TASKS

    task = TASKS["regression"]
    table = load_diabetes(as_frame=True, scaled=False).frame
    table = table.rename(columns={"target": "progression"})
    # The width is the best of five by cross-validation within the rows that are fitted.
    X, y = table.drop(columns="progression"), table["progression"]
    ten = HoldoutFit.run(X, y, task, {"rvm": RVR(gamma=0.03)}, test_size=0.25)
    one = HoldoutFit.run(X[["bmi"]], y, task, {"rvm": RVR()}, test_size=0)
    titles = ("one input", "ten inputs, rows held out")
    for ax, fit, title in zip(figure.subplots(1, 2), (one, ten), titles, strict=True):
        fit.draw(ax)
        ax.set_title(f"{title}: {len(fit.model[-1].relevance_)} relevance vectors")
    about = "diabetes: its progression over a year, from ten measurements of 442 patients"
    return f"{about}\n{ten.report()}"


def draw_classification(figure: Figure) -> str:
    """Map two inputs of scikit-learn's breast cancer data, and judge rows held out."""
    from sklearn.datasets import load_breast_cancer

    from relvec import RVC
    from relvec._commands.holdout import HoldoutFit
    from relvec._commands.tasks import TASKS
    from relvec.display import BoundaryDisplay

    task = TASKS["classification"]
    data = load_breast_cancer(as_frame=True)
    X, y = data.data[["mean radius", "mean texture"]], data.target.rename("diagnosis")
    y = y.map(dict(enumerate(data.target_names)))
    # The width is the best of five by cross-validation within the rows that are fitted.
    fit = HoldoutFit.run(X, y, task, {"rvm": RVC(gamma=0.03)}, test_size=0.5)
    left, right = figure.subplots(1, 2)
    BoundaryDisplay.from_estimator(fit.model, fit.X_train, fit.y_train, ax=left)
    fit.draw(right)
    left.set_title(f"rows fitted: {len(fit.model[-1].relevance_)} relevance vectors")
    right.set_title("rows held out")
    about = "breast cancer: malignant or benign, from two measurements of 569 tumours"
    return f"{about}\n{fit.report()}"


DEMOS: dict[str, Callable[[Figure], str]] = {
    "regression": draw_regression,
    "classification": draw_classification,
}


def run(options: Namespace) -> None:
    """Fit, print a report, and draw."""
    files.need("pandas")
    figure = files.new_figure(options.out, (11, 4.5))
    print_text(DEMOS[options.task](figure))
    files.save_picture(figure, options.out)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "--task", choices=list(DEMOS), default="regression", help="default: %(default)s"
    )
    arguments.add_file(
        parser,
        "--out",
        type=arguments.output_path,
        default="relvec-demo.png",
        metavar="PICTURE",
        help="where to draw (default: %(default)s)",
    )
