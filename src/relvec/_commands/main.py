"""The ``relvec`` command, put together from :mod:`relvec._commands`.

Results go to standard output. Warnings and errors go to standard error, one line each.

Exit codes: 0, the command did what it says; 2, its arguments, a file or the data are wrong, and one
line says how; 130, it was interrupted; 141, nobody reads its output any more. Anything else, with a
traceback, is a bug.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, NoReturn

from relvec._commands import COMMANDS
from relvec._commands.arguments import FIT_OPTIONS
from relvec._commands.files import check_outputs
from relvec._commands.terminal import one_line, print_text

DONE, WRONG, INTERRUPTED, UNREAD = 0, 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code, 0 or another of those above.

    Without `arguments`, those after the program's name, it takes those that it was started with.
    """
    try:
        options = build_parser().parse_args(arguments)
        with _one_line_warnings(), _naming_the_model(options):
            check_outputs(options)
            options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left to print must not fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    except (ValueError, OverflowError, OSError, ImportError, MemoryError) as error:
        print_text(f"relvec: error: {one_line(error)}", file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        print("relvec: interrupted", file=sys.stderr)
        return INTERRUPTED
    return DONE


def build_parser() -> argparse.ArgumentParser:
    """Put the commands together."""
    parser = _Parser(
        prog="relvec",
        description="Relevance vector machines on tables: text (CSV and the like) or Parquet files "
        "with a column for every input and one for the target.",
        epilog="exit codes: 0 done; 2 the arguments, a file or the data are wrong, and one line "
        "says how; 130 interrupted; 141 nobody reads the output",
    )
    parser.set_defaults(parser=parser)
    parser.add_argument(
        "--version", action="version", version=f"%(prog)s {version('relvec')}", help="and exit"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        subparser = commands.add_parser(
            command.__name__.rpartition(".")[2],
            help=command.HELP,
            description=command.DESCRIPTION,
            epilog="examples:\n" + textwrap.indent(command.EXAMPLES, "  relvec "),
            formatter_class=_Help,
        )
        subparser.set_defaults(run=command.run)
        command.add_arguments(subparser)
    return parser


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Show what the fit warns about, a line each, without the source line that Python adds.

    Advice is that of the command line.
    """
    from relvec.exceptions import RelvecWarning, sentence

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if isinstance(message, RelvecWarning):
            message = sentence(message.fact, message.advice, FIT_OPTIONS)
        print_text(f"relvec: warning: {one_line(message)}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        warnings.filterwarnings("ignore", "Found unknown categories")  # named by column elsewhere
        warnings.showwarning = show
        yield


@contextmanager
def _naming_the_model(options: argparse.Namespace) -> Iterator[None]:
    """Name the model that a command reads in errors that a file of another making may cause."""
    try:
        yield
    except (AttributeError, LookupError, TypeError) as error:
        if "model" not in options:
            raise
        raise ValueError(
            f"{options.model} holds a model that cannot be used ({type(error).__name__}: {error})"
        ) from error


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        print_text(f"{self.prog}: error: {one_line(message)}", file=sys.stderr)
        self.exit(WRONG)


class _Help(argparse.HelpFormatter):
    """Help whose paragraphs are filled, and whose examples keep their lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return text
        return super()._fill_text(text, width, indent)
