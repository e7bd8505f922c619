"""Any data: a finite model, or an error that names the argument."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import assume, given

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor
from relvec.basis import KERNELS as NAMES
from relvec.basis import RBF, Bias, Columns, Fourier, Laplacian, LinearKernel, Polynomial
from tests.properties.contract import outcome
from tests.properties.data import DTYPES, data, units, weights

#: Kernels whose values have no unit with a γ that follows the data.
UNITLESS = ["rbf", "laplacian", RBF("scale") * Laplacian("scale")]
#: Kernels whose values have a power of the unit of X, which may leave the range of doubles.
POWERS = [
    *(name for name in NAMES if name not in {"rbf", "laplacian", "precomputed"}),
    [Bias(), Columns(), "rbf", RBF(gamma=3.0)],
    [Polynomial(degree=2), Fourier(harmonics=1)],
    RBF() + LinearKernel(),
]
SOLVERS = ["sequential", "fixed_point", "em", "variational"]
flags = st.booleans()


@st.composite
def searches(draw, solvers=tuple(SOLVERS)):
    """Parameters that every estimator has."""
    return {
        "solver": draw(st.sampled_from(solvers)),
        "fit_intercept": draw(flags),
        "max_iter": draw(st.sampled_from([1, 2, 30])),
    }


@st.composite
def kernels(draw, menu=tuple(UNITLESS + POWERS)):
    """Parameters of kernels."""
    kernel = draw(st.sampled_from(menu))
    gamma = draw(st.sampled_from(["scale", "scale", "auto", 1e-3, 1.0, 1e6]))
    return {"kernel": kernel, "gamma": gamma, "coef0": draw(st.sampled_from([0.0, 1.0]))}


def too_few(refusal):
    return "n_samples" in str(refusal)


@given(data(), units(), st.sampled_from(UNITLESS), searches(), st.data())
def test_regression_in_any_units(rows, unit, kernel, search, choose):
    n = len(rows.X)
    weight = choose.draw(st.none() | st.lists(st.integers(1, 4), min_size=n, max_size=n))
    model = RVR(kernel=kernel, **search)
    refusal = outcome(
        model, rows.X * unit[0], rows.y * unit[1], rows.queries * unit[0], sample_weight=weight
    )
    assert refusal is None or too_few(refusal), repr(refusal)


@given(data(), units(), kernels(), searches(), st.data())
def test_regression(rows, unit, kernel, search, choose):
    weight = choose.draw(weights(len(rows.X)))
    noise = choose.draw(st.sampled_from([None, None, 1e-2, 1e-30, 1e30]))
    model = RVR(noise_variance=noise, **kernel, **search)
    outcome(model, rows.X * unit[0], rows.y * unit[1], rows.queries * unit[0], sample_weight=weight)


@given(data(), kernels(), searches(), st.data())
def test_noise_known_by_row(rows, kernel, search, choose):
    n = len(rows.X)
    power = st.floats(-200, 200) if choose.draw(flags) else st.floats(-3, 3)
    variances = 10.0 ** np.array(choose.draw(st.lists(power, min_size=n, max_size=n)))
    weight = choose.draw(weights(n))
    model = RVR(**kernel, **search)
    outcome(
        model, rows.X, rows.y, rows.queries, sample_weight=weight, noise_variance_per_row=variances
    )


@given(data(n_targets=3), units(), kernels(), searches(), st.data())
def test_several_targets(rows, unit, kernel, search, choose):
    model = RVR(
        multi_output=choose.draw(st.sampled_from(["shared", "independent"])), **kernel, **search
    )
    y = rows.y * [unit[1], 1.0, 1 / unit[1]]
    weight = choose.draw(weights(len(rows.X)))
    outcome(model, rows.X * unit[0], y, rows.queries * unit[0], sample_weight=weight)


@given(data(), kernels(), searches(), st.data())
def test_centers(rows, kernel, search, choose):
    centers = choose.draw(
        st.integers(1, len(rows.X))
        | st.sampled_from([rows.X[:1], rows.X * 2, np.zeros((3, rows.X.shape[1]))])
    )
    model = RVR(centers=centers, random_state=0, **kernel, **search)
    outcome(model, rows.X, rows.y, rows.queries)


@given(data(most_rows=8), units(), st.sampled_from(["evidence", "ard"]), searches(), st.data())
def test_learnt_scales(rows, unit, gamma, search, choose):
    kernel = choose.draw(
        st.sampled_from(["rbf", "laplacian", "poly", RBF("ard") + LinearKernel(), ["rbf", "poly"]])
    )
    model = RVR(kernel=kernel, gamma=gamma, **search)
    outcome(model, rows.X * unit[0], rows.y * unit[1], rows.queries * unit[0])


@given(data(), st.floats(-3, 12), kernels(), searches(SOLVERS[:3]), st.data())
def test_counts(rows, height, kernel, search, choose):
    y = np.floor(10.0**height * np.abs(rows.y) / max(np.abs(rows.y).max(), 1))
    weight = choose.draw(weights(len(rows.X)))
    model = RVR(likelihood="poisson", **kernel, **search)
    outcome(model, rows.X, y, rows.queries, sample_weight=weight)


@given(data(), units(), kernels(), searches(SOLVERS[:1]), st.data())
def test_robust_noise(rows, unit, kernel, search, choose):
    weight = choose.draw(weights(len(rows.X)))
    model = RVR(likelihood="student_t", **kernel, **search)
    outcome(model, rows.X * unit[0], rows.y * unit[1], rows.queries * unit[0], sample_weight=weight)


@given(data(), units(), kernels(UNITLESS), searches(), flags, st.data())
def test_functions_on_the_queries(rows, unit, kernel, search, classes, choose):
    y = choose.draw(labels(len(rows.X))) if classes else rows.y * unit[1]
    solver = search["solver"] if not classes else "sequential"
    model = (RVC if classes else RVR)(augment=True, **kernel, **search | {"solver": solver})
    weight = choose.draw(weights(len(rows.X)))
    outcome(model, rows.X * unit[0], y, rows.queries * unit[0], sample_weight=weight)


@st.composite
def labels(draw, n):
    """Labels of two to four classes, numbers or texts, in any proportion."""
    names = draw(st.sampled_from([[0, 1, 2, 3], ["a", "b", "c", "d"], [-1.0, 0.0, 2.0, 7.0]]))
    names = names[: draw(st.integers(2, 4))]
    return np.array([draw(st.sampled_from(names)) for _ in range(n)])


@given(data(), units(), kernels(), searches(), st.data())
def test_classification(rows, unit, kernel, search, choose):
    y = choose.draw(labels(len(rows.X)))
    model = RVC(
        multi_class=choose.draw(st.sampled_from(["multinomial", "ovr"])),
        class_weight=choose.draw(st.sampled_from([None, "balanced"])),
        proba=choose.draw(st.sampled_from(["integrated", "mode"])),
        **kernel,
        **search,
    )
    weight = choose.draw(weights(len(rows.X)))
    outcome(model, rows.X * unit[0], y, rows.queries * unit[0], sample_weight=weight)


@given(data(most_rows=8), st.sampled_from(["evidence", "ard"]), searches(), st.data())
def test_learnt_scales_of_classes(rows, gamma, search, choose):
    model = RVC(gamma=gamma, **search)
    outcome(model, rows.X, choose.draw(labels(len(rows.X))), rows.queries)


@given(st.integers(2, 4), st.integers(1, 3), st.integers(0, 2**31), searches(SOLVERS[:3]))
def test_one_row_of_each_class(n_classes, n_columns, seed, search):
    X = np.random.RandomState(seed).standard_normal((n_classes, n_columns))
    assert outcome(RVC(**search), X, np.arange(n_classes), X) is None


@given(data(), units(), searches(), st.data())
def test_linear_models(rows, unit, search, choose):
    weight = choose.draw(weights(len(rows.X)))
    X, queries = rows.X * unit[0], rows.queries * unit[0]
    model = SparseBayesianRegressor(**search)
    outcome(model, X, rows.y * unit[1], queries, sample_weight=weight)
    model = SparseBayesianClassifier(**search)
    outcome(model, X, choose.draw(labels(len(X))), queries, sample_weight=weight)


@given(data(), st.sampled_from(DTYPES), st.sampled_from(DTYPES), kernels(), flags)
def test_any_dtype_is_its_value_in_doubles(rows, of_X, of_y, kernel, classes):
    with np.errstate(over="ignore", invalid="ignore"):
        X, y = rows.X.astype(of_X), (np.sign(rows.y) if classes else rows.y).astype(of_y)
    assume(np.isfinite(X.astype(float)).all() and np.isfinite(y.astype(float)).all())
    assume(not (classes and y.dtype == object))  # labels that are objects are no numbers
    one, two = (type_(**kernel, max_iter=30) for type_ in [RVC if classes else RVR] * 2)
    queries = rows.queries
    first = outcome(one, X, y, queries)
    second = outcome(two, X.astype(float), y.astype(float), queries)
    assert (first is None) == (second is None)
    if first is None:
        np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
