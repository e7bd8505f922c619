"""Fit of a table of which some rows are held out to judge it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from sklearn.compose import ColumnTransformer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from relvec import RVC, RVR
from relvec._assess.findings import Diagnosis
from relvec._commands.files import holds_texts
from relvec._commands.tasks import Task, diagnosis, noise

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Columns that the names of a report's lines take up.
NAME_WIDTH = 19


@dataclass(frozen=True)
class HoldoutFit:
    """A fitted pipeline, the rows that it was fitted on, and those held out."""

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
        estimator: RVR | RVC,
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
        model = _pipeline(X, estimator)
        start = time.perf_counter()
        model.fit(X_train, y_train)
        seconds = time.perf_counter() - start
        return cls(task, model, X_train, X_test, y_train, y_test, seconds)

    def draw(self, ax: Axes) -> None:
        """Draw the predictions of the rows held out, or of those fitted where there are none."""
        import pandas as pd

        X, y = (self.X_test, self.y_test) if len(self.y_test) else (self.X_train, self.y_train)
        if self.task.circles_vectors and X is self.X_test:
            rows = self.model[-1].relevance_rows_
            kept = rows[rows >= 0]
            X = pd.concat([X, self.X_train.iloc[kept]])
            y = pd.concat([y, self.y_train.iloc[kept]])
        next(self.task.drawings(self.model, X, y)).draw(ax)

    def report(self) -> str:
        """Text of what the fit found and of how well it predicts the rows held out."""
        estimator, target, n_rows = self.model[-1], str(self.y_train.name), len(self.y_train)
        inputs = self.model[:-1].transform(self.X_train)
        lines = {
            "task": self.task.describe(self.model, target),
            "rows": f"{n_rows} to fit, {len(self.y_test)} held out",
            "features": f"{self.X_train.shape[1]} columns, {inputs.shape[1]} inputs once encoded",
            "relevance vectors": f"{len(estimator.relevance_)} of {n_rows} rows",
            "log evidence": f"{estimator.log_evidence_:.2f}",
            **noise(self.model, target),
        }
        if len(self.y_test):
            lines |= self.task.scores(self.model, self.X_test, self.y_test, self.y_train)
        lines["diagnosis"] = str(self.diagnosis())
        lines["seconds"] = f"{self.seconds:.2f}"
        below = "\n" + " " * NAME_WIDTH
        report = (f"{name:<{NAME_WIDTH}}{text}" for name, text in lines.items())
        return "\n".join(line.replace("\n", below) for line in report)

    def diagnosis(self) -> Diagnosis:
        """Findings on the rows that were fitted, and what those held out add to them."""
        found = diagnosis(self.model, self.X_train, self.y_train)
        if not len(self.y_test):
            return found
        more = diagnosis(self.model, self.X_test, self.y_test)
        return Diagnosis(
            found
            + [
                replace(finding, fact=f"rows held out: {finding.fact}")
                for finding in more
                if finding.code not in found.codes
            ]
        )


def _pipeline(X: pd.DataFrame, estimator: RVR | RVC) -> Pipeline:
    """Standardise numbers, one-hot encode texts; the model carries this preparation with it.

    A category that the fit did not see is all zeros, like none of the known ones, and warns. What
    comes out has the names of the columns, which the estimator keeps: of a category its own behind
    that of the column. Where two would be the same, each has the kind of its column before it.
    """
    from pandas.api.types import is_numeric_dtype

    # Positions: where columns are chosen by name, scikit-learn 1.6 keeps those left over, none
    # here, in a list of a private type, which a stored model would have to trust.
    numbers, categories = [], []
    for position, (name, column) in enumerate(X.items()):
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
    names = [str(X.columns[position]) for position in numbers]
    for position in categories:
        column = X.iloc[:, position]
        names += [f"{column.name}_{value}" for value in column.unique()]
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), numbers), ("categories", encoder, categories)],
        verbose_feature_names_out=len(set(names)) < len(names),
    )
    columns.set_output(transform="pandas")
    return Pipeline([("columns", columns), ("machine", estimator)])
