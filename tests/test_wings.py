"""Wings stand on public names and fitted results, and on nothing of how these come about."""

import ast
from pathlib import Path

import pytest

import relvec

PUBLIC = {
    "relvec",
    "relvec.basis",
    "relvec.exceptions",
    "relvec.likelihoods",
    "relvec.solvers",
    "relvec.storage",
}
NUMERICS = {f"relvec._numerics.{name}" for name in ("checks", "optional", "typing")}
#: Wings, and the other modules that each may import.
WINGS = {
    "export": {"relvec._files", "relvec._fitting.result"},
    "display": {"relvec._assess.pipelines"},
    "_commands": {
        "relvec._assess.facts",
        "relvec._assess.findings",  # results of ``diagnose``
        "relvec._files",
        "relvec._numerics",
        "relvec.display",
        "relvec.export",
    },
}


def imported(path):
    """Modules of relvec that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def is_allowed(module, wing):
    allowed = PUBLIC | NUMERICS | WINGS[wing]
    inside = {name for name in allowed if "._" not in name} - {"relvec"} | {f"relvec.{wing}"}
    within = any(f"{module}.".startswith(f"{package}.") for package in inside)
    return module in allowed or within or module.split(".")[0] != "relvec"


@pytest.mark.parametrize("wing", WINGS)
def test_a_wing_imports_public_names_and_fitted_results_only(wing):
    paths = list(Path(relvec.__file__).with_name(wing).glob("*.py"))
    assert len(paths) > 5
    found = {(path.name, module) for path in paths for module in imported(path)}
    assert {each for each in found if not is_allowed(each[1], wing)} == set()
