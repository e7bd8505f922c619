"""The estimator in a model of scikit-learn, and what is done to its inputs and targets before."""

from __future__ import annotations

import re
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from relvec._assess.targets import TargetChange
from relvec._numerics.naming import cell_name

#: A text in errors of transformers that refuse it.
REFUSED = re.compile(r"could not convert string to float: '(.*)'|unknown categories \['(.*?)'")


@dataclass(frozen=True)
class Unwrapped:
    """An estimator, and what the model that holds it does to inputs and targets."""

    #: the estimator itself, or pipelines, searches and regressors of transformed targets around it
    model: Any
    estimator: Any  # what is innermost
    steps: tuple[Pipeline, ...]  # what inputs go through to the estimator, in their order
    change: TargetChange  # between the target of the model and that of the estimator

    def inputs(self, X: Any) -> Any:
        """Return the inputs that the estimator receives where the model receives X.

        A text that a step refuses is named with its cell of X.
        """
        inputs = X
        try:
            for step in self.steps:
                inputs = step.transform(inputs)
        except ValueError as error:
            cell = _refused_cell(str(error), X)
            if not cell:
                raise
            raise ValueError(f"{error}{cell}") from error
        return inputs

    @property
    def names(self) -> list[str] | None:
        """Names of the estimator's inputs, None where neither it nor the steps have any."""
        own = getattr(self.estimator, "feature_names_in_", None)
        if own is not None:
            return [str(name) for name in own]
        names = None
        try:
            for step in self.steps:
                names = step.get_feature_names_out(names)
        except AttributeError:  # of a step that names no outputs
            return None
        return None if names is None else [str(name) for name in names]

    @property
    def named(self) -> Any:
        """The estimator, as if its inputs had come with their names."""
        names, named = self.names, self.estimator
        if names is not None:
            named = copy(self.estimator)
            named.feature_names_in_ = np.array(names, dtype=object)
        return named


def unwrap(model: Any) -> Unwrapped:
    """Split a model into its steps, the estimator, and the change of its target.

    What is not fitted stays whole, but for pipelines.
    """
    steps, transformers, inner = [], [], model
    while True:
        if isinstance(inner, Pipeline):
            steps += [inner[:-1]] if len(inner) > 1 else []
            inner = inner[-1]
        elif isinstance(inner, TransformedTargetRegressor) and hasattr(inner, "regressor_"):
            transformers.append(inner.transformer_)
            inner = inner.regressor_
        elif isinstance(inner, FrozenEstimator):
            inner = inner.estimator
        elif hasattr(inner, "best_estimator_"):  # of a search
            inner = inner.best_estimator_
        else:
            return Unwrapped(model, inner, tuple(steps), TargetChange(tuple(transformers)))


def unwrap_fitted(
    model: Any, method: str = "log_evidence", kind: str = "an estimator of relvec"
) -> Unwrapped:
    """Split a fitted model; raise TypeError unless it holds an estimator that has a `method`.

    `kind` is what the error says was expected.
    """
    if hasattr(model, "fit"):
        check_is_fitted(model)
    found = unwrap(model)
    if not hasattr(found.estimator, method):
        around, inner = type(model).__name__, type(found.estimator).__name__
        held = "" if found.estimator is model else f" that holds a {inner}"
        raise TypeError(
            f"model is a {around}{held}, expected {kind}, or a pipeline, a search with refit=True "
            "or a TransformedTargetRegressor that holds one"
        )
    return found


def _refused_cell(error: str, X: Any) -> str:
    """Return words that name the cell of X with the text that an error names, if it does."""
    refused, cells = REFUSED.search(error), np.asarray(X, dtype=object)
    if refused is None or not cells.ndim:
        return ""
    found = np.argwhere(cells == (refused[1] or refused[2])).tolist()
    if not found:
        return ""
    row, *columns = found[0]
    return f": {cell_name(X, cells, row, columns[0] if columns else 0)} of X"


def prefix_of(model: Any) -> str:
    """Return the prefix of the estimator's own arguments in ``model.fit``.

    It has the names of steps of pipelines; a search hands on what it is given.
    """
    if hasattr(model, "best_estimator_"):
        return prefix_of(model.estimator)
    if not isinstance(model, Pipeline):
        return ""
    name, last = model.steps[-1]
    return f"{name}__{prefix_of(last)}"
