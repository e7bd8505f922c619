"""Parsers of the commands: their help, and the types of their arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[Any]"
Options: TypeAlias = argparse.Namespace


def add_command(
    commands: Commands,
    name: str,
    run: Callable[[Options], None],
    *,
    help: str,  # noqa: A002 - argparse's own word
    description: str,
    examples: str,
) -> argparse.ArgumentParser:
    """Add a command whose help ends with examples, a line each."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=description,
        epilog="examples:\n" + "".join(f"  relvec {line}\n" for line in examples.splitlines()),
        formatter_class=_Help,
    )
    parser.set_defaults(run=run)
    return parser


def add_file(parser: argparse.ArgumentParser, *names: str, **settings: Any) -> None:
    """Add an argument that is a file, whose name a shell completes where it can."""
    action: Any = parser.add_argument(*names, **settings)
    if find_spec("shtab") is not None:
        action.complete = import_module("shtab").FILE


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model that a command reads."""
    add_file(parser, "model", metavar="MODEL", type=Path, help="file written by `relvec fit`")


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the table that a command reads."""
    add_file(parser, "data", metavar="DATA", type=table_path, help="CSV or Parquet file")


def add_drop_missing(parser: argparse.ArgumentParser) -> None:
    """Add the choice to leave rows out."""
    parser.add_argument(
        "--drop-missing", action="store_true", help="leave out rows with missing values"
    )


class _Help(argparse.HelpFormatter):
    """Help whose paragraphs are filled, and whose examples keep their lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return text
        return super()._fill_text(text, width, indent)


def table_path(text: str) -> Path:
    """File of a table that is read."""
    path = Path(text)
    if path.suffix not in {".csv", ".parquet"}:
        raise argparse.ArgumentTypeError(f"{text} must end in .csv or .parquet")
    return path


def output_path(text: str) -> Path:
    """File that is written."""
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{path} is a folder, expected a file")
    return path


def output_table(text: str) -> Path:
    """File of a table that is written."""
    return table_path(str(output_path(text)))


def gamma(text: str) -> float | str:
    """Coefficient of a kernel, or a word by which the estimator finds one."""
    try:
        return float(text)
    except ValueError:
        return text


def share(text: str) -> float:
    """Share of the rows."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} must be at least 0 and less than 1")
    return value
