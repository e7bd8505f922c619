"""Expressions as C99."""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

#: Functions for double; float has an f behind the names of the library.
FUNCTIONS = {
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "divide": "({0} / {1})",
    "negative": "(-{0})",
    "exp": "exp({0})",
    "log": "log({0})",
    "sqrt": "sqrt({0})",
    "sin": "sin({0})",
    "tanh": "tanh({0})",
    "absolute": "fabs({0})",
    "minimum": "fmin({0}, {1})",
    "maximum": "fmax({0}, {1})",
    "power": "pow({0}, {1})",
    "normal_cdf": "(0.5 * erfc(-0.7071067811865475 * {0}))",
    "choose": "({0} < 0.0 ? {1} : {2})",
}
#: Start of a reduction, and its step.
STEPS = {
    "sum": ("0.0", "{0} += {1};"),
    "product": ("1.0", "{0} *= {1};"),
    "largest": ("-HUGE_VAL", "{0} = fmax({0}, {1});"),
}
LIBRARY = re.compile(r"\b(exp|log|sqrt|sin|tanh|fabs|fmin|fmax|pow|erfc)\(")
NUMBER = re.compile(r"(?<![\w.])(\d+\.\d*)(?![\w.])")
#: The shortest types of whole numbers, by their bytes.
INTEGERS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int"}


