"""``relvec predict``: predict the rows of a table."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from relvec._commands import arguments, files
from relvec._commands.terminal import listed, print_text

if TYPE_CHECKING:
    import pandas as pd

    from relvec._commands.columns import Inputs
    from relvec._commands.preparation import Preparation

HELP = "predict the rows of a table"
DESCRIPTION = (
    "Predict each row: mean, standard deviation of a new observation, and the "
    "ends of an interval; or its class, and the probability of every class. "
    "The table is read as the one that was fitted, with columns in any order. " + arguments.PICKLES
)
EXAMPLES = """\
predict price.skops new_houses.csv --out predicted.csv
predict price.skops new_houses.csv --skip-bad --coverage 0.9 --out predicted.csv
predict price.skops new_houses.parquet --keep size --out predicted.parquet"""


def run(options: Namespace) -> None:
    """Predict every row, or those that can be."""
    from relvec._commands.preparation import Preparation
    from relvec._commands.tables import options_of, write_table
    from relvec._commands.tasks import load_model

    task, model = load_model(options.model, trust_pickle=options.trust_pickle)
    preparation = Preparation.of(model)
    table, inputs = preparation.read(options.data, options_of(options))
    files.require_columns(table, options.keep, options.data)
    rows = _rows(table, inputs, preparation, skip=options.skip_bad)
    X = inputs.X.loc[rows, model.feature_names_in_]
    preparation.warn_of_unknown(X)
    told = task.predictions(model, X, options.coverage) if len(X) else None
    if told is None:
        raise ValueError(f"{options.data} has no row that can be predicted")
    write_table(_beside(table[options.keep], told, rows), options.out)
    done = f"{len(X)} predictions written to {options.out}"
    bad = len(table) - len(X)
    done += f", {bad} rows left empty" if bad else ""
    print_text(done, sys.stderr if options.out == arguments.STANDARD else None)


def _rows(
    table: pd.DataFrame, inputs: Inputs, preparation: Preparation, *, skip: bool
) -> pd.Series:
    """Mark the rows that can be predicted; unless the others are skipped they raise ValueError."""
    from relvec._commands.columns import check_usable, complete_rows

    advice = "--skip-bad leaves the predictions of such rows empty"
    if not skip:
        check_usable(table, inputs.unusable, advice)
    needed = preparation.columns.needed(inputs.X, impute=preparation.impute)
    rows, _ = complete_rows(needed, drop=skip, advice=advice)
    rows &= ~inputs.X.isna().all(axis="columns")
    for bad in inputs.unusable.values():
        rows &= ~bad
    return rows


def _beside(kept: pd.DataFrame, told: pd.DataFrame, rows: pd.Series) -> pd.DataFrame:
    """Put predictions beside the columns that are kept; other rows have none."""
    import pandas as pd

    twice = [name for name in kept.columns if name in told.columns]
    if twice:
        raise ValueError(f"--keep {listed(twice)} has the name of a prediction: rename the column")
    told = told.set_axis(rows.index[rows], axis="index")
    if not rows.all():  # as they are, where whole numbers would become floats
        classes = [name for name in told if name == "predicted"]
        told = told.astype(dict.fromkeys(classes, object))
    return pd.concat([kept, told.reindex(rows.index)], axis="columns")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_model(parser)
    arguments.add_data(parser)
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="NAME",
        help="column of DATA to write before the predictions, such as an identifier; repeatable",
    )
    parser.add_argument(
        "--skip-bad",
        action="store_true",
        help="leave empty the predictions of rows with missing values or cells that cannot be read",
    )
    parser.add_argument(
        "--coverage",
        type=arguments.coverage,
        default=0.95,
        metavar="SHARE",
        help="probability of the intervals of numbers (default: %(default)s)",
    )
    arguments.add_file(
        parser,
        "--out",
        default=arguments.STANDARD,
        type=arguments.output_table,
        metavar="FILE",
        help=f"file that ends in {', '.join(arguments.TABLES)}; - is standard output, as CSV "
        "(default: -)",
    )
