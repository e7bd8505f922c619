"""Tables in files: how one is read whatever its separator, marks, encoding and compression."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relvec._commands.arguments import STANDARD
from relvec._commands.files import holds_texts, need
from relvec._commands.terminal import listed, one_line, option, visible
from relvec._files import write_file

if TYPE_CHECKING:
    import pandas as pd

# Beginnings of compressed files, and what undoes the compression.
COMPRESSIONS: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
}
PARQUET, ZIP = b"PAR1", b"PK\x03\x04"
# Beginnings of texts that name their encoding.
MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
# Encoding of texts that are not UTF-8: that of Windows in Western Europe and America.
WESTERN = "cp1252"
# Separators that are told from a text, and the lines of it that are looked at.
SEPARATORS, LINES = ",;\t|", 50
NAMES = {"\t": "tab", r"\s+": "white space"}
# Beginnings of texts that spreadsheets take for formulas.
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# Numbers that begin with a zero are names, such as ZIP codes; and what a text that has some holds.
ZEROS, ZEROS_WITHIN = r"0\d+", r"(?<![\w.\-/:+])0\d"
# Numbers with a decimal comma, and those whose comma may be a mark of thousands as well.
COMMA = r"\s*[+-]?(\d[\d.'’\s]*)?\d,\d+([eE][+-]?\d+)?\s*"
THOUSANDS, WHOLE = r"\s*[+-]?[1-9]\d{0,2}(,\d{3})+\s*", r"\s*[+-]?\d+\s*"
# Numbers whose point may be a mark of thousands, where the separator is one beside decimal commas.
POINTS = r"\s*[+-]?[1-9]\d{0,2}(\.\d{3})?\s*"


@dataclass(frozen=True)
class Format:
    """Marks of a text and its encoding; what is None is told from the text."""

    sep: str | None = None  # separator of cells
    decimal: str | None = None  # decimal mark
    encoding: str | None = None  # encoding of characters
    thousands: str | None = None  # mark between thousands; without one there is none
    #: cells that are missing values beside empty ones; None takes the usual words
    na: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """Return what is unlike most files, or nothing."""
        sep = NAMES.get(self.sep or ",", self.sep)
        said = {
            f"separator {sep}": self.sep not in {None, ","},
            f"decimal mark {self.decimal}": self.decimal not in {None, "."},
            f"thousands {self.thousands}": self.thousands is not None,
            f"encoding {self.encoding}": self.encoding not in {None, "utf-8", "utf-8-sig"},
        }
        return ", ".join(text for text, is_said in said.items() if is_said)


def read_table(path: Path, given: Format | None = None) -> tuple[pd.DataFrame, Format]:
    """Read a text or a Parquet file, and say how its cells are written.

    One that is damaged, or holds no table, raises ValueError.
    """
    need("pandas")
    name = "standard input" if path == STANDARD else str(path)
    content = sys.stdin.buffer.read() if path == STANDARD else path.read_bytes()
    kind = "parquet" if path.suffix in {".parquet", ".pq"} else "csv"
    try:
        content = _decompressed(content)
        kind = "parquet" if content.startswith(PARQUET) else kind
        if kind == "parquet":
            table, form = _read_parquet(content, given or Format()), Format()
        else:
            table, form = _read_text(content, given or Format())
        table.select_dtypes(exclude="number").to_numpy()  # texts that are none would be met later
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # whatever the damage makes the readers do
        raise ValueError(f"{name} is no readable {kind} file: {one_line(error)}") from error
    return table.set_axis(table.columns.map(str), axis="columns"), form


def _read_parquet(content: bytes, given: Format) -> pd.DataFrame:
    """Read a Parquet file, of which some cells may be said to be missing."""
    table = need("pandas").read_parquet(io.BytesIO(content))
    if any(table.index.names):  # a column by another name
        table = table.reset_index()
    if not given.na:
        return table
    numbers = need("pandas").to_numeric(list(given.na), errors="coerce")
    return table.mask(table.isin([*given.na, *numbers]))


def _decompressed(content: bytes) -> bytes:
    for start, decompress in COMPRESSIONS.items():
        if content.startswith(start):
            return decompress(content)
    if content.startswith(ZIP):
        raise ValueError(
            "it is a ZIP archive or an Excel workbook, expected text or Parquet: save the sheet as "
            "CSV, or unpack the archive"
        )
    return content


def _read_text(content: bytes, given: Format) -> tuple[pd.DataFrame, Format]:
    """Read a text whose first line names the columns."""
    encoding = given.encoding or _encoding(content)
    text = _decoded(content, encoding)
    if not text.strip():
        raise ValueError("it is empty; expected a line of names of columns, and rows below it")
    if _is_markup(text):
        raise ValueError(
            "it is JSON, HTML or XML, expected CSV or Parquet: write it as one of these"
        )
    sep = given.sep
    if said := re.match(r"sep=(.)\r?\n", text):  # a line for Excel
        sep, text = sep or said[1], text[said.end() :]
    form = replace(given, sep=sep or _separator(text), encoding=encoding)
    table = _parsed(text, form)
    names = need("pandas").to_numeric(table.columns, errors="coerce")
    if not names.isna().any():
        raise ValueError(
            f"its first line holds numbers ({listed(table.columns)}), expected names of columns: "
            "write a line of names above it"
        )
    _refuse_repeated_names(text, form)
    if given.decimal is None and _has_decimal_commas(table):
        form = replace(form, decimal=",")
        table = _parsed(text, form)
    if form.sep == ";" and not (form.decimal or form.thousands):
        for name in _with_points(table, text, form):
            _warn_of_points(name)
    return table, form


def _refuse_repeated_names(text: str, form: Format) -> None:
    """Raise if two columns have the same name, of which pandas would rename one."""
    names = _cells(text, form, header=None, nrows=1, dtype=str).iloc[0].dropna().str.strip()
    if repeated := sorted({*names[names.duplicated()]}):
        raise ValueError(
            f"its first line has several columns of the same name ({listed(repeated)}), expected a "
            "name of its own for each: rename them there"
        )


def _warn_of_points(name: str) -> None:
    """Warn of a column of numbers where points may mark thousands."""
    warnings.warn(
        f"column {name.strip()!r} has three digits behind every point, which may be a mark of "
        f"thousands: {option('--thousands', '.')} reads it as such, {option('--decimal', '.')} as "
        "it is",
        UserWarning,
        stacklevel=2,
    )


def _with_points(table: pd.DataFrame, text: str, form: Format) -> pd.DataFrame:
    """Return the columns of numbers where points may mark thousands, as they are written."""
    cells, found = _cells(text, form, dtype=str), []
    for place, dtype in enumerate(table.dtypes):
        texts = cells.iloc[:, place].dropna()
        pointed = dtype.kind == "f" and texts.str.contains(".", regex=False).any()
        found += [place] if pointed and texts.str.fullmatch(POINTS).all() else []
    return cells.iloc[:, found]


def _is_markup(text: str) -> bool:
    """Say whether a text begins as JSON, HTML or XML, and not as a line of names."""
    start = text.lstrip()
    try:
        json.JSONDecoder().raw_decode(start)
    except ValueError:
        return re.match("<(!doctype|html|table|\\?xml)", start, re.IGNORECASE) is not None
    return start[0] in "[{"


def _encoding(content: bytes) -> str:
    """Name the encoding of a text: the one that it names itself, or UTF-8 where it is that."""
    for mark, name in MARKS.items():
        if content.startswith(mark):
            return name
    try:
        content.decode()
    except UnicodeDecodeError:
        return WESTERN
    return "utf-8"


def _decoded(content: bytes, encoding: str) -> str:
    try:
        text = content.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise ValueError(f"{error}; name its encoding by --encoding") from None
    if "\0" in text:
        raise ValueError("it holds zero bytes, which no text does")
    return text


def _separator(text: str) -> str:
    """Return the separator of the first lines; a comma where there seems to be one column."""
    lines = [line for line in islice(io.StringIO(text), LINES) if line.strip()]
    try:
        found = csv.Sniffer().sniff("".join(lines), delimiters=SEPARATORS).delimiter
    except csv.Error:
        found = ","
    if any(sep in lines[0] for sep in SEPARATORS):
        return found if found in lines[0] else max(SEPARATORS, key=lines[0].count)
    names, *cells = (len(line.split()) for line in lines)  # R writes no name for that of the row
    blanks = len({*cells}) == 1 and names > 1 and cells[0] - names in {0, 1}
    return r"\s+" if blanks else ","


def _parsed(text: str, form: Format) -> pd.DataFrame:
    """Read the cells of a text; names of columns lose blanks around them."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # of cells that have no column
        try:
            table = _cells(text, form)
            if form.thousands == (form.decimal or "."):  # as which they have been read
                table = table.assign(**_with_points(table, text, form))
            if re.search(ZEROS_WITHIN, text):
                table = _keeping_zeros(table, _cells(text, form, dtype=str))
        except pd.errors.ParserWarning:
            raise ValueError(
                "its rows have more cells than its first line has names: name every column, "
                "delete lines before the names, or name the separator by --sep"
            ) from None
        except pd.errors.ParserError as error:
            raise ValueError(
                f"{one_line(error).removeprefix('Error tokenizing data. C error: ')}: delete lines "
                "before the names of columns, set quotes around cells that hold the "
                "separator, or name it by --sep"
            ) from None
    table = table.set_axis(table.columns.map(lambda name: str(name).strip()), axis="columns")
    if form.thousands:
        table = table.apply(
            lambda column: column if has_zeros(column) else numbers_of(column, form)
        )
    return table


