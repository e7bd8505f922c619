"""Sizes of X and y at the ends of float64, types that are no numbers, and callers' own settings.

Squares of numbers beyond 10¹⁵⁴ overflow, and of those under 10⁻¹⁵⁴ underflow. What needs them is
refused by name, before any search; warnings of NumPy are errors here, as everywhere in the suite.
"""

from functools import reduce
from operator import add, mul

import numpy as np
import pandas as pd
import pytest

from relvec import (
    RVC,
    RVR,
    EffectsClassifier,
    EffectsRegressor,
    SparseBayesianClassifier,
    SparseBayesianRegressor,
)
from relvec.basis import RBF, Basis, Columns, FunctionColumns, Kernel, Product, Sum
from relvec.basis.scale import resolve_gamma, standard_deviations
from relvec.exceptions import EmptyModelWarning

DRAW = np.random.RandomState(0)
X = DRAW.standard_normal((30, 2))
Y = X @ [1.0, 2.0] + 0.1 * DRAW.standard_normal(30)
WEIGHTS = np.arange(1.0, 31.0)
REGRESSORS = {
    "RVR": RVR(),
    "linear": SparseBayesianRegressor(),
    "effects": EffectsRegressor(),
    "student_t": RVR(likelihood="student_t"),
    "evidence": RVR(gamma="evidence"),
    "without an intercept": RVR(fit_intercept=False),
    "fixed_point": RVR(solver="fixed_point"),
    "em": RVR(solver="em"),
    "variational": RVR(solver="variational"),
    "known noise": RVR(noise_variance=1.0),
    "augmented": RVR(augment=True),
    "process": RVR("linear", remainder="process"),
    "by blocks": RVR(memory_limit=1.0),
}


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("size", [1e155, 1e200, 1e307])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_targets_whose_squares_overflow_are_refused(name, size, weights):
    with pytest.raises(OverflowError, match="squares of y exceed the range of float64"):
        REGRESSORS[name].fit(X, size * Y, weights)


def test_weights_count_in_the_squares():
    with pytest.raises(OverflowError, match="squares of y exceed the range of float64"):
        RVR().fit(X, 1e150 * Y, np.full(30, 1e10))


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("size", [1e-155, 1e-200, 1e-307])
def test_targets_whose_squares_underflow_are_refused(name, size):
    with pytest.raises(OverflowError, match="squares of y fall below the range of float64"):
        REGRESSORS[name].fit(X, size * Y)


def test_rows_in_parts_are_refused_alike():
    with pytest.raises(OverflowError, match=r"squares of y .*exceed the range of float64"):
        RVR(centers=5).partial_fit(X, 1e155 * Y)
    with pytest.raises(OverflowError, match=r"squares of y .*exceed the range of float64"):
        RVR(centers=5).fit_chunks([(X[:20], 1e155 * Y[:20]), (X[20:], 1e155 * Y[20:])])


@pytest.mark.parametrize("multi_output", ["shared", "independent"])
def test_one_of_several_targets_is_refused(multi_output):
    with pytest.raises(OverflowError, match="squares of y"):
        RVR(multi_output=multi_output).fit(X, np.column_stack([Y, 1e200 * Y]))


@pytest.mark.parametrize("level", [0.0, 1e-200, 1e-3, 1e150])
def test_a_constant_target_has_no_squares_about_its_mean(level):
    with pytest.warns(UserWarning, match="no basis function"):
        model = RVR().fit(X, np.full(30, level))
    np.testing.assert_allclose(model.predict(X[:3]), level)


def test_fits_in_a_loop_do_not_end_it():
    """`StopIteration` of one fit would be taken for the end of all."""

    def refused(size):
        try:
            RVR().fit(X, size * Y, WEIGHTS)
        except OverflowError:
            return True
        return False

    assert list(map(refused, [1.0, 1e153, 1e155, 1e10])) == [False, True, True, False]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "sigmoid", "poly"])
@pytest.mark.parametrize("gamma", ["scale", "evidence", "ard"])
@pytest.mark.parametrize("size", [1e-160, 1e160, 1e307])
def test_scales_that_are_no_numbers_are_refused(kernel, gamma, size):
    """1/variance, or of a Laplacian 1/deviation, of such inputs may leave the range of float64."""
    power = getattr(RVR(kernel)._dictionary(), "power", 2)
    if gamma != "scale" and kernel in ("sigmoid", "poly"):
        pytest.skip("not learnt")
    if gamma != "scale" and power == 1 and size < 1e300:
        assert np.all(np.isfinite(resolve_gamma(gamma, size * X, None, power)))
        return
    with pytest.raises(OverflowError, match="rescale X"):
        RVR(kernel, gamma=gamma).fit(size * X, Y)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("exponent", [-900, -500, 0, 500, 1000])
def test_standard_deviations_of_numbers_of_any_size(weights, exponent):
    found = standard_deviations(X * 2.0**exponent, weights)
    np.testing.assert_array_equal(found, standard_deviations(X, weights) * 2.0**exponent)


