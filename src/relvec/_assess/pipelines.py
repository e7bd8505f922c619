"""An estimator, by itself or at the end of a pipeline that prepares its inputs."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline


def estimator_of(model: Any) -> Any:
    """The estimator itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def inputs_of(model: Any, X: Any) -> Any:
    """What the estimator is handed where a fitted model is given X."""
    return model[:-1].transform(X) if isinstance(model, Pipeline) and len(model) > 1 else X
