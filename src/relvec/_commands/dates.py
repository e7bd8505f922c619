"""Dates in columns: the format they are written in, days, and the season."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relvec._commands.files import holds_texts, need
from relvec._commands.terminal import option

if TYPE_CHECKING:
    import pandas as pd

ISO = "ISO8601"
TIMES = ("", " %H:%M", " %H:%M:%S")
# Orders of day, month and year, of which two are told apart by days beyond the twelfth.
DATES = (
    *("%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d-%b-%Y", "%d %b %Y", "%b-%d-%Y", "%b %d %Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y"),
)
FORMATS = (ISO, *(date + time for date in DATES for time in TIMES))
# Dates as whole numbers of eight digits.
DIGITS, FIRST, LAST = "%Y%m%d", 1000_01_01, 3000_01_01


def format_of(column: pd.Series, given: str | None = None) -> str:
    """Return the format of a column of dates, or nothing where most cells are none.

    Raises ValueError where a few cells are none, or where day and month may be either.
    """
    from pandas.api.types import is_datetime64_any_dtype, is_integer_dtype

    if is_datetime64_any_dtype(column):
        return ISO
    if is_integer_dtype(column) and column.between(FIRST, LAST).all():
        return DIGITS if parsed(column, DIGITS).notna().all() else ""
    if not holds_texts(column):
        return ""
    present = column.dropna().astype(str)
    first = present.head(20)
    if 2 * first.str.contains(r"\d.*[-./ ]|[A-Za-z].*\d{4}").sum() <= len(first):  # most texts
        return ""
    tried = (given, ISO) if given else FORMATS
    read = {form: parsed(present, form).notna() for form in tried}
    best = max(read, key=lambda form: read[form].sum())
    if 2 * read[best].sum() <= len(present):
        return ""
    if not read[best].all():
        row = int(np.flatnonzero(column.notna())[np.flatnonzero(~read[best])[0]])
        cell = column.iloc[row]
        raise ValueError(
            f"column {column.name!r} holds dates, but {cell!r} in row {row}: "
            f"{option('--na', cell)} takes it as missing, --date-format names another format, or "
            f"{option('--exclude', column.name)} leaves the column out"
        )
    other = best.replace("%d/%m", "%m/%d").replace("%d-%m", "%m-%d")
    if other != best and read.get(other, read[best]).all() and not given:
        raise ValueError(
            f"column {column.name!r} holds dates of which {present.iloc[0]!r} may be read in two "
            f"ways: say {option('--date-format', best)} or {option('--date-format', other)}"
        )
    return best


def parsed(column: pd.Series, form: str) -> pd.Series:
    """Moments of a column, without a time zone; cells that are none are missing."""
    from pandas.api.types import is_datetime64_any_dtype

    texts = column
    if not is_datetime64_any_dtype(column):
        whole = column if holds_texts(column) else column.astype("Int64")
        texts = whole.astype(str).where(column.notna())
    moments = need("pandas").to_datetime(texts, format=form, errors="coerce", utc=True)
    return moments.dt.tz_convert(None)


def day_numbers(moments: pd.Series) -> pd.Series:
    """Days since the first of January 1970, with their fractions."""
    pandas = need("pandas")
    return (moments - pandas.Timestamp(0)) / pandas.Timedelta(days=1)


def season(name: str, moments: pd.Series) -> dict[str, pd.Series]:
    """Sine and cosine of the part of the year that has passed, by the names of their columns."""
    start = moments.dt.to_period("Y").dt.start_time
    length = 365 + moments.dt.is_leap_year
    angle = 2 * np.pi * day_numbers(moments).sub(day_numbers(start)) / length
    return {f"{name}_sin": np.sin(angle), f"{name}_cos": np.cos(angle)}
