"""``relvec predict``: predict the rows of a table."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from relvec._commands import arguments, files
from relvec._commands.terminal import print_text

HELP = "predict the rows of a table"
DESCRIPTION = (
    "Predict each row: mean, standard deviation of a new observation, and the "
    "ends of its 95 % interval; or its class, and the probability of every class. "
    + arguments.PICKLES
)
EXAMPLES = """\
predict price.skops new_houses.csv --out predicted.csv
predict price.skops new_houses.parquet --out predicted.parquet"""


def run(options: Namespace) -> None:
    """Predict every row, or none."""
    from relvec._commands.tasks import load_model

    task, model = load_model(options.model, trust_pickle=options.trust_pickle)
    table = files.read_table(options.data)
    files.require_columns(table, model.feature_names_in_, options.data)
    table = table[model.feature_names_in_]
    files.complete_rows(table, drop=False, advice="nothing was predicted")
    files.write_table(task.predictions(model, table), options.out)
    print_text(f"{len(table)} predictions written to {options.out}")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_model(parser)
    arguments.add_data(parser)
    arguments.add_file(
        parser,
        "--out",
        required=True,
        type=arguments.output_table,
        metavar="FILE",
        help="CSV or Parquet file",
    )
