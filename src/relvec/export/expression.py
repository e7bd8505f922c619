"""Expressions of one row, from which both C and ONNX are written.

Every expression has named axes: x has one, of its features; a table of centres has two, of
functions and features; and ``exp(-total(gamma * square(x - centers), feature))`` is then left with
that of the functions. Values that share an axis go together along it, others with each other, so
that no expression has to be reshaped. The operators are few: elementwise functions, sums, products
and maxima along an axis, sums of products, picking along an axis, and repeating a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relvec._numerics.typing import Array, Index

_serial = count()
#: Distance from zero, in their own extents, up to which the rounding of constants is no more than
#: that of their differences.
NEAR = 2.0


@dataclass(frozen=True, eq=False)
class Axis:
    """A direction that values extend along; two of the same name and size are different axes."""

    name: str  # loop variable in C
    size: int  # number of values
    #: axes of an expression lie in the order of this, later ones outside
    serial: int = field(default_factory=lambda: next(_serial))


class Expression:
    """A value of a row: a number for every place along its axes."""

    axes: tuple[Axis, ...]
    parts: tuple[Expression, ...] = ()

    def __add__(self, other: Expression | float) -> Expression:
        return _apply("add", self, other)

    def __radd__(self, other: float) -> Expression:
        return _apply("add", other, self)

    def __sub__(self, other: Expression | float) -> Expression:
        return _apply("subtract", self, other)

    def __rsub__(self, other: float) -> Expression:
        return _apply("subtract", other, self)

    def __mul__(self, other: Expression | float) -> Expression:
        return _apply("multiply", self, other)

    def __rmul__(self, other: float) -> Expression:
        return _apply("multiply", other, self)

    def __truediv__(self, other: Expression | float) -> Expression:
        return _apply("divide", self, other)

    def __rtruediv__(self, other: float) -> Expression:
        return _apply("divide", other, self)

    def __neg__(self) -> Expression:
        return _apply("negative", self)


def _apply(function: str, *parts: Expression | float) -> Expression:
    return Apply(
        function, *(part if isinstance(part, Expression) else table(part) for part in parts)
    )


def _ordered(axes: Iterable[Axis]) -> tuple[Axis, ...]:
    return tuple(sorted(set(axes), key=lambda axis: -axis.serial))


class Input(Expression):
    """The row."""

    def __init__(self, axis: Axis) -> None:
        self.axes = (axis,)


class Table(Expression):
    """Constants."""

    def __init__(self, values: Array, axes: tuple[Axis, ...], name: str) -> None:
        self.values, self.axes, self.name = values, axes, name


class Limit(Expression):
    """A limit of the precision that is computed in, an attribute of `numpy.finfo`."""

    axes = ()

    def __init__(self, name: str) -> None:
        self.name = name

    def of(self, dtype: np.dtype[Any]) -> float:
        """Value for a precision."""
        return float(getattr(np.finfo(dtype), self.name))


class Apply(Expression):
    """An elementwise function of values that go together along the axes they share."""

    def __init__(self, function: str, *parts: Expression) -> None:
        self.function, self.parts = function, parts
        self.axes = _ordered(axis for part in parts for axis in part.axes)

    def in_precision(self, dtype: np.dtype[Any]) -> Apply:
        """Return the same, so that it keeps its digits where constants are rounded to `dtype`.

        x − z of a row and a constant has all its digits as (x − high) − low: of the constant's
        rounding error nothing is left, however far from zero the two are. An x that was computed
        has rounding errors of its own.
        """
        minuend, subtrahend = self.parts[0], self.parts[-1]
        given = minuend.parts[0] if isinstance(minuend, Pick) else minuend
        differ = self.function == "subtract" and isinstance(given, Input)
        if not differ or not isinstance(subtrahend, Table) or dtype != np.float32:
            return self
        values, axes, name = subtrahend.values, subtrahend.axes, subtrahend.name
        high = values.astype(np.float32).astype(np.float64)
        across = tuple(place for place, axis in enumerate(axes) if axis not in minuend.axes)
        far = np.abs(values) > NEAR * np.ptp(values, axis=across, keepdims=True)
        if not (far & (values != high)).any():
            return self
        rough = Apply("subtract", minuend, Table(high, axes, name))
        return Apply("subtract", rough, Table(values - high, axes, f"{name}_low"))


class Reduce(Expression):
    """Sum, product or maximum along an axis."""

    def __init__(self, kind: str, part: Expression, axis: Axis) -> None:
        self.kind, self.axis, self.parts = kind, axis, (part,)
        self.axes = tuple(other for other in part.axes if other is not axis)


class Inner(Expression):
    """Sums along an axis of the products of two expressions, of which a table is the second."""

    def __init__(self, one: Expression, two: Expression, axis: Axis) -> None:
        self.axis, self.parts = axis, (one, two)
        self.axes = _ordered(other for other in one.axes + two.axes if other is not axis)


class Pick(Expression):
    """Values at given positions along an axis, which others take the place of."""

    def __init__(
        self, part: Expression, axis: Axis, positions: Index, axes: tuple[Axis, ...]
    ) -> None:
        self.axis, self.positions, self.new_axes, self.parts = axis, positions, axes, (part,)
        self.axes = _ordered([other for other in part.axes if other is not axis] + [*axes])

    @property
    def renames(self) -> bool:
        """True if it changes no more than the name of the axis."""
        return np.array_equal(self.positions, np.arange(self.axis.size))


class Stored(Expression):
    """An expression whose values are stored along some of its axes, in an array of a name."""

    def __init__(self, axes: tuple[Axis, ...], over: Iterable[Axis], name: str) -> None:
        self.axes, self.name = axes, name
        self.over = tuple(axis for axis in axes if axis in over)


class Keep(Stored):
    """An expression that is stored along some of its axes rather than computed at each use."""

    def __init__(self, part: Expression, *over: Axis, name: str = "kept") -> None:
        super().__init__(part.axes, over, name)
        self.parts = (part,)


class Stack(Stored):
    """Values of several expressions of one axis or none, one after the other."""

    def __init__(self, parts: Sequence[Expression], axis: Axis, name: str = "stacked") -> None:
        super().__init__((axis,), (axis,), name)
        self.parts = tuple(parts)


class Repeat(Stored):
    """A start after ``state = step(state, row)`` for all rows of positions, so many times over.

    In C the step is written once, for a `state` and all positions, and then also takes the axis
    `turn` of the rows; in ONNX it is written out.
    """

    def __init__(
        self, start: Expression, step: Callable[..., Expression], positions: Index, times: int
    ) -> None:
        super().__init__(start.axes, start.axes, "state")
        self.step, self.positions, self.times = step, positions, times
        self.sweep, self.turn = Axis("sweep", times), Axis("turn", len(positions))
        self.state = Stored(_ordered([*self.axes, self.turn]), self.axes, self.name)
        after = step(self.state, positions, self.turn)
        self.parts = Keep(start, *self.axes), Keep(after, *self.axes, name="next")


def table(values: ArrayLike, *axes: Axis, name: str = "table") -> Table:
    """Return constants with the axes in the order of the array's, of which there may be none."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != tuple(axis.size for axis in axes):
        raise ValueError(f"values have shape {array.shape}, expected that of {axes}")
    ordered = _ordered(axes)
    return Table(array.transpose([axes.index(axis) for axis in ordered]), ordered, name)


