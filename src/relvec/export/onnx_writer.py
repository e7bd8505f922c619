"""Expressions as nodes of an ONNX graph."""

from __future__ import annotations

from functools import singledispatchmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import helper

from relvec.export import composed
from relvec.export.expression import (
    Apply,
    Axis,
    Expression,
    Inner,
    Input,
    Keep,
    Pick,
    PrincipalRoot,
    Reduce,
    Smallest,
    Stack,
    Table,
    Weighted,
    dependencies,
    total,
)
from relvec.export.precision import low_part

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
#: From which set of operators on axes of a reduction are an input.
AXES_AS_INPUT = {"ReduceSum": 13, "ReduceProd": 18, "ReduceMax": 18}


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
        self.row = self.node("Cast", row, to=helper.np_dtype_to_tensor_dtype(dtype))
        self.known: dict[Expression, str] = {}
        self.constants: dict[object, str] = {}
        self.varying: set[Expression] = set()

    def node(self, operator: str, *inputs: str, output: str | None = None, **settings: Any) -> str:
        """Add a node; returns the name of its output."""
        output = output or self.scope.get_unique_variable_name(f"relvec_{operator.lower()}")
        name = self.scope.get_unique_operator_name(operator)
        self.container.add_node(
            operator,
            list(inputs),
            [output],
            op_version=self.container.target_opset_any_domain(""),
            name=name,
            **settings,
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
        if isinstance(node, Table):
            return self.constant(node.values[None])
        for part in [] if node in self.known else dependencies(node):
            if part not in self.known and not isinstance(part, Table):
                self.known[part] = self._tensor(part)
                if isinstance(part, Input) or any(each in self.varying for each in part.parts):
                    self.varying.add(part)
        return self.known[node]

    def rows(self, node: Expression) -> str:
        """Name of the tensor of an expression with as many rows as there are."""
        name = self.tensor(node)
        if node in self.varying:
            return name
        shape = self.node("Shape", self.row, start=0, end=1)
        sizes = np.array([axis.size for axis in node.axes], dtype=np.int64)
        if len(sizes):
            shape = self.node("Concat", shape, self.constant(sizes), axis=0)
        return self.node("Expand", name, shape)

    @singledispatchmethod
    def _tensor(self, node: Expression) -> str:
        raise AssertionError(node)

    @_tensor.register
    def _(self, node: Input) -> str:
        return self.row

    @_tensor.register
    def _(self, node: Smallest) -> str:
        return self.constant(np.array([np.finfo(self.dtype).tiny]))

    @_tensor.register
    def _(self, node: Keep) -> str:
        return self.tensor(node.parts[0])

    @_tensor.register
    def _(self, node: PrincipalRoot) -> str:
        return self.tensor(composed.principal_root(node))

    @_tensor.register
    def _(self, node: Stack) -> str:
        return self.node("Concat", *map(self._flat, node.parts), axis=1)

    @_tensor.register
    def _(self, node: Reduce) -> str:
        operator, (part,) = REDUCTIONS[node.kind], node.parts
        name, place = self.tensor(part), 1 + part.axes.index(node.axis)
        if self.container.target_opset_any_domain("") >= AXES_AS_INPUT[operator]:
            return self.node(operator, name, self._whole([place]), keepdims=0)
        return self.node(operator, name, axes=[place], keepdims=0)

    @_tensor.register
    def _(self, node: Inner) -> str:
        letters = dict(zip([*node.axes, node.axis], "abcdef", strict=False))
        one, two, both = (
            "n" + "".join(letters[axis] for axis in part.axes) for part in (*node.parts, node)
        )
        return self.node("Einsum", *map(self.tensor, node.parts), equation=f"{one},{two}->{both}")

    @_tensor.register
    def _(self, node: Apply) -> str:
        if node.function == "normal_cdf":
            return self.tensor(composed.normal_cdf(*node.parts))
        parts = [self._spread(part, node.axes) for part in node.parts]
        if node.function == "choose":
            zero = self.constant(np.zeros(1))
            return self.node("Where", self.node("Less", parts[0], zero), *parts[1:])
        if node.function == "subtract" and isinstance(node.parts[1], Table):
            low = low_part(node.parts[0], node.parts[1], self.dtype)
            if low is not None:
                parts = [self.node("Sub", *parts), self._spread(low, node.axes)]
        return self.node(OPERATORS[node.function], *parts)

    def _spread(self, part: Expression, axes: tuple[Axis, ...]) -> str:
        """The tensor of a part with an axis of size one wherever it lacks one."""
        missing = [1 + place for place, axis in enumerate(axes) if axis not in part.axes]
        if isinstance(part, Table):
            return self.constant(np.expand_dims(part.values, [0, *missing]))
        name = self.tensor(part)
        return self.node("Unsqueeze", name, self._whole(missing)) if missing else name

    def _whole(self, values: Any) -> str:
        return self.constant(np.asarray(values, dtype=np.int64))

    @_tensor.register
    def _(self, node: Weighted) -> str:
        """A product of matrices, from the right or the left as the axes lie."""
        (part,), axis, weights = node.parts, node.axis, node.weights
        others = [other for other in part.axes if other is not axis]
        rest = [other for other in weights.axes if other is not axis]
        matrix = np.moveaxis(weights.values, weights.axes.index(axis), 0).reshape(axis.size, -1)
        if part.axes[-1] is axis:
            name = self.node("MatMul", self.tensor(part), self.constant(matrix))
            if len(rest) != 1:
                sizes = [other.size for other in (*others, *rest)]
                name = self.node("Reshape", name, self._whole([-1, *sizes]))
            return self._transposed(name, (*others, *rest), node.axes)
        if part.axes[-2] is axis and len(rest) == 1:
            name = self.node("MatMul", self.constant(matrix.T), self.tensor(part))
            return self._transposed(name, (*others[:-1], *rest, others[-1]), node.axes)
        return self.tensor(total(part * weights, axis))

    @_tensor.register
    def _(self, node: Pick) -> str:
        (part,) = node.parts
        name, place = self.tensor(part), part.axes.index(node.axis)
        if not node.renames:
            name = self.node("Gather", name, self._whole(node.positions), axis=1 + place)
        axes = (*part.axes[:place], *node.new_axes, *part.axes[place + 1 :])
        return self._transposed(name, axes, node.axes)

    def _transposed(self, name: str, axes: tuple[Axis, ...], wanted: tuple[Axis, ...]) -> str:
        if axes == wanted:
            return name
        order = [0, *(1 + axes.index(axis) for axis in wanted)]
        return self.node("Transpose", name, perm=order)

    def _flat(self, part: Expression) -> str:
        """A part of a stack, with all rows and one axis."""
        name = self.rows(part)
        return name if part.axes else self.node("Unsqueeze", name, self._whole([1]))
