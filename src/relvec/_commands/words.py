"""What the words of a command may be, and how its help and its errors are set."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from relvec.basis.scale import LEARNT

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
    """Add a word that is a file, whose name a shell completes where it can."""
    action: Any = parser.add_argument(*names, **settings)
    if find_spec("shtab") is not None:
        action.complete = import_module("shtab").FILE


class _Help(argparse.HelpFormatter):
    """Help whose paragraphs are filled, and whose examples keep their lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return text
        return super()._fill_text(text, width, indent)


def one_line(message: object) -> str:
    """Text of a message or an error, its lines joined; the name of an error without text."""
    return " ".join(str(message).split()) or type(message).__name__


def listed(names: Iterable[object]) -> str:
    """Name a few, and say how many more there are."""
    words = [str(name) for name in names]
    shown, rest = ", ".join(words[:12]), len(words) - 12
    return f"{shown} and {rest} more" if rest > 0 else shown


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
    return path


def output_table(text: str) -> Path:
    """File of a table that is written."""
    return table_path(str(output_path(text)))


def number(text: str) -> float:
    """A number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def gamma(text: str) -> float | str:
    """Coefficient of a kernel, or how it is found."""
    return text if text in {"scale", "auto", *LEARNT} else number(text)


def share(text: str) -> float:
    """Share of the rows."""
    value = number(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} must be at least 0 and less than 1")
    return value
