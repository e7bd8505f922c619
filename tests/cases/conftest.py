"""The estimators that the cases go through."""

import pytest

from tests.machines import MACHINES


@pytest.fixture(params=MACHINES)
def machine(request):
    """Every kind of estimator in turn."""
    return MACHINES[request.param]
