"""Converters of the estimators for skl2onnx, which takes care of pipelines around them."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto
from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import (
    BooleanTensorType,
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
)
from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
from skl2onnx.common.utils import check_input_and_output_numbers, check_input_and_output_types
from skl2onnx.common.utils_classifier import get_label_classes

from relvec.export.expression import Axis, Input, Stored
from relvec.export.onnx_writer import OnnxWriter
from relvec.export.outputs import CLASSIFIERS, REGRESSORS, predicted

INPUTS = [FloatTensorType, DoubleTensorType, Int64TensorType, BooleanTensorType]
DOUBLE = {"double": [False, True]}
CLASSIFIER_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [False, True],
    "output_class_labels": [False, True],
}


def register_all() -> None:
    """See `relvec.export.register`."""
    for regressor in REGRESSORS:
        update_registered_converter(
            regressor,
            f"Relvec{regressor.__name__}",
            _regressor_shapes,
            _convert_regressor,
            parser=_parse_regressor,
            options={"return_std": [False, True]} | DOUBLE,
        )
    for classifier in CLASSIFIERS:
        update_registered_converter(
            classifier,
            f"Relvec{classifier.__name__}",
            calculate_linear_classifier_output_shapes,
            _convert_classifier,
            options=CLASSIFIER_OPTIONS | DOUBLE,
        )


def _parse_regressor(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare one output or two."""
    wanted = scope.get_options(model, {"return_std": False})["return_std"]
    operator = scope.declare_local_operator(f"Relvec{type(model).__name__}", model)
    operator.inputs = inputs
    kind = DoubleTensorType if isinstance(inputs[0].type, DoubleTensorType) else FloatTensorType
    for name in ("mean", "std") if wanted else ("mean",):
        operator.outputs.append(scope.declare_local_variable(name, kind()))
    return operator.outputs


def _regressor_shapes(operator: Any) -> None:
    """A row for each row, a column for each target."""
    check_input_and_output_numbers(operator, input_count_range=1, output_count_range=[1, 2])
    check_input_and_output_types(operator, good_input_types=INPUTS)
    n_rows = operator.inputs[0].get_first_dimension()
    for output in operator.outputs:
        output.type.shape = [n_rows, len(operator.raw_operator.fit_result_.outputs)]


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    writer, outputs, kind = _begun(scope, operator, container)
    for output, node in zip(operator.outputs, outputs.values(), strict=True):
        writer.node("Cast", writer.rows(node), output=output.full_name, to=kind)


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    writer, outputs, kind = _begun(scope, operator, container)
    label, probability = operator.outputs
    likely = writer.node("ArgMax", writer.rows(outputs["score"]), axis=1, keepdims=0)
    labels = _labels(scope, container, operator.raw_operator)
    writer.node("Gather", labels, likely, output=label.full_name)
    rows = writer.rows(outputs["probability"])
    writer.node("Cast", rows, output=probability.full_name, to=kind)


def _begun(scope: Any, operator: Any, container: Any) -> tuple[OnnxWriter, dict[str, Stored], int]:
    """A writer, what it is to write, and the type of the outputs."""
    (given,), model = operator.inputs, operator.raw_operator
    double = isinstance(given.type, DoubleTensorType)
    wanted = container.get_options(model, {"double": False})["double"]
    dtype = np.dtype(np.float64 if double or wanted or _is_averaged(model) else np.float32)
    writer = OnnxWriter(scope, container, given.full_name, dtype)
    x, names = Input(Axis("feature", int(model.n_features_in_))), operator.outputs
    outputs = predicted(model, x, return_std=len(names) > 1)
    return writer, outputs, TensorProto.DOUBLE if double else TensorProto.FLOAT


def _is_averaged(model: Any) -> bool:
    """True if probabilities are averages over several outputs.

    These depend on the axes of a covariance, of which single precision does not leave enough.
    """
    several = any(output.likelihood.n_outputs > 1 for output in model.fit_result_.outputs)
    return several and bool(model.fit_result_.parameters["proba"] == "integrated")


def _labels(scope: Any, container: Any, model: Any) -> str:
    """Name of the constants that are the labels."""
    name = scope.get_unique_variable_name("relvec_labels")
    labels = get_label_classes(scope, model).tolist()
    if all(isinstance(label, str) for label in labels):
        kind, values = TensorProto.STRING, [label.encode() for label in labels]
    else:
        kind, values = TensorProto.INT64, [int(label) for label in labels]
    container.add_initializer(name, kind, [len(values)], values)
    return str(name)
