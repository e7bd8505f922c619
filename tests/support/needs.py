"""Programs, libraries and data that some tests need and that not every machine has.

A test without what it needs is skipped by name, so that a newcomer's run is green; where
``RELVEC_REQUIRE=all``, as `.ci/run` has it, it fails, so that no check goes missing unnoticed.
"""

import importlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

VARIABLE = "RELVEC_REQUIRE"
BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[3] / "shared" / "data"


def program(*names: str) -> str:
    """Path of the first of some programs, any of which will do, that is on the PATH."""
    found = next(filter(None, map(shutil.which, names)), None)
    return found if found is not None else _missing(f"needs {' or '.join(names)} on the PATH")


def library(name: str) -> ModuleType:
    """The module of this name."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        return _missing(f"needs {name}: {error}")


def staged(reader: Callable[..., Any], name: str, *arguments: Any) -> Any:
    """Result of a reader of staged data, called with the name of the data set.

    Where the data folder exists a missing set fails everywhere.
    """
    try:
        return reader(name, *arguments)
    except FileNotFoundError as error:
        if Path(os.environ.get("RELVEC_DATA", BESIDE_THE_CHECKOUT)).is_dir():
            pytest.fail(f"the data folder is here, yet: {error}")
        _missing(str(error))


def _missing(reason: str) -> NoReturn:
    if os.environ.get(VARIABLE) == "all":
        pytest.fail(f"{reason}, and {VARIABLE}=all", pytrace=False)
    pytest.skip(reason, allow_module_level=True)
