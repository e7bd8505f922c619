"""Files of the commands: tables, models and pictures."""

from __future__ import annotations

import io
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import TYPE_CHECKING, Any

from relvec._commands.terminal import listed, one_line, print_text, visible
from relvec._files import check_writable, write_file
from relvec._numerics import optional

if TYPE_CHECKING:
    import pandas as pd

# Beginnings of texts that spreadsheets take for formulas.
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def need(module: str, user: str = "this command") -> Any:
    """Import a library of the extra of the command line, or name the extra."""
    return optional.need(module, user, "cli")


def check_outputs(options: Namespace) -> None:
    """Raise if a file that a command writes is one that it reads, or writes too, or cannot be."""
    given = vars(options)
    read = [given[name] for name in ("model", "data") if given.get(name)]
    written = [given[name] for name in ("out", "plot") if given.get(name)]
    written += [path.with_suffix(".h") for path in written if path.suffix == ".c"]
    for place, output in enumerate(written):
        for other in [*read, *written[:place]]:
            if _same_file(output, other):
                raise ValueError(f"{output} would be written over {other}: choose another file")
        check_writable(output)


def _same_file(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def read_table(path: Path) -> pd.DataFrame:
    """Read a CSV or Parquet file; one that is damaged raises ValueError."""
    pandas = need("pandas")
    read = {".csv": pandas.read_csv, ".parquet": pandas.read_parquet}[path.suffix]
    try:
        table = read(path)
        table.select_dtypes(exclude="number").to_numpy()  # texts that are none would be met later
    except (OSError, ImportError, MemoryError):
        raise
    except Exception as error:  # whatever the damage makes the readers do
        raise ValueError(
            f"{path} is no readable {path.suffix[1:]} file: {one_line(error)}"
        ) from error
    return table.set_axis(table.columns.map(str), axis="columns")


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a CSV file, of whose texts nothing makes formulas or commands, or a Parquet file."""
    if path.suffix == ".csv":
        table = table.apply(_harmless).rename(columns=visible)
        content = table.to_csv(index=False).encode()
    else:
        content = table.to_parquet(index=False)
    write_file(path, content)


def _harmless(column: pd.Series) -> pd.Series:
    """Set an apostrophe before texts that begin like a formula and are no numbers.

    Characters that a terminal would obey become escapes.
    """
    if not holds_texts(column):
        return column
    texts = column.astype(str)
    numbers = need("pandas").to_numeric(texts, errors="coerce")
    texts = texts.mask(texts.str.startswith(FORMULAS) & numbers.isna(), "'" + texts)
    return texts.map(visible)


def holds_texts(column: pd.Series) -> bool:
    """Say whether a column holds texts or categories."""
    from pandas.api.types import is_object_dtype, is_string_dtype

    return bool(is_string_dtype(column) or is_object_dtype(column) or column.dtype == "category")


def require_columns(table: pd.DataFrame, names: Sequence[str], path: Path) -> None:
    """Raise unless the table of this file has these columns."""
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise ValueError(f"{path} has no column {listed(absent)}; it has {listed(table.columns)}")


def complete_rows(
    table: pd.DataFrame, *, drop: bool, advice: str = "--drop-missing leaves these rows out"
) -> tuple[pd.Series, str]:
    """Mark the rows without missing values, and describe the others, if there are any.

    Raises ValueError with the advice where there are others that are not to be dropped, and where
    a cell is neither a number nor a text.
    """
    for name, column in table.items():
        try:
            column.nunique()
        except TypeError as error:  # lists and arrays are not told apart
            raise ValueError(
                f"column {name!r} holds lists or other containers, expected numbers or texts: "
                "exclude it"
            ) from error
    missing = table.isna()
    rows = missing.any(axis="columns")
    if not rows.any():
        return ~rows, ""
    columns = ", ".join(table.columns[missing.any()])
    description = f"{rows.sum()} of {len(table)} rows have missing values (in {columns})"
    if not drop:
        raise ValueError(f"{description}; {advice}")
    return ~rows, description


def save_model(model: Any, path: Path) -> None:
    """Write a model; where that fails, write it elsewhere and raise an error that says where."""
    from relvec import storage

    try:
        storage.save(model, path)
    except OSError as error:
        spare = _saved_elsewhere(model, path.name)
        place = f"the model is in {spare}" if spare else "nor could the model be written elsewhere"
        raise OSError(f"{path} could not be written ({one_line(error)}): {place}") from error


def _saved_elsewhere(model: Any, name: str) -> Path | None:
    """Write a model to a new folder in the first place that takes it, and return its path."""
    from relvec import storage

    for place in (Path(gettempdir()), Path.cwd(), Path.home()):
        with suppress(OSError):
            folder = Path(mkdtemp(dir=place, prefix="relvec-"))
            try:
                storage.save(model, folder / name)
            except OSError:
                folder.rmdir()
                raise
            return folder / name
    return None


def new_figure(path: Path, size: tuple[float, float]) -> Any:
    """Make an empty figure, once it is certain that it can be written to this path."""
    figure = need("matplotlib.figure").Figure(figsize=size, layout="constrained")
    kinds = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise ValueError(f"{path} must end in one of .{', .'.join(sorted(kinds))}")
    return figure


def save_picture(figure: Any, path: Path) -> None:
    """Write a figure, and say so."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix[1:].lower(), dpi=100)
    write_file(path, buffer.getvalue())
    print_text(f"picture written to {path}")