def _cells(text: str, form: Format, **kinds: Any) -> pd.DataFrame:
    """Read the cells of a text as they are, or as values of some kinds."""
    words = {} if form.na is None else {"na_values": ["", *form.na], "keep_default_na": False}
    marks = {"sep": form.sep, "decimal": form.decimal or ".", "skipinitialspace": True}
    table: pd.DataFrame = need("pandas").read_csv(
        io.StringIO(text), index_col=False, **marks, **words, **kinds
    )
    return table


def _keeping_zeros(table: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the cells as they are written of columns that have leading zeros."""
    kept = {name: cells[name] for name in table.select_dtypes("number") if has_zeros(cells[name])}
    return table.assign(**kept)


def has_zeros(column: pd.Series) -> bool:
    """Say whether texts of a column are whole numbers with leading zeros."""
    return holds_texts(column) and bool(
        column.dropna().astype(str).str.strip().str.fullmatch(ZEROS).any()
    )


def _has_decimal_commas(table: pd.DataFrame) -> bool:
    """Say whether a column of texts holds numbers with commas that do not mark thousands."""
    for name in table.columns:
        column = table[name]
        if holds_texts(column):
            cells = column.dropna().astype(str)
            commas = cells[cells.str.fullmatch(COMMA)]
            numbers = len(commas) + cells.str.fullmatch(WHOLE).sum()
            thousands = commas.str.fullmatch(THOUSANDS)
            if len(commas) and 2 * numbers > len(cells) and not thousands.all():
                return True
    return False


def numbers_of(column: pd.Series, form: Format, *, partly: bool = False) -> pd.Series:
    """Turn texts into numbers if all of them are such; or `partly`, with the others missing."""
    if not holds_texts(column):
        return column
    texts, decimal = column.astype(str).str.strip(), form.decimal or "."
    if form.thousands:
        # A number is often split by blanks that do not end a line.
        texts = texts.str.replace("[\u00a0\u202f]", " ", regex=True)
        mark = re.escape(form.thousands)
        number = rf"[+-]?\d{{1,3}}({mark}\d{{3}})+({re.escape(decimal)}\d+)?"
        texts = texts.mask(
            texts.str.fullmatch(number, na=False),
            texts.str.replace(form.thousands, "", regex=False),
        )
    if decimal != ".":  # a point is no part of a number then
        texts = texts.str.replace(".", "?", regex=False).str.replace(decimal, ".", regex=False)
    numbers = need("pandas").to_numeric(texts, errors="coerce").where(column.notna())
    return numbers if partly or (numbers.notna() == column.notna()).all() else column


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a text of whose cells nothing makes formulas or commands, or a Parquet file."""
    if path.suffix == ".parquet":
        write_file(path, table.to_parquet(index=False))
        return
    sep = "\t" if ".tsv" in path.suffixes else ","
    text = table.apply(_harmless).rename(columns=visible).to_csv(index=False, sep=sep)
    if path == STANDARD:
        sys.stdout.write(text)
        return
    content = text.encode()
    write_file(path, gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def _harmless(column: pd.Series) -> pd.Series:
    """Set an apostrophe before texts that begin like a formula and are no numbers.

    Characters that a terminal would obey become escapes.
    """
    if not holds_texts(column):
        return column
    texts = column.astype(str)
    numbers = need("pandas").to_numeric(texts, errors="coerce")
    formulas = texts.str.startswith(FORMULAS, na=False) & numbers.isna()
    texts = texts.mask(formulas, "'" + texts).map(visible, na_action="ignore")
    return texts.where(column.notna())


def options_of(options: Any) -> Format:
    """Return what the options of a command say of the cells of its table."""
    na = tuple(options.na) if options.na is not None else None
    return Format(options.sep, options.decimal, options.encoding, options.thousands, na)