class Block:
    """A block of C: the body of the function, or of a loop along an axis."""

    def __init__(
        self, outer: Block | None = None, axis: Axis | None = None, index: str = ""
    ) -> None:
        self.outer, self.axis, self.index = outer, axis, index
        self.lines: list[str] = []
        self.known: dict[Expression, str] = {}

    def outwards(self) -> Iterator[Block]:
        """Yield the block and those around it."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.outer

    def home(self, axes: Iterable[Axis]) -> Block:
        """Return the outermost block in which all these axes have an index."""
        free = set(axes)
        return next(each for each in self.outwards() if each.outer is None or each.axis in free)

    def index_of(self, axis: Axis) -> str:
        """Return the loop variable of an axis."""
        return next(block.index for block in self.outwards() if block.axis is axis)


class CWriter:
    """Writes expressions into the body of a function, and the tables they need.

    Parameters
    ----------
    prefix : str
        Names of tables begin with it.
    real : {"double", "float"}
        Type that is computed in.
    taken : iterable of str
        Names that are in use.
    *wanted : Expression
        All that will be written.
    """

    def __init__(self, prefix: str, real: str, taken: Iterable[str], *wanted: Expression) -> None:
        self.prefix, self.real = prefix, real
        self.dtype = np.dtype(np.float32 if real == "float" else np.float64)
        self.names = Counter(taken)
        self.tables: list[str] = []
        self.table_names: dict[object, str] = {}
        self.body = Block()
        self.constant_bytes = self.buffer_bytes = 0
        nodes = dependencies(*wanted)
        self.uses = Counter(part for node in nodes for part in node.parts)
        self.reads_row = any(isinstance(node, Input) for node in nodes)

    def write(self, name: str, node: Stored) -> None:
        """Write an expression to the array of this name, which exists."""
        self.body.known[node] = self._fill(node, name, self.body)

    def stored(self, node: Stored) -> str:
        """Return the name of an array that holds an expression."""
        return self._array(node, self.body)

    def _fresh(self, name: str) -> str:
        self.names[name] += 1
        return name if self.names[name] == 1 else self._fresh(f"{name}_{self.names[name]}")

    def _typed(self, code: str) -> str:
        """Code for double as code for the type that is computed in."""
        if self.real == "double":
            return code
        return NUMBER.sub(r"\1f", LIBRARY.sub(r"\1f(", code.replace("HUGE_VAL", "HUGE_VALF")))

    def _number(self, value: float) -> str:
        """A literal with all its digits."""
        with np.errstate(over="ignore"):  # which is told below
            rounded = self.dtype.type(value)
        if not np.isfinite(rounded):
            raise ValueError(f"the model holds {value!r}, which a C {self.real} cannot")
        text = str(rounded)
        return text + ".0" * (not re.search(r"[.e]", text)) + "f" * (self.real == "float")

    def _value(self, node: Expression, block: Block) -> str:
        """C of a value at the indices of a block; what needs fewer of them is computed outside."""
        if isinstance(node, Stored):
            return self._access(self._array(node, block), node.over, block)
        home = block.home(node.axes)
        if node not in home.known:
            text = self._text(node, home)
            again = home is not block or self.uses[node] > 1
            if "(" in text and again and not isinstance(node, Table):
                name = self._fresh("value")
                home.lines.append(f"const {self.real} {name} = {_bare(text)};")
                text = name
            if "(" in text:
                return text
            home.known[node] = text
        return home.known[node]

    def _text(self, node: Expression, block: Block) -> str:
        match node:
            case Input():
                return f"x[{block.index_of(node.axes[0])}]"
            case Table(axes=()):
                text = self._number(float(node.values))
                return f"({text})" if text.startswith("-") else text
            case Table():
                return self._access(self._table(node.values, node.name), node.axes, block)
            case Limit():
                return self._number(node.of(self.dtype))
            case Apply():
                return self._apply(node.in_precision(self.dtype), block)
            case Reduce(parts=(part,)):
                return self._accumulated(
                    node.kind, node.axis, block, lambda at: self._value(part, at)
                )
            case Inner():
                return self._inner(node, block)
            case Pick():
                return self._pick(node, block)
        raise AssertionError(node)

    def _apply(self, node: Apply, block: Block) -> str:
        parts = [self._value(part, block) for part in node.parts]
        code = self._typed(FUNCTIONS[node.function])
        return code.format(*parts if code.startswith("(") else map(_bare, parts))

    def _inner(self, node: Inner, block: Block) -> str:
        """The sum of products; of a triangle of weights only the entries that are not zero."""
        one, two = node.parts
        packed, end = self._packed(two, node.axis, block)

        def term(at: Block) -> str:
            value = self._value(one, at)
            return f"{value} * {f'{packed}{at.index}]' if packed else self._value(two, at)}"

        return self._accumulated("sum", node.axis, block, term, end)

    def _packed(self, weights: Expression, axis: Axis, block: Block) -> tuple[str, str]:
        """Beginning of an entry in a packed triangle, and end of its loop; both empty for others.

        The entries of a triangle are zero wherever `axis` is further than the other axis.
        """
        if not isinstance(weights, Table) or len(weights.axes) != 2 or weights.values.size == 1:
            return "", ""
        first, second = weights.axes
        other, by_column = (second, weights.values.T) if first is axis else (first, weights.values)
        if first.size != second.size or np.triu(by_column, 1).any():
            return "", ""
        name = self._table(by_column[np.tril_indices(other.size)], weights.name)
        column = block.index_of(other)
        return f"{name}[{column} * ({column} + 1) / 2 + ", f"<= {column}"

    def _pick(self, node: Pick, block: Block) -> str:
        (part,) = node.parts
        if node.renames:
            index = block.index_of(node.new_axes[0])
        else:
            positions = self._table(node.positions, "positions")
            index = self._access(positions, node.new_axes, block)
        if isinstance(part, Input):
            return f"x[{index}]"
        assert isinstance(part, Stored)
        return self._access(self._array(part, block), part.over, block, {node.axis: index})

    def _access(
        self, name: str, axes: Iterable[Axis], block: Block, known: dict[Axis, str] | None = None
    ) -> str:
        """An element of an array."""
        known = known or {}
        return name + "".join(f"[{known.get(axis) or block.index_of(axis)}]" for axis in axes)

    @contextmanager
    def _loops(self, outer: Block, *axes: Axis, end: str = "") -> Iterator[Block]:
        """Open loops along axes, and close them behind what is written to the innermost block."""
        if not axes:
            yield outer
            return
        (axis, *others), used = axes, {block.index for block in outer.outwards()}
        names = (f"{axis.name}{number or ''}" for number in count())
        index = next(name for name in names if name not in used)
        block = Block(outer, axis, index)
        with self._loops(block, *others) as inner:
            yield inner
        head = f"for (int {index} = 0; {index} {end or f'< {axis.size}'}; ++{index}) {{"
        outer.lines += [head, *(f"    {line}" for line in block.lines), "}"]

    def _accumulated(
        self, kind: str, axis: Axis, block: Block, term: Callable[[Block], str], end: str = ""
    ) -> str:
        """Name of a variable that holds the sum, product or maximum of terms along an axis."""
        (start, step), name = STEPS[kind], self._fresh(kind)
        block.lines.append(f"{self.real} {name} = {self._typed(start)};")
        with self._loops(block, axis, end=end) as inner:
            inner.lines.append(self._typed(step).format(name, _bare(term(inner))))
        return name

    def _array(self, node: Stored, block: Block) -> str:
        """Name of the array of an expression, where its other axes have an index."""
        home = block.home(axis for axis in node.axes if axis not in node.over)
        if node not in home.known:
            name, sizes = self._fresh(node.name), [axis.size for axis in node.over]
            home.lines.append(f"{self.real} {name}{_brackets(sizes)};")
            self.buffer_bytes += math.prod(sizes) * self.dtype.itemsize
            home.known[node] = self._fill(node, name, home)
        return home.known[node]

    def _fill(self, node: Stored, name: str, block: Block) -> str:
        """Write an expression to an array."""
        match node:
            case Stack():
                self._fill_stack(node, name, block)
            case Repeat():
                self._fill_repeat(node, name, block)
            case Stored(parts=(Reduce() as reduction,)) if self.uses[reduction] == 1:
                self._accumulate_into(node, reduction, name, block)
            case _:
                self._assign(node, name, block, lambda at: _bare(self._value(node.parts[0], at)))
        return name

    def _assign(self, node: Stored, name: str, block: Block, value: Callable[[Block], str]) -> None:
        with self._loops(block, *node.over) as inner:
            inner.lines.append(f"{self._access(name, node.over, inner)} = {value(inner)};")

    def _accumulate_into(self, node: Stored, reduction: Reduce, name: str, block: Block) -> None:
        """Reduce into an array, so that values without its axes are computed once a step."""
        start, step = map(self._typed, STEPS[reduction.kind])
        self._assign(node, name, block, lambda _: start)
        with self._loops(block, reduction.axis, *node.over) as inner:
            value = _bare(self._value(reduction.parts[0], inner))
            inner.lines.append(step.format(self._access(name, node.over, inner), value))

    def _fill_stack(self, node: Stack, name: str, block: Block) -> None:
        begin = 0
        for part in node.parts:
            with self._loops(block, *part.axes) as inner:
                first = [str(begin)] if begin or not part.axes else []
                place = " + ".join(first + [inner.index_of(axis) for axis in part.axes])
                inner.lines.append(f"{name}[{place}] = {_bare(self._value(part, inner))};")
            begin += math.prod(axis.size for axis in part.axes)

    def _fill_repeat(self, node: Repeat, name: str, block: Block) -> None:
        start, after = node.parts
        assert isinstance(start, Stored)
        assert isinstance(after, Stored)
        self._fill(start, name, block)
        with self._loops(block, node.sweep, node.turn) as inner:
            inner.known[node.state] = name
            new = self._array(after, inner)
            self._assign(node, name, inner, lambda at: self._access(new, node.over, at))

    def _table(self, values: NDArray[Any], name: str) -> str:
        """Name of a table of constants; those that hold the same are written once."""
        content = values.shape, values.dtype.kind, values.tobytes()
        if content not in self.table_names:
            self.table_names[content] = name = self._fresh(f"{self.prefix}_{name}")
            if values.dtype.kind == "i":
                size = np.min_scalar_type(values.max()).itemsize
                kind, texts = INTEGERS[size], [str(value) for value in values.flat]
            else:
                size = self.dtype.itemsize
                kind, texts = self.real, [self._number(value) for value in values.flat]
            self.constant_bytes += values.size * size
            head = f"static const {kind} {name}{_brackets(values.shape)}"
            self.tables.append(f"{head} = {_braces(texts, values.shape)};")
        return self.table_names[content]


def _bare(text: str) -> str:
    """The text without brackets around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return text[1:-1] if place == len(text) - 1 else text
    return text


def _brackets(sizes: Iterable[int]) -> str:
    """Sizes of an array."""
    return "".join(f"[{size}]" for size in sizes)


def _braces(texts: list[str], shape: tuple[int, ...], indent: str = "    ") -> str:
    """Nested initialisers."""
    if len(shape) == 1:
        lines = textwrap.wrap(", ".join(texts), 96, initial_indent=indent, subsequent_indent=indent)
        return "{\n" + "\n".join(lines) + f"\n{indent[4:]}}}"
    size = len(texts) // shape[0]
    rows = (texts[begin : begin + size] for begin in range(0, len(texts), size))
    inner = (indent + _braces(row, shape[1:], indent + "    ") for row in rows)
    return "{\n" + ",\n".join(inner) + f"\n{indent[4:]}}}"
