"""What is computed for one row, as an expression that C and ONNX can both be written from.

Every expression has named axes: x has one, of its features; a table of centres has two, of
functions and features; and ``exp(-total(gamma * square(x - centers), feature))`` is then left with
that of the functions. Values that share an axis go together along it, others with each other, so
that no expression has to be reshaped. The operators are few: elementwise functions, sums, products
and maxima along an axis, weighted sums, and picking along an axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import ArrayLike

from relvec._numerics.typing import Array, Index

_serial = count()


@dataclass(frozen=True, eq=False)
class Axis:
    """A direction that values extend along; two of the same name and size are different axes.

    Attributes
    ----------
    name : str
        What a loop along it is called in C.
    size : int
        Number of values.
    serial : int
        Axes of an expression lie in the order of this, later ones outside.
    """

    name: str
    size: int
    serial: int = field(default_factory=lambda: next(_serial))


class Expression:
    """A value of a row: a number for every place along its axes."""

    axes: tuple[Axis, ...]
    parts: tuple[Expression, ...] = ()

    def __add__(self, other: Expression | float) -> Expression:
        return Apply("add", (self, _lift(other)))

    def __sub__(self, other: Expression | float) -> Expression:
        return Apply("subtract", (self, _lift(other)))

    def __mul__(self, other: Expression | float) -> Expression:
        return Apply("multiply", (self, _lift(other)))

    def __truediv__(self, other: Expression | float) -> Expression:
        return Apply("divide", (self, _lift(other)))

    def __radd__(self, other: float) -> Expression:
        return _lift(other) + self

    def __rsub__(self, other: float) -> Expression:
        return _lift(other) - self

    def __rmul__(self, other: float) -> Expression:
        return _lift(other) * self

    def __rtruediv__(self, other: float) -> Expression:
        return _lift(other) / self

    def __neg__(self) -> Expression:
        return Apply("negative", (self,))


def _lift(value: Expression | float) -> Expression:
    return value if isinstance(value, Expression) else table(value)


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


class Smallest(Expression):
    """The smallest normal number of the precision that is computed in."""

    axes = ()


class Apply(Expression):
    """An elementwise function of values that go together along the axes they share."""

    def __init__(self, function: str, parts: tuple[Expression, ...]) -> None:
        self.function, self.parts = function, parts
        self.axes = _ordered(axis for part in parts for axis in part.axes)


class Reduce(Expression):
    """Sum, product or maximum along an axis."""

    def __init__(self, kind: str, part: Expression, axis: Axis) -> None:
        self.kind, self.axis, self.parts = kind, axis, (part,)
        self.axes = tuple(other for other in part.axes if other is not axis)


class Weighted(Expression):
    """Sums along an axis, weighted by a table."""

    def __init__(self, part: Expression, weights: Table, axis: Axis) -> None:
        self.weights, self.axis, self.parts = weights, axis, (part,)
        self.axes = _ordered(other for other in part.axes + weights.axes if other is not axis)


class Inner(Expression):
    """Sums along an axis of the products of two expressions."""

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
        """Whether it changes no more than the name of the axis."""
        return np.array_equal(self.positions, np.arange(self.axis.size))


class Stored(Expression):
    """An expression whose values are stored along some of its axes.

    Attributes
    ----------
    over : tuple of Axis
        Which.
    name : str
        What the array is called.
    """

    over: tuple[Axis, ...]
    name: str


class Keep(Stored):
    """An expression that is stored along some of its axes rather than computed at each use."""

    def __init__(self, part: Expression, over: tuple[Axis, ...], name: str) -> None:
        self.over, self.name, self.parts, self.axes = over, name, (part,), part.axes


class Stack(Stored):
    """Values of several expressions of one axis each, one after the other, and stored."""

    def __init__(self, parts: tuple[Expression, ...], axis: Axis, name: str) -> None:
        self.parts, self.name, self.axes = parts, name, (axis,)
        self.over = self.axes


class PrincipalRoot(Stored):
    """R with RᵀR a symmetric positive semidefinite matrix, widest axis first.

    Signs are those that make the largest component of each row positive.
    """

    def __init__(self, matrix: Expression, rows: Axis, columns: Axis, axis: Axis) -> None:
        self.parts, self.matrix_axes, self.root_axis = (matrix,), (rows, columns), axis
        self.axes = self.over = _ordered([axis, columns])
        self.name = "root"


def table(values: ArrayLike, *axes: Axis, name: str = "table") -> Table:
    """Constants with the axes in the order of the array's, of which there may be none."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != tuple(axis.size for axis in axes):
        raise ValueError(f"values have shape {array.shape}, expected that of {axes}")
    ordered = _ordered(axes)
    return Table(array.transpose([axes.index(axis) for axis in ordered]), ordered, name)


