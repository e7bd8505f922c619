"""The ``relvec`` command: fit a table, predict another, or see a demonstration.

Results go to standard output. Warnings and errors go to standard error, one line each; an error
ends the command with exit code 2. Pandas reads the tables: it comes with the ``cli`` extra.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from sklearn.pipeline import Pipeline

from relvec import _model_file
from relvec._demo import DEMOS
from relvec._job import Job, Task, listed, missing
from relvec._tasks import MOST_CLASSES, TASKS, task_of
from relvec.basis import KERNELS
from relvec.basis.scale import LEARNT

if TYPE_CHECKING:
    import pandas as pd


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Words after the program's name; None takes those it was started with.

    Returns
    -------
    int
        Exit code: 0, or 2 after an error.
    """
    options = _parser().parse_args(arguments)
    try:
        with _one_line_warnings():
            options.run(options)
    except (ValueError, OverflowError, OSError, ImportError, MemoryError) as error:
        print(f"relvec: error: {_one_line(error)}", file=sys.stderr)
        return 2
    return 0


def _fit(options: argparse.Namespace) -> None:
    table = _read_table(options.data)
    _require_columns(table, options.exclude, options.data)
    table = table.drop(columns=options.exclude)
    _require_columns(table, [options.target], options.data)
    rows, description = missing(table)
    if rows.any() and not options.drop_missing:
        raise ValueError(f"{description}; --drop-missing leaves these rows out")
    if rows.any():
        print(f"{description}: left out")
    table = table[~rows]
    task = TASKS[task_of(table[options.target]) if options.task == "auto" else options.task]
    figure = _new_figure(options.plot, (6.4, 4.8)) if options.plot else None
    machine = task.machine(
        kernel=options.kernel, gamma=options.gamma, random_state=options.random_state
    )
    job = Job.run(
        table,
        options.target,
        task,
        machine,
        test_size=options.test_size,
        random_state=options.random_state,
    )
    print(job.report())
    if options.out:
        _model_file.save(job.model, options.out)
        print(f"model written to {options.out}")
    if figure:
        ax = figure.subplots()
        task.draw(job, ax)
        ax.set_title("rows held out" if options.test_size else "rows fitted")
        _save(figure, options.plot)


def _predict(options: argparse.Namespace) -> None:
    task, model = _load_model(options.model)
    table = _read_table(options.data)
    _require_columns(table, model.feature_names_in_, options.data)
    table = table[model.feature_names_in_]
    rows, description = missing(table)
    if rows.any():
        raise ValueError(f"{description}; nothing was predicted")
    _write_table(task.predictions(model, table), options.out)
    print(f"{len(table)} predictions written to {options.out}")


def _demo(options: argparse.Namespace) -> None:
    _pandas()
    figure = _new_figure(options.out, (11, 4.5))
    print(DEMOS[options.task](figure))
    _save(figure, options.out)


