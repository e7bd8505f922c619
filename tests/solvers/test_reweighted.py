"""Robust statistics that the reweighting begins with."""

import numpy as np
import pytest

from relvec.solvers.reweighted import median, spread


def test_median_of_copies_is_that_of_repeated_values(rng):
    values, copies = rng.normal(size=31), rng.integers(0, 4, 31)
    repeated = np.sort(values.repeat(copies))
    assert median(values, copies.astype(float)) == repeated[(len(repeated) - 1) // 2]


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_spread_does_not_feel_outliers_and_has_the_units_of_the_target(rng, size):
    distance = np.abs(rng.normal(size=101))
    found = spread(size * distance, 0.0, np.ones(101))
    assert found == pytest.approx(size * np.median(distance), rel=1e-12)
    distance[np.argsort(distance)[-10:]] *= 1e100
    assert spread(size * distance, 0.0, np.ones(101)) == found


def test_spread_of_targets_most_of_which_are_equal_is_the_root_of_the_mean_square():
    assert spread(np.array([0.0, 0, 0, 0, 6.0]), 1e-9, np.ones(5)) == pytest.approx(6 / 5**0.5)
    assert spread(np.zeros(5), 1e-9, np.ones(5)) == 1e-9
