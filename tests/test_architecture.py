"""The source: layers without import circles, short files, plain words, short paths."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from functools import cached_property

import numpy as np
import pytest

from relvec import RVC, RVR
from tests.support.calls import calls_during
from tests.support.modules import MODULES, circles, imported

#: What every layer may import.
COMMON = {"exceptions", "_files", "_numerics"}
#: Layers from the bottom up, each with what more it may import.
CORE = {
    "exceptions": set(),
    "_files": set(),
    "_numerics": set(),
    "basis": set(),
    "likelihoods": set(),
    "_design": {"basis"},
    "_evidence": {"likelihoods", "_design"},
    "solvers": {"likelihoods", "_design", "_evidence"},
    "_runner": {"_evidence", "solvers"},
    "_fitting": {"basis", "likelihoods", "_design", "_evidence", "solvers", "_runner"},
    # The public attributes of fitted estimators are judged, which offer that as methods.
    "_assess": {"basis", "likelihoods", "solvers"},
    "_estimators": {
        *("basis", "likelihoods", "_design", "_evidence", "solvers", "_runner", "_fitting"),
        "_assess",
    },
}
#: Beside the core, on what users may import.
WINGS = {
    "datasets": set(),
    "rows": {"_design"},  # blocks of rows are what a design reads
    "display": {"", "_assess", "basis", "likelihoods", "solvers"},
    "export": {"", "_assess", "basis", "likelihoods"},
    "_commands": {"", "_assess", "basis", "datasets", "display", "export", "storage"},
}
#: Lists of what users may import and of the types that a stored model may hold.
LISTS = {"", "_earlier", "storage"}
#: What the package needs, and what scikit-learn needs.
INSTALLED = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl"}
#: Modules that the wings and the judges may import beside those.
RESULT = {"relvec._fitting.result", "relvec._fitting.residuals"}

DULL = re.compile(r"(What|Where|How|Who|Whether|Of|Those|That)\b")


def documented():
    """Name and docstring of every module, class and function."""
    for module in MODULES.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield module, node, ast.get_docstring(node)


def test_no_modules_import_each_other():
    """Imports inside functions and for the type checker count too."""
    assert circles() == []


def test_every_layer_is_named():
    assert {module.layer for module in MODULES.values()} == {*CORE, *WINGS, *LISTS}


def test_imports_go_down():
    upward = set()
    for module in MODULES.values():
        if module.layer not in LISTS:
            may = {module.layer} | COMMON | (CORE | WINGS)[module.layer]
            beyond = {name for name in imported(module) if MODULES[name].layer not in may}
            if module.layer in {*WINGS, "_assess"}:
                beyond -= RESULT
            upward |= {(module.name, name) for name in beyond}
    assert upward == set()


def test_public_modules_are_imported_with_nothing_that_an_extra_brings():
    outside = {name.partition(".")[0] for module in MODULES.values() for name in module.imports}
    extras = outside - sys.stdlib_module_names - {"relvec", *INSTALLED}
    assert {"matplotlib", "onnx", "pandas"} <= extras
    public = [name for name in MODULES if name.count(".") < 2 and "._" not in name]
    imports = f"import sys; sys.modules |= dict.fromkeys({extras}); import {', '.join(public)}"
    done = subprocess.run([sys.executable, "-c", imports], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_only_public_names_of_other_packages_are_used():
    names = {name for module in MODULES.values() for name in module.imports}
    assert not [name for name in names if re.match(r"(?!relvec\b).*\b_[^_]", name)]


def test_files_are_short():
    lengths = {name: len(module.text.splitlines()) for name, module in MODULES.items()}
    assert [name for name, length in lengths.items() if length >= 400] == []


def test_functions_are_short():
    """Without their docstrings; constructors list parameters."""
    found = []
    for module, node, text in documented():
        if isinstance(node, ast.FunctionDef) and node.name != "__init__":
            first = node.body[1].lineno if text and len(node.body) > 1 else node.lineno
            if node.end_lineno - first >= 40:
                found.append((module.name, node.name))
    assert found == []


def test_every_module_says_what_it_holds():
    texts = {module.name: ast.get_docstring(module.tree) for module in MODULES.values()}
    assert [name for name, text in texts.items() if not text] == []


def test_methods_are_documented_where_they_are_or_where_they_are_overridden():
    """Public ones; `help` and the documentation inherit docstrings in the same way."""
    found = []
    for name in MODULES:
        module = importlib.import_module(name)
        for kind in vars(module).values():
            if inspect.isclass(kind) and kind.__module__ == name:
                methods = [key for key in vars(kind) if not key.startswith("_")]
                found += [(name, kind.__name__, key) for key in methods if not documents(kind, key)]
    assert found == []


def documents(kind, name):
    """Whether a method, property or attribute has a docstring, if it may have one."""
    held = [vars(base)[name] for base in kind.__mro__ if name in vars(base)]
    code = inspect.isroutine(held[0]) or isinstance(held[0], property | cached_property)
    return not code or any(each.__doc__ for each in held)


def test_docstrings_begin_with_what_is_returned_or_done():
    dull = [
        (module.name, text.splitlines()[0])
        for module, _, text in documented()
        if text and DULL.match(text)
    ]
    assert dull == []


@pytest.mark.parametrize(
    ("model", "files", "depth", "crossings"), [(RVR(), 42, 18, 990), (RVC(), 44, 21, 5700)]
)
def test_a_fit_is_followed_through_few_files(model, files, depth, crossings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=100)
    classes = X[:, 0] + 0.5 * rng.normal(size=100) > 0
    calls = calls_during(lambda: model.fit(X, y if isinstance(model, RVR) else classes.astype(int)))
    assert len(calls.files) <= files
    assert calls.depth <= depth
    assert calls.crossings <= crossings
