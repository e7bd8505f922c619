"""``relvec report``: one page on a model and how it does on a table."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from relvec._commands import arguments

HELP = "write a page on a model and how it does on a table"
DESCRIPTION = (
    "Write one HTML page that holds all it shows: what is in the table, what the "
    "fit found, how well its rows are predicted, with pictures, what is wrong with the fit, "
    "and how the evidence rose. Rows that the model was fitted on are predicted better than "
    "new ones: give it rows that it has not seen. " + arguments.PICKLES
)
EXAMPLES = """\
report price.skops houses.csv --out price.html
report price.skops houses.parquet --target price --drop-missing --out price.html"""


def run(options: Namespace) -> None:
    """Write the page."""
    from relvec._commands.page import write_page

    write_page(options)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    arguments.add_model(parser)
    arguments.add_data(parser)
    parser.add_argument(
        "--target",
        metavar="NAME",
        help="column that the model predicts (default: the target of its fit)",
    )
    arguments.add_drop_missing(parser)
    arguments.add_file(
        parser,
        "--out",
        required=True,
        type=arguments.output_path,
        metavar="PAGE",
        help="HTML file to write",
    )
