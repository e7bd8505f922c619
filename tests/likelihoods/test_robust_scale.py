"""Robust statistics that Student-t noise begins with."""

import numpy as np
import pytest

from relvec.likelihoods.student_t import robust_scale, weighted_median


def test_median_of_copies_is_that_of_repeated_values(rng):
    values, copies = rng.normal(size=31), rng.integers(0, 4, 31)
    repeated = np.sort(values.repeat(copies))
    assert weighted_median(values, copies.astype(float)) == repeated[(len(repeated) - 1) // 2]


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_spread_does_not_feel_outliers_and_has_the_units_of_the_target(rng, size):
    distance = np.abs(rng.normal(size=101))
    found = robust_scale(size * distance, 0.0, np.ones(101))
    assert found == pytest.approx(size * np.median(distance), rel=1e-12)
    distance[np.argsort(distance)[-10:]] *= 1e100
    assert robust_scale(size * distance, 0.0, np.ones(101)) == found


def test_spread_of_targets_most_of_which_are_equal_is_the_root_of_the_mean_square():
    assert robust_scale(np.array([0.0, 0, 0, 0, 6.0]), 1e-9, np.ones(5)) == pytest.approx(
        6 / 5**0.5
    )
    assert robust_scale(np.zeros(5), 1e-9, np.ones(5)) == 1e-9
