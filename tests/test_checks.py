"""Checks of arguments, at the ends of what they let pass."""

import numpy as np
import pytest

from relvec._numerics.checks import LARGEST_SIZE, check_range, weights_of


def test_a_number_is_the_weight_of_every_row():
    np.testing.assert_array_equal(weights_of(2.5, 3), [2.5, 2.5, 2.5])


@pytest.mark.parametrize(
    ("low", "high"),
    [(-LARGEST_SIZE, LARGEST_SIZE), (1.0, 1.0), (-0.5 / LARGEST_SIZE,) * 2, (0.0, 0.0)],
)
def test_columns_may_be_large_or_constant(low, high):
    check_range("X", np.array([0.0, low]), np.array([1.0, high]))


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-2 * LARGEST_SIZE, 0.0),
        (0.0, 2 * LARGEST_SIZE),
        (-0.5 / LARGEST_SIZE, 0.5 / LARGEST_SIZE),
        (0.0, 1 / LARGEST_SIZE),
    ],
)
def test_columns_neither_reach_too_far_nor_vary_too_little(low, high):
    with pytest.raises(OverflowError, match=r"X reaches from .* in column 1, expected sizes up to"):
        check_range("X", np.array([0.0, low]), np.array([1.0, high]))
