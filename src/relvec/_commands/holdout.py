"""Fit of a table of which some rows are held out to judge it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline

from relvec._assess.findings import Diagnosis
from relvec._commands.models import Choice, choose, cross_validated, fitted_model, pipeline
from relvec._commands.tasks import Fold, Task, diagnosis, has_effects, noise
from relvec._commands.terminal import progress

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Folds in whose rows left out errors are measured to calibrate a model.
CALIBRATION_FOLDS = 5
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
    choice: Choice
    cross_validation: str = ""

    @classmethod
    def run(
        cls,
        X: pd.DataFrame,
        y: pd.Series,
        task: Task,
        estimators: Mapping[str, Any],
        *,
        test_size: float,
        random_state: int = 0,
        impute: bool = False,
        calibrate: bool = False,
        n_folds: int | None = None,
    ) -> Self:
        """Hold out a share of the rows, drawn at random, and fit the others.

        Of several estimators, by the names of their kinds, it is the one that predicts best among
        the rows that are not held out.
        """
        y = task.checked(y)
        rows = X, X.iloc[:0], y, y.iloc[:0]
        if test_size > 0:
            rows = train_test_split(
                X, y, test_size=test_size, random_state=random_state, stratify=task.strata(y)
            )
        X_train, X_test, y_train, y_test = rows
        models = {
            name: pipeline(X, estimator, task, impute=impute)
            for name, estimator in estimators.items()
        }
        folds = _folds(task, y_train, n_folds, "--cv", random_state)
        others = _folds(
            task, y_train, CALIBRATION_FOLDS if calibrate else None, "--calibrate", random_state
        )
        start = time.perf_counter()
        choice = choose(models, task, X_train, y_train, random_state)
        with progress(f"fitting {choice.kind} to {len(y_train)} rows"):
            model = fitted_model(models[choice.kind], task, X_train, y_train)
        seconds, scores = time.perf_counter() - start, ""
        if folds:
            with progress(f"cross-validating in {n_folds} folds"):
                scores = cross_validated(model, task, X_train, y_train, folds)
        if others:
            inputs = model[:-1].transform(X_train)
            with progress("calibrating"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the model itself has warned
                known = task.known(X_train)
                model.calibrated_ = model[-1].calibrate(inputs, y_train, cv=others, **known)
        return cls(task, model, X_train, X_test, y_train, y_test, seconds, choice, scores)

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

    def report(self, about: Mapping[str, str] | None = None) -> str:
        """Text of what the fit found and of how well it predicts the rows held out.

        Lines about the table stand before those on its columns.
        """
        estimator, target, n_rows = self.model[-1], str(self.y_train.name), len(self.y_train)
        lines = {
            "task": self.task.describe(self.model, target),
            "model": str(self.choice),
            "rows": f"{n_rows} to fit, {len(self.y_test)} held out",
            **(about or {}),
            **self._found(),
            "log evidence": f"{estimator.log_evidence_:.2f}",
            **noise(self.model, target),
        }
        if self.cross_validation:
            lines["cross-validated"] = self.cross_validation
        if len(self.y_test):
            lines |= self.task.scores(self.model, self.X_test, self.y_test, self.y_train)
        lines["diagnosis"] = str(self.diagnosis())
        lines["seconds"] = f"{self.seconds:.2f}"
        below = "\n" + " " * NAME_WIDTH
        report = (f"{name:<{NAME_WIDTH}}{text}" for name, text in lines.items())
        return "\n".join(line.replace("\n", below) for line in report)

    def _found(self) -> dict[str, str]:
        """Inputs, and what the model keeps of them or of the rows."""
        estimator = self.model[-1]
        n_columns = self.X_train.shape[1] - len(self.task.known(self.X_train))
        if has_effects(estimator):
            table = estimator.effects_
            effects = (
                table.to_string(float_format="%.3g", index_names=False) if len(table) else "none"
            )
            return {"features": f"{n_columns} columns", "effects": effects}
        n_inputs = self.model[:-1].transform(self.X_train).shape[1]
        kept = {
            "rvm": ("relevance vectors", f"{len(self.y_train)} rows"),
            "linear": ("inputs kept", f"{n_inputs} inputs"),
        }
        name, of = kept[self.choice.kind]
        return {
            "features": f"{n_columns} columns, {n_inputs} inputs once encoded",
            name: f"{len(estimator.relevance_)} of {of}",
        }

    def diagnosis(self) -> Diagnosis:
        """Findings on the rows that were fitted, and what those held out add to them."""
        found = diagnosis(self.task, self.model, self.X_train, self.y_train)
        if not len(self.y_test):
            return found
        more = diagnosis(self.task, self.model, self.X_test, self.y_test)
        return Diagnosis(
            found
            + [
                replace(finding, fact=f"rows held out: {finding.fact}")
                for finding in more
                if finding.code not in found.codes
            ]
        )


def _folds(task: Task, y: pd.Series, count: int | None, option: str, seed: int) -> list[Fold]:
    """Return so many folds for an option, or none where it was not given."""
    folds = task.folds(y, count, seed) if count else []
    if count and not folds:
        raise ValueError(
            f"{option} takes {count} folds, which {len(y)} rows are too few for, or those of a "
            "class: leave it out"
        )
    return folds
