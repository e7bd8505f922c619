"""Export stands on public names and fitted results, and on nothing of how they come about."""

import ast
from pathlib import Path

import relvec.export

PUBLIC = {"relvec", "relvec.basis", "relvec.likelihoods"}
PRIVATE = {"relvec._fitting.output", "relvec._fitting.result", "relvec._numerics.typing"}


def imported(path):
    """Modules of relvec that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def is_allowed(module):
    public = any(module.startswith(f"{package}.") for package in PUBLIC - {"relvec"})
    own = module.startswith("relvec.export")
    return module in PUBLIC | PRIVATE or public or own or module.split(".")[0] != "relvec"


def test_it_imports_public_names_and_fitted_results_only():
    paths = list(Path(relvec.export.__file__).parent.glob("*.py"))
    assert len(paths) > 5
    found = {(path.name, module) for path in paths for module in imported(path)}
    assert {each for each in found if not is_allowed(each[1])} == set()
