"""``relvec predict``: predict the rows of a table."""

from __future__ import annotations

from pathlib import Path

from relvec._commands.files import (
    missing,
    read_table,
    require_columns,
    require_scalars,
    write_table,
)
from relvec._commands.tasks import load_model
from relvec._commands.words import (
    Commands,
    Options,
    add_command,
    add_file,
    output_table,
    table_path,
)

EXAMPLES = """\
predict price.skops new_houses.csv --out predicted.csv
predict price.skops new_houses.parquet --out predicted.parquet"""


def run(options: Options) -> None:
    """Predict every row, or none."""
    task, model = load_model(options.model)
    table = read_table(options.data)
    require_columns(table, model.feature_names_in_, options.data)
    table = table[model.feature_names_in_]
    require_scalars(table)
    rows, description = missing(table)
    if rows.any():
        raise ValueError(f"{description}; nothing was predicted")
    write_table(task.predictions(model, table), options.out)
    print(f"{len(table)} predictions written to {options.out}")


def add(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "predict",
        run,
        help="predict the rows of a table",
        description="Predict each row: mean, standard deviation of a new observation, and the "
        "ends of its 95 % interval; or its class, and the probability of every class. A model "
        "in a .skops file can run no code. Every other is a pickle, which can run any when it is "
        "read: load only those that you trust.",
        examples=EXAMPLES,
    )
    add_file(parser, "model", metavar="MODEL", type=Path, help="file written by `relvec fit`")
    add_file(parser, "data", metavar="DATA", type=table_path, help="CSV or Parquet file")
    add_file(
        parser,
        "--out",
        required=True,
        type=output_table,
        metavar="FILE",
        help="CSV or Parquet file",
    )
