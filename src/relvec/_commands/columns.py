"""Columns of a table: which are numbers, categories or dates, and inputs made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from relvec._commands.dates import day_numbers, format_of, parsed, season
from relvec._commands.files import holds_texts, need
from relvec._commands.number_texts import check_texts
from relvec._commands.tables import Format, has_zeros, numbers_of
from relvec._commands.terminal import listed, option

if TYPE_CHECKING:
    import pandas as pd

# Numbers that are as large are taken for infinite: their squares are.
LARGEST = 1e150
NUMBER, CATEGORY, DATE, AS_IT_IS = "number", "category", "date", "as it is"
EXPOSURE = "exposure"  # of counts, no input
# Plural of each kind, as reports name it.
KINDS = {NUMBER: "numbers", CATEGORY: "categories", DATE: "dates", EXPOSURE: EXPOSURE}


@dataclass(frozen=True)
class Inputs:
    """Inputs of a model, made of the columns of a table."""

    #: (n_rows, n_inputs), numbers and texts; what is missing or unusable is a missing value
    X: pd.DataFrame
    #: for columns that have such cells, the rows (n_rows,) whose cell is there and is no input
    unusable: dict[str, NDArray[np.bool_]]


@dataclass(frozen=True)
class Columns:
    """Kinds of the columns that a model reads, by which inputs are made of any table alike."""

    #: "number", "category", "date" or "exposure", or "as it is" where that is not known
    kinds: dict[str, str]
    dates: dict[str, str] = field(default_factory=dict)  # format of each column of dates
    #: columns of dates whose season is an input, too
    seasons: list[str] = field(default_factory=list)
    #: reason for each column that is not read
    left_out: dict[str, str] = field(default_factory=dict)
    #: columns of categories that are numbers with leading zeros
    zeros: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        table: pd.DataFrame,
        form: Format,
        *,
        categories: Sequence[str] = (),
        numbers: Sequence[str] = (),
        seasons: Sequence[str] = (),
        date_format: str | None = None,
        exposure: str | None = None,
    ) -> Self:
        """Tell the kinds of columns from their cells; a doubtful one raises ValueError."""
        columns = cls({}, seasons=list(seasons))
        for name, column in table.items():
            check_cells(column)
            if name == exposure:
                columns.kinds[str(name)] = EXPOSURE
            elif name in {*categories, *numbers}:
                columns.kinds[str(name)] = CATEGORY if name in categories else NUMBER
            else:
                columns._add(column, form, date_format)
        for name in columns.seasons:
            if name not in columns.dates:
                raise ValueError(f"--season {name} is for a column of dates, which it is not")
            if {f"{name}_sin", f"{name}_cos"} & {*table.columns}:
                raise ValueError(
                    f"--season {name} makes {name}_sin: rename the column of that name"
                )
        if not columns.kinds.keys() - {exposure}:
            reasons = [f"{name} ({reason})" for name, reason in columns.left_out.items()]
            raise ValueError(f"no column is left to predict from: {listed(reasons) or 'none'}")
        return columns

    def _add(self, column: pd.Series, form: Format, date_format: str | None) -> None:
        """Add a column to those of its kind."""
        name = str(column.name)
        reason = _reason_to_leave(column)
        if reason:
            self.left_out[name] = reason
        elif found := format_of(column, date_format):
            self.kinds[name], self.dates[name] = DATE, found
        elif _holds_numbers(column):
            self.kinds[name] = NUMBER
        elif not holds_texts(column):
            raise ValueError(
                f"column {name!r} holds {column.dtype}, neither numbers, categories nor dates: "
                f"{option('--exclude', name)} leaves it out"
            )
        else:
            check_texts(
                column,
                form,
                f"{option('--categories', name)} takes them as categories",
                f"{option('--exclude', name)} leaves the column out",
            )
            self._add_texts(column)

    def _add_texts(self, column: pd.Series) -> None:
        name, different, present = str(column.name), column.nunique(), int(column.notna().sum())
        zeros = has_zeros(column)
        if 2 * different > present:
            self.left_out[name] = (
                f"{different} different texts in {present} rows; "
                f"{option('--categories', name)} takes them as categories"
                + f", {option('--numbers', name)} as numbers"
                * zeros
            )
        else:
            self.kinds[name] = CATEGORY
            self.zeros.extend([name] * zeros)

    @property
    def exposure(self) -> str | None:
        """Name of the column with the exposure of each count, None without any."""
        return next((name for name, kind in self.kinds.items() if kind == EXPOSURE), None)

    def needed(self, X: pd.DataFrame, *, impute: bool) -> pd.DataFrame:
        """Return the columns that may have no missing values: an exposure is never filled in."""
        return X[[name for name in X if name == self.exposure]] if impute else X

    def inputs(self, table: pd.DataFrame, form: Format) -> Inputs:
        """Make inputs of a table that has the columns."""
        import pandas as pd

        made: dict[str, pd.Series] = {}
        unusable = {}
        for name, kind in self.kinds.items():
            column = values = table[name]
            if kind in (NUMBER, EXPOSURE):
                values = _numbers(column, form)
                values = values.where(values > 0) if kind == EXPOSURE else values
            elif kind == CATEGORY:
                values = _texts(column)
            elif kind == DATE:
                moments = parsed(column, self.dates[name])
                values = day_numbers(moments)
                if name in self.seasons:
                    made |= season(name, moments)
            made[name] = values
            bad = (values.isna() & column.notna()).to_numpy()
            if bad.any():
                unusable[name] = bad
        return Inputs(pd.DataFrame(made), unusable)

    def lines(self) -> dict[str, str]:
        """Names of the columns of each kind, and of those left out with the reason."""
        lines = {}
        for kind, plural in KINDS.items():
            names = [name for name, own in self.kinds.items() if own == kind]
            if kind == DATE:
                names = [
                    f"{name} (in days{', with the season' if name in self.seasons else ''})"
                    for name in names
                ]
            if names:
                lines[plural] = listed(names)
        if self.zeros:
            lines["leading zeros"] = "\n".join(
                f"{name}: categories, not numbers; {option('--numbers', name)} takes them as such"
                for name in self.zeros
            )
        if self.left_out:
            lines["left out"] = "\n".join(f"{name}: {why}" for name, why in self.left_out.items())
        return lines

    def stored(self) -> dict[str, Any]:
        """Return what a stored model holds of it."""
        return asdict(self)


def complete_rows(
    table: pd.DataFrame, *, drop: bool, advice: str = "--drop-missing leaves these rows out"
) -> tuple[pd.Series, str]:
    """Mark the rows without missing values, and describe the others, if there are any.

    Raises ValueError with the advice where there are others that are not to be dropped.
    """
    missing = table.isna()
    rows = missing.any(axis="columns")
    if not rows.any():
        return ~rows, ""
    counts = missing.sum()
    columns = listed(f"{name}: {count}" for name, count in counts[counts > 0].items())
    description = f"{rows.sum()} of {len(table)} rows have missing values (in {columns})"
    if not drop:
        raise ValueError(f"{description}; {advice}")
    return ~rows, description


def check_usable(
    table: pd.DataFrame, unusable: dict[str, NDArray[np.bool_]], advice: str | None = None
) -> None:
    """Raise if a cell of the table is unusable, with advice or with the option that says so."""
    for name, bad in unusable.items():
        row = int(np.flatnonzero(bad)[0])
        cell = str(table[name].iloc[row])
        more = f" and {bad.sum() - 1} more" if bad.sum() > 1 else ""
        advice = advice or f"{option('--na', cell)} takes it as missing"
        number = need("pandas").to_numeric(cell, errors="coerce")
        taken = (
            "an exposure above 0"
            if abs(number) < LARGEST
            else f"numbers below {LARGEST:g} or dates alone"
        )
        raise ValueError(
            f"column {name!r} holds {cell!r} in row {row}{more}, where the model takes {taken}: "
            f"{advice}"
        )


def check_cells(column: pd.Series) -> None:
    """Raise if cells are lists or arrays, which are not told apart."""
    try:
        column.nunique()
    except TypeError as error:
        raise ValueError(
            f"column {column.name!r} holds lists or other containers, expected numbers or texts: "
            f"{option('--exclude', column.name)} leaves it out"
        ) from error


def _reason_to_leave(column: pd.Series) -> str:
    """Return why a column tells nothing, or nothing."""
    if column.isna().all():
        return "no values"
    if column.nunique(dropna=False) == 1:
        return f"one value, {column.iloc[0]}"
    if str(column.name).startswith("Unnamed: ") and _counts_rows(column):
        return "row numbers without a name"
    return ""


def _counts_rows(column: pd.Series) -> bool:
    from pandas.api.types import is_integer_dtype

    return bool(is_integer_dtype(column) and (column.diff().iloc[1:] == 1).all())


def _holds_numbers(column: pd.Series) -> bool:
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    if holds_texts(column):  # true and false with missing values between them are objects
        return bool(column.dtype == object and column.dropna().map(type).eq(bool).all())
    return is_numeric_dtype(column) and not is_complex_dtype(column)


def _numbers(column: pd.Series, form: Format) -> pd.Series:
    """Numbers as they are where they can be; what is no finite number is missing."""
    if holds_texts(column):
        flags = {True: 1.0, False: 0.0}
        if _holds_numbers(column):
            return column.map(flags).astype(float)
        column = numbers_of(column, form, partly=True)
    if column.isna().any():
        column = column.astype(float)
    finite = np.abs(column.to_numpy(dtype=float, na_value=np.nan)) < LARGEST
    return column if (finite | column.isna()).all() else column.where(finite)


def _texts(column: pd.Series) -> pd.Series:
    """Texts as they are, and numbers as they are written: 1, not 1.0."""
    texts = column.map(_text, na_action="ignore").astype(object)
    return texts.where(column.notna(), np.nan)


def _text(value: Any) -> str:
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)
