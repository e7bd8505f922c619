"""``relvec fit``: fit a table, judge the fit on rows held out, save the model."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from relvec._commands import arguments, files
from relvec._commands.terminal import print_text

if TYPE_CHECKING:
    import pandas as pd

    from relvec._commands.tasks import Task

HELP = "fit a table and say how good the fit is"
DESCRIPTION = (
    "Fit a table, judge the fit on rows held out, save the model. "
    "Without options it fits a relevance vector machine, a model of effects or a linear model, "
    "whichever gives rows left out the best log density in "
    f"{arguments.FOLDS} folds, drawn at random, of the rows to fit, or of some of many; where rows "
    "belong together, in time or in groups, choose by --model. "
    "Texts are categories, and one never seen before counts as none of the known ones, or dates, "
    "which become days. "
    "The target is classified where it holds texts, true "
    f"and false, or whole numbers of 2 to {arguments.MOST_CLASSES} distinct values; other numbers "
    "are fitted by regression. Probabilities are judged by log loss and by the Brier score, half "
    "their squared distance from the truth, from 0 to 1."
)
EXAMPLES = """\
fit houses.csv --target price
fit houses.csv --target price --model effects --out effects.skops
fit houses.csv --target price --gamma ard --out price.skops --plot price.png
fit houses.parquet --target sold --task classification --exclude owner
fit houses.csv --target price --model linear --cv 5 --calibrate
fit houses.csv --target price --impute --test-size 0 --out filled.skops"""

#: Options that name columns, and the help of each.
COLUMN_OPTIONS = {
    "--exclude": "column to ignore",
    "--categories": "column to take as categories whatever it holds",
    "--numbers": "column to take as numbers, though they are written with leading zeros",
    "--season": "column of dates of which the season is an input beside the days: sine and cosine "
    "of the year",
}


def run(options: Namespace) -> None:
    """Fit, print a report, and write what was asked for."""
    from relvec._commands.holdout import HoldoutFit
    from relvec._commands.models import candidates
    from relvec._commands.training import training_data
    from relvec.storage import prepare

    if options.out:
        prepare(options.out)
    data = training_data(options)
    # What would keep the files from being written is found before the fit, which may take long.
    figure = files.new_figure(options.plot, (6.4, 4.8)) if options.plot else None
    given = {name: getattr(options, name) for name in arguments.FIT_OPTIONS}
    given = {name: value for name, value in given.items() if value is not None}
    task = _task(data.y, options)
    given |= {"likelihood": "poisson"} if options.exposure else {}
    estimators = candidates(task, options.kind, given, options.random_state)
    split = {"test_size": options.test_size, "random_state": options.random_state}
    more = {"impute": options.impute, "calibrate": options.calibrate, "n_folds": options.cv}
    fit = HoldoutFit.run(data.X, data.y, task, estimators, **more, **split)
    preparation = data.preparation.knowing(fit.X_train)
    preparation.store(fit.model)
    if options.out:  # first, so that nothing that fails later loses the model
        files.save_model(fit.model, options.out)
    preparation.warn_of_unknown(fit.X_test)
    print_text(fit.report(data.lines))
    if options.out:
        print_text(f"model written to {options.out}")
    if figure:
        ax = figure.subplots()
        fit.draw(ax)
        ax.set_title("rows held out" if options.test_size else "rows fitted")
        files.save_picture(figure, options.plot)


def _task(y: pd.Series, options: Namespace) -> Task:
    """Return what kind of target is fitted; options of another kind raise ValueError."""
    from relvec._commands.tasks import TASKS, Regression, task_of

    if options.exposure:
        if options.exposure == options.target:
            raise ValueError(f"--exposure {options.exposure} is the target: name another column")
        if options.task == "classification" or options.likelihood not in (None, "poisson"):
            raise ValueError(
                f"--exposure {options.exposure} is for counts: leave out --task and --likelihood"
            )
        return Regression(options.exposure)
    task = TASKS[task_of(y) if options.task == "auto" else options.task]
    if options.likelihood and not isinstance(task, Regression):
        raise ValueError(
            f"--likelihood {options.likelihood} is for numbers, but {options.target!r} holds "
            "classes: leave it out, or choose --task regression"
        )
    return task


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    _add_data(parser)
    _add_model(parser)
    _add_search(parser)
    _add_split(parser)
    arguments.add_file(
        parser,
        "--out",
        type=arguments.output_path,
        metavar="MODEL",
        help="where to save the model: a .skops file, which can hold no code, or a pickle, which "
        "ends in .joblib, .pickle or .pkl",
    )
    arguments.add_file(
        parser,
        "--plot",
        type=arguments.output_path,
        metavar="PICTURE",
        help="where to draw the rows held out, or those fitted where there are none: predictions "
        "with error bars, or how reliable the probabilities are",
    )


def _add_data(parser: ArgumentParser) -> None:
    arguments.add_data(parser)
    parser.add_argument("--target", required=True, metavar="NAME", help="column to predict")
    parser.add_argument(
        "--task",
        choices=["auto", "regression", "classification"],
        default="auto",
        help="what kind of target it is; auto tells from its values (default: %(default)s)",
    )
    for name, text in COLUMN_OPTIONS.items():
        parser.add_argument(
            name, action="append", default=[], metavar="NAME", help=f"{text}; repeatable"
        )
    parser.add_argument(
        "--date-format", metavar="FORMAT", help="how dates are written, such as %%d/%%m/%%Y"
    )
    arguments.add_drop_missing(parser)
    parser.add_argument(
        "--impute",
        action="store_true",
        help="fill in missing inputs: numbers by the median, with an input that says so, and "
        "texts as a category; the model does so in predictions too",
    )


def _add_model(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        dest="kind",
        choices=["auto", *arguments.MODELS],
        default="auto",
        help="kind of model: rvm is the relevance vector machine, effects are curves of inputs and "
        "maps of pairs, linear has weights of inputs; auto chooses among those that have the other "
        "options by cross-validation (default: %(default)s)",
    )
    parser.add_argument("--kernel", choices=arguments.KERNELS, help="default: rbf")
    parser.add_argument(
        "--gamma",
        type=arguments.gamma,
        metavar="VALUE",
        help='kernel coefficient: a number, "scale" or "auto", as in SVR; "evidence" learns it and '
        '"ard" one for every column (default: scale)',
    )


def _add_search(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--likelihood",
        choices=["gaussian", "poisson", "negative_binomial", "student_t"],
        help="distribution of numbers: of those with Gaussian noise, of counts, of counts that "
        "vary more, or of those with outliers (default: gaussian)",
    )
    parser.add_argument(
        "--exposure",
        metavar="NAME",
        help="column with the time, the area or the like that each count of the target is over; "
        "their rate is fitted, by --likelihood poisson",
    )
    parser.add_argument(
        "--centers",
        type=arguments.count,
        metavar="COUNT",
        help="rows, drawn at random, that may carry functions (default: all, or as many as can)",
    )
    parser.add_argument(
        "--n-starts",
        type=arguments.count,
        metavar="COUNT",
        help="starts of the search, of which the evidence picks the best",
    )
    parser.add_argument(
        "--max-iter", type=arguments.count, metavar="COUNT", help="passes of the search at most"
    )


def _add_split(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--test-size",
        type=arguments.share,
        default=0.2,
        metavar="SHARE",
        help="share of the rows held out at random; 0 fits them all (default: %(default)s)",
    )
    parser.add_argument(
        "--cv",
        type=arguments.folds,
        metavar="FOLDS",
        help="print scores of so many folds of the rows to fit, drawn at random, as well",
    )
    parser.add_argument(
        "--calibrate",
        action="store_true",
        help="make intervals as wide as errors in five folds of the rows to fit ask for, and write "
        "for classes which may be the true one; the model does so in predictions too",
    )
    parser.add_argument(
        "--random-state", type=int, default=0, metavar="SEED", help="default: %(default)s"
    )
