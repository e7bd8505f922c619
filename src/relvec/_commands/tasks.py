"""What the kind of the target decides: the machine, how it is judged, predicts and is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, log_loss, root_mean_squared_error
from sklearn.pipeline import Pipeline

from relvec._commands import model_file
from relvec._commands.job import Drawing, Job, Rows, Task, holds_texts
from relvec._commands.words import listed
from relvec._estimators.classification import RVC
from relvec._estimators.regression import RVR
from relvec.display import (
    BoundaryDisplay,
    CalibrationDisplay,
    CoverageDisplay,
    RegressionDisplay,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Half the width of a 95 % interval, in standard deviations.
Z95 = NormalDist().inv_cdf(0.975)
# Whole numbers with more distinct values than this are quantities, not classes.
MOST_CLASSES = 10


class Regression:
    """Numbers: a mean with an error bar."""

    machine = RVR

    def checked(self, target: pd.Series) -> pd.Series:
        """Raise unless the target holds numbers."""
        from pandas.api.types import is_numeric_dtype

        if not is_numeric_dtype(target):
            raise ValueError(f"the target {target.name!r} holds {target.dtype}, not numbers")
        return target

    def strata(self, target: pd.Series) -> None:
        """Return None: rows are held out regardless of their values."""

    def describe(self, job: Job) -> str:
        """Name the target."""
        return f"regression of {job.target}"

    def noise(self, model: Pipeline, target: str) -> dict[str, str]:
        """Standard deviation of the noise."""
        return {"noise sd": f"{np.sqrt(model[-1].noise_variance_):.4g} {target}"}

    def scores(self, model: Pipeline, rows: Rows) -> dict[str, str]:
        """Tell the error beside that of a mean, and what the intervals hold."""
        truth = rows.y
        mean, std = model.predict(rows.X, return_std=True)
        rmse = root_mean_squared_error(truth, mean)
        baseline = root_mean_squared_error(truth, np.full(len(truth), rows.known.mean()))
        covered = np.mean(np.abs(truth - mean) <= Z95 * std)
        return {
            f"{rows.called}RMSE": f"{rmse:.4g} {truth.name} "
            f"({rows.whose} mean as prediction: {baseline:.4g})",
            "95 % interval": f"holds {100 * covered:.1f} % of the {rows.called}rows",
        }

    def predictions(self, model: Pipeline, features: pd.DataFrame) -> pd.DataFrame:
        """Predict mean, standard deviation of a new observation, and 95 % interval."""
        import pandas as pd

        mean, std = model.predict(features, return_std=True)
        low, high = mean - Z95 * std, mean + Z95 * std
        return pd.DataFrame({"mean": mean, "std": std, "lower_95": low, "upper_95": high})

    def draw(self, job: Job, ax: Axes) -> None:
        """Draw predictions with error bars, and the relevance vectors."""
        RegressionDisplay.from_estimator(job.model, *job.shown_rows_and_vectors(), ax=ax)

    def drawings(self, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> Iterator[Drawing]:
        """Predictions with error bars, and how far these can be trusted."""
        yield Drawing(
            f"Predictions of {y.name} with 95 % error bars beside the truth.",
            lambda ax: RegressionDisplay.from_estimator(model, X, y, ax=ax),
        )
        yield Drawing(
            "How many rows lie in intervals that should hold 10 to 99 % of them.",
            lambda ax: CoverageDisplay.from_estimator(model, X, y, ax=ax),
        )


class Classification:
    """Classes: a probability each."""

    machine = RVC

    def checked(self, target: pd.Series) -> pd.Series:
        """Raise unless the target holds texts, whole numbers, or true and false."""
        from pandas.api.types import is_bool_dtype, is_numeric_dtype

        if holds_texts(target):
            return target
        if not is_numeric_dtype(target):
            raise ValueError(f"the target {target.name!r} holds {target.dtype}, not classes")
        if not _are_whole(target):
            raise ValueError(f"the target {target.name!r} holds fractions, not classes")
        # Whole numbers are read as floats where some are missing: class 1 is not to become 1.0.
        return target.astype(bool if is_bool_dtype(target) else int)

    def strata(self, target: pd.Series) -> pd.Series:
        """Return the classes, so that each is held out in proportion."""
        counts = target.value_counts()
        lonely = counts.index[counts == 1]
        if len(lonely):
            raise ValueError(
                f"the target {target.name!r} has only one row of {listed(lonely)}, too few to "
                "hold some out: --test-size 0 fits them all"
            )
        return target

    def describe(self, job: Job) -> str:
        """Name the target and its classes."""
        classes = job.machine.classes_
        return f"classification of {job.target}, {len(classes)} classes: {listed(classes)}"

    def noise(self, model: Pipeline, target: str) -> dict[str, str]:
        """Nothing: the noise of classes is in their probabilities."""
        return {}

    def scores(self, model: Pipeline, rows: Rows) -> dict[str, str]:
        """Tell how good classes and probabilities are, beside the shares of those known."""
        import pandas as pd

        truth, classes = rows.y, model.classes_
        predicted, probability = model.predict(rows.X), model.predict_proba(rows.X)
        share = rows.known.value_counts(normalize=True).reindex(classes, fill_value=0.0).to_numpy()
        shares = np.tile(share, (len(truth), 1))
        accuracy = [np.mean(truth == told) for told in (predicted, classes[share.argmax()])]
        loss = [log_loss(truth, p, labels=classes) for p in (probability, shares)]
        brier = [_brier(truth, p, classes) for p in (probability, shares)]
        confusion = pd.DataFrame(
            confusion_matrix(truth, predicted, labels=classes),
            index=[f"true {name}" for name in classes],
            columns=classes,
        )
        called, commonest = rows.called, "always the commonest class"
        guess = "class shares as probabilities"
        return {
            f"{called}accuracy": f"{accuracy[0]:.4g} ({commonest}: {accuracy[1]:.4g})",
            f"{called}log loss": f"{loss[0]:.4g} ({guess}: {loss[1]:.4g})",
            f"{called}Brier score": f"{brier[0]:.4g} ({guess}: {brier[1]:.4g})",
            "predicted": confusion.to_string(),
        }

    def predictions(self, model: Pipeline, features: pd.DataFrame) -> pd.DataFrame:
        """Predict the class, and the probability of every class."""
        import pandas as pd

        columns = [f"probability_{name}" for name in model.classes_]
        table = pd.DataFrame(model.predict_proba(features), columns=columns)
        table.insert(0, "predicted", model.predict(features))
        return table

    def draw(self, job: Job, ax: Axes) -> None:
        """Draw how reliable the probabilities are."""
        CalibrationDisplay.from_estimator(job.model, *job.shown_rows(), ax=ax)

    def drawings(self, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> Iterator[Drawing]:
        """How reliable the probabilities are and, of two inputs, where the classes are."""
        yield Drawing(
            f"Probabilities of {y.name} against how often they came true.",
            lambda ax: CalibrationDisplay.from_estimator(model, X, y, ax=ax),
        )
        if model.n_features_in_ == 2 and not any(holds_texts(column) for _, column in X.items()):
            yield Drawing(
                f"Probabilities of {y.name} over the two inputs.",
                lambda ax: BoundaryDisplay.from_estimator(model, X, y, ax=ax),
            )


TASKS: dict[str, Task] = {"regression": Regression(), "classification": Classification()}


def task_of(target: pd.Series) -> str:
    """Take numbers for quantities, unless they are whole and of 2 to 10 distinct values."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if not is_numeric_dtype(target) or is_bool_dtype(target):
        return "classification"
    few = 2 <= target.nunique() <= MOST_CLASSES
    return "classification" if few and _are_whole(target) else "regression"


def load_model(path: Path) -> tuple[Task, Pipeline]:
    """Read a model of `relvec fit` and tell its task; any other raises ValueError."""
    model = model_file.load(path)
    for task in TASKS.values():
        ours = isinstance(model, Pipeline) and isinstance(model[-1], task.machine)
        if ours and hasattr(model, "feature_names_in_"):
            return task, model
    raise ValueError(f"{path} holds a {type(model).__name__}, not a model of `relvec fit`")


def _are_whole(numbers: pd.Series) -> bool:
    return bool((numbers.astype(float) % 1 == 0).all())


def _brier(truth: pd.Series, probability: NDArray[np.float64], classes: NDArray[Any]) -> float:
    """Half the squared distance of the probabilities from the truth: 0 to 1 for any classes."""
    happened: NDArray[np.bool_] = np.asarray(truth)[:, None] == classes
    return float(((probability - happened) ** 2).sum(axis=1).mean() / 2)
