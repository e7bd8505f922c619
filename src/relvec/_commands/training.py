"""Inputs and target of a fit, made of the table that its options name."""

from __future__ import annotations

import warnings
from argparse import Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relvec._commands import files
from relvec._commands.arguments import MOST_CLASSES
from relvec._commands.columns import (
    LARGEST,
    Columns,
    check_cells,
    check_usable,
    complete_rows,
)
from relvec._commands.number_texts import check_texts
from relvec._commands.preparation import Preparation
from relvec._commands.tables import Format, numbers_of, options_of, read_table
from relvec._commands.terminal import option, print_text

if TYPE_CHECKING:
    import pandas as pd

# Rows of which two can be fitted and one held out.
LEAST_ROWS = 3
# Numbers that often stand for missing values.
FILLERS = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999)


@dataclass(frozen=True)
class TrainingTable:
    """Rows to fit, and how they were made of a table."""

    X: pd.DataFrame  # (n_rows, n_inputs)
    y: pd.Series  # (n_rows,)
    preparation: Preparation  # how the inputs were made
    lines: dict[str, str]  # how the table was read and what its columns are, for the report


def training_data(options: Namespace) -> TrainingTable:
    """Read the table of a fit; what cannot be fitted raises ValueError with a remedy."""
    given = options_of(options)
    table, form = read_table(options.data, given)
    files.require_columns(table, options.exclude, options.data)
    table = table.drop(columns=options.exclude)
    named = [options.target, *options.categories, *options.numbers, *options.season]
    named += [options.exposure] if options.exposure else []
    files.require_columns(table, named, options.data)
    if not len(table):
        raise ValueError(f"{options.data} has names of columns and no rows")
    _check_count(len(table), options)
    y, table = _target(table[options.target], form, options), table.drop(columns=options.target)
    columns = Columns.of(
        table,
        form,
        categories=options.categories,
        numbers=options.numbers,
        seasons=options.season,
        date_format=options.date_format,
        exposure=options.exposure,
    )
    inputs = columns.inputs(table, form)
    check_usable(table, inputs.unusable)
    numbers = inputs.X.assign(**{options.target: y}).select_dtypes("number")
    for name in numbers:
        _warn_of_fillers(numbers[name])
    rows = _rows(columns, inputs.X, y, options)
    read_as = {"read with": str(form)} if str(form) else {}
    return TrainingTable(
        inputs.X[rows],
        y[rows],
        Preparation(columns, options.target, given, options.impute, options=_plain(options)),
        read_as | columns.lines(),
    )


def _target(y: pd.Series, form: Format, options: Namespace) -> pd.Series:
    """Return a target of numbers or classes; raise if it is neither, warn if it never changes."""
    from pandas.api.types import is_numeric_dtype

    check_cells(y)
    if y.isna().all():
        raise ValueError(f"the target {y.name!r} has no values: --target names another column")
    if options.task == "regression":
        y = numbers_of(y, form)
    if files.holds_texts(y) and options.task != "classification":
        _check_classes(y, form)
    if is_numeric_dtype(y):
        infinite = np.abs(y.to_numpy(dtype=float, na_value=np.nan)) >= LARGEST
        check_usable(y.to_frame(), {str(y.name): infinite} if infinite.any() else {})
        if y.nunique() == 1:
            warnings.warn(
                f"the target {y.name!r} has one value, {y.dropna().iloc[0]}: there is nothing to "
                "learn; --target names another column",
                UserWarning,
                stacklevel=2,
            )
    return y


def _check_classes(y: pd.Series, form: Format) -> None:
    """Raise where texts of a target look like numbers, or are too many for classes."""
    ways = ("--task classification takes them as classes", "--target names another column")
    check_texts(y, form, *ways)
    different, present = y.nunique(), int(y.notna().sum())
    if different > MOST_CLASSES and 2 * different > present:
        stored = "--task regression takes them as numbers, or " * (numbers_of(y, form) is not y)
        raise ValueError(
            f"the target {y.name!r} holds {different} different texts in {present} rows, expected "
            f"numbers or a few classes: {stored}{', or '.join(ways)}"
        )


def _warn_of_fillers(column: pd.Series) -> None:
    """Warn of a number that often stands for missing values and is far from all others."""
    for filler in FILLERS:
        others = column[column != filler].dropna()
        low, high = others.min(), others.max()
        if (
            filler in column.values
            and low < high
            and not 2 * low - high <= filler <= 2 * high - low
        ):
            warnings.warn(
                f"column {column.name!r} holds {filler}, far from all others, {low:.4g} to "
                f"{high:.4g}: where it stands for a missing value, {option('--na', filler)} takes "
                "it as such",
                UserWarning,
                stacklevel=2,
            )


def _rows(columns: Columns, X: pd.DataFrame, y: pd.Series, options: Namespace) -> pd.Series:
    """Mark the rows to fit, which lack nothing that is needed, and print how many are left out."""
    judged, least = (
        columns.needed(X, impute=impute).assign(**{options.target: y})
        for impute in (options.impute, True)
    )
    ways = "--drop-missing leaves these rows out"
    if not (options.impute or least.isna().to_numpy().any()):
        ways += ", --impute fills them in"
    rows, missing = complete_rows(judged, drop=options.drop_missing, advice=ways)
    if missing:
        print_text(f"{missing}: left out")
    if not rows.any():
        raise ValueError("no row is left to fit: --impute fills in missing inputs")
    _check_count(int(rows.sum()), options)
    return rows


def _check_count(count: int, options: Namespace) -> None:
    if count < LEAST_ROWS:
        raise ValueError(f"{options.data} has {count} rows to fit, expected {LEAST_ROWS} or more")


def _plain(options: Namespace) -> dict[str, object]:
    """Options of the fit as a stored model holds them."""
    plain = (bool, int, float, str, list, type(None))
    return {name: value for name, value in vars(options).items() if isinstance(value, plain)}
