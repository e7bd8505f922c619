"""``relvec report``: one page on a model and how it does on a table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from relvec._commands.files import missing, need, read_table, require_columns, require_scalars
from relvec._commands.tasks import load_model
from relvec._commands.words import (
    Commands,
    Options,
    add_command,
    add_file,
    listed,
    output_path,
    table_path,
)

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = """\
report price.skops houses.csv --out price.html
report price.skops houses.parquet --target price --drop-missing --out price.html"""


def run(options: Options) -> None:
    """Write the page."""
    need("jinja2")
    need("matplotlib")
    from relvec._commands import page

    task, model = load_model(options.model)
    table = read_table(options.data)
    require_columns(table, model.feature_names_in_, options.data)
    target = options.target or _only_other(table, list(model.feature_names_in_), options.data)
    require_columns(table, [target], options.data)
    used = table[[*model.feature_names_in_, target]]
    require_scalars(used)
    rows, description = missing(used)
    if rows.any() and not options.drop_missing:
        raise ValueError(f"{description}; --drop-missing leaves these rows out")
    if rows.all():
        raise ValueError(f"{options.data} has no row to judge the model on")
    judged = page.Judged(task, model, table, ~rows, target)
    html = page.render(judged, options.model.name, options.data.name)
    options.out.write_text(html, encoding="utf-8")
    print(f"report on {judged.n_rows} rows written to {options.out}")


def _only_other(table: pd.DataFrame, names: list[str], path: Path) -> str:
    """Name of the only column that the model does not read."""
    others = [name for name in table.columns if name not in names]
    if len(others) != 1:
        raise ValueError(
            f"--target is needed: {path} has {len(others)} columns that the model does not read, "
            f"expected one{': ' * bool(others)}{listed(others)}"
        )
    return str(others[0])


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "report",
        run,
        help="write a page on a model and how it does on a table",
        description="Write one HTML page that holds all it shows: what is in the table, what the "
        "fit found, how well its rows are predicted, with pictures, what is wrong with the fit, "
        "and how the evidence rose. Rows that the model was fitted on are predicted better than "
        "new ones: give it rows that it has not seen. A model that is no .skops file is a pickle, "
        "which can run any code when it is read: load only those that you trust.",
        examples=EXAMPLES,
    )
    _add_words(parser)


def _add_words(parser: argparse.ArgumentParser) -> None:
    add_file(parser, "model", metavar="MODEL", type=Path, help="file written by `relvec fit`")
    add_file(parser, "data", metavar="DATA", type=table_path, help="CSV or Parquet file")
    parser.add_argument(
        "--target",
        metavar="NAME",
        help="column that the model predicts (default: the only one that it does not read)",
    )
    parser.add_argument(
        "--drop-missing", action="store_true", help="leave out rows with missing values"
    )
    add_file(
        parser, "--out", required=True, type=output_path, metavar="PAGE", help="HTML file to write"
    )
