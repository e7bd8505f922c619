"""Robust statistics that Student-t noise begins with."""

import numpy as np
import pytest

from relvec._numerics.medians import weighted_median
from relvec.likelihoods.student_t import robust_scale


def test_median_of_copies_is_that_of_repeated_values(rng):
    values, copies = rng.normal(size=31), rng.integers(0, 4, 31)
    for frequency in (copies, 2 * copies, np.ones(31, dtype=int)):
        repeated = values.repeat(frequency)
        assert weighted_median(values, frequency.astype(float)) == np.median(repeated)


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
