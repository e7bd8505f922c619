"""Expressions as nodes of an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from onnx import helper

from relvec.export.expression import (
    Apply,
    Axis,
    Expression,
    Inner,
    Input,
    Limit,
    Pick,
    Reduce,
    Repeat,
    Stack,
    Stored,
    Table,
    dependencies,
)
from relvec.export.special import composed_normal_cdf

#: Operators of elementwise functions.
OPERATORS = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "negative": "Neg",
    "exp": "Exp",
    "log": "Log",
    "sqrt": "Sqrt",
    "sin": "Sin",
    "tanh": "Tanh",
    "absolute": "Abs",
    "minimum": "Min",
    "maximum": "Max",
    "power": "Pow",
}
REDUCTIONS = {"sum": "ReduceSum", "product": "ReduceProd", "largest": "ReduceMax"}
#: Set of operators from which on axes are an input of all reductions; of sums they always are.
AXES_AS_INPUT = 18


class OnnxWriter:
    """Writes expressions as nodes: tensors whose first axis is that of the rows.

    Parameters
    ----------
    scope, container
        Of skl2onnx, for names and for nodes.
    row : str
        Name of the tensor of rows, of shape (n, n_features) and any type.
    dtype : numpy.dtype
        float32 or float64, which is computed in.
    """

    def __init__(self, scope: Any, container: Any, row: str, dtype: np.dtype[Any]) -> None:
        self.scope, self.container, self.dtype = scope, container, dtype
        self.opset = container.target_opset_any_domain("")
        self.row = self.node("Cast", row, to=helper.np_dtype_to_tensor_dtype(dtype))
        self.known: dict[Expression, str] = {}
        self.constants: dict[object, str] = {}

    def node(self, operator: str, *inputs: str, output: str | None = None, **settings: Any) -> str:
        """Add a node; returns the name of its output."""
        output = output or self.scope.get_unique_variable_name(f"relvec_{operator.lower()}")
        name = self.scope.get_unique_operator_name(operator)
        self.container.add_node(
            operator, list(inputs), [output], op_version=self.opset, name=name, **settings
        )
        return output

    def constant(self, values: NDArray[Any]) -> str:
        """Add constants, of the type that is computed in unless they are whole numbers."""
        if values.dtype.kind == "f":
            with np.errstate(over="ignore"):  # which is told below
                rounded = values.astype(self.dtype)
            if not np.isfinite(rounded).all():
                raise ValueError(f"the model holds numbers that {self.dtype} cannot")
            values = rounded
        key = values.dtype, values.shape, values.tobytes()
        if key not in self.constants:
            self.constants[key] = name = self.scope.get_unique_variable_name("relvec_constant")
            kind = helper.np_dtype_to_tensor_dtype(values.dtype)
            self.container.add_initializer(name, kind, list(values.shape), values.ravel().tolist())
        return self.constants[key]

    def tensor(self, node: Expression) -> str:
        """Name of the tensor of an expression, of shape (n, …) or (1, …) if it has no input."""
        if node not in self.known:
            self.known[node] = self._tensor(node)
        return self.known[node]

    def rows(self, node: Expression) -> str:
        """Name of the tensor of an expression with as many rows as there are."""
        name = self.tensor(node)
        if any(isinstance(part, Input) for part in dependencies(node)):
            return name
        shape = self.node("Shape", self.row, start=0, end=1)
        if node.axes:
            sizes = self._whole([axis.size for axis in node.axes])
            shape = self.node("Concat", shape, sizes, axis=0)
        return self.node("Expand", name, shape)

    def _tensor(self, node: Expression) -> str:
        match node:
            case Input():
                return self.row
            case Table():
                return self.constant(node.values[None])
            case Limit():
                return self.constant(np.array([node.of(self.dtype)]))
            case Apply():
                return self._apply(node.in_precision(self.dtype))
            case Reduce(parts=(part,)):
                return self._reduce(node, part)
            case Inner(parts=(one, two)):
                return self._inner(node, one, two)
            case Pick(parts=(part,)):
                return self._pick(node, part)
            case Stored():
                return self._stored(node)
        raise AssertionError(node)

    def _stored(self, node: Stored) -> str:
        """The values themselves: a graph has a tensor for every expression anyway."""
        match node:
            case Stack():
                return self.node("Concat", *map(self._flat, node.parts), axis=1)
            case Repeat(parts=(state, _)):
                for positions in [*node.positions] * node.times:
                    state = node.step(state, positions)
                    self.tensor(state)  # one step after another, as the graph is deep
                return self.tensor(state)
        return self.tensor(node.parts[0])

    def _apply(self, node: Apply) -> str:
        if node.function == "normal_cdf":
            return self.tensor(composed_normal_cdf(*node.parts))
        parts = [self._spread(part, node.axes) for part in node.parts]
        if node.function == "choose":
            zero = self.constant(np.zeros(1))
            return self.node("Where", self.node("Less", parts[0], zero), *parts[1:])
        return self.node(OPERATORS[node.function], *parts)

    def _spread(self, part: Expression, axes: tuple[Axis, ...]) -> str:
        """The tensor of a part with an axis of size one wherever it lacks one."""
        missing = [1 + place for place, axis in enumerate(axes) if axis not in part.axes]
        if isinstance(part, Table):
            return self.constant(np.expand_dims(part.values, [0, *missing]))
        name = self.tensor(part)
        return self.node("Unsqueeze", name, self._whole(missing)) if missing else name

    def _reduce(self, node: Reduce, part: Expression) -> str:
        operator, place = REDUCTIONS[node.kind], [1 + part.axes.index(node.axis)]
        if operator == "ReduceSum" or self.opset >= AXES_AS_INPUT:
            return self.node(operator, self.tensor(part), self._whole(place), keepdims=0)
        return self.node(operator, self.tensor(part), axes=place, keepdims=0)

    def _inner(self, node: Inner, one: Expression, two: Expression) -> str:
        letters = dict(zip([*node.axes, node.axis], "abcdefgh", strict=False))
        first, second, both = (
            "".join(letters[axis] for axis in part.axes) for part in (one, two, node)
        )
        if isinstance(two, Table):
            weights = self.constant(two.values)
        else:
            weights, second = self.tensor(two), f"n{second}"
        equation = f"n{first},{second}->n{both}"
        return self.node("Einsum", self.tensor(one), weights, equation=equation)

    def _pick(self, node: Pick, part: Expression) -> str:
        name, place = self.tensor(part), part.axes.index(node.axis)
        if not node.renames:
            name = self.node("Gather", name, self._whole(node.positions), axis=1 + place)
        axes = (*part.axes[:place], *node.new_axes, *part.axes[place + 1 :])
        if axes == node.axes:
            return name
        order = [0, *(1 + axes.index(axis) for axis in node.axes)]
        return self.node("Transpose", name, perm=order)

    def _flat(self, part: Expression) -> str:
        """A part of a stack, with all rows and one axis."""
        name = self.rows(part)
        return name if part.axes else self.node("Unsqueeze", name, self._whole([1]))

    def _whole(self, values: ArrayLike) -> str:
        return self.constant(np.asarray(values, dtype=np.int64))
