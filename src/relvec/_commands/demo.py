"""``relvec demo``: real data that scikit-learn ships, fitted, judged and drawn in two panels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sklearn.datasets import load_breast_cancer, load_diabetes

from relvec._commands.files import need, new_figure, save_picture
from relvec._commands.job import Job
from relvec._commands.tasks import TASKS
from relvec._commands.words import Commands, Options, add_command, add_file, output_path
from relvec._estimators.classification import RVC
from relvec._estimators.regression import RVR
from relvec.display import BoundaryDisplay

if TYPE_CHECKING:
    from matplotlib.figure import Figure


EXAMPLES = """\
demo
demo --task classification --out tumours.png"""


def draw_regression(figure: Figure) -> str:
    """Draw one input of scikit-learn's diabetes data by itself, then all ten together."""
    task = TASKS["regression"]
    table = load_diabetes(as_frame=True, scaled=False).frame
    table = table.rename(columns={"target": "progression"})
    # The width is the best of five by cross-validation within the rows that are fitted.
    all_inputs = Job.run(table, "progression", task, RVR(gamma=0.03), test_size=0.25)
    one_input = Job.run(table[["bmi", "progression"]], "progression", task, RVR(), test_size=0)
    for ax, job, title in zip(
        figure.subplots(1, 2),
        (one_input, all_inputs),
        ("one input", "ten inputs, rows held out"),
        strict=True,
    ):
        task.draw(job, ax)
        ax.set_title(f"{title}: {len(job.machine.relevance_)} relevance vectors")
    about = "diabetes: its progression over a year, from ten measurements of 442 patients"
    return f"{about}\n{all_inputs.report()}"


def draw_classification(figure: Figure) -> str:
    """Map two inputs of scikit-learn's breast cancer data, and judge rows held out."""
    task = TASKS["classification"]
    data = load_breast_cancer(as_frame=True)
    table = data.data[["mean radius", "mean texture"]]
    table = table.assign(diagnosis=data.target_names[data.target])
    # The width is the best of five by cross-validation within the rows that are fitted.
    job = Job.run(table, "diagnosis", task, RVC(gamma=0.03), test_size=0.5)
    left, right = figure.subplots(1, 2)
    BoundaryDisplay.from_estimator(job.model, job.X_train, job.y_train, ax=left)
    task.draw(job, right)
    left.set_title(f"rows fitted: {len(job.machine.relevance_)} relevance vectors")
    right.set_title("rows held out")
    about = "breast cancer: malignant or benign, from two measurements of 569 tumours"
    return f"{about}\n{job.report()}"


DEMOS: dict[str, Callable[[Figure], str]] = {
    "regression": draw_regression,
    "classification": draw_classification,
}


def run(options: Options) -> None:
    """Fit, print a report, and draw."""
    need("pandas")
    figure = new_figure(options.out, (11, 4.5))
    print(DEMOS[options.task](figure))
    save_picture(figure, options.out)


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "demo",
        run,
        help="fit a real data set and draw it",
        description="Fit a data set that scikit-learn ships, say how good the fit is on rows held "
        "out, and draw it in two panels: how far diabetes progresses, or which tumours are benign.",
        examples=EXAMPLES,
    )
    parser.add_argument(
        "--task", choices=list(DEMOS), default="regression", help="default: %(default)s"
    )
    add_file(
        parser,
        "--out",
        type=output_path,
        default="relvec-demo.png",
        metavar="PICTURE",
        help="where to draw (default: %(default)s)",
    )
