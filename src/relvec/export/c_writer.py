"""Expressions as C99."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec.export.c_text import FUNCTIONS, INTEGERS, STEPS, Real, bare, braces, brackets
from relvec.export.expression import (
    Apply,
    Axis,
    Expression,
    Inner,
    Input,
    Pick,
    PrincipalRoot,
    Reduce,
    Smallest,
    Stack,
    Stored,
    Table,
    Weighted,
    dependencies,
    keep,
)
from relvec.export.precision import low_part


class Scope:
    """A block of C: a loop along an axis, or the body of the function."""

    def __init__(
        self, parent: Scope | None = None, axis: Axis | None = None, var: str = ""
    ) -> None:
        self.parent, self.axis, self.var = parent, axis, var
        self.condition = ""
        self.lines: list[str] = []
        self.known: dict[Expression, str] = {}

    def upwards(self) -> Iterator[Scope]:
        """The block and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def home(self, free: Sequence[Axis]) -> Scope:
        """The outermost block in which all these axes have an index."""
        for scope in self.upwards():
            if scope.parent is None or any(scope.axis is axis for axis in free):
                return scope
        raise AssertionError

    def index(self, axis: Axis) -> str:
        """The loop variable of an axis."""
        return next(scope.var for scope in self.upwards() if scope.axis is axis)


