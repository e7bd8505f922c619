"""Arguments that are no numbers, not finite or of the wrong shape are refused by name."""

import re
import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from numpy.random import RandomState
from scipy import sparse

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor

KERNEL_MACHINES = [RVR, RVC]
REGRESSORS = [RVR, SparseBayesianRegressor]
EVERY = [*REGRESSORS, RVC, SparseBayesianClassifier]
#: Which estimators take each argument, and whether it is given to their constructor.
TAKEN_BY = {
    "X": (EVERY, False),
    "y": (EVERY, False),
    "sample_weight": (EVERY, False),
    "noise_variance_per_row": (REGRESSORS, False),
    "centers": (KERNEL_MACHINES, True),
    "gamma": (KERNEL_MACHINES, True),
}
NOT_FINITE = [np.nan, np.inf, -np.inf]
#: What is wrong of an array, and words of which the refusal has one beside its name.
BROKEN = {
    "text": (lambda a: np.full(np.shape(a), "eggs"), "string|eggs|numeric|label"),
    "ragged": (lambda a: [[1.0], [2.0, 3.0]], "inhomogeneous|sequence|shape|array"),
    "None in it": (lambda a: np.full(np.shape(a), None), "None|NaN|numeric|object|label type"),
    "complex": (lambda a: np.asarray(a) * 1j, "[Cc]omplex"),
    "no rows": (
        lambda a: np.asarray(a)[:0],
        "0 sample|inconsistent|shape|one per feature|2-D",
    ),
    "one axis more": (lambda a: np.asarray(a)[..., None, None], "dim|shape|axes|one per feature"),
    "a number": (lambda a: 3j, "[Cc]omplex|array|shape|number|string"),
    "a mapping": (lambda a: {"a": 1}, "array|dict|number|shape|string|scalar"),
}


def sound(argument, draw, n, d):
    """A value that an argument may have, as an array, and all that goes with it."""
    X = draw.standard_normal((n, d))
    return {
        "X": X,
        "y": np.arange(n) % 2,
        "sample_weight": 1.0 + np.arange(n) % 2,
        "noise_variance_per_row": np.full(n, 0.1),
        "centers": X[:2],
        "gamma": np.full(d, 0.5),
    }


def refused(estimator, argument, values, bad):
    """The message with which a fit refuses one bad argument."""
    arguments = {name: values[name] for name in ("X", "y")}
    parameters = {}
    if TAKEN_BY[argument][1]:
        parameters[argument] = bad
    else:
        arguments[argument] = bad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ValueError, TypeError, OverflowError)) as raised:
            estimator(**parameters).fit(**arguments)
    assert raised.type in (ValueError, TypeError, OverflowError)
    return str(raised.value)


@st.composite
def cases(draw):
    """An estimator, one of its arguments, and sound values of all."""
    argument = draw(st.sampled_from(list(TAKEN_BY)))
    estimator = draw(st.sampled_from(TAKEN_BY[argument][0]))
    n, d = draw(st.integers(3, 8)), draw(st.integers(1, 3))
    return estimator, argument, sound(argument, RandomState(draw(st.integers(0, 99))), n, d)


@given(cases(), st.sampled_from(NOT_FINITE), st.integers(0, 100))
def test_what_is_not_finite_is_refused_by_name(case, value, place):
    estimator, argument, values = case
    bad = np.array(values[argument], dtype=float)
    bad.flat[place % bad.size] = value
    message = refused(estimator, argument, values, bad)
    assert re.search(rf"\b{argument}\b", message), message
    assert re.search("NaN|nan|inf|finite|below 0|minimum", message), message


@given(cases(), st.sampled_from(list(BROKEN)))
def test_what_is_no_array_of_numbers_is_refused_by_name(case, kind):
    estimator, argument, values = case
    broken, words = BROKEN[kind]
    message = refused(estimator, argument, values, broken(values[argument]))
    assert re.search(rf"\b{argument}\b|\barray\b|\bstring\b", message), message
    assert re.search(words, message), message


@given(cases(), st.integers(1, 3), st.booleans())
def test_another_number_of_rows_or_columns_is_refused_by_name(case, change, more):
    estimator, argument, values = case
    size = len(values[argument])
    count = size + change if more or change >= size else size - change
    bad = np.resize(values[argument], (count, *values[argument].shape[1:]))
    if argument == "centers":  # any number of them will do, but not of other columns
        bad = np.ones((size, values["X"].shape[1] + change))
    message = refused(estimator, argument, values, bad)
    name = "X|y|samples" if argument in "Xy" else argument
    assert re.search(rf"\b({name})\b", message), message


@given(cases(), st.sampled_from([sparse.csr_array, sparse.coo_matrix]))
def test_sparse_arrays_that_are_not_inputs_are_refused_by_name(case, form):
    estimator, argument, values = case
    assume(argument != "X")
    bad = form(np.atleast_2d(values[argument]))
    message = refused(estimator, argument, values, bad)
    assert re.search(r"(?i)sparse|shape|2-D|one per feature|sequence", message), message
    assert re.search(rf"(?i)\b{argument}\b|sparse", message), message


@given(st.sampled_from(EVERY), st.integers(1, 9))
def test_one_axis_of_inputs_is_refused(estimator, n):
    X = np.arange(float(n))
    with pytest.raises(ValueError, match="2D array"):
        estimator().fit(X, np.arange(n) % 2)


@given(st.sampled_from(EVERY), st.sampled_from([-1, 0, 1.5, "two", None, np.nan, [3]]))
def test_max_iter_is_a_count(estimator, value):
    X = np.arange(4.0)[:, None]
    with pytest.raises((ValueError, TypeError), match="max_iter="):
        estimator(max_iter=value).fit(X, [0, 1, 0, 1])
