"""Kinds of models: how each has its inputs prepared, and which predicts rows left out best."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from relvec import EffectsClassifier, EffectsRegressor
from relvec._commands.arguments import FIT_OPTIONS
from relvec._commands.files import holds_texts
from relvec._commands.tasks import Task

if TYPE_CHECKING:
    import pandas as pd

#: Folds of the cross-validation, and how their rows are drawn.
FOLDS, SEED = 5, 0


def candidates(
    task: Task, model: str | None, given: Mapping[str, Any], random_state: int
) -> dict[str, Any]:
    """Return the estimators that a fit is to choose among, by the names of their kinds.

    Without a model there are all kinds, or the relevance vector machine alone where there are
    options `given` that only it has.
    """
    accepted = {
        name: set(estimator().get_params()).issuperset(given)
        for name, estimator in task.estimators.items()
    }
    if model is None:
        model = "auto" if all(accepted.values()) and given.keys() <= {"likelihood"} else "rvm"
    names = list(task.estimators) if model == "auto" else [model]
    if not all(accepted[name] for name in names):
        options = ", ".join(FIT_OPTIONS[name] for name in given)
        able = ", ".join(name for name, accepts in accepted.items() if accepts)
        raise ValueError(f"{options} is for --model {able}, but --model is {model}")
    found = {}
    for name in names:
        own = task.estimators[name](**given)
        seeded = "random_state" in own.get_params()
        found[name] = own.set_params(random_state=random_state) if seeded else own
    return found


def best_of(
    models: Mapping[str, Pipeline], task: Task, X: pd.DataFrame, y: pd.Series
) -> tuple[str, dict[str, float]]:
    """Return the name of the best model, and the cross-validated log density of each, a row.

    Shuffled folds are the same for all. Where there are too few rows for folds, or only one model,
    it is the first, and no figures.
    """
    folds = task.folds(y, FOLDS, SEED) if len(models) > 1 else []
    if not folds:
        return next(iter(models)), {}
    density = dict.fromkeys(models, 0.0)
    for name, model in models.items():
        for fitted, left_out in folds:
            with warnings.catch_warnings():  # the model that is chosen warns of itself
                warnings.simplefilter("ignore")
                fold = clone(model).fit(X.iloc[fitted], y.iloc[fitted])
                part = task.log_density(fold, X.iloc[left_out], y.iloc[left_out])
            density[name] += part * len(left_out) / len(y)
    return max(density, key=lambda name: np.nan_to_num(density[name], nan=-np.inf)), density


def pipeline(X: pd.DataFrame, estimator: Any) -> Pipeline:
    """Prepare the columns of a table for an estimator, in one model with it.

    A model of effects takes numbers in their units and texts as they are. Others have numbers
    standardised and texts one-hot encoded.
    """
    numbers, categories = _columns(X)
    if isinstance(estimator, EffectsRegressor | EffectsClassifier):
        columns = _transformer([("columns", "passthrough", list(range(X.shape[1])))])
    else:
        columns = _encoder(X, numbers, categories)
    return Pipeline([("columns", columns), ("machine", estimator)])


def _transformer(
    steps: list[tuple[str, Any, list[int]]], verbose_feature_names_out: bool = False
) -> ColumnTransformer:
    """Prepare columns by steps; what comes out has names."""
    columns = ColumnTransformer(steps, verbose_feature_names_out=verbose_feature_names_out)
    return columns.set_output(transform="pandas")


def _columns(X: pd.DataFrame) -> tuple[list[int], list[int]]:
    """Positions of the columns of numbers and of categories; others raise ValueError."""
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
    return numbers, categories


def _encoder(X: pd.DataFrame, numbers: list[int], categories: list[int]) -> ColumnTransformer:
    """Standardise numbers, one-hot encode texts; the model carries this preparation with it.

    A category that the fit did not see is all zeros, like none of the known ones, and warns. What
    comes out has the names of the columns, which the estimator keeps: of a category its own behind
    that of the column. Where two would be the same, each has the kind of its column before it.
    """
    encoder = OneHotEncoder(handle_unknown="warn", sparse_output=False)
    names = [str(X.columns[position]) for position in numbers]
    for position in categories:
        column = X.iloc[:, position]
        names += [f"{column.name}_{value}" for value in column.unique()]
    steps = [("numbers", StandardScaler(), numbers), ("categories", encoder, categories)]
    return _transformer(steps, verbose_feature_names_out=len(set(names)) < len(names))
