"""``relvec fit``: fit a table, judge the fit on rows held out, save the model."""

from __future__ import annotations

import argparse

from relvec._commands import model_file
from relvec._commands.files import (
    missing,
    new_figure,
    read_table,
    require_columns,
    require_scalars,
    save_picture,
)
from relvec._commands.job import Job
from relvec._commands.tasks import MOST_CLASSES, TASKS, task_of
from relvec._commands.words import (
    Commands,
    Options,
    add_command,
    add_file,
    gamma,
    output_path,
    share,
    table_path,
)
from relvec.basis import KERNELS

EXAMPLES = """\
fit houses.csv --target price
fit houses.csv --target price --gamma ard --out price.skops --plot price.png
fit houses.parquet --target sold --task classification --exclude owner
fit houses.csv --target price --drop-missing --test-size 0 --out price.skops"""


def run(options: Options) -> None:
    """Fit, print a report, and write what was asked for."""
    table = read_table(options.data)
    require_columns(table, options.exclude, options.data)
    table = table.drop(columns=options.exclude)
    require_columns(table, [options.target], options.data)
    require_scalars(table)
    rows, description = missing(table)
    if rows.any() and not options.drop_missing:
        raise ValueError(f"{description}; --drop-missing leaves these rows out")
    if rows.any():
        print(f"{description}: left out")
    table = table[~rows]
    task = TASKS[task_of(table[options.target]) if options.task == "auto" else options.task]
    figure = new_figure(options.plot, (6.4, 4.8)) if options.plot else None
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
        model_file.save(job.model, options.out)
        print(f"model written to {options.out}")
    if figure:
        ax = figure.subplots()
        task.draw(job, ax)
        ax.set_title("rows held out" if options.test_size else "rows fitted")
        save_picture(figure, options.plot)


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "fit",
        run,
        help="fit a table and say how good the fit is",
        description="Fit a CSV or Parquet table, judge the fit on rows held out, save the model. "
        "Numbers are standardised; texts are one-hot encoded, a category never seen before "
        "counting as none of the known ones. The target is classified where it holds texts, true "
        f"and false, or whole numbers of 2 to {MOST_CLASSES} distinct values; other numbers are "
        "fitted by regression. Probabilities are judged by log loss and by the Brier score, half "
        "their squared distance from the truth, from 0 to 1.",
        examples=EXAMPLES,
    )
    _add_data(parser)
    _add_kernel(parser)
    _add_split(parser)
    add_file(
        parser,
        "--out",
        type=output_path,
        metavar="MODEL",
        help="where to save the model: a .skops file, which can hold no code, or else a pickle",
    )
    add_file(
        parser,
        "--plot",
        type=output_path,
        metavar="PICTURE",
        help="where to draw the rows held out, or those fitted where there are none: predictions "
        "with error bars, or how reliable the probabilities are",
    )


def _add_data(parser: argparse.ArgumentParser) -> None:
    add_file(parser, "data", metavar="DATA", type=table_path, help="CSV or Parquet file")
    parser.add_argument("--target", required=True, metavar="NAME", help="column to predict")
    parser.add_argument(
        "--task",
        choices=["auto", *TASKS],
        default="auto",
        help="what kind of target it is; auto tells from its values (default: %(default)s)",
    )
    parser.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="NAME",
        help="column to ignore; repeatable",
    )
    parser.add_argument(
        "--drop-missing", action="store_true", help="leave out rows with missing values"
    )


def _add_kernel(parser: argparse.ArgumentParser) -> None:
    kernels = [name for name in KERNELS if name != "precomputed"]
    parser.add_argument("--kernel", choices=kernels, default="rbf", help="default: %(default)s")
    parser.add_argument(
        "--gamma",
        type=gamma,
        default="scale",
        metavar="VALUE",
        help='kernel coefficient: a number, "scale" or "auto", as in SVR; "evidence" learns it and '
        '"ard" one for every column (default: %(default)s)',
    )


def _add_split(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--test-size",
        type=share,
        default=0.2,
        metavar="SHARE",
        help="share of the rows held out at random; 0 fits them all (default: %(default)s)",
    )
    parser.add_argument(
        "--random-state", type=int, default=0, metavar="SEED", help="default: %(default)s"
    )
