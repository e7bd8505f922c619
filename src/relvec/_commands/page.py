"""The page of ``relvec report``: what it tells, its pictures, and the file that they become."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib import rc_context
from matplotlib.figure import Figure
from sklearn.pipeline import Pipeline

from relvec._commands.job import Drawing, Rows, Task, holds_texts
from relvec._commands.words import listed
from relvec._estimators.notebook import facts
from relvec.display import EvidenceDisplay, RelevanceDisplay
from relvec.display.base import rows_among
from relvec.display.relevance import AROUND, BAR

if TYPE_CHECKING:
    import pandas as pd

# Inches: a width that makes the letters readable where a phone shrinks the picture.
WIDTH = 5.4
# Marks of more rows are drawn as dots of a raster, at this many to the inch.
MOST_MARKS, DOTS_PER_INCH = 2000, 200
# Functions in the table, and inputs in the picture of their relevance.
MOST_FUNCTIONS, MOST_INPUTS = 100, 20
# Letters at either end of a long name of an input there, which takes its place from the bars.
FIRST_LETTERS, LAST_LETTERS = 14, 9


@dataclass(frozen=True)
class Judged:
    """A model of `relvec fit` and the table that it is judged on.

    Attributes
    ----------
    task, model : Task and Pipeline
        What is predicted, and by what.
    table : DataFrame
        All of the table.
    complete : Series of bool
        Rows without missing values in the columns that matter.
    target : str
        Name of the column that is predicted.
    """

    task: Task
    model: Pipeline
    table: pd.DataFrame
    complete: pd.Series
    target: str

    @property
    def n_rows(self) -> int:
        """Number of rows that the model is judged on."""
        return int(self.complete.sum())

    @cached_property
    def X(self) -> pd.DataFrame:  # noqa: N802 - the inputs are called so everywhere
        """Inputs of these rows."""
        return self.table.loc[self.complete, list(self.model.feature_names_in_)]

    @cached_property
    def y(self) -> pd.Series:
        """Truth of these rows."""
        y = self.task.checked(self.table.loc[self.complete, self.target])
        classes = getattr(self.model, "classes_", None)
        unknown = set() if classes is None else set(y) - set(classes)
        if classes is not None and unknown:
            raise ValueError(
                f"the target {self.target!r} holds {listed(sorted(map(str, unknown)))}, which the "
                f"model does not know; it knows {listed(classes)}"
            )
        return y

    @cached_property
    def inputs(self) -> Any:
        """The inputs as the machine takes them, after the preparation that the model carries."""
        return self.model[:-1].transform(self.X)

    def fit(self) -> dict[str, str]:
        """What the fit found."""
        machine = self.model[-1]
        gamma = getattr(machine, "gamma_", None)
        width = f", gamma {gamma:.4g}" if isinstance(gamma, float) else ""
        return {
            "kernel": f"{machine.kernel}{width}",
            **facts(machine),
            **self.task.noise(self.model, self.target),
        }

    def scores(self) -> dict[str, str]:
        """How well the rows are predicted."""
        return self.task.scores(self.model, Rows(self.X, self.y, self.y, called="", whose="their"))

    def n_fitted(self) -> int:
        """How many of the rows that the model keeps are rows of this table."""
        return int(rows_among(self.inputs, self.model[-1].relevance_vectors_).sum())

    def drawings(self) -> Iterator[Drawing]:
        """Draw the predictions, then which inputs matter."""
        yield from self.task.drawings(self.model, self.X, self.y)
        if np.ndim(getattr(self.model[-1], "gamma_", 0.0)):
            yield self._relevance()

    def _relevance(self) -> Drawing:
        """Draw which inputs matter, where each has a width of its own."""
        relevance = self.model[-1].feature_relevance_
        # Names of inputs begin with that of the step that makes them.
        names = [name.partition("__")[2] for name in self.model[:-1].get_feature_names_out()]
        display = RelevanceDisplay(relevance=relevance, names=list(map(_shortened, names)))
        shown = min(len(relevance), MOST_INPUTS)
        return Drawing(
            "How much each input matters: over how many widths of the kernel it extends.",
            lambda ax: display.plot(n_features=shown, ax=ax),
            height=AROUND + BAR * shown,
        )

    def history(self) -> Drawing:
        """Draw how the evidence rose."""
        return Drawing(
            "Log evidence and number of functions after every pass of the fit.",
            lambda ax: EvidenceDisplay.from_estimator(self.model, ax=ax),
        )


def render(judged: Judged, model_name: str, data_name: str) -> str:
    """Return the page, which refers to nothing outside itself."""
    environment = Environment(
        loader=PackageLoader("relvec._commands", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    machine, raster = judged.model[-1], judged.n_rows > MOST_MARKS
    return environment.get_template("report.html").render(
        target=judged.target,
        task=type(judged.task).__name__,
        model_name=model_name,
        data_name=data_name,
        n_rows=judged.n_rows,
        n_left_out=len(judged.table) - judged.n_rows,
        n_fitted=judged.n_fitted(),
        n_vectors=len(machine.relevance_vectors_),
        columns=[_column(name, judged) for name in judged.table.columns],
        fit=judged.fit(),
        scores=judged.scores(),
        functions=machine.summary().head(MOST_FUNCTIONS),
        n_functions=len(machine.relevance_),
        pictures=[(d.caption, picture(d, raster=raster)) for d in judged.drawings()],
        diagnosis=machine.diagnose(judged.inputs, judged.y),
        history=(judged.history().caption, picture(judged.history(), raster=False)),
        passes=len(machine.history_),
    )


def _shortened(name: str) -> str:
    """Both ends of a long name, as those of one column's categories begin alike."""
    if len(name) <= FIRST_LETTERS + 1 + LAST_LETTERS:
        return name
    return f"{name[:FIRST_LETTERS]}…{name[-LAST_LETTERS:]}"


