"""Tables, in pandas where it is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._assess.facts import facts_text


@dataclass(frozen=True)
class Summary:
    """A table with a name for every row, where pandas is not installed.

    Attributes
    ----------
    index : list of str
        Names of the rows.
    columns : dict of str to ndarray of shape (n_rows,)
        The columns by name, also ``summary["weight"]``.
    facts : dict of str to str
        What is printed above the table.
    """

    index: list[str]
    columns: dict[str, NDArray[Any]]
    facts: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.columns[column]

    def __len__(self) -> int:
        return len(self.index)

    def __str__(self) -> str:
        names = ["", *self.index]
        columns = [[name.ljust(max(map(len, names))) for name in names]]
        for name, values in self.columns.items():
            cells = [name, *(f"{v:.6g}" if isinstance(v, np.number) else str(v) for v in values)]
            columns.append([cell.rjust(max(map(len, cells))) for cell in cells])
        lines = "\n".join(map("  ".join, zip(*columns, strict=True)))
        return f"{facts_text(self.facts)}\n\n{lines}" if self.facts else lines

    __repr__ = __str__


def table(
    index: list[str],
    columns: Mapping[str, NDArray[Any]],
    name: str = "function",
    facts: Mapping[str, str] | None = None,
) -> Any:
    """Return a pandas DataFrame where pandas is installed, else a `Summary`; a row is a `name`.

    It prints `facts`, if there are any, above itself.
    """
    if find_spec("pandas") is None:
        return Summary(index, dict(columns), dict(facts or {}))
    import pandas as pd  # an extra, and slow to import

    frame = pd.DataFrame(dict(columns), index=pd.Index(index, name=name))
    if facts is None:
        return frame
    from relvec._assess.frames import FunctionTable

    with_facts = FunctionTable(frame)
    with_facts.facts = dict(facts)
    return with_facts
