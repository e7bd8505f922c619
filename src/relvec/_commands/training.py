"""Inputs and target of a fit, made of the table that its options name."""

from __future__ import annotations

import warnings
from argparse import Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from relvec._commands import files
from relvec._commands.columns import Columns, check_cells, check_texts, check_usable, complete_rows
from relvec._commands.preparation import Preparation
from relvec._commands.tables import Format, options_of, read_table
from relvec._commands.terminal import print_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TrainingTable:
    """Rows to fit, and how they were made of a table.

    Attributes
    ----------
    X : DataFrame of shape (n_rows, n_inputs)
        Inputs.
    y : Series of shape (n_rows,)
        Targets.
    preparation : Preparation
        How the inputs were made.
    lines : dict of str to str
        How the table was read and what its columns are, for the report.
    """

    X: pd.DataFrame
    y: pd.Series
    preparation: Preparation
    lines: dict[str, str]


def training_data(options: Namespace) -> TrainingTable:
    """Read the table of a fit; what cannot be fitted raises ValueError with a remedy."""
    given = options_of(options)
    table, form = read_table(options.data, given)
    files.require_columns(table, options.exclude, options.data)
    table = table.drop(columns=options.exclude)
    named = [options.target, *options.categories, *options.season]
    files.require_columns(table, named, options.data)
    if not len(table):
        raise ValueError(f"{options.data} has names of columns and no rows")
    y, table = table[options.target], table.drop(columns=options.target)
    _check_target(y, form, options)
    columns = Columns.of(
        table,
        form,
        categories=options.categories,
        seasons=options.season,
        date_format=options.date_format,
    )
    inputs = columns.inputs(table, form)
    check_usable(table, inputs.unusable)
    rows = _rows(inputs.X, y, options)
    read_as = {"read with": str(form)} if str(form) else {}
    return TrainingTable(
        inputs.X[rows],
        y[rows],
        Preparation(columns, options.target, given, options.impute, options=_plain(options)),
        read_as | columns.lines(),
    )


def _check_target(y: pd.Series, form: Format, options: Namespace) -> None:
    """Raise unless a target holds numbers or classes; warn of one that never changes."""
    from pandas.api.types import is_numeric_dtype

    check_cells(y)
    if files.holds_texts(y) and options.task != "classification":
        check_texts(y, form, "--task classification takes them as classes")
    if is_numeric_dtype(y):
        infinite = np.isinf(y.to_numpy(dtype=float, na_value=np.nan))
        check_usable(y.to_frame(), {str(y.name): infinite} if infinite.any() else {})
        if y.nunique() == 1:
            warnings.warn(
                f"the target {y.name!r} has one value, {y.dropna().iloc[0]}: there is nothing to "
                "learn; --target names another column",
                UserWarning,
                stacklevel=2,
            )


def _rows(X: pd.DataFrame, y: pd.Series, options: Namespace) -> pd.Series:
    """Mark the rows to fit, and print how many are left out."""
    if options.impute:
        rows, missing = complete_rows(y.to_frame(), drop=options.drop_missing)
    else:
        ways = "--drop-missing leaves these rows out, --impute fills inputs in"
        rows, missing = complete_rows(
            X.assign(**{y.name: y}), drop=options.drop_missing, advice=ways
        )
    if missing:
        print_text(f"{missing}: left out")
    if not rows.any():
        raise ValueError("no row is left to fit: --impute fills in missing inputs")
    return rows


def _plain(options: Namespace) -> dict[str, object]:
    """Options of the fit as a stored model holds them."""
    plain = (bool, int, float, str, list, type(None))
    return {name: value for name, value in vars(options).items() if isinstance(value, plain)}
