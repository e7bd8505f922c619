"""The package is imported at once, and its parts once they are asked for."""

import re
import subprocess
import sys

import pytest

import relvec
from tests.support.modules import MODULES


def run(script):
    """What a new process prints."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_the_package_is_imported_without_numpy():
    assert run("import sys, relvec; print('numpy' in sys.modules, relvec.__version__)") == [
        "False",
        relvec.__version__,
    ]


def test_all_names_are_listed_before_they_are_imported():
    listed = run("import relvec; print(*dir(relvec)); from relvec import *; print('|', *dir())")
    here = listed.index("|")
    assert {*relvec.__all__} <= {*listed[:here]}
    assert {*relvec.__all__} <= {*listed[here:]}


def test_a_name_stands_for_what_its_module_holds():
    assert run("import relvec; print(relvec.basis.__name__, relvec.RVC.__module__)") == [
        "relvec.basis",
        "relvec._estimators.classification",
    ]


def test_every_public_module_is_found_in_the_package():
    public = [name for name in MODULES if re.fullmatch(r"relvec\.[a-z]\w*", name)]
    assert {"relvec.likelihoods", "relvec.solvers"} <= {*public}
    assert (
        run(f"import relvec; print(*(module.__name__ for module in ({', '.join(public)})))")
        == public
    )


def test_a_name_that_is_none_is_refused():
    with pytest.raises(AttributeError, match="module 'relvec' has no attribute 'SVR'"):
        _ = relvec.SVR
    with pytest.raises(ImportError, match="SVR"):
        from relvec import SVR  # noqa: F401
