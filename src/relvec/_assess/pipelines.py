"""Access to an estimator, by itself or at the end of a pipeline that prepares its inputs."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline


def estimator_of(model: Any) -> Any:
    """Return the estimator itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def inputs_of(model: Any, X: Any) -> Any:
    """Return the inputs that the estimator receives where a fitted model receives X."""
    return model[:-1].transform(X) if isinstance(model, Pipeline) and len(model) > 1 else X


def prefix_of(model: Any) -> str:
    """Return the prefix of the estimator's own arguments in ``model.fit``."""
    return f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) else ""
