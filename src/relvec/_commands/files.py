"""Files of the commands: tables, which pandas reads and writes, and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relvec._commands.words import listed, one_line

if TYPE_CHECKING:
    import pandas as pd


def need(module: str) -> Any:
    """Import an optional library, or name the extra that brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        raise ImportError(
            f"this command needs {library}: install relvec with its extra relvec[cli]"
        ) from error


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
    """Write a CSV or Parquet file."""
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)


def require_columns(table: pd.DataFrame, names: Sequence[str], path: Path) -> None:
    """Raise unless the table of this file has these columns."""
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise ValueError(f"{path} has no column {listed(absent)}; it has {listed(table.columns)}")


def require_scalars(table: pd.DataFrame) -> None:
    """Raise unless every cell is one number or text, and none a list of them."""
    for name, column in table.items():
        try:
            column.nunique()
        except TypeError as error:  # lists and arrays are not told apart
            raise ValueError(
                f"column {name!r} holds lists or other containers, expected numbers or texts: "
                "exclude it"
            ) from error


def missing(table: pd.DataFrame) -> tuple[pd.Series, str]:
    """Mark the rows with a missing value, and describe them: how many, in which columns."""
    holes = table.isna()
    rows = holes.any(axis="columns")
    columns = ", ".join(table.columns[holes.any()])
    return rows, f"{rows.sum()} of {len(table)} rows have missing values (in {columns})"


def new_figure(path: Path, size: tuple[float, float]) -> Any:
    """Make an empty figure, once it is certain that it can be written to this path."""
    figure = need("matplotlib.figure").Figure(figsize=size, layout="constrained")
    kinds = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in kinds:
        raise ValueError(f"{path} must end in one of .{', .'.join(sorted(kinds))}")
    return figure


def save_picture(figure: Any, path: Path) -> None:
    """Write a figure, and say so."""
    figure.savefig(path, dpi=100)
    print(f"picture written to {path}")
