"""Texts that look like numbers, of which something keeps a table from being read as meant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from relvec._commands.tables import Format, numbers_of
from relvec._commands.terminal import option

if TYPE_CHECKING:
    import pandas as pd

# What stands around a number: signs, currencies, brackets, a unit such as %, m2 or km/h.
ALIKE = re.compile(
    r"\s*\(?[<>≤≥~]?\s*[+\-−]?\s*[$€£¥]?\s*\d[\d.,'’\s]*([eE][+-]?\d+)?\s*"
    r"(?P<unit>[^\W\d_]*|[%‰$€£¥]|°\w?|(?<=\s)[^\W\d_][\w/^²³·]*)\s*\)?\s*"
)
# Numbers with marks of thousands; the mark.
GROUPED = re.compile(
    r"[^\d]*\d{1,3}([,.'’ \u00a0\u202f])\d{3}(\1\d{3})*((?!\1)[.,]\d+)?(?![.,]?\d)\D*"
)
# Dates whose year has two digits, which versions of programs may be as well.
DATE = re.compile(r"\s*\d{1,2}\.\d{1,2}\.\d{2}\s*")
# Numbers with a unit of letters are told from codes, such as 4WD, by how many differ.
FEW_CODES = 3


def check_texts(column: pd.Series, form: Format, *ways: str) -> None:
    """Raise with ways out if most texts look like numbers, but not all are such as are read."""
    present = column.dropna().astype(str)
    matches = present.map(ALIKE.fullmatch)
    alike = matches.notna()
    units = {match["unit"] for match in matches[alike]}
    letters = {unit for unit in units if unit[:1].isalpha()}
    codes = letters and (len(units) > 1 or present.nunique() < FEW_CODES)
    plain = numbers_of(present, form, partly=True).notna()
    if codes or 2 * alike.sum() <= len(present) or plain.all():  # stored as texts on purpose
        return
    row = int(np.flatnonzero(~plain)[0])
    cell = present.iloc[row]
    place = int(np.flatnonzero(column.notna())[row])
    ways = (*_ways(cell, form, is_number=bool(alike.iloc[row])), *ways)
    raise ValueError(
        f"column {column.name!r} holds texts that are mostly numbers, such as {cell!r} in row "
        f"{place}: {', '.join(ways[:-1])}, or {ways[-1]}"
    )


def _ways(cell: str, form: Format, *, is_number: bool) -> list[str]:
    """Return what has a cell be read as a number, or as none."""
    if not is_number:
        return [f"{option('--na', cell)} takes such cells as missing values"]
    if DATE.fullmatch(cell):
        return [f"{option('--date-format', '%d.%m.%y')} or the like reads dates"]
    found = GROUPED.fullmatch(cell)
    if found and not form.thousands and not re.search("[%‰$€£¥<>≤≥~]|[^\\W\\d_]", cell):
        mark = " " if found[1].isspace() else found[1]
        ways = [f"{option('--thousands', mark)} reads {mark!r} as the mark of thousands"]
        if mark in ",." and mark != (form.decimal or "."):
            ways.append(f"{option('--decimal', mark)} as the decimal mark")
        return ways
    if form.decimal == "," and re.fullmatch(r"\s*[+-]?\d*\.\d+\s*", cell):
        return [f"{option('--decimal', '.')} reads decimal points"]
    return ["write plain numbers"]
