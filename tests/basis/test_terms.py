"""Polynomial and Fourier terms against their formulas, and functions of one's own."""

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures

from relvec.basis import Centers, Concatenate, Fourier, FunctionColumns, Polynomial

NAMES = ["length", "load", "age"]


@pytest.fixture(name="X")
def inputs(rng):
    return rng.uniform(-2.0, 3.0, (7, 3))


# Polynomial terms


@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_polynomial_terms_are_those_of_scikit_learn(degree, interaction_only, X):
    theirs = PolynomialFeatures(degree, interaction_only=interaction_only, include_bias=False)
    expected, ours = theirs.fit_transform(X), Polynomial(degree, interaction_only).fit(X)
    np.testing.assert_allclose(ours.transform(X), expected, rtol=1e-13)
    assert ours.names(NAMES) == list(theirs.get_feature_names_out(NAMES))


@pytest.mark.parametrize("degree", [0, 1.5, "2"])
def test_a_degree_that_is_none_is_refused(degree, X):
    with pytest.raises((ValueError, TypeError), match=r"degree=.*expected an int >= 1"):
        Polynomial(degree).fit(X)


# Fourier terms


def test_fourier_terms_are_sines_and_cosines_of_multiples(X):
    basis = Fourier(harmonics=2, period=[5.0, 0.3], features=[2, 0]).fit(X)
    columns = [
        wave(2 * np.pi * h * X[:, d] / period)
        for d, period in [(2, 5.0), (0, 0.3)]
        for h in (1, 2)
        for wave in (np.sin, np.cos)
    ]
    np.testing.assert_allclose(basis.transform(X), np.column_stack(columns), atol=1e-12)


def test_a_learnt_period_is_twice_the_range(X):
    basis = Fourier(harmonics=1).fit(X)
    ends = np.array([X.min(axis=0), X.max(axis=0)])
    np.testing.assert_allclose(basis.transform(ends[:1]), [[0, 1] * 3], atol=1e-14)
    np.testing.assert_allclose(basis.transform(ends[1:]), [[0, -1] * 3], atol=1e-14)


def test_learnt_periods_make_units_and_origin_of_no_matter(X):
    there = [1e-3, 50.0, 1.0], [7.0, -3.0, 1e3]
    moved = X * there[0] + there[1]
    np.testing.assert_allclose(
        Fourier().fit_transform(moved), Fourier().fit_transform(X), atol=1e-11
    )


def test_rows_of_no_weight_have_no_say_in_the_period(X):
    weights = np.array([1.0, 0, 2, 1, 0, 1, 1])
    X[1], far = 1e3, np.flatnonzero(weights)
    weighted = Fourier().place(X, Centers.on(X), weights)
    np.testing.assert_array_equal(
        weighted.evaluate(X[far]), Fourier().fit(X[far]).transform(X[far])
    )


def test_an_input_that_does_not_vary_gives_constants():
    Phi = Fourier(harmonics=1).fit_transform(np.full((3, 1), 4.0))
    np.testing.assert_array_equal(Phi, [[0.0, 1.0]] * 3)


def test_fourier_names_are_formulas(rng):
    """A name read as Python gives the function."""
    X = rng.uniform(-3.0, 5.0, (9, 2))
    for basis in (Fourier(), Fourier(2, 24.0), Fourier(period=2 * np.pi, features=[1])):
        Phi = basis.fit_transform(X)
        for name, column in zip(basis.names(["a", "b"]), Phi.T, strict=True):
            formula = name.replace(" (", " * (").replace(" a)", " * a)").replace(" b)", " * b)")
            values = eval(formula, {"sin": np.sin, "cos": np.cos, "a": X[:, 0], "b": X[:, 1]})
            np.testing.assert_allclose(values, column, atol=1e-4)
    assert basis.names() == [f"{wave}({h} x1)" for h in (1, 2, 3) for wave in ("sin", "cos")]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"harmonics": 0}, "harmonics=0, expected an int >= 1"),
        ({"period": -1.0}, "period=-1.0, expected None or finite numbers > 0"),
        ({"period": "week"}, "period='week', expected None or finite numbers > 0"),
        ({"period": [1.0, 2.0]}, r"period has shape \(2,\), expected one number or 3"),
        ({"features": [0, 3]}, "expected None or different columns from 0 to 2"),
        ({"features": [1, 1]}, "expected None or different columns from 0 to 2"),
        ({"features": ["age"]}, "expected None or different columns from 0 to 2"),
        ({"features": []}, "expected None or different columns from 0 to 2"),
    ],
)
def test_fourier_parameters_that_are_none_are_refused(parameters, message, X):
    with pytest.raises(ValueError, match=message):
        Fourier(**parameters).fit(X)


# Functions of the user's own


def logarithms(X):
    return np.log(3 + X)


def test_function_columns_are_named_by_the_user_or_by_the_function(X):
    own = FunctionColumns(logarithms, ["log a", "log b", "log c"]).fit(X)
    np.testing.assert_array_equal(own.transform(X), logarithms(X))
    assert own.restrict(np.array([0, 2])).names() == ["log a", "log c"]
    assert FunctionColumns(logarithms).fit(X).names(NAMES)[1] == "logarithms[1]"
    both = Concatenate([FunctionColumns(logarithms), Polynomial(1)]).fit(X)
    assert both.names(NAMES)[2:4] == ["logarithms[2]", "length"]


@pytest.mark.parametrize(
    ("function", "names", "message"),
    [
        (lambda X: X[:, 0], None, r"shape \(7,\), expected \(7, m\)"),
        (lambda X: X[:2], None, r"shape \(2, 3\), expected \(7, m\)"),
        (lambda X: X / 0.0, None, "returned infinity in rows 0, 1, 2, 3, 4 and 2 more of the 7"),
        (logarithms, ["log"], "column_names has 1 names, expected 3"),
    ],
)
def test_what_is_no_column_of_numbers_is_refused(function, names, message, X):
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match=message):
        FunctionColumns(function, names).fit(X)


def test_as_many_columns_as_in_fit_are_expected(X):
    basis = FunctionColumns(lambda X: X[:, : len(X)]).fit(X)
    with pytest.raises(ValueError, match="returned 2 columns, expected 3 as in fit"):
        basis.transform(X[:2])