TIMES = {
    "times": np.datetime64("2020-01-01") + np.arange(30),
    "spans": np.arange(30).astype("timedelta64[D]"),
    "a column": pd.Series(np.datetime64("2020-01-01") + np.arange(30)),
    "a list": list(np.datetime64("2020-01-01") + np.arange(30)),
    "with a zone": pd.Series(np.datetime64("2020-01-01") + np.arange(30)).dt.tz_localize("UTC"),
}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_times_are_no_numbers(times):
    model, message = RVR().fit(X, Y), "holds times of type .*, expected numbers"
    for call in (
        lambda: RVR().fit(X, times),
        lambda: RVR().fit(X, Y, sample_weight=times),
        lambda: RVR().fit(X, Y, noise_variance_per_row=times),
        lambda: RVC().fit(X, Y > 0, sample_weight=times),
        lambda: model.log_evidence(X, times),
        lambda: model.predict_log_density(X, times),
    ):
        with pytest.raises(TypeError, match=message):
            call()


@pytest.mark.parametrize("estimator", [RVR(), SparseBayesianRegressor(), EffectsRegressor()])
def test_columns_of_times_are_named(estimator):
    table = pd.DataFrame({"size": X[:, 0], "when": TIMES["times"]})
    with pytest.raises(TypeError, match=r"X holds times of type datetime64\[.*\] in column 'when'"):
        estimator.fit(table, Y)
    with pytest.raises(TypeError, match="X holds times"):
        estimator.fit(TIMES["spans"][:, None], Y)


def test_masked_values_are_no_numbers():
    masked = np.ma.masked_array(np.abs(Y) + 1, mask=Y > 3)
    for call, name in (
        (lambda: RVR().fit(np.ma.masked_array(X, X > 2), Y), "X"),
        (lambda: RVR().fit(X, masked), "y"),
        (lambda: RVR().fit(X, Y, sample_weight=masked), "sample_weight"),
        (lambda: RVC().fit(X, Y > 0, sample_weight=masked), "sample_weight"),
        (lambda: RVR().fit(X, Y, noise_variance_per_row=masked), "noise_variance_per_row"),
    ):
        with pytest.raises(ValueError, match=f"{name} contains missing values .* in row"):
            call()
    nothing = np.ma.masked_array(np.abs(Y) + 1, mask=np.zeros(30, bool))
    plain = RVR().fit(X, Y, sample_weight=np.abs(Y) + 1)
    np.testing.assert_array_equal(
        RVR().fit(X, Y, sample_weight=nothing).dual_coef_, plain.dual_coef_
    )


ANY = {
    "RVR": (RVR(gamma=50.0), Y),
    "evidence": (RVR(gamma="evidence"), Y),
    "student_t": (RVR(likelihood="student_t"), Y),
    "poisson": (RVR(likelihood="poisson"), np.floor(np.abs(10 * Y))),
    "linear": (SparseBayesianRegressor(), Y),
    "effects": (EffectsRegressor(), Y),
    "classes": (RVC(gamma=50.0), Y > 0),
    "several classes": (RVC(gamma=50.0), np.digitize(Y, [-1, 1])),
    "linear classes": (SparseBayesianClassifier(), Y > 0),
    "effects of classes": (EffectsClassifier(), Y > 0),
}
ASKED = (
    "predict",
    "predict_interval",
    "predict_latent",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "summary",
    "diagnose",
    "predict_log_density",
    "log_evidence",
)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
@pytest.mark.parametrize("name", ANY)
def test_callers_may_have_float_errors_raised(name):
    """Exponentials that underflow to zero are right, whatever a caller has NumPy do of it."""
    model, y = ANY[name]

    def told():
        model.fit(X, y)
        few = [getattr(model, asked)(3 * X) for asked in ASKED[:6] if hasattr(model, asked)]
        texts = [str(getattr(model, asked)()) for asked in ASKED[6:8]]
        both = [getattr(model, asked)(X, y) for asked in ASKED[8:] if hasattr(model, asked)]
        return few, texts, both

    expected = told()
    with np.errstate(all="raise"):
        found = told()
    for a, b in zip(expected, found, strict=True):
        for one, other in zip(a, b, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("operation", "kind"), [(add, Sum), (mul, Product)])
def test_thousands_of_kernels_add_up(operation, kind):
    kernels = [RBF(0.001 * (1 + i / 2000)) for i in range(2000)]
    left = reduce(operation, kernels)
    right = reduce(lambda a, b: operation(b, a), kernels)
    assert isinstance(left, kind)
    assert isinstance(right, kind)
    flat = RVR(kind(kernels), centers=3, gamma=1.0, random_state=0).fit(X, Y).predict(X[:3])
    for kernel in (left, right):
        model = RVR(kernel, centers=3, random_state=0).fit(X, Y)
        np.testing.assert_allclose(model.predict(X[:3]), flat, rtol=1e-6)


def rude_kernel(A, B):
    A -= B[0]
    B -= B[0]
    K = np.exp(-((A[:, None] - B) ** 2).sum(axis=-1))
    A[:], B[:] = 7.0, 8.0
    return K


