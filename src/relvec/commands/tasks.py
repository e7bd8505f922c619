"""What the kind of the target decides: the machine, how it is judged, predicts and is drawn."""

from __future__ import annotations

from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss, root_mean_squared_error
from sklearn.pipeline import Pipeline

from relvec.classification import RVC
from relvec.commands import model_file
from relvec.commands.job import Job, Task, holds_texts
from relvec.commands.words import listed
from relvec.display import CalibrationDisplay, RegressionDisplay
from relvec.regression import RVR

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

    def findings(self, job: Job) -> dict[str, str]:
        """Tell the noise, the error beside that of the mean, and what the intervals hold."""
        unit, truth = job.target, job.y_test
        lines = {"noise sd": f"{np.sqrt(job.machine.noise_variance_):.4g} {unit}"}
        if len(truth):
            mean, std = job.model.predict(job.X_test, return_std=True)
            rmse = root_mean_squared_error(truth, mean)
            baseline = root_mean_squared_error(truth, np.full(len(truth), job.y_train.mean()))
            covered = np.mean(np.abs(truth - mean) <= Z95 * std)
            lines["test RMSE"] = f"{rmse:.4g} {unit} (training mean as prediction: {baseline:.4g})"
            lines["95 % interval"] = f"holds {100 * covered:.1f} % of the test rows"
        return lines

    def predictions(self, model: Pipeline, features: pd.DataFrame) -> pd.DataFrame:
        """Predict mean, standard deviation of a new observation, and 95 % interval."""
        import pandas as pd

        mean, std = model.predict(features, return_std=True)
        low, high = mean - Z95 * std, mean + Z95 * std
        return pd.DataFrame({"mean": mean, "std": std, "lower_95": low, "upper_95": high})

    def draw(self, job: Job, ax: Axes) -> None:
        """Draw predictions with error bars, and the relevance vectors."""
        RegressionDisplay.from_estimator(job.model, *job.shown_rows_and_vectors(), ax=ax)


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

    def findings(self, job: Job) -> dict[str, str]:
        """Tell how good classes and probabilities are, beside their shares of the fitted rows."""
        if not len(job.y_test):
            return {}
        import pandas as pd

        classes, predicted = job.machine.classes_, job.model.predict(job.X_test)
        shares = DummyClassifier(strategy="prior").fit(job.X_train, job.y_train)
        accuracy, loss, brier = (
            [f"{score(job.y_test, model, job.X_test):.4g}" for model in (job.model, shares)]
            for score in (_accuracy, _log_loss, _brier)
        )
        confusion = pd.DataFrame(
            confusion_matrix(job.y_test, predicted, labels=classes),
            index=[f"true {name}" for name in classes],
            columns=classes,
        )
        return {
            "test accuracy": f"{accuracy[0]} (always the commonest class: {accuracy[1]})",
            "test log loss": f"{loss[0]} (class shares as probabilities: {loss[1]})",
            "test Brier score": f"{brier[0]} (class shares as probabilities: {brier[1]})",
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


def _accuracy(truth: pd.Series, model: Pipeline, features: pd.DataFrame) -> float:
    return float(accuracy_score(truth, model.predict(features)))


def _log_loss(truth: pd.Series, model: Pipeline, features: pd.DataFrame) -> float:
    return float(log_loss(truth, model.predict_proba(features), labels=model.classes_))


def _brier(truth: pd.Series, model: Pipeline, features: pd.DataFrame) -> float:
    """Half the squared distance of the probabilities from the truth: 0 to 1 for any classes."""
    happened: NDArray[np.bool_] = np.asarray(truth)[:, None] == model.classes_
    distance = ((model.predict_proba(features) - happened) ** 2).sum(axis=1)
    return float(distance.mean() / 2)
