"""Fixtures of tests of several folders: draws, every estimator, a browser and a cluster."""

import numpy as np
import pytest

from tests.support import needs
from tests.support.browser import CHROMIUM, Browser
from tests.support.machines import MACHINES


@pytest.fixture
def rng():
    """Draw the same numbers in every run."""
    return np.random.default_rng(0)


@pytest.fixture(params=MACHINES)
def machine(request):
    """Every kind of estimator in turn."""
    return MACHINES[request.param]


@pytest.fixture(scope="module")
def browser():
    """Chromium, which opens pages; an event loop runs meanwhile, so no longer than a module."""
    path, playwright = needs.program(*CHROMIUM), needs.library("playwright.sync_api")
    with playwright.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield Browser(running)
        running.close()


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes of Dask and their scheduler, which take what Dask computes meanwhile."""
    distributed = needs.library("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
