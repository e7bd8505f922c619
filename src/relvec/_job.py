"""One job on a table: prepare its columns, hold rows out, fit, and say how good the fit is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from relvec.regression import RVR

if TYPE_CHECKING:
    import pandas as pd

# Half the width of a 95 % interval, in standard deviations.
Z95 = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Job:
    """A model, the rows that it was fitted on, and those held out to judge it."""

    model: Pipeline
    target: str
    train: pd.DataFrame
    test: pd.DataFrame
    seconds: float

    @classmethod
    def run(
        cls,
        table: pd.DataFrame,
        target: str,
        regressor: RVR,
        *,
        test_size: float,
        random_state: int = 0,
    ) -> Self:
        """Hold out a share of the rows, drawn at random, and fit the others."""
        from pandas.api.types import is_numeric_dtype

        if not is_numeric_dtype(table[target]):
            raise ValueError(f"the target {target!r} holds {table[target].dtype}, not numbers")
        train, test = table, table.iloc[:0]
        if test_size > 0:
            train, test = train_test_split(table, test_size=test_size, random_state=random_state)
        model = _pipeline(table.drop(columns=target), regressor)
        start = time.perf_counter()
        model.fit(train.drop(columns=target), train[target])
        return cls(model, target, train, test, time.perf_counter() - start)

    @property
    def regressor(self) -> RVR:
        """The fitted relevance vector machine, without the preparation of its inputs."""
        regressor: RVR = self.model[-1]
        return regressor

    def shown_rows(self) -> tuple[pd.DataFrame, pd.Series]:
        """Rows for a picture: those held out, or all; and the training rows that are kept."""
        import pandas as pd

        rows = self.regressor.relevance_rows_
        relevant = self.train.iloc[rows[rows >= 0]]
        shown = pd.concat([self.test, relevant]) if len(self.test) else self.train
        return shown.drop(columns=self.target), shown[self.target]

    def report(self) -> str:
        """Tell what the fit found and how well it predicts the rows held out."""
        rvr, unit = self.regressor, self.target
        columns = self.train.shape[1] - 1
        lines = {
            "rows": f"{len(self.train)} to fit, {len(self.test)} held out",
            "features": f"{columns} columns, {rvr.n_features_in_} inputs once encoded",
            "relevance vectors": f"{len(rvr.relevance_)} of {len(self.train)} rows",
            "noise sd": f"{np.sqrt(rvr.noise_variance_):.4g} {unit}",
            "log evidence": f"{rvr.log_evidence_:.2f}",
        }
        if len(self.test):
            features, truth = self.test.drop(columns=unit), self.test[unit]
            mean, std = self.model.predict(features, return_std=True)
            rmse = root_mean_squared_error(truth, mean)
            baseline = root_mean_squared_error(truth, np.full(len(truth), self.train[unit].mean()))
            covered = np.mean(np.abs(truth - mean) <= Z95 * std)
            lines["test RMSE"] = f"{rmse:.4g} {unit} (training mean as prediction: {baseline:.4g})"
            lines["95 % interval"] = f"holds {100 * covered:.1f} % of the test rows"
        lines["seconds"] = f"{self.seconds:.2f}"
        return "\n".join(f"{name:<19}{text}" for name, text in lines.items())


def missing(table: pd.DataFrame) -> tuple[pd.Series, str]:
    """Mark the rows with a missing value, and describe them: how many, in which columns."""
    holes = table.isna()
    rows = holes.any(axis="columns")
    columns = ", ".join(table.columns[holes.any()])
    return rows, f"{rows.sum()} of {len(table)} rows have missing values (in {columns})"


def _pipeline(features: pd.DataFrame, regressor: RVR) -> Pipeline:
    """Standardise numbers, one-hot encode texts; the model carries this preparation with it.

    A category that the fit did not see is all zeros, like none of the known ones, and warns.
    """
    from pandas.api.types import is_numeric_dtype, is_object_dtype, is_string_dtype

    numbers, categories = [], []
    for name, column in features.items():
        if is_numeric_dtype(column):
            numbers.append(name)
        elif not (is_string_dtype(column) or is_object_dtype(column) or column.dtype == "category"):
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
            categories.append(name)
    encoder = OneHotEncoder(handle_unknown="warn", sparse_output=False)
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), numbers), ("categories", encoder, categories)]
    )
    return Pipeline([("columns", columns), ("regressor", regressor)])
