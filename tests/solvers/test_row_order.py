"""Fits to the same rows in another order, disturbed by as much as rounding disturbs numbers."""

import numpy as np
import pytest

from relvec import RVR
from relvec.datasets import sinc
from relvec.solvers.base import AGREEMENT
from tests.support.inputs import noisy_sinc


def doppler(seed, n=200):
    x = np.linspace(0.01, 1, n)
    y = np.sqrt(x * (1 - x)) * np.sin(2.1 * np.pi / (x + 0.05))
    return x[:, None], y + 0.05 * np.random.RandomState(seed).standard_normal(n)


def random_walk(seed, n=150):
    return np.arange(n)[:, None] / n, np.cumsum(np.random.RandomState(seed).standard_normal(n))


def scattered_sinc(seed, n=100):
    draw = np.random.RandomState(seed)
    x = draw.uniform(-10, 10, n)
    return x[:, None], sinc(x) + 0.1 * draw.standard_normal(n)


@pytest.mark.parametrize(
    ("gamma", "draw"),
    [
        (300.0, doppler),
        (1000.0, random_walk),
        (1.0, scattered_sinc),
        ("evidence", lambda seed: noisy_sinc(60, seed=seed + 1)),
        ("ard", lambda seed: noisy_sinc(60, seed=seed + 1)),
    ],
    ids=["doppler", "random walk", "scattered sinc", "learnt width", "learnt widths"],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_evidence_does_not_depend_on_the_order_of_the_rows(gamma, draw, seed):
    """By more than optima that count as one.

    Evenly spaced rows and narrow kernels have many functions that are equally near to a span.
    """
    X, y = draw(seed)
    expected, shuffle = RVR(gamma=gamma).fit(X, y).log_evidence_, np.random.RandomState(seed)
    for _ in range(2):
        rows = shuffle.permutation(len(y))
        disturbed = X[rows] * (1 + 1e-15 * shuffle.standard_normal(X.shape))
        found = RVR(gamma=gamma).fit(disturbed, y[rows])
        assert found.log_evidence_ == pytest.approx(expected, abs=AGREEMENT)
