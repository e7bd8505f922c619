"""Faults in the mathematics of the package, each at one place of its source.

A fault is another operator, comparison, number or sign, a statement left out, or two arguments
swapped. Settings at the top of modules and classes are left alone, since they are chosen and not
derived, and so are the wording of errors and keywords that no result depends on.
"""

import ast
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.modules import SOURCE

PACKAGE = SOURCE / "relvec"
PARTS = [
    *("solvers", "_evidence", "likelihoods", "_design", "_numerics", "basis", "export"),
    *("_fitting/scales.py", "_fitting/scale_ascent.py", "_assess/conformal.py"),
]
OTHER = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
}
#: Where a side is a number or the value of a function, which may be equal to the other.
BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
#: Functions of which the order of two arguments says nothing.
SYMMETRIC = {"max", "min", "maximum", "minimum", "array_equal", "multiply"}
GUARDS = {"strict", "check_finite", "overwrite_a"}

Change = Callable[[], None]


@dataclass(frozen=True)
class Fault:
    """A fault at one place of one file."""

    path: Path  # below the package
    line: int
    function: int  # its first line
    change: str
    source: str  # of the whole file, with the fault

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.change}"


def drawn(count: int, seed: int) -> list[Fault]:
    """Draw so many of all faults that there are."""
    found: list[tuple[Path, int]] = []
    for part in PARTS:
        whole = PACKAGE / part
        for path in sorted(whole.rglob("*.py")) if whole.is_dir() else [whole]:
            number = sum(1 for _ in places(ast.parse(path.read_text(encoding="utf-8"))))
            found += [(path, place) for place in range(number)]
    return [fault_at(path, place) for path, place in random.Random(seed).sample(found, count)]


def fault_at(path: Path, place: int) -> Fault:
    """The fault at a place of a file, counted from zero."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node, change, function = list(places(tree))[place]
    before, line = ast.unparse(node), node.lineno
    change()
    after = ast.unparse(node)
    words = f"{before}  ->  {after if after != before else 'nothing'}"
    return Fault(path.relative_to(PACKAGE), line, function, words, ast.unparse(tree))


def places(node: ast.AST, function: int = 0) -> Iterator[tuple[ast.AST, Change, int]]:
    """Yield the places of functions below a node: node, fault and first line of the function."""
    if isinstance(node, ast.FunctionDef):
        function = min(part.lineno for part in (node, *node.decorator_list))
    for name, part in ast.iter_fields(node):
        below = [at for at in (part if isinstance(part, list) else [part]) if _counts(at)]
        if name in {"annotation", "returns", "decorator_list", "exc"} or not function:
            below = [at for at in below if isinstance(at, ast.ClassDef | ast.FunctionDef)]
        elif name in {"body", "orelse"} and isinstance(part, list):
            yield from ((at, change, function) for at, change in _left_out(part))
        for at in below:
            if function:
                yield from ((at, change, function) for change in _changes(at))
            yield from places(at, function)


def _counts(node: object) -> bool:
    """Whether results may depend on a node."""
    guards = isinstance(node, ast.keyword) and node.arg in GUARDS
    return isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr) and not guards


def _changes(node: ast.AST) -> Iterator[Change]:
    """Yield the faults of one node, as functions that put them there."""
    name, part = None, None
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op) if type(op) in OTHER:
            name, part = "op", OTHER[type(op)]()
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OTHER:
            ties = any(isinstance(side, ast.Constant | ast.Call) for side in (left, right))
            name, part = "ops", [(OTHER | BOUNDARY if ties else OTHER)[type(op)]()]
        case ast.Constant(value=float(value) | int(value)):
            name, part = "value", not value if isinstance(value, bool) else 2 * value or 1
        case ast.UnaryOp(op=ast.USub()):
            name, part = "op", ast.UAdd()
        case ast.UnaryOp(op=ast.Not()):
            name, part = "operand", ast.UnaryOp(ast.Not(), node.operand)
        case ast.Call(func=function, args=[first, second, *rest]):
            starred = isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
            if not starred and ast.unparse(function).split(".")[-1] not in SYMMETRIC:
                name, part = "args", [second, first, *rest]
    if name:
        yield lambda: setattr(node, name, part)


def _left_out(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, Change]]:
    """Yield statements that leave no name unknown when they are left out."""
    for number, node in enumerate(body):
        match node:
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
                alone = True
            case ast.Assign(targets=[ast.Name(name)], value=value):
                alone = any(isinstance(at, ast.Name) and at.id == name for at in ast.walk(value))
            case _:
                alone = False
        if alone:
            yield node, lambda number=number: body.__setitem__(number, ast.Pass())