def polite_kernel(A, B):
    return np.exp(-((A[:, None] - B) ** 2).sum(axis=-1))


def rude_columns(A):
    A *= 2.0
    return A


def test_functions_may_write_to_their_arguments():
    rows, target = X.copy(), Y.copy()
    rude, polite = RVR(rude_kernel).fit(rows, target), RVR(polite_kernel).fit(X, Y)
    np.testing.assert_allclose(rude.predict(rows), polite.predict(X), rtol=1e-8)
    model = RVR(FunctionColumns(rude_columns)).fit(rows, target)
    np.testing.assert_allclose(model.predict(rows), RVR(Columns()).fit(X, Y).predict(X), rtol=1e-8)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(target, Y)


class RudeKernel(Kernel):
    """Writes to the rows that it is evaluated at."""

    any_rows = False

    def k(self, X, Z):
        X -= Z[0]
        return X @ Z.T


class RudeBasis(Columns):
    """Writes to the rows that it is placed on."""

    def place(self, X, centers, weights):
        X -= X.mean(axis=0)
        return super().place(X, centers, weights)


@pytest.mark.parametrize("basis", [RudeKernel(), RudeBasis()], ids=["kernel", "basis"])
def test_rows_are_not_written_to(basis):
    assert isinstance(basis, Basis)
    rows = X.copy()
    with pytest.raises(ValueError, match="read-only"):
        RVR(basis).fit(rows, Y)
    np.testing.assert_array_equal(rows, X)


@pytest.mark.parametrize("estimator", [RVR("linear"), RVR(gamma=1.0), SparseBayesianRegressor()])
@pytest.mark.parametrize("size", [1e301, 1e307, 1e-301, 1e-307])
def test_inputs_whose_sums_or_inverse_ranges_leave_float64_are_refused(estimator, size):
    far = X / np.abs(X).max() * size
    with pytest.raises(OverflowError, match=r"X .* in column 0, .*; rescale X"):
        estimator.fit(far, Y)
    with pytest.raises(OverflowError, match="rescale X"):
        EffectsRegressor().fit(far, Y)


def test_infinities_of_both_signs_are_refused_without_a_warning():
    for container in (np.float32, np.float64):
        far = X.astype(container)
        far[0], far[1] = np.inf, -np.inf
        for call in (lambda: RVR().fit(far, Y), lambda: RBF().fit(far)):  # noqa: B023
            with pytest.raises(ValueError, match="X contains infinity"):
                call()


@pytest.mark.parametrize("estimator", [RVR(), EffectsRegressor()], ids=lambda e: type(e).__name__)
def test_infinity_is_named_by_row_and_column(estimator):
    table = pd.DataFrame({"area": X[:, 0], "age": X[:, 0] ** 2})
    wrong = table.copy()
    wrong.loc[3, "age"] = -np.inf
    for call in (lambda: estimator.fit(wrong, Y), lambda: estimator.fit(table, Y).predict(wrong)):
        with pytest.raises(ValueError, match=r"^X contains infinity in row 3, column 'age', exp"):
            call()


def test_underflows_of_validation_are_no_errors_of_a_caller():
    with np.errstate(all="raise"):
        tiny = 1e-300 * Y
        with pytest.raises(OverflowError, match="squares of y fall below"):
            RVR().fit(X, tiny)
        far = RBF(gamma=1.0).fit(X).transform(100 * X)
    assert (far < 1).all()


@pytest.mark.parametrize("size", [1e155, 1e300])
def test_counts_whose_squares_overflow_are_refused(size):
    with pytest.raises(OverflowError, match="squares of y exceed the range of float64"):
        RVR(likelihood="poisson").fit(X, size * np.abs(Y))


def test_a_prior_of_noise_far_from_the_size_of_y_is_refused():
    for model in (RVR(beta_prior=(1.0, 1e-3)), SparseBayesianRegressor(beta_prior=(1.0, 1e-3))):
        with pytest.raises(OverflowError, match="beta_prior"):
            model.fit(X, 1e-120 * Y)
        with pytest.warns(EmptyModelWarning):  # noise as large as the prior has it
            model.fit(X, 1e-20 * Y)


def test_student_t_noise_of_a_constant_smaller_than_any_square():
    with pytest.warns(UserWarning, match="no basis function"):
        model = RVR("linear", likelihood="student_t").fit(X, np.full(30, -1.3e-211))
    assert np.isfinite(model.predict_latent(X, return_std=True)).all()


def test_columns_more_than_weighted_rows_are_counted_by_blocks():
    wide = DRAW.standard_normal((5, 8))
    weights = np.arange(1.0, 6.0)
    target = 10 * wide[:, 0] + DRAW.standard_normal(5)
    whole = SparseBayesianRegressor(noise_variance=1.0).fit(wide, target, weights)
    parts = SparseBayesianRegressor(noise_variance=1.0, memory_limit=1.0)
    parts.fit(wide, target, weights)
    np.testing.assert_allclose(parts.predict(wide), whole.predict(wide), rtol=1e-6)