class CWriter:
    """Writes expressions into the body of a function, and the tables they need.

    Parameters
    ----------
    prefix : str
        What the names of tables begin with.
    real : {"double", "float"}
        Type that is computed in.
    taken : iterable of str
        Names that are in use.
    """

    def __init__(self, prefix: str, real: str, taken: Iterable[str]) -> None:
        self.prefix, self.real = prefix, Real(real)
        self.names = Counter(taken)
        self.tables: list[str] = []
        self.table_names: dict[Expression, str] = {}
        self.same: dict[object, str] = {}
        self.body = Scope()
        self.uses: Counter[Expression] = Counter()
        self.constant_bytes = self.buffer_bytes = 0
        self.reads_row = self.needs_root = False

    def write(self, outputs: dict[str, Expression]) -> None:
        """Write expressions to the arrays of these names, which exist."""
        stored: dict[str, Stored] = {}
        for name, node in outputs.items():
            stored[name] = node if isinstance(node, Stored) else keep(node, *node.axes)
        for node in dependencies(*stored.values()):
            self.uses.update(node.parts)
        for name, output in stored.items():
            self._fill(output, name, self.body)

    def declare(self, name: str, size: int) -> None:
        """Declare, at the top, an array for an output that is no argument."""
        self.body.lines.insert(0, f"{self.real.name} {name}[{size}];")
        self.buffer_bytes += size * self.real.dtype.itemsize

    def _fresh(self, name: str) -> str:
        self.names[name] += 1
        return name if self.names[name] == 1 else self._fresh(f"{name}_{self.names[name]}")

    def value(self, node: Expression, scope: Scope) -> str:
        """C of a value at the indices of a block; what needs fewer of them is computed outside."""
        over = node.over if isinstance(node, Stored) else ()
        home = scope.home([axis for axis in node.axes if axis not in over])
        if isinstance(node, Stored):
            if node not in home.known:
                home.known[node] = self._fill(node, self._buffer(node, home), home)
            return self._access(home.known[node], _kept(node), scope)
        if node in home.known:
            return home.known[node]
        text = self._text(node, home)
        if "(" in text and (home is not scope or self.uses[node] > 1):
            name = self._fresh("value")
            home.lines.append(f"const {self.real.name} {name} = {bare(text)};")
            text = name
        if isinstance(node, Apply | Reduce | Inner | Weighted) and "(" not in text:
            home.known[node] = text
        return text

    def _text(self, node: Expression, scope: Scope) -> str:
        match node:
            case Input():
                return self._input(node, scope.index(node.axes[0]))
            case Table():
                return self._constant(node, scope)
            case Smallest():
                return self.real.number(self.real.smallest)
            case Apply():
                return self._apply(node, scope)
            case Reduce():
                start, step = STEPS[node.kind]
                name = self._declared(node.kind, start, scope)
                loop = self._loop(scope, node.axis)
                value = bare(self.value(node.parts[0], loop))
                loop.lines.append(self.real.typed(step).format(name, value))
                self._close(loop)
                return name
            case Inner():
                name = self._declared("sum", "0.0", scope)
                loop = self._loop(scope, node.axis)
                one, two = (self.value(part, loop) for part in node.parts)
                loop.lines.append(f"{name} += {one} * {two};")
                self._close(loop)
                return name
            case Weighted():
                return self._weighted(node, scope)
            case Pick():
                return self._pick(node, scope)
        raise AssertionError(node)

    def _input(self, node: Input, index: str) -> str:
        self.reads_row = True
        return f"x[{index}]"

    def _apply(self, node: Apply, scope: Scope) -> str:
        parts = [self.value(part, scope) for part in node.parts]
        if node.function == "subtract" and isinstance(node.parts[1], Table):
            low = low_part(node.parts[0], node.parts[1], self.real.dtype)
            if low is not None:
                parts = [f"({parts[0]} - {parts[1]})", self.value(low, scope)]
        code = self.real.typed(FUNCTIONS[node.function])
        return code.format(*parts if code.startswith("(") else map(bare, parts))

    def _constant(self, node: Table, scope: Scope) -> str:
        if not node.axes:
            text = self.real.number(float(node.values))
            return f"({text})" if text.startswith("-") else text
        return self._access(self._table(node, node.values, node.name), node.axes, scope)

    def _weighted(self, node: Weighted, scope: Scope) -> str:
        name = self._declared("sum", "0.0", scope)
        other = _triangle(node.weights, node.axis)
        if other is None:
            inner = self._loop(scope, node.axis)
            weight = self._constant(node.weights, inner)
        else:
            end = scope.index(other)
            inner = self._loop(scope, node.axis, f"<= {end}")
            packed = self._packed(node.weights, node.axis)
            weight = f"{packed}[{end} * ({end} + 1) / 2 + {inner.var}]"
        inner.lines.append(f"{name} += {self.value(node.parts[0], inner)} * {weight};")
        self._close(inner)
        return name

    def _pick(self, node: Pick, scope: Scope) -> str:
        (part,) = node.parts
        if node.renames:
            index = scope.index(node.new_axes[0])
        else:
            positions = self._table(node, node.positions, "positions")
            index = self._access(positions, node.new_axes, scope)
        if isinstance(part, Input):
            return self._input(part, index)
        assert isinstance(part, Stored)
        home = scope.home([axis for axis in part.axes if axis not in part.over])
        if part not in home.known:
            home.known[part] = self._fill(part, self._buffer(part, home), home)
        return self._access(home.known[part], _kept(part), scope, {node.axis: index})

    def _access(
        self, name: str, axes: Iterable[Axis], scope: Scope, known: dict[Axis, str] | None = None
    ) -> str:
        """An element of an array."""
        known = known or {}
        return name + "".join(f"[{known.get(axis) or scope.index(axis)}]" for axis in axes)

    def _declared(self, kind: str, start: str, scope: Scope) -> str:
        """A variable that something is collected in."""
        name = self._fresh(kind)
        scope.lines.append(f"{self.real.name} {name} = {self.real.typed(start)};")
        return name

    def _loop(self, parent: Scope, axis: Axis, condition: str = "") -> Scope:
        """Open a loop along an axis."""
        in_use = {scope.var for scope in parent.upwards()}
        var = next(
            name
            for name in (f"{axis.name}{number or ''}" for number in range(len(in_use) + 1))
            if name not in in_use
        )
        scope = Scope(parent, axis, var)
        scope.condition = condition or f"< {axis.size}"
        return scope

    def _close(self, scope: Scope) -> None:
        """Write a loop behind what its block has so far."""
        assert scope.parent is not None
        head = f"for (int {scope.var} = 0; {scope.var} {scope.condition}; ++{scope.var}) {{"
        scope.parent.lines += [head, *(f"    {line}" for line in scope.lines), "}"]

    def _buffer(self, node: Stored, scope: Scope) -> str:
        """Declare an array for an expression that is stored."""
        name, sizes = self._fresh(node.name), [axis.size for axis in _kept(node)]
        scope.lines.append(f"{self.real.name} {name}{brackets(sizes)};")
        self.buffer_bytes += int(np.prod(sizes)) * self.real.dtype.itemsize
        return name

    def _fill(self, node: Stored, name: str, scope: Scope) -> str:
        """Write an expression to an array."""
        if isinstance(node, Stack):
            self._fill_stack(node, name, scope)
        elif isinstance(node, PrincipalRoot):
            self._fill_root(node, name, scope)
        elif isinstance(reduction := node.parts[0], Reduce) and self.uses[reduction] == 1:
            self._collect(node, reduction, name, scope)
        else:
            loops = self._loops(scope, _kept(node))
            target = self._access(name, _kept(node), loops[-1])
            loops[-1].lines.append(f"{target} = {bare(self.value(node.parts[0], loops[-1]))};")
            self._close_all(loops[1:])
        return name

    def _loops(self, scope: Scope, axes: Iterable[Axis]) -> list[Scope]:
        """Open loops along several axes, behind the block that they are in."""
        found = [scope]
        for axis in axes:
            found.append(self._loop(found[-1], axis))
        return found

    def _close_all(self, loops: list[Scope]) -> None:
        for loop in reversed(loops):
            self._close(loop)

    def _collect(self, node: Stored, reduction: Reduce, name: str, scope: Scope) -> None:
        """Reduce into an array: what does not depend on its axes is computed once a step."""
        start, step = STEPS[reduction.kind]
        loops = self._loops(scope, _kept(node))
        target = self._access(name, _kept(node), loops[-1])
        loops[-1].lines.append(f"{target} = {self.real.typed(start)};")
        self._close_all(loops[1:])
        loops = self._loops(scope, (reduction.axis, *_kept(node)))
        target = self._access(name, _kept(node), loops[-1])
        value = bare(self.value(reduction.parts[0], loops[-1]))
        loops[-1].lines.append(self.real.typed(step).format(target, value))
        self._close_all(loops[1:])

    def _fill_stack(self, node: Stack, name: str, scope: Scope) -> None:
        begin = 0
        for part in node.parts:
            if not part.axes:
                scope.lines.append(f"{name}[{begin}] = {bare(self.value(part, scope))};")
                begin += 1
                continue
            loop = self._loop(scope, part.axes[0])
            place = f"{begin} + {loop.var}" if begin else loop.var
            loop.lines.append(f"{name}[{place}] = {bare(self.value(part, loop))};")
            self._close(loop)
            begin += part.axes[0].size

    def _fill_root(self, node: PrincipalRoot, name: str, scope: Scope) -> None:
        """Call the function that decomposes a matrix, which it destroys."""
        size, matrix = node.root_axis.size, self._fresh("matrix")
        scope.lines.append(f"{self.real.name} {matrix}[{size}][{size}];")
        self.buffer_bytes += size * size * self.real.dtype.itemsize
        loops = self._loops(scope, node.matrix_axes)
        target = self._access(matrix, node.matrix_axes, loops[-1])
        loops[-1].lines.append(f"{target} = {bare(self.value(node.parts[0], loops[-1]))};")
        self._close_all(loops[1:])
        scope.lines.append(f"principal_root({size}, &{matrix}[0][0], &{name}[0][0]);")
        self.needs_root = True

    def _table(self, node: Expression, values: NDArray[Any], name: str) -> str:
        """Name of a table of constants; those that hold the same are written once."""
        content = values.shape, values.dtype.kind, values.tobytes()
        if node not in self.table_names and content in self.same:
            self.table_names[node] = self.same[content]
        if node not in self.table_names:
            name = self._fresh(f"{self.prefix}_{name}")
            if values.dtype.kind == "i":
                of = np.min_scalar_type(values.max())
                kind, texts = INTEGERS[of.itemsize], [str(value) for value in values.flat]
                self.constant_bytes += values.size * of.itemsize
            else:
                kind, texts = self.real.name, [self.real.number(value) for value in values.flat]
                self.constant_bytes += values.size * self.real.dtype.itemsize
            head = f"static const {kind} {name}{brackets(values.shape)}"
            self.tables.append(f"{head} = {braces(texts, values.shape)};")
            self.table_names[node] = self.same[content] = name
        return self.table_names[node]

    def _packed(self, weights: Table, axis: Axis) -> str:
        """Name of the table of an upper triangle, a column after another."""
        by_column = weights.values if weights.axes[0] is not axis else weights.values.T
        return self._table(weights, by_column[np.tril_indices(len(by_column))], weights.name)


def _kept(node: Stored) -> tuple[Axis, ...]:
    """Axes that an expression is stored along, outermost first."""
    return tuple(axis for axis in node.axes if axis in node.over)


def _triangle(weights: Table, axis: Axis) -> Axis | None:
    """The other axis of a matrix whose entries are zero wherever `axis` is further than it."""
    if len(weights.axes) != 2 or len(set(weights.values.shape)) > 1 or weights.values.size == 1:
        return None
    first, second = weights.axes
    by_column = weights.values if second is axis else weights.values.T
    return None if np.triu(by_column, 1).any() else first if second is axis else second
