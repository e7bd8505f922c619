"""Every likelihood of Laplace's method, with and without a flat intercept."""

import pytest

from tests.support.laplace import LIKELIHOODS
from tests.support.rows import name_of


@pytest.fixture(params=LIKELIHOODS, ids=name_of)
def likelihood(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["no intercept", "intercept"])
def center(request):
    return request.param
