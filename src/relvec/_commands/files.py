"""Files of the commands: tables, models and pictures, and how a file is replaced."""

from __future__ import annotations

import shutil
import zipfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from relvec._commands.terminal import listed, one_line, print_text
from relvec._numerics import optional

if TYPE_CHECKING:
    import pandas as pd

#: Suffix of models that skops writes, which can hold no code; every other one is a pickle.
SAFE = ".skops"
# Beginnings of texts that spreadsheets take for formulas.
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def need(module: str, user: str = "this command") -> Any:
    """Import a library of the extra of the command line, or name the extra."""
    return optional.need(module, user, "cli")


def check_outputs(options: Namespace) -> None:
    """Raise if a file that a command writes is one that it reads, or writes too."""
    given = vars(options)
    read = [given[name] for name in ("model", "data") if given.get(name)]
    written = [given[name] for name in ("out", "plot") if given.get(name)]
    written += [path.with_suffix(".h") for path in written if path.suffix == ".c"]
    for place, output in enumerate(written):
        for other in [*read, *written[:place]]:
            if _same_file(output, other):
                raise ValueError(f"{output} would be written over {other}: choose another file")


def _same_file(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the path to write a file to, which takes the place of `path` once it is complete.

    Files that are written beside it are moved along. A device is written to directly.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    with TemporaryDirectory(dir=path.resolve().parent, prefix=".relvec-") as folder:
        yield Path(folder, path.name)
        for written in list(Path(folder).iterdir()):
            target = path.with_name(written.name).resolve()
            if target.exists():
                shutil.copymode(target, written)
            written.replace(target)


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
    """Write a CSV file, whose texts spreadsheets take for no formulas, or a Parquet file."""
    with replacing(path) as written:
        if path.suffix == ".csv":
            table.apply(_without_formulas).to_csv(written, index=False)
        else:
            table.to_parquet(written, index=False)


def _without_formulas(column: pd.Series) -> pd.Series:
    """Set an apostrophe before texts that begin like a formula and are no numbers."""
    if not holds_texts(column):
        return column
    texts = column.astype(str)
    numbers = need("pandas").to_numeric(texts, errors="coerce")
    return texts.mask(texts.str.startswith(FORMULAS) & numbers.isna(), "'" + texts)


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


def need_for_model(path: Path) -> Any:
    """Import the library that reads and writes the model of this file, or name its extra."""
    if path.suffix == SAFE:
        return need("skops.io", f"a model in a {SAFE} file")
    import joblib

    return joblib


def save_model(model: Any, path: Path) -> None:
    """Write a model, in either form with a checksum that tells damage."""
    library = need_for_model(path)
    compression = {"compression": zipfile.ZIP_DEFLATED} if path.suffix == SAFE else {"compress": 3}
    with replacing(path) as written:
        library.dump(model, written, **compression)


def read_model(path: Path) -> Any:
    """Read a model; a file that is none raises ValueError."""
    from relvec.storage import TRUSTED

    library = need_for_model(path)
    try:
        return library.load(path, **({"trusted": TRUSTED} if path.suffix == SAFE else {}))
    except (OSError, ImportError):
        raise
    except Exception as error:  # whatever the damage makes the readers do
        raise ValueError(f"{path} is not a saved model: {one_line(error)}") from error


def new_figure(path: Path, size: tuple[float, float]) -> Any:
    """Make an empty figure, once it is certain that it can be written to this path."""
    figure = need("matplotlib.figure").Figure(figsize=size, layout="constrained")
    kinds = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise ValueError(f"{path} must end in one of .{', .'.join(sorted(kinds))}")
    return figure


def save_picture(figure: Any, path: Path) -> None:
    """Write a figure, and say so."""
    with replacing(path) as written:
        figure.savefig(written, dpi=100)
    print_text(f"picture written to {path}")