def _need(module: str) -> Any:
    """Import an optional library, or name the extra that brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        raise ImportError(
            f"this command needs {library}: install relvec with its extra relvec[cli]"
        ) from error


def _pandas() -> Any:
    return _need("pandas")


def _new_figure(path: Path, size: tuple[float, float]) -> Any:
    """Make an empty figure, once it is certain that it can be written to this path."""
    figure = _need("matplotlib.figure").Figure(figsize=size, layout="constrained")
    kinds = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise ValueError(f"{path} must end in one of .{', .'.join(sorted(kinds))}")
    return figure


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=100)
    print(f"picture written to {path}")


def _read_table(path: Path) -> pd.DataFrame:
    read = {".csv": _pandas().read_csv, ".parquet": _pandas().read_parquet}[path.suffix]
    try:
        table = read(path)
        table.select_dtypes(exclude="number").to_numpy()  # texts that are none would be met later
    except (OSError, ImportError, MemoryError):
        raise
    except Exception as error:  # whatever the damage makes the readers do
        raise ValueError(
            f"{path} is no readable {path.suffix[1:]} file: {_one_line(error)}"
        ) from error
    return table.set_axis(table.columns.map(str), axis="columns")


def _write_table(table: pd.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)


def _load_model(path: Path) -> tuple[Task, Pipeline]:
    model = _model_file.load(path)
    for task in TASKS.values():
        ours = isinstance(model, Pipeline) and isinstance(model[-1], task.machine)
        if ours and hasattr(model, "feature_names_in_"):
            return task, model
    raise ValueError(f"{path} holds a {type(model).__name__}, not a model of `relvec fit`")


def _require_columns(table: pd.DataFrame, names: Sequence[str], path: Path) -> None:
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise ValueError(f"{path} has no column {listed(absent)}; it has {listed(table.columns)}")


def _one_line(message: object) -> str:
    return " ".join(str(message).split()) or type(message).__name__


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Show what the fit warns about, a line each, without the source line that Python adds."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"relvec: warning: {_one_line(message)}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show
        yield


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\n")


Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="relvec", description="Relevance vector machines on tables.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_fit(commands)
    _add_predict(commands)
    _add_demo(commands)
    return parser


def _add_fit(commands: Commands) -> None:
    fit = commands.add_parser(
        "fit",
        help="fit a table and say how good the fit is",
        description="Fit a CSV or Parquet table, judge the fit on rows held out, save the model. "
        "Numbers are standardised; texts are one-hot encoded, a category never seen before "
        "counting as none of the known ones. The target is classified where it holds texts, true "
        f"and false, or whole numbers of 2 to {MOST_CLASSES} distinct values; other numbers are "
        "fitted by regression. Probabilities are judged by log loss and by the Brier score, half "
        "their squared distance from the truth, from 0 to 1.",
    )
    fit.add_argument("data", metavar="DATA", type=_table_path, help="CSV or Parquet file")
    fit.add_argument("--target", required=True, metavar="NAME", help="column to predict")
    fit.add_argument(
        "--task",
        choices=["auto", *TASKS],
        default="auto",
        help="what kind of target it is; auto tells from its values (default: %(default)s)",
    )
    fit.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="NAME",
        help="column to ignore; repeatable",
    )
    _add_kernel(fit)
    fit.add_argument(
        "--test-size",
        type=_share,
        default=0.2,
        metavar="SHARE",
        help="share of the rows held out at random; 0 fits them all (default: %(default)s)",
    )
    fit.add_argument(
        "--random-state", type=int, default=0, metavar="SEED", help="default: %(default)s"
    )
    fit.add_argument(
        "--drop-missing", action="store_true", help="leave out rows with missing values"
    )
    fit.add_argument(
        "--out",
        type=_output_path,
        metavar="MODEL",
        help="where to save the model: a .skops file, which can hold no code, or else a pickle",
    )
    fit.add_argument(
        "--plot",
        type=_output_path,
        metavar="PICTURE",
        help="where to draw the rows held out, or those fitted where there are none: predictions "
        "with error bars, or how reliable the probabilities are",
    )
    fit.set_defaults(run=_fit)


def _add_kernel(fit: argparse.ArgumentParser) -> None:
    kernels = [name for name in KERNELS if name != "precomputed"]
    fit.add_argument("--kernel", choices=kernels, default="rbf", help="default: %(default)s")
    fit.add_argument(
        "--gamma",
        type=_gamma,
        default="scale",
        metavar="VALUE",
        help='kernel coefficient: a number, "scale" or "auto", as in SVR; "evidence" learns it and '
        '"ard" one for every column (default: %(default)s)',
    )


def _add_predict(commands: Commands) -> None:
    predict = commands.add_parser(
        "predict",
        help="predict the rows of a table",
        description="Predict each row: mean, standard deviation of a new observation, and the "
        "ends of its 95 % interval; or its class, and the probability of every class. A model "
        "in a .skops file can run no code. Every other is a pickle, which can run any when it is "
        "read: load only those that you trust.",
    )
    predict.add_argument("model", metavar="MODEL", type=Path, help="file written by `relvec fit`")
    predict.add_argument("data", metavar="DATA", type=_table_path, help="CSV or Parquet file")
    predict.add_argument(
        "--out", required=True, type=_output_table, metavar="FILE", help="CSV or Parquet file"
    )
    predict.set_defaults(run=_predict)


def _add_demo(commands: Commands) -> None:
    demo = commands.add_parser("demo", help="fit a real data set and draw it")
    demo.add_argument(
        "--task", choices=list(DEMOS), default="regression", help="default: %(default)s"
    )
    demo.add_argument(
        "--out",
        type=_output_path,
        default="relvec-demo.png",
        metavar="PICTURE",
        help="where to draw (default: %(default)s)",
    )
    demo.set_defaults(run=_demo)


def _table_path(text: str) -> Path:
    path = Path(text)
    if path.suffix not in {".csv", ".parquet"}:
        raise argparse.ArgumentTypeError(f"{text} must end in .csv or .parquet")
    return path


def _output_path(text: str) -> Path:
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


def _output_table(text: str) -> Path:
    return _table_path(str(_output_path(text)))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def _gamma(text: str) -> float | str:
    return text if text in {"scale", "auto", *LEARNT} else _number(text)


def _share(text: str) -> float:
    share = _number(text)
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"{text} must be at least 0 and less than 1")
    return share
