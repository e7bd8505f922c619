"""The rule for tests that read data which are not part of the repository."""

import os
from pathlib import Path

import pytest

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked ``staged("name", ...)`` whose data cannot be here, and fail if it should.

    A bare clone skips these tests by name. Where the folder exists every set is expected in it:
    a missing one fails instead of going unnoticed.
    """
    folder = Path(os.environ.get("RELVEC_DATA", BESIDE_THE_CHECKOUT))
    for marker in item.iter_markers("staged"):
        for name in marker.args:
            if not folder.is_dir():
                pytest.skip(f"data set {name!r} is not here: no folder {folder}")
            if not (folder / name).exists():
                pytest.fail(f"data set {name!r} is missing from {folder}")
