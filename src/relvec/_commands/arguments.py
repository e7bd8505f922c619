"""Arguments that commands share, and the types of arguments."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

#: Names of kernels of rows: those of `relvec.basis`, which takes a second to import.
KERNELS = (
    *("rbf", "matern32", "matern52", "rational_quadratic", "laplacian", "linear", "poly"),
    *("sigmoid", "linear_spline", "tanimoto", "hamming", "categorical", "effects"),
    "processes",
)
#: Kinds of models, the first of which is fitted where too few rows tell them apart.
MODELS = ("rvm", "effects", "linear")
#: Folds of the cross-validation that compares them.
FOLDS = 3
# Whole numbers with more distinct values than this are quantities, not classes.
MOST_CLASSES = 10
#: Option of `relvec fit` for each parameter of the estimators that it sets.
FIT_OPTIONS = {
    "kernel": "--kernel",
    "gamma": "--gamma",
    "centers": "--centers",
    "likelihood": "--likelihood",
    "n_starts": "--n-starts",
    "max_iter": "--max-iter",
}
#: Standard input or output in the place of a file.
STANDARD = Path("-")
#: Ends of the names of tables that are written.
TABLES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")

#: The part of descriptions that says which models a command reads.
PICKLES = (
    "A model in a .skops file can run no code. Every other is a pickle, which can run any when it "
    "is read, and is read with --trust-pickle only."
)


def add_file(parser: ArgumentParser, *names: str, **settings: Any) -> None:
    """Add an argument that is a file, whose name a shell completes where it can."""
    action: Any = parser.add_argument(*names, **settings)
    if find_spec("shtab") is not None:
        action.complete = import_module("shtab").FILE


def add_model(parser: ArgumentParser) -> None:
    """Add the model that a command reads."""
    add_file(parser, "model", metavar="MODEL", type=Path, help="file written by `relvec fit`")
    parser.add_argument(
        "--trust-pickle",
        action="store_true",
        help="read a MODEL that is no .skops file, and have it run any code that is in it",
    )


def add_data(parser: ArgumentParser) -> None:
    """Add the table that a command reads, and how its cells are written."""
    add_file(
        parser,
        "data",
        metavar="DATA",
        type=Path,
        help="table: a text (CSV, TSV and the like, also compressed) or a Parquet file; - is "
        "standard input",
    )
    group = parser.add_argument_group("cells of DATA, which are told from it by default")
    group.add_argument(
        "--sep", type=_separator, metavar="SIGN", help='separator: a sign, "tab" or "space"'
    )
    group.add_argument("--decimal", choices=[".", ","], help="decimal mark")
    group.add_argument("--thousands", metavar="SIGN", help="mark between thousands (default: none)")
    group.add_argument("--encoding", metavar="NAME", help="encoding, such as utf-8 or latin-1")
    group.add_argument(
        "--na",
        action="append",
        metavar="TEXT",
        help="cells that are missing values, beside empty ones, instead of NA, NaN, null and the "
        "like; repeatable",
    )


def add_drop_missing(parser: ArgumentParser) -> None:
    """Add the choice to leave rows out."""
    parser.add_argument(
        "--drop-missing", action="store_true", help="leave out rows with missing values"
    )


def _separator(text: str) -> str:
    """Sign between cells."""
    sign = {"tab": "\t", "\\t": "\t", "space": r"\s+"}.get(text, text)
    if len(text) != 1 and sign == text:
        raise ArgumentTypeError(f"{text!r} is not one sign, tab or space")
    return sign


def output_path(text: str) -> Path:
    """File that is written."""
    path = Path(text)
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"there is no folder {path.parent}")
    if path.is_dir():
        raise ArgumentTypeError(f"{path} is a folder, expected a file")
    return path


def output_table(text: str) -> Path:
    """File of a table that is written, or standard output."""
    if text != str(STANDARD) and not text.endswith(TABLES):
        raise ArgumentTypeError(f"{text} must end in {', '.join(TABLES)}, or be -")
    return output_path(text)


def gamma(text: str) -> float | str:
    """Coefficient of a kernel, or a word by which the estimator finds one."""
    try:
        return float(text)
    except ValueError:
        return text


def count(text: str) -> int:
    """Whole number above zero."""
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return int(text)


def folds(text: str) -> int:
    """Number of folds of a cross-validation."""
    value = count(text)
    if value == 1:
        raise ArgumentTypeError("1 fold leaves no rows to fit: expected 2 or more")
    return value


def coverage(text: str) -> float:
    """Probability of an interval."""
    value = share(text)
    if value == 0:
        raise ArgumentTypeError(f"{text} must be more than 0 and less than 1, such as 0.9")
    return value


def share(text: str) -> float:
    """Share of the rows."""
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= value < 1:
        raise ArgumentTypeError(f"{text} must be at least 0 and less than 1")
    return value
