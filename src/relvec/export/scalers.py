"""Steps of a pipeline before the model that C is written of: those that shift, scale and pick."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from relvec._numerics.typing import Index
from relvec.export.expression import Axis, Expression, pick, stack, table


def scaled(step: Any, x: Expression) -> Expression:
    """Return what a fitted step makes of a row x, which has one axis, as the result has."""
    (feature,) = x.axes
    if _does_nothing(step):
        return x
    match step:
        case Pipeline():
            for _, part in step.steps:
                x = scaled(part, x)
        case StandardScaler():
            if step.with_mean:
                x = x - table(step.mean_, feature, name="means")
            if step.with_std:
                x = x / table(step.scale_, feature, name="deviations")
        case MinMaxScaler():
            if step.clip:
                raise ValueError(f"step {step!r} cannot be exported to C, expected clip=False")
            factor = table(step.scale_, feature, name="factors")
            x = x * factor + table(step.min_, feature, name="offsets")
        case ColumnTransformer():
            x = _columns(step, x)
        case _:
            raise ValueError(
                f"step {step!r} cannot be exported to C, expected StandardScaler, MinMaxScaler or "
                "a ColumnTransformer of these; export to ONNX takes all steps that skl2onnx knows"
            )
    return x


def _columns(step: ColumnTransformer, x: Expression) -> Expression:
    if step.transformer_weights:
        raise ValueError(
            f"transformer_weights={step.transformer_weights!r} cannot be exported to C, expected "
            "None"
        )
    parts, (feature,) = [], x.axes
    for _, part, columns in step.transformers_:
        positions = positions_of(step, [] if part == "drop" else columns)
        if len(positions):
            own = Axis("column", len(positions))
            parts.append(scaled(part, pick(x, feature, positions, own)))
    axis = Axis("feature", sum(part.axes[0].size for part in parts))
    return stack(parts, axis, name="prepared")


def positions_of(step: ColumnTransformer, columns: Any) -> Index:
    """Positions of columns that are given by name, position, slice or mask."""
    if not isinstance(columns, slice) and any(isinstance(column, str) for column in columns):
        names = list(step.feature_names_in_)
        return np.array([names.index(column) for column in columns])
    positions: Index = np.arange(step.n_features_in_)[columns]
    return positions


def n_inputs(model: Any) -> int:
    """Number of inputs of a fitted model, whose first step need not know it."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    return int(next(step.n_features_in_ for step in steps if not _does_nothing(step)))


def _does_nothing(step: Any) -> bool:
    """Return True for a step that is left out, in either of the ways of scikit-learn."""
    identity = isinstance(step, FunctionTransformer) and step.func is None
    return step is None or identity or (isinstance(step, str) and step == "passthrough")