def _elementwise(name: str) -> Callable[..., Expression]:
    return lambda *parts: _apply(name, *parts)


exp, log, sqrt = _elementwise("exp"), _elementwise("log"), _elementwise("sqrt")
sin, tanh, absolute = _elementwise("sin"), _elementwise("tanh"), _elementwise("absolute")
minimum, maximum = _elementwise("minimum"), _elementwise("maximum")
#: ``power(base, exponent)``, the exponent a whole number.
power = _elementwise("power")
#: Φ, the distribution function of the normal distribution.
normal_cdf = _elementwise("normal_cdf")
#: ``choose(test, a, b)`` is a where the test is negative, elsewhere b.
choose = _elementwise("choose")
inner, keep, stack, repeat = Inner, Keep, Stack, Repeat


def square(part: Expression) -> Expression:
    """Return the square, of something that is computed once."""
    return part * part


def total(part: Expression, axis: Axis) -> Expression:
    """Return the sum along an axis."""
    return Reduce("sum", part, axis)


def product(part: Expression, axis: Axis) -> Expression:
    """Return the product along an axis."""
    return Reduce("product", part, axis)


def largest(part: Expression, axis: Axis) -> Expression:
    """Return the maximum along an axis."""
    return Reduce("largest", part, axis)


def pick(part: Expression, axis: Axis, positions: ArrayLike, *axes: Axis) -> Expression:
    """Return values at positions along an axis, an array that has the new axes in its place."""
    array, ordered = np.asarray(positions, dtype=np.intp), _ordered(axes)
    array = array.transpose([axes.index(new) for new in ordered])
    stored = part if isinstance(part, Input | Stored) else keep(part, axis)
    return Pick(stored, axis, array, ordered)


def renamed(part: Expression, axis: Axis, new: Axis) -> Expression:
    """Return the same values along another axis."""
    return pick(part, axis, np.arange(axis.size), new)


def dependencies(*wanted: Expression) -> list[Expression]:
    """Return everything that expressions are made of, and they themselves."""
    found: dict[Expression, None] = {}
    waiting = list(wanted)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found[node] = None
            waiting.extend(node.parts)
    return list(found)
