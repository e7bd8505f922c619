"""Steps of a pipeline before the model that C is written of: those that shift, scale and pick."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from relvec._numerics.typing import Index
from relvec.export.expression import Axis, Expression, pick, stack, table

Scaled = tuple[Expression, Axis]


@singledispatch
def scaled(step: Any, x: Expression, feature: Axis) -> Scaled:
    """What a fitted step makes of a row x along the axis `feature`, and the axis that this has."""
    del x, feature
    raise ValueError(
        f"step {step!r} cannot be exported to C, expected StandardScaler, MinMaxScaler or a "
        "ColumnTransformer of these; export to ONNX takes all steps that skl2onnx knows"
    )


@scaled.register
def _(step: StandardScaler, x: Expression, feature: Axis) -> Scaled:
    if step.with_mean:
        x = x - table(step.mean_, feature, name="means")
    if step.with_std:
        x = x / table(step.scale_, feature, name="deviations")
    return x, feature


@scaled.register
def _(step: MinMaxScaler, x: Expression, feature: Axis) -> Scaled:
    if step.clip:
        raise ValueError(f"step {step!r} cannot be exported to C, expected clip=False")
    factor = table(step.scale_, feature, name="factors")
    return x * factor + table(step.min_, feature, name="offsets"), feature


@scaled.register
def _(step: Pipeline, x: Expression, feature: Axis) -> Scaled:
    for _, part in step.steps:
        if not _does_nothing(part):
            x, feature = scaled(part, x, feature)
    return x, feature


@scaled.register
def _(step: ColumnTransformer, x: Expression, feature: Axis) -> Scaled:
    if step.transformer_weights:
        raise ValueError(
            f"transformer_weights={step.transformer_weights!r} cannot be exported to C, expected "
            "None"
        )
    parts: list[Scaled] = []
    for _, part, columns in step.transformers_:
        positions = positions_of(step, [] if part == "drop" else columns)
        if not len(positions):
            continue
        own = Axis("column", len(positions))
        picked = pick(x, feature, positions, own)
        parts.append((picked, own) if _does_nothing(part) else scaled(part, picked, own))
    axis = Axis("feature", sum(own.size for _, own in parts))
    return stack([part for part, _ in parts], axis, name="prepared"), axis


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
    """Whether a step is left out, in either of the ways that scikit-learn says so."""
    identity = isinstance(step, FunctionTransformer) and step.func is None
    return step is None or identity or (isinstance(step, str) and step == "passthrough")
