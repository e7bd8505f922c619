"""Files of the commands: which may be written, models, and pictures."""

from __future__ import annotations

import io
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import TYPE_CHECKING, Any

from relvec._commands.arguments import STANDARD
from relvec._commands.terminal import listed, one_line, print_text
from relvec._files import check_writable, write_file
from relvec._numerics import optional

if TYPE_CHECKING:
    import pandas as pd


def need(module: str, user: str = "this command") -> Any:
    """Import a library of the extra of the command line, or name the extra."""
    return optional.need(module, user, "cli")


def check_outputs(options: Namespace) -> None:
    """Raise if a file that a command writes is one that it reads, or writes too, or cannot be."""
    given = vars(options)
    read = [given[name] for name in ("model", "data") if given.get(name)]
    written = [given[name] for name in ("out", "plot") if given.get(name)]
    read, written = ([path for path in paths if path != STANDARD] for paths in (read, written))
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


def holds_texts(column: pd.Series) -> bool:
    """Say whether a column holds texts or categories."""
    from pandas.api.types import is_object_dtype, is_string_dtype

    return bool(is_string_dtype(column) or is_object_dtype(column) or column.dtype == "category")


def require_columns(table: pd.DataFrame, names: Sequence[str], path: Path) -> None:
    """Raise unless the table of this file has these columns."""
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise ValueError(
            f"{path} has no column {listed(absent)}; it has {listed(table.columns)}"
            + "; name the separator by --sep, or delete lines before the names of columns"
            * (len(table.columns) == 1)
        )


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
