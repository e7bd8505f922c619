"""Fits that float64 has no digits for are refused by name: never infinite, never by LAPACK."""

import numpy as np
import pytest

from relvec import RVR
from tests.properties.contract import outcome

DRAW = np.random.RandomState(0)
X = DRAW.standard_normal((5, 2))


def is_finite_or_refused(model, X, y, **given):
    """Whether there is a model; it keeps the contract, and what is refused is out of range."""
    refusal = outcome(model, X, y, X, **given)
    assert refusal is None or type(refusal) is OverflowError
    return refusal is None


@pytest.mark.parametrize("max_iter", [1, 2, 100])
@pytest.mark.parametrize("row", range(5))
def test_counts_that_stand_for_very_many(row, max_iter):
    """One of five rows counts 10⁰ to 10³⁰⁰ times."""
    counts = np.array([3.0, 0.0, 4.0, 0.0, 5.0])
    found = []
    for power in range(0, 301, 20):
        weights = np.where(np.arange(5) == row, 10.0**power, 1.0)
        model = RVR(likelihood="poisson", fit_intercept=False, max_iter=max_iter)
        found.append(is_finite_or_refused(model, X, counts, sample_weight=weights))
    assert found[0]
    assert not found[-1]


@pytest.mark.parametrize("height", [1e3, 1e7, 1e11])
def test_many_counts_on_functions_that_are_nearly_equal(height):
    x = np.array([[-0.977], [0.950]])
    model = RVR("sigmoid", gamma=0.001, likelihood="poisson", fit_intercept=False, max_iter=1)
    is_finite_or_refused(model, x, np.floor(height * np.array([0.548, 0.0133])))


@pytest.mark.parametrize("likelihood", ["gaussian", "student_t"])
@pytest.mark.parametrize("kernel", ["poly", "linear_spline", ["rbf", "poly"]])
def test_functions_below_or_above_the_range(kernel, likelihood):
    y = X[:, 0] + 0.1 * DRAW.standard_normal(5)
    found = [
        is_finite_or_refused(RVR(kernel, gamma="auto", likelihood=likelihood), 10.0**power * X, y)
        for power in range(-156, 157, 12)
    ]
    assert found[13]
    assert not found[-1]


def test_weights_of_functions_that_are_next_to_nothing():
    y = np.array([0.98, -0.16, -0.1, 0.02, -0.01])
    model = RVR("poly", gamma="auto", likelihood="student_t", fit_intercept=False)
    assert is_finite_or_refused(model, 1e-20 * np.eye(5, 4), y)
    assert not is_finite_or_refused(model, 2.6e-54 * np.eye(5, 4), y)


@pytest.mark.parametrize("x", [1.8e-60, 1.8e-50, 1.8e-30, 1.8e30, 1.8e50, 1.8e60])
def test_scales_of_functions_out_of_range(x):
    """One row leaves the width at one, so that a cubic is 10³⁰⁰ at 10⁵⁰."""
    model = RVR(["rbf", "poly"], gamma="evidence", fit_intercept=False)
    is_finite_or_refused(model, [[x]], [0.04])


def test_learnt_scales_of_functions_whose_squares_are_out_of_range():
    """A cubic of numbers around 10³¹ is 10¹⁸⁹, and its precision 10⁻³⁷⁸ if y is one."""
    is_finite_or_refused(RVR("poly", gamma="evidence"), 1.8e31 * X, X[:, 0] ** 3 + 1)
    kept = RVR("poly", gamma="evidence", fit_intercept=False, solver="fixed_point", max_iter=1)
    is_finite_or_refused(kept, [[1.8e50]], [0.0])
    one = RVR("poly", gamma="evidence", fit_intercept=False)
    is_finite_or_refused(one, [[3.14e31]], [4e48])


def test_precisions_of_outliers_whose_squares_are_out_of_range():
    model = RVR("poly", gamma=1e6, likelihood="student_t", fit_intercept=False)
    is_finite_or_refused(model, [[1.8e25]], [4e48])