def _elementwise(name: str) -> Callable[..., Expression]:
    def apply(*parts: Expression | float) -> Expression:
        return Apply(name, tuple(map(_lift, parts)))

    return apply


exp, log, sqrt = _elementwise("exp"), _elementwise("log"), _elementwise("sqrt")
sin, tanh, absolute = _elementwise("sin"), _elementwise("tanh"), _elementwise("absolute")
minimum, maximum = _elementwise("minimum"), _elementwise("maximum")
#: ``power(base, exponent)``, the exponent a whole number.
power = _elementwise("power")
#: Φ, the distribution function of the normal distribution.
normal_cdf = _elementwise("normal_cdf")
#: ``choose(test, a, b)`` is a where the test is negative, elsewhere b.
choose = _elementwise("choose")


def square(part: Expression) -> Expression:
    """The square, of something that is computed once."""
    return part * part


def logistic(part: Expression) -> Expression:
    """1 / (1 + e^−y)."""
    return 1.0 / (1.0 + exp(-part))


def total(part: Expression, axis: Axis) -> Expression:
    """Sum along an axis."""
    return Reduce("sum", part, axis)


def product(part: Expression, axis: Axis) -> Expression:
    """Product along an axis."""
    return Reduce("product", part, axis)


def largest(part: Expression, axis: Axis) -> Expression:
    """Maximum along an axis."""
    return Reduce("largest", part, axis)


def weighted(part: Expression, weights: Table, axis: Axis) -> Expression:
    """Sums along an axis, weighted by a table."""
    return Weighted(part, weights, axis)


def inner(one: Expression, two: Expression, axis: Axis) -> Expression:
    """Sums along an axis of the products of two expressions, which are not formed."""
    return Inner(one, two, axis)


def pick(part: Expression, axis: Axis, positions: ArrayLike, *axes: Axis) -> Expression:
    """Values at positions along an axis, an array that has the new axes in its place."""
    array = np.asarray(positions, dtype=np.intp)
    ordered = _ordered(axes)
    array = array.transpose([axes.index(new) for new in ordered])
    stored = part if isinstance(part, Input | Stored) else keep(part, axis)
    return Pick(stored, axis, array, ordered)


def renamed(part: Expression, axis: Axis, new: Axis) -> Expression:
    """The same values along another axis."""
    return pick(part, axis, np.arange(axis.size), new)


def keep(part: Expression, *over: Axis, name: str = "kept") -> Keep:
    """An expression that is used in several places, stored along axes."""
    return Keep(part, over, name)


def stack(parts: Sequence[Expression], axis: Axis, name: str = "stacked") -> Stack:
    """Values of several expressions of one axis each, one after the other."""
    return Stack(tuple(parts), axis, name)


def softmax(y: Expression, axis: Axis) -> Expression:
    """e^y over its sum along an axis."""
    powers = keep(exp(y - largest(y, axis)), axis, name="powers")
    return powers / total(powers, axis)


def dependencies(*wanted: Expression) -> list[Expression]:
    """Everything that expressions are made of, and they themselves, each behind its parts."""
    found: dict[Expression, None] = {}
    waiting = [(node, False) for node in wanted]
    while waiting:
        node, parts_are_found = waiting.pop()
        if parts_are_found:
            found[node] = None
        elif node not in found:
            waiting.append((node, True))
            waiting.extend((part, False) for part in node.parts)
    return list(found)
