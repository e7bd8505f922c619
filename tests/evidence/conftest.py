"""Every likelihood of Laplace's method, with and without a flat intercept."""

from dataclasses import replace

import numpy as np
import pytest

from tests.support import laplace
from tests.support.rows import name_of

#: Weights that change the mode of a fraction of the rows.
COPIES = np.array([1.0, 2.0, 0.5, 7.0, 0.1, 3.0])


@pytest.fixture(params=laplace.LIKELIHOODS, ids=name_of)
def likelihood(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["no intercept", "intercept"])
def center(request):
    return request.param


@pytest.fixture(params=[None, COPIES], ids=["rows", "copies"])
def problem(request, likelihood, center, rng):
    drawn = laplace.draw(rng, likelihood, center)
    copies = request.param
    return drawn if copies is None else replace(drawn, copies=np.resize(copies, len(drawn.t)))
