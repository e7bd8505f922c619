"""Tables as data frames of pandas, in a module of their own as pandas is slow to import."""

from __future__ import annotations

from typing import Any

import pandas as pd

from relvec._assess.facts import facts_html, facts_text

#: Options under which no column is left out.
WHOLE = ("display.max_columns", None, "display.max_colwidth", None, "display.width", 10_000)


class FunctionTable(pd.DataFrame):  # type: ignore[misc]
    """A data frame that prints facts of a fit, texts by name, above it.

    Parts of it, and what is computed from it, are plain data frames.
    """

    _metadata = ["facts"]  # noqa: RUF012 - as pandas has it
    facts: dict[str, str]

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def __repr__(self) -> str:
        with pd.option_context(*WHOLE):
            return f"{facts_text(self.facts)}\n\n{super().__repr__()}"

    def _repr_html_(self) -> str:
        return f"{facts_html(self.facts)}{super()._repr_html_()}"
