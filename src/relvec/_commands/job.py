"""One job on a table: prepare its columns, hold rows out, fit, and say how good the fit is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from sklearn.compose import ColumnTransformer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from relvec._assess.findings import Diagnosis
    from relvec._estimators.classification import RVC
    from relvec._estimators.regression import RVR

# Columns that the names of a report's lines take up.
NAME_WIDTH = 19


class Task(Protocol):
    """One kind of target."""

    machine: type[RVR] | type[RVC]

    def checked(self, target: pd.Series) -> pd.Series:
        """Return the target as the machine takes it; raise unless it is of this kind."""

    def strata(self, target: pd.Series) -> pd.Series | None:
        """Return the groups that rows are held out from in proportion, or None."""

    def describe(self, job: Job) -> str:
        """Name the task and what it predicts."""

    def noise(self, model: Pipeline, target: str) -> dict[str, str]:
        """Tell what noise the fit found, if it has any: names and texts of lines."""

    def scores(self, model: Pipeline, rows: Rows) -> dict[str, str]:
        """Judge a fit on some rows: names and texts of lines."""

    def predictions(self, model: Pipeline, features: pd.DataFrame) -> pd.DataFrame:
        """Predict rows, in the columns that `relvec predict` writes."""

    def draw(self, job: Job, ax: Axes) -> None:
        """Draw the rows held out, or those fitted where there are none."""

    def drawings(self, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> Iterator[Drawing]:
        """Draw, one after the other, what some rows tell of a model."""


@dataclass(frozen=True)
class Drawing:
    """A picture that is still to be drawn, what it shows, and its height in inches."""

    caption: str
    draw: Callable[[Axes], object]
    height: float = 4.0


@dataclass(frozen=True)
class Rows:
    """Rows that a model is judged on.

    Attributes
    ----------
    X, y : DataFrame and Series
        Inputs and truth.
    known : Series
        Targets that a guess without a model rests on.
    called, whose : str
        What the names of the lines say of the rows, and of the targets that are known.
    """

    X: pd.DataFrame
    y: pd.Series
    known: pd.Series
    called: str
    whose: str


@dataclass(frozen=True)
class Job:
    """A model, the rows that it was fitted on, and those held out to judge it."""

    task: Task
    model: Pipeline
    X_train: pd.DataFrame
    X_test: pd.DataFrame
    y_train: pd.Series
    y_test: pd.Series
    seconds: float

    @classmethod
    def run(
        cls,
        table: pd.DataFrame,
        target: str,
        task: Task,
        machine: RVR | RVC,
        *,
        test_size: float,
        random_state: int = 0,
    ) -> Self:
        """Hold out a share of the rows, drawn at random, and fit the others."""
        X, y = table.drop(columns=target), task.checked(table[target])
        rows = X, X.iloc[:0], y, y.iloc[:0]
        if test_size > 0:
            rows = train_test_split(
                X, y, test_size=test_size, random_state=random_state, stratify=task.strata(y)
            )
        X_train, X_test, y_train, y_test = rows
        model = _pipeline(X, machine)
        start = time.perf_counter()
        model.fit(X_train, y_train)
        seconds = time.perf_counter() - start
        return cls(task, model, X_train, X_test, y_train, y_test, seconds)

    @property
    def machine(self) -> RVR | RVC:
        """The fitted relevance vector machine, without the preparation of its inputs."""
        machine: RVR | RVC = self.model[-1]
        return machine

    @property
    def target(self) -> str:
        """Name of the column that is predicted."""
        return str(self.y_train.name)

    def diagnosis(self) -> Diagnosis:
        """What is wrong with the fit, as far as the rows that were fitted tell."""
        return self.machine.diagnose(self.model[:-1].transform(self.X_train), self.y_train)

    @property
    def held_out(self) -> Rows:
        """The rows held out, beside what the rows fitted tell."""
        return Rows(self.X_test, self.y_test, self.y_train, called="test ", whose="training")

    def shown_rows(self) -> tuple[pd.DataFrame, pd.Series]:
        """Rows for a picture: those held out, or those fitted where there are none."""
        return (self.X_test, self.y_test) if len(self.y_test) else (self.X_train, self.y_train)

    def shown_rows_and_vectors(self) -> tuple[pd.DataFrame, pd.Series]:
        """Rows for a picture that circles the training rows that are kept: these rows too."""
        import pandas as pd

        X, y = self.shown_rows()
        if X is self.X_train:
            return X, y
        rows = self.machine.relevance_rows_
        kept = rows[rows >= 0]
        return pd.concat([X, self.X_train.iloc[kept]]), pd.concat([y, self.y_train.iloc[kept]])

    def report(self) -> str:
        """Tell what the fit found and how well it predicts the rows held out."""
        machine, fitted = self.machine, len(self.y_train)
        columns = self.X_train.shape[1]
        lines = {
            "task": self.task.describe(self),
            "rows": f"{fitted} to fit, {len(self.y_test)} held out",
            "features": f"{columns} columns, {machine.n_features_in_} inputs once encoded",
            "relevance vectors": f"{len(machine.relevance_)} of {fitted} rows",
            "log evidence": f"{machine.log_evidence_:.2f}",
            **self.task.noise(self.model, self.target),
            **(self.task.scores(self.model, self.held_out) if len(self.y_test) else {}),
            "diagnosis": str(self.diagnosis()),
            "seconds": f"{self.seconds:.2f}",
        }
        below = "\n" + " " * NAME_WIDTH
        report = (f"{name:<{NAME_WIDTH}}{text}" for name, text in lines.items())
        return "\n".join(line.replace("\n", below) for line in report)


def holds_texts(column: pd.Series) -> bool:
    """Say whether a column holds texts or categories."""
    from pandas.api.types import is_object_dtype, is_string_dtype

    return bool(is_string_dtype(column) or is_object_dtype(column) or column.dtype == "category")


def _pipeline(features: pd.DataFrame, machine: RVR | RVC) -> Pipeline:
    """Standardise numbers, one-hot encode texts; the model carries this preparation with it.

    A category that the fit did not see is all zeros, like none of the known ones, and warns.
    """
    from pandas.api.types import is_numeric_dtype

    # Positions: where columns are chosen by name, scikit-learn 1.6 keeps those left over, none
    # here, in a list of a private type, which a stored model would have to trust.
    numbers, categories = [], []
    for position, (name, column) in enumerate(features.items()):
        if is_numeric_dtype(column):
            numbers.append(position)
        elif not holds_texts(column):
            raise ValueError(
                f"column {name!r} holds {column.dtype}, neither numbers nor categories: "
                "exclude it or turn it into numbers"
            )
        elif 2 * column.nunique() > len(column):
            raise ValueError(
                f"column {name!r} has {column.nunique()} different texts in {len(column)} rows, "
                "too many for categories: exclude it or group them"
            )
        else:
            categories.append(position)
    encoder = OneHotEncoder(handle_unknown="warn", sparse_output=False)
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), numbers), ("categories", encoder, categories)]
    )
    return Pipeline([("columns", columns), ("machine", machine)])
