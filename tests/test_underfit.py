"""An easy function on which greedy fits stop early, with the noise taken for the signal.

With 40 points, seed 13 and the default kernel, a fit that learns the noise from its first step
stops at one vector, log evidence -8.3 and R2 0.5, where 18.6 exists.
"""

from functools import cache

import numpy as np
import pytest

from relvec import RVR
from relvec.datasets import sinc
from tests.support.inputs import noisy_sinc
from tests.support.reference import top_down

SEEDS = [seed for seed in range(21) if seed != 13]
SIZES = [40, 100, 200]


@cache
def siblings(n):
    """For each seed: the data, and the default fit."""
    return [(X, y, RVR().fit(X, y)) for X, y in (noisy_sinc(n, seed=seed) for seed in SEEDS)]


def test_the_input_that_stops_greedy_fits():
    X, y = noisy_sinc(40, seed=13)
    model = RVR().fit(X, y)
    assert model.log_evidence_ >= 10
    assert model.score(X, y) >= 0.85


@pytest.mark.parametrize("n", SIZES)
def test_siblings_follow_the_function(n):
    scores = [model.score(X, sinc(X[:, 0])) for X, _, model in siblings(n)]
    assert np.median(scores) >= 0.95
    assert min(scores) > 0.8


@pytest.mark.slow
def test_siblings_have_the_evidence_of_a_top_down_fit():
    """On at least 95 % of them no more than one nat under it."""
    lost = []
    for n in SIZES:
        for X, y, model in siblings(n):
            Phi = np.exp(-model.gamma_ * (X - X.T) ** 2)
            lost.append(top_down(Phi, y, fit_intercept=True).log_evidence - model.log_evidence_)
    assert np.mean(np.array(lost) <= 1.0) >= 0.95


@pytest.mark.parametrize("unit", [1e-3, 1e3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear_spline"])
def test_other_kernels_and_units_follow_the_function(kernel, fit_intercept, unit):
    scores = []
    for seed in SEEDS[:6]:
        X, y = noisy_sinc(60, seed=seed)
        model = RVR(kernel=kernel, fit_intercept=fit_intercept).fit(X, unit * y)
        scores.append(model.score(X, unit * sinc(X[:, 0])))
    assert np.median(scores) >= 0.9
    assert min(scores) > 0.75


def test_more_starts_never_lose_evidence():
    for seed in SEEDS[:8]:
        X, y = noisy_sinc(40, seed=seed)
        few, many = (RVR(n_starts=n, random_state=0).fit(X, y).log_evidence_ for n in (2, 12))
        assert many >= few - 1e-6
