"""What every test may use: the choice of picture backend and the rule for data that is not here."""

import os
from pathlib import Path

import pytest

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def _no_window():
    """Draw pictures in memory: a test machine has no screen."""
    os.environ["MPLBACKEND"] = "Agg"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked ``staged("name", ...)`` whose data cannot be here, and fail if it should.

    The data are not part of the repository, so a bare clone skips these tests by name. Where the
    folder exists every set in it is expected: a missing one fails instead of going unnoticed.
    """
    folder = Path(os.environ.get("RELVEC_DATA", BESIDE_THE_CHECKOUT))
    for marker in item.iter_markers("staged"):
        for name in marker.args:
            if not folder.is_dir():
                pytest.skip(f"data set {name!r} is not here: no folder {folder}")
            if not (folder / name).exists():
                pytest.fail(f"data set {name!r} is missing from {folder}")
