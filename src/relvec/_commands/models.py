"""Kinds of models: how each has its inputs prepared, and which predicts rows left out best."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from relvec._commands.arguments import FIT_OPTIONS, FOLDS
from relvec._commands.files import holds_texts
from relvec._commands.tasks import Fold, Task, has_effects
from relvec._commands.terminal import progress

if TYPE_CHECKING:
    import pandas as pd

# Rows on which kinds of models are compared at most, so that it takes seconds: fewer where their
# cells, those of each class anew, are more than so many, but not below the least.
MOST_ROWS, MOST_CELLS, LEAST_ROWS = 1000, 10_000, 100
# Columns up to which models of effects are compared: they look at every pair.
MOST_COLUMNS = 30


@dataclass(frozen=True)
class Choice:
    """A kind of model, why it was chosen, and a line on each kind that might have been."""

    kind: str
    reason: str = ""
    lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Kind and reason, and the other lines below them."""
        return "\n".join([f"{self.kind}, {self.reason}" if self.reason else self.kind, *self.lines])


def candidates(
    task: Task, model: str, given: Mapping[str, Any], random_state: int
) -> dict[str, Any]:
    """Return the estimators that a fit is to choose among, by the names of their kinds.

    They have the parameters `given`: "auto" stands for all kinds that have these.
    """
    parameters = {name: kind().get_params() for name, kind in task.estimators.items()}
    able = [name for name, own in parameters.items() if given.keys() <= own.keys()]
    if model != "auto" and model not in able:
        options = ", ".join(FIT_OPTIONS[name] for name in given)
        raise ValueError(f"{options} is for --model {', '.join(able)}, but --model is {model}")
    names = able if model == "auto" else [model]
    settings = {**given, "random_state": random_state}
    return {
        name: task.estimators[name](
            **{key: value for key, value in settings.items() if key in parameters[name]}
        )
        for name in names
    }


def choose(
    models: Mapping[str, Pipeline], task: Task, X: pd.DataFrame, y: pd.Series, seed: int
) -> Choice:
    """Return the kind whose log density of rows left out is the best, in the same folds for all.

    Without a choice it is the first, and so it is where too few rows tell.
    """
    first = next(iter(models))
    if len(models) == 1:
        return Choice(first)
    rows = _some_rows(X, task.n_functions(y), seed)
    X_some, y_some = X.iloc[rows], y.iloc[rows]
    folds = task.folds(y_some, FOLDS, seed)
    if not folds:
        return Choice(first, "as too few rows tell the kinds of models apart")
    slow = [name for name, model in models.items() if has_effects(model[-1])]
    slow = slow if X.shape[1] > MOST_COLUMNS else []
    density = {}
    for name, model in models.items():
        if name not in slow:
            with progress(f"trying {name} in {FOLDS} folds"):
                density[name] = _log_density(model, task, X_some, y_some, folds)
    ranked = sorted(density, key=lambda name: -density[name])
    lines = [f"{name:<8}{density[name]:>10.4g}" for name in ranked]
    lines += [
        f"{name} not compared, with pairs of {X.shape[1]} columns: --model {name} fits it"
        for name in slow
    ]
    part = "" if len(rows) == len(X) else f" of {len(rows)} rows, drawn from {len(X)}"
    reason = f"for the best log density of rows left out (nats a row, {FOLDS} folds{part})"
    return Choice(ranked[0], reason, tuple(lines))


def cross_validated(
    model: Pipeline, task: Task, X: pd.DataFrame, y: pd.Series, folds: list[Fold]
) -> str:
    """Return scores of rows left out, with their standard deviations over the folds."""
    scoring = {task.measure: task.measured, "log density": task.log_density}
    given = {"params": _given(task, X), "error_score": "raise"}
    with warnings.catch_warnings():  # the model itself has warned
        warnings.simplefilter("ignore")
        found = cross_validate(model, X, y, cv=folds, scoring=scoring, **given)
    scores = (found[f"test_{name}"] for name in scoring)
    words = [
        f"{name} {own.mean():.4g} ± {own.std(ddof=1):.2g}"
        for name, own in zip(scoring, scores, strict=True)
    ]
    return f"{', '.join(words)} nats a row (mean and sd of {len(folds)} folds of {len(y)} rows)"


