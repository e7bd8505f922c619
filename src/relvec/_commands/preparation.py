"""Preparation of tables for a model, which is stored in it."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from relvec import __version__
from relvec._commands.columns import AS_IT_IS, CATEGORY, Columns, Inputs
from relvec._commands.files import require_columns
from relvec._commands.tables import Format, read_table
from relvec._commands.terminal import listed

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline


@dataclass(frozen=True)
class Preparation:
    """Kinds of columns of which inputs of a model are made, and what it predicts."""

    columns: Columns  # those that the model reads
    target: str = ""  # name of the column that it predicts; nothing where that is not known
    #: how cells are written, as far as options of the fit said so
    form: Format = field(default_factory=Format)
    impute: bool = False  # whether the model fills in missing values
    categories: dict[str, list[str]] = field(default_factory=dict)  # known categories of columns
    options: dict[str, Any] = field(default_factory=dict)  # options of the fit
    version: str = __version__  # version of the package that fitted

    def store(self, model: Pipeline) -> None:
        """Put it into a fitted model."""
        model.preparation_ = asdict(self)

    @classmethod
    def of(cls, model: Pipeline) -> Self:
        """Return that of a model; one without it reads the columns that it was fitted to."""
        if not hasattr(model, "preparation_"):
            return cls(Columns(dict.fromkeys(model.feature_names_in_, AS_IT_IS)))
        known = dict(model.preparation_)
        columns, form = Columns(**known.pop("columns")), Format(**known.pop("form"))
        return cls(columns, form=form, **known)

    def knowing(self, X: pd.DataFrame) -> Self:
        """Return it with the categories that rows of a fit hold."""
        kinds = self.columns.kinds
        known = {
            name: sorted(X[name].dropna().unique()) for name in kinds if kinds[name] == CATEGORY
        }
        return replace(self, categories=known)

    def read(self, path: Path, given: Format) -> tuple[pd.DataFrame, Inputs]:
        """Read a table for the model: all of it, and the inputs.

        What is given of its cells goes before what was said at the fit.
        """
        said = {name: value for name, value in asdict(given).items() if value is not None}
        table, form = read_table(path, replace(self.form, **said))
        require_columns(table, list(self.columns.kinds), path)
        if not len(table):
            raise ValueError(f"{path} has names of columns and no rows")
        return table, self.columns.inputs(table, form)

    def warn_of_unknown(self, X: pd.DataFrame) -> None:
        """Warn of each column with categories that the fit did not see."""
        for name, known in self.categories.items():
            unknown = sorted(map(str, {*X[name].dropna()} - {*known}))
            if unknown:
                warnings.warn(
                    f"unknown categories in column {name!r}, which count as none of the known: "
                    f"{listed(unknown)}",
                    UserWarning,
                    stacklevel=2,
                )
