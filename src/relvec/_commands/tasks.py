"""Regression and classification of a column: estimator, scores, predictions and pictures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, log_loss, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from relvec import (
    RVC,
    RVR,
    EffectsClassifier,
    EffectsRegressor,
    SparseBayesianClassifier,
    SparseBayesianRegressor,
    log_density,
    storage,
)
from relvec._assess.findings import Diagnosis
from relvec._commands.arguments import FIT_OPTIONS, MODELS, MOST_CLASSES
from relvec._commands.files import holds_texts
from relvec._commands.preparation import Preparation
from relvec._commands.terminal import listed
from relvec.display import (
    BoundaryDisplay,
    CalibrationDisplay,
    CoverageDisplay,
    RegressionDisplay,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Positions of the rows to fit and of those left out.
Fold: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Drawing:
    """A picture that is still to be drawn, its caption, and its height in inches."""

    caption: str
    draw: Callable[[Axes], object]
    height: float = 4.0


@dataclass(frozen=True)
class Regression:
    """Numbers: a mean with an error bar."""

    exposure: str | None = None  # name of the column with the exposure of each count
    estimators: ClassVar[dict[str, Any]] = dict(
        zip(MODELS, (RVR, EffectsRegressor, SparseBayesianRegressor), strict=True)
    )
    circles_vectors: ClassVar = True
    measure: ClassVar = "RMSE"

    def known(self, X: pd.DataFrame) -> dict[str, pd.Series]:
        """Return what fits and predictions are told of rows beside their inputs, by name."""
        return {"exposure": X[self.exposure]} if self.exposure else {}

    def checked(self, target: pd.Series) -> pd.Series:
        """Return the target as the estimator takes it; raise unless it holds numbers."""
        from pandas.api.types import is_numeric_dtype

        if not is_numeric_dtype(target):
            raise ValueError(f"the target {target.name!r} holds {target.dtype}, not numbers")
        return target

    def strata(self, target: pd.Series) -> None:
        """Return None: rows are held out regardless of their values."""

    def folds(self, target: pd.Series, count: int, seed: int) -> list[Fold]:
        """Positions to fit and to leave out in each of so many folds; none of too few rows."""
        if len(target) < 2 * count:
            return []
        return list(KFold(count, shuffle=True, random_state=seed).split(target))

    def n_functions(self, target: pd.Series) -> int:
        """Return one, for the mean."""
        return 1

    def measured(self, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> float:
        """Root mean square of the errors."""
        return float(root_mean_squared_error(y, model.predict(X, **self.known(X))))

    def log_density(self, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> float:
        """Mean log density of the targets."""
        return log_density(model, X, y, **self.known(X))

    def describe(self, model: Pipeline, target: str) -> str:
        """Name the target."""
        return f"regression of {target}"

    def scores(
        self, model: Pipeline, X: pd.DataFrame, y: pd.Series, y_train: pd.Series | None = None
    ) -> dict[str, str]:
        """Error beside that of a mean, and coverage of the intervals, by the names of lines.

        The mean is that of `y_train`, whose rows are not those of `y`, or else of `y`.
        """
        known, rows, whose = (y, "", "their") if y_train is None else (y_train, "test ", "training")
        told = self.predictions(model, X)
        mean, low, high = told["mean"], told["lower_95"], told["upper_95"]
        rmse = root_mean_squared_error(y, mean)
        baseline = root_mean_squared_error(y, np.full(len(y), known.mean()))
        covered = np.mean((low <= y.to_numpy()) & (y.to_numpy() <= high))
        return {
            f"{rows}RMSE": f"{rmse:.4g} {y.name} ({whose} mean as prediction: {baseline:.4g})",
            "95 % interval": f"holds {100 * covered:.1f} % of the {rows}rows",
        }

    def predictions(self, model: Pipeline, X: pd.DataFrame, coverage: float = 0.95) -> pd.DataFrame:
        """Mean, standard deviation of a new observation, and an interval of every row."""
        import pandas as pd

        known, judge = self.known(X), getattr(model, "calibrated_", model[-1])
        mean, std = model.predict(X, return_std=True, **known)
        low, high = judge.predict_interval(model[:-1].transform(X), coverage, **known)
        percent = f"{100 * coverage:.10g}"
        ends = {f"lower_{percent}": low, f"upper_{percent}": high}
        return pd.DataFrame({"mean": mean, "std": std} | ends)

    def drawings(self, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> Iterator[Drawing]:
        """Predictions with error bars, and the reliability of these."""
        yield Drawing(
            f"Predictions of {y.name} with 95 % error bars beside the truth.",
            lambda ax: RegressionDisplay.from_estimator(model, X, y, ax=ax, **self.known(X)),
        )
        yield Drawing(
            "How many rows lie in intervals that should hold 10 to 99 % of them.",
            lambda ax: CoverageDisplay.from_estimator(model, X, y, ax=ax, **self.known(X)),
        )


class Classification:
    """Classes: a probability each."""

    estimators: ClassVar[dict[str, Any]] = dict(
        zip(MODELS, (RVC, EffectsClassifier, SparseBayesianClassifier), strict=True)
    )
    circles_vectors = False
    measure = "accuracy"

    def known(self, X: pd.DataFrame) -> dict[str, pd.Series]:
        """Return nothing: fits and predictions are told of inputs alone."""
        return {}

    def checked(self, target: pd.Series) -> pd.Series:
        """Return the target as the estimator takes it; raise unless it holds classes.

        These are texts, whole numbers, or true and false.
        """
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

    def folds(self, target: pd.Series, count: int, seed: int) -> list[Fold]:
        """Positions to fit and to leave out in each of so many folds, with shares of each class.

        There are none of too few rows: two classes are to be among those to fit in every fold.
        """
        counts = target.value_counts()
        if len(target) < 2 * count or len(counts) < 2 or counts.max() < count or counts.iloc[1] < 2:
            return []
        with warnings.catch_warnings():  # of classes with fewer rows than folds
            warnings.simplefilter("ignore")
            kind = StratifiedKFold(count, shuffle=True, random_state=seed)
            return list(kind.split(np.zeros(len(target)), target))

    def n_functions(self, target: pd.Series) -> int:
        """Count the functions that are fitted: one of two classes, or one for each of several."""
        count = target.nunique()
        return 1 if count < 3 else int(count)

    def measured(self, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> float:
        """Share of the classes that are right."""
        return float(np.mean(model.predict(X) == y))

    def log_density(self, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> float:
        """Mean log probability of the classes; of those that the model does not know it is none."""
        import pandas as pd

        known = pd.DataFrame(model.predict_proba(X), columns=model.classes_)
        classes = np.unique(np.concatenate([model.classes_, y]))
        probability = known.reindex(columns=classes, fill_value=0.0).to_numpy()
        return -float(log_loss(y, probability, labels=classes))

    def describe(self, model: Pipeline, target: str) -> str:
        """Name the target and its classes."""
        classes = model.classes_
        return f"classification of {target}, {len(classes)} classes: {listed(classes)}"

    def scores(
        self, model: Pipeline, X: pd.DataFrame, y: pd.Series, y_train: pd.Series | None = None
    ) -> dict[str, str]:
        """Scores of classes and probabilities beside those of class shares, by names of lines.

        The shares are those of `y_train`, whose rows are not those of `y`, or else of `y`.
        """
        import pandas as pd

        known, rows = (y, "") if y_train is None else (y_train, "test ")
        classes, predicted, probability = model.classes_, model.predict(X), model.predict_proba(X)
        share = known.value_counts(normalize=True).reindex(classes, fill_value=0.0).to_numpy()
        shares = np.tile(share, (len(y), 1))
        accuracy = [np.mean(y == told) for told in (predicted, classes[share.argmax()])]
        loss = [log_loss(y, p, labels=classes) for p in (probability, shares)]
        brier = [_brier(y, p, classes) for p in (probability, shares)]
        confusion = pd.DataFrame(
            confusion_matrix(y, predicted, labels=classes),
            index=[f"true {name}" for name in classes],
            columns=classes,
        )
        guess = "class shares as probabilities"
        return {
            f"{rows}accuracy": f"{accuracy[0]:.4g} (always the commonest class: {accuracy[1]:.4g})",
            f"{rows}log loss": f"{loss[0]:.4g} ({guess}: {loss[1]:.4g})",
            f"{rows}Brier score": f"{brier[0]:.4g} ({guess}: {brier[1]:.4g})",
            "predicted": confusion.to_string(),
        }

    def predictions(self, model: Pipeline, X: pd.DataFrame, coverage: float = 0.95) -> pd.DataFrame:
        """Class of every row, and the probability of every class.

        Of a calibrated model also the classes one of which is the true one with the coverage.
        """
        import pandas as pd

        columns = [f"probability_{name}" for name in model.classes_]
        table = pd.DataFrame(model.predict_proba(X), columns=columns)
        table.insert(0, "predicted", model.predict(X))
        if hasattr(model, "calibrated_"):
            members = model.calibrated_.predict_set(model[:-1].transform(X), coverage)
            names = np.array([str(name) for name in model.classes_], dtype=object)
            table[f"classes_{100 * coverage:.10g}"] = [" | ".join(names[row]) for row in members]
        return table

    def drawings(self, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> Iterator[Drawing]:
        """Reliability of the probabilities and, of two inputs, a map of the classes."""
        yield Drawing(
            f"Probabilities of {y.name} against how often they came true.",
            lambda ax: CalibrationDisplay.from_estimator(model, X, y, ax=ax),
        )
        if model.n_features_in_ == 2 and not any(holds_texts(column) for _, column in X.items()):
            yield Drawing(
                f"Probabilities of {y.name} over the two inputs.",
                lambda ax: BoundaryDisplay.from_estimator(model, X, y, ax=ax),
            )


Task: TypeAlias = Regression | Classification
TASKS: dict[str, Task] = {"regression": Regression(), "classification": Classification()}


def task_of(target: pd.Series) -> str:
    """Classification, or regression of numbers that are not whole ones of 2 to 10 values."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if not is_numeric_dtype(target) or is_bool_dtype(target):
        return "classification"
    few = 2 <= target.nunique() <= MOST_CLASSES
    return "classification" if few and _are_whole(target) else "regression"