def _column(name: str, judged: Judged) -> dict[str, str]:
    """Say of a column what it is for, what it holds and how much of it is missing."""
    column = judged.table[name]
    if holds_texts(column):  # or lists, which are not told apart but as texts
        column = column.astype(str).where(column.notna())
    role = "input" if name in judged.model.feature_names_in_ else "not read"
    if name == judged.target:
        role = "target"
    classes = role == "target" and hasattr(judged.model, "classes_")
    return {
        "name": name,
        "role": role,
        "values": _values(column, counted=classes),
        "distinct": str(column.nunique()),
        "missing": str(int(column.isna().sum())),
    }


def _values(column: pd.Series, *, counted: bool) -> str:
    """Range and median of numbers, unless they are counted as the commonest of other values are."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if column.isna().all():
        return "none"
    counted = counted or is_bool_dtype(column) or holds_texts(column)
    if is_numeric_dtype(column) and not counted:
        return f"{column.min():.4g} to {column.max():.4g}, median {column.median():.4g}"
    if counted:
        counts = column.value_counts().head(6)
        rest = column.nunique() - len(counts)
        shown = ", ".join(f"{value} ({count})" for value, count in counts.items())
        return f"{shown} and {rest} more" if rest else shown
    return f"{column.min()} to {column.max()}"


def picture(drawing: Drawing, *, raster: bool) -> str:
    """Draw, and return the picture itself as an address."""
    svg = io.BytesIO()
    # Letters become shapes, so that no font is asked for; names are the same in every run.
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "relvec"}):
        figure = Figure(figsize=(WIDTH, drawing.height), layout="constrained")
        ax = figure.subplots()
        if raster:
            ax.set_rasterization_zorder(3)
        drawing.draw(ax)
        figure.savefig(
            svg, format="svg", transparent=True, dpi=DOTS_PER_INCH, metadata={"Date": None}
        )
    return "data:image/svg+xml;base64," + base64.b64encode(svg.getvalue()).decode()
