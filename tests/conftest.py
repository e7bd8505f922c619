"""What every test may use: draws, every estimator, and data outside the repository."""

import os
from pathlib import Path

import numpy as np
import pytest

from tests.support.browser import Browser, chromium
from tests.support.machines import MACHINES

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def rng():
    """Draw the same numbers in every run."""
    return np.random.default_rng(0)


@pytest.fixture(params=MACHINES)
def machine(request):
    """Every kind of estimator in turn."""
    return MACHINES[request.param]


@pytest.fixture
def staged():
    """Call a reader with the name of a data set; skip by name where no data folder is here.

    Where the folder exists every set is expected in it: a missing one fails, so that it does not
    go unnoticed.
    """

    def read(reader, name, *arguments):
        try:
            return reader(name, *arguments)
        except FileNotFoundError as error:
            if Path(os.environ.get("RELVEC_DATA", BESIDE_THE_CHECKOUT)).is_dir():
                pytest.fail(f"the data folder is here, yet: {error}")
            pytest.skip(str(error))

    return read


@pytest.fixture(scope="module")
def browser():
    """Chromium, which opens pages; an event loop runs meanwhile, so no longer than a module."""
    from playwright.sync_api import sync_playwright

    path = chromium()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield Browser(running)
        running.close()


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes of Dask and their scheduler, which take what Dask computes meanwhile."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
