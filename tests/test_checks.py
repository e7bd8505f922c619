"""Checks of arguments, at the ends of what they let pass."""

import numpy as np
import pytest

from relvec._numerics.checks import LARGEST_SIZE, check_range, missing, weights_of
from relvec._numerics.objects import order_of


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


@pytest.mark.parametrize(
    "values",
    [[1.0, np.nan], np.array(["2020-01-01", "NaT"], "M8[D]"), np.array([1, "NaT"], "m8[s]"),
     np.ma.array([1.0, 2.0], mask=[False, True]), np.array(["a", None])],
)  # fmt: skip
def test_values_of_any_type_may_be_missing(values):
    assert missing(np.asanyarray(values)).tolist() == [False, True]


@pytest.mark.parametrize("n_targets", [1, 2])
def test_rows_have_one_order_however_they_come(rng, n_targets):
    rows, t = rng.integers(0, 3, (12, 2)), rng.integers(0, 2, (12, n_targets))
    again = rng.permutation(12)
    one, other = order_of(rows, t), order_of(rows[again], t[again])
    np.testing.assert_array_equal(rows[one], rows[again][other])
    np.testing.assert_array_equal(t[one], t[again][other])
