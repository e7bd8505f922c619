"""The modules of the package and what each imports, read from their source and not executed."""

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Module:
    """A module of the package."""

    path: Path

    @cached_property
    def name(self) -> str:
        """Dotted name; a package's is that of its folder."""
        parts = self.path.relative_to(SOURCE).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def layer(self) -> str:
        """Name of the package or module right below `relvec` that it is or lies in."""
        return self.name.split(".")[1] if "." in self.name else ""

    @cached_property
    def text(self) -> str:
        """Source."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """Syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def imports(self) -> set[str]:
        """Names of all that is imported, inside functions and for the type checker included.

        What a name imported from a module is, a module or something in one, `imported` tells.
        """
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
        return found


MODULES = {module.name: module for module in map(Module, sorted((SOURCE / "relvec").rglob("*.py")))}


def imported(module: Module) -> set[str]:
    """Modules of the package that a module imports."""
    within = (name for name in module.imports if name.split(".")[0] == "relvec")
    return {name if name in MODULES else name.rpartition(".")[0] for name in within} - {module.name}


def circles() -> list[list[str]]:
    """Sets of modules that import one another, at one or more removes."""
    reached = {name: _reached(name) for name in MODULES}
    together = {
        frozenset(other for other in others if name in reached[other])
        for name, others in reached.items()
        if name in others
    }
    return sorted(map(sorted, together))


def _reached(name: str) -> set[str]:
    """Modules that a module imports, at one or more removes."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for other in imported(MODULES[waiting.pop()]) - found:
            found.add(other)
            waiting.append(other)
    return found