def _some_rows(X: pd.DataFrame, n_functions: int, seed: int) -> NDArray[np.intp]:
    """Positions of all rows, or of as many, drawn at random, as are compared in seconds."""
    few = max(LEAST_ROWS, MOST_CELLS // max(X.shape[1] * n_functions, 1))
    return np.sort(np.random.default_rng(seed).permutation(len(X))[: min(few, MOST_ROWS)])


def _log_density(
    model: Pipeline, task: Task, X: pd.DataFrame, y: pd.Series, folds: list[Fold]
) -> float:
    """Cross-validated log density of a model, nats a row."""
    total = 0.0
    for fitted, left_out in folds:
        with warnings.catch_warnings():  # the model that is chosen warns of itself
            warnings.simplefilter("ignore")
            fold = fitted_model(clone(model), task, X.iloc[fitted], y.iloc[fitted])
            part = task.log_density(fold, X.iloc[left_out], y.iloc[left_out])
        total += part * len(left_out)
    return total / len(y)


def fitted_model(model: Pipeline, task: Task, X: pd.DataFrame, y: pd.Series) -> Pipeline:
    """Fit a model to rows, with the exposure of their counts, and return it."""
    fitted: Pipeline = model.fit(X, y, **_given(task, X))
    return fitted


def _given(task: Task, X: pd.DataFrame) -> dict[str, pd.Series]:
    """Return what is known of rows by the names that `pipeline` gives their arguments."""
    return {f"machine__{name}": values for name, values in task.known(X).items()}


def pipeline(X: pd.DataFrame, estimator: Any, task: Task, *, impute: bool = False) -> Pipeline:
    """Prepare columns of numbers and of texts for an estimator, in one model with it.

    A model of effects takes numbers in their units and texts as they are. Others have numbers
    standardised and texts one-hot encoded. With `impute` missing numbers become medians, with an
    indicator for each column that has some, and missing texts a category. An exposure is no input.
    """
    known = {values.name for values in task.known(X).values()}
    inputs = [place for place, name in enumerate(X.columns) if name not in known]
    # Positions: where columns are chosen by name, scikit-learn 1.6 keeps those left over, none
    # here, in a list of a private type, which a stored model would have to trust.
    categories = [place for place in inputs if holds_texts(X.iloc[:, place])]
    numbers = [place for place in inputs if place not in categories]
    if not has_effects(estimator):
        columns = _encoder(X, numbers, categories, impute=impute)
    elif impute:
        fill_numbers, fill_texts = _imputers()
        columns = _transformer(
            [("numbers", fill_numbers, numbers), ("categories", fill_texts, categories)]
        )
    else:
        columns = _transformer([("columns", "passthrough", inputs)])
    return Pipeline([("columns", columns), ("machine", estimator)])


def _transformer(
    steps: list[tuple[str, Any, list[int]]], verbose_feature_names_out: bool = False
) -> ColumnTransformer:
    """Prepare columns by steps; what comes out has names."""
    columns = ColumnTransformer(steps, verbose_feature_names_out=verbose_feature_names_out)
    return columns.set_output(transform="pandas")


def _imputers() -> tuple[SimpleImputer, SimpleImputer]:
    """Return what fills in missing numbers, and missing texts."""
    return (
        SimpleImputer(strategy="median", add_indicator=True),
        SimpleImputer(strategy="constant", fill_value="missing"),
    )


def _encoder(
    X: pd.DataFrame, numbers: list[int], categories: list[int], *, impute: bool
) -> ColumnTransformer:
    """Standardise numbers, one-hot encode texts; the model carries this preparation with it.

    A category that the fit did not see is all zeros, like none of the known ones, and warns. What
    comes out has the names of the columns, which the estimator keeps: of a category its own behind
    that of the column. Where two would be the same, each has the kind of its column before it.
    """
    scaler, encoder = StandardScaler(), OneHotEncoder(handle_unknown="warn", sparse_output=False)
    names = [str(X.columns[position]) for position in numbers]
    for position in categories:
        column = X.iloc[:, position]
        names += [f"{column.name}_{value}" for value in column.unique()]
    if impute:
        fill_numbers, fill_texts = _imputers()
        scaler, encoder = make_pipeline(fill_numbers, scaler), make_pipeline(fill_texts, encoder)
    steps = [("numbers", scaler, numbers), ("categories", encoder, categories)]
    return _transformer(steps, verbose_feature_names_out=len(set(names)) < len(names))