def load_model(path: Path, *, trust_pickle: bool) -> tuple[Task, Pipeline]:
    """Read a model of `relvec fit` and its task; any other raises ValueError."""
    model = storage.load(path, trust_pickle=trust_pickle)
    for task in TASKS.values():
        ours = isinstance(model, Pipeline) and isinstance(
            model[-1], tuple(task.estimators.values())
        )
        if ours and hasattr(model, "feature_names_in_"):
            exposure = Preparation.of(model).columns.exposure
            return Regression(exposure) if exposure else task, model
    raise ValueError(f"{path} holds a {type(model).__name__}, not a model of `relvec fit`")


def has_effects(estimator: Any) -> bool:
    """Return whether an estimator tells the effects of its inputs."""
    return isinstance(estimator, EffectsRegressor | EffectsClassifier)


def noise(model: Pipeline, target: str) -> dict[str, str]:
    """Standard deviation of the noise in units of the target, if the fit found any."""
    if not hasattr(model[-1], "noise_variance_"):
        return {}
    return {"noise sd": f"{np.sqrt(model[-1].noise_variance_):.4g} {target}"}


def diagnosis(task: Task, model: Pipeline, X: pd.DataFrame, y: pd.Series) -> Diagnosis:
    """Findings about the model on some rows, with the advice that `relvec fit` has options for."""
    found = model[-1].diagnose(model[:-1].transform(X), y, **task.known(X))
    return Diagnosis(finding.for_command(FIT_OPTIONS) for finding in found)


def _are_whole(numbers: pd.Series) -> bool:
    return bool((numbers.astype(float) % 1 == 0).all())


def _brier(truth: pd.Series, probability: NDArray[np.float64], classes: NDArray[Any]) -> float:
    """Half the squared distance of the probabilities from the truth: 0 to 1 for any classes."""
    happened: NDArray[np.bool_] = np.asarray(truth)[:, None] == classes
    return float(((probability - happened) ** 2).sum(axis=1).mean() / 2)
