"""The estimators whose functions are the columns of X."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor
from relvec._design import DenseDesign
from relvec._estimators.multiplicity import independent_groups
from relvec.basis import Columns
from tests.support import inputs
from tests.support.machines import answers, at_the_mode, classes, counts

PAIRS = {
    "regression": (SparseBayesianRegressor(), RVR(), lambda y: y),
    "counts": (
        SparseBayesianRegressor(likelihood="poisson"),
        RVR(likelihood="poisson"),
        counts,
    ),
    "two classes": (SparseBayesianClassifier(), RVC(), classes(2)),
    "three classes": (
        SparseBayesianClassifier(multi_class="multinomial"),
        RVC(multi_class="multinomial"),
        classes(3),
    ),
    "one against the rest": (
        SparseBayesianClassifier(multi_class="ovr"),
        RVC(multi_class="ovr"),
        classes(3),
    ),
}


@pytest.fixture(params=PAIRS)
def pair(request):
    """A linear estimator, its counterpart with kernels, and what they make of a target."""
    linear, kernels, target = PAIRS[request.param]
    return clone(linear), clone(kernels).set_params(kernel=Columns()), target


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_columns_are_the_basis(pair):
    """The same bits as with the columns named as the kernel."""
    linear, kernels, target = pair
    X, y = inputs.two_of_six_columns()
    y = target(y)
    linear.set_params(tol=0.1, n_starts=1).fit(X, y)
    kernels.set_params(tol=0.1).fit(X, y)
    assert_array_equal(answers(linear, X), answers(kernels, X))
    assert_array_equal(linear.relevance_, kernels.relevance_)
    assert linear.log_evidence_ == kernels.log_evidence_


def test_kernel_parameters_are_none_of_theirs(pair):
    linear, kernels, _ = pair
    without = set(kernels.get_params(deep=False)) - set(linear.get_params())
    of_kernels = {"kernel", "gamma", "degree", "coef0", "centers", "augment", "random_state"}
    assert without - {"approximation"} == of_kernels
    apart = ("tol", "n_starts", "multi_class", "groups")  # defaults of their own
    shared = {k: v for k, v in linear.get_params().items() if k not in apart}
    assert shared.items() <= kernels.get_params(deep=False).items()


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_coef_has_a_zero_for_every_column_that_is_out(pair):
    linear, _, target = pair
    X, y = inputs.two_of_six_columns()
    linear.fit(X, target(y))
    assert linear.coef_.shape[-1] == 6
    out = np.setdiff1d(np.arange(6), linear.relevance_)
    assert len(out)
    assert not linear.coef_[..., out].any()
    assert_array_equal(linear.coef_[..., linear.relevance_], linear.dual_coef_)
    latent = X @ linear.coef_.T + linear.intercept_
    if hasattr(linear, "predict_latent"):
        assert_allclose(linear.predict_latent(X), latent, rtol=1e-10)
    elif linear.multi_class == "multinomial":
        decision = at_the_mode(linear).decision_function(X)
        assert_allclose(decision, np.squeeze(latent), rtol=1e-8, atol=1e-8)


def test_names_are_those_of_the_columns():
    X, y = inputs.two_of_six_columns()
    table = pd.DataFrame(X, columns=[*"abcdef"])
    model = SparseBayesianRegressor().fit(table, y)
    assert model.basis_.names(model.feature_names_in_) == ["a", "e"]


@pytest.mark.parametrize(
    ("make", "kept"),
    [
        (inputs.two_strong_columns, [0, 3]),
        (inputs.one_column_is_the_target, [1]),
        (inputs.one_constant_column, [1]),
        (inputs.centred_columns, [0]),
        (inputs.two_of_six_columns, [0, 4]),
        (inputs.offset_plane, [0, 2]),
        (inputs.mostly_zero, [0, 1]),
        (inputs.eight_thousand_rows, [0]),
        (inputs.more_columns_than_rows, [3, 77]),
        (inputs.wide_float32, [0, 1, 2, 3, 4]),
    ],
)
@pytest.mark.filterwarnings("ignore::relvec.exceptions.NoiseFloorWarning")
def test_the_columns_that_matter_are_kept_and_no_others(make, kept):
    X, y = make()
    model = SparseBayesianRegressor().fit(X, y)
    assert_array_equal(model.relevance_, kept)


def test_units_of_the_columns_change_their_weights_only():
    X, y = inputs.two_of_six_columns()
    units = np.array([1e-4, 1.0, 1e3, 1.0, 1e5, 1e-2])
    plain, scaled = (SparseBayesianRegressor().fit(rows, y) for rows in (X, X * units))
    assert_array_equal(scaled.relevance_, plain.relevance_)
    assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-8)


def test_classes_are_told_apart_by_the_columns_that_matter(rng):
    X = rng.standard_normal((300, 40))
    y = (X[:, 3] - 2 * X[:, 17] + 0.5 * rng.standard_normal(300) > 0).astype(int)
    model = SparseBayesianClassifier().fit(X, y)
    assert_array_equal(model.relevance_, [3, 17])
    assert model.coef_[0, 3] > 0 > model.coef_[0, 17]


@pytest.mark.parametrize(("n_samples", "n_columns"), [(300, 1200), (900, 2500)])
def test_few_of_very_many_columns_are_found(n_samples, n_columns, rng):
    """More columns than rows: chance alone offers hundreds that fit the noise."""
    X, weights = rng.standard_normal((n_samples, n_columns)), np.zeros(n_columns)
    weights[rng.choice(n_columns, 6, replace=False)] = [2.0, -1.5, 1.0, -0.7, 0.5, 3.0]
    y = X @ weights + 0.5 * rng.standard_normal(n_samples)
    model = SparseBayesianRegressor().fit(X, y)
    matter = set(np.flatnonzero(weights))
    assert matter <= set(model.relevance_)
    assert len(model.relevance_) <= len(matter) + 1
    assert_allclose(model.coef_[list(matter)], weights[list(matter)], atol=0.1)
    assert np.sqrt(model.noise_variance_) == pytest.approx(0.5, abs=0.05)


# What a column must be worth


def independent(X, center=True, weights=None):
    return independent_groups(DenseDesign(X.copy(), center=center, weights=weights))


def test_orthogonal_columns_are_all_independent():
    """Also one that is constant counts where it is a function."""
    X = np.linalg.qr(np.vander(np.linspace(-1, 1, 12), 5, increasing=True))[0]
    assert independent(X, center=False) == pytest.approx(5)
    assert independent(X, center=True) == pytest.approx(4)


def test_copies_of_a_column_are_one(rng):
    x = rng.standard_normal((20, 1))
    assert independent(x * [1.0, -3.0, 1e6, 1e-6]) == pytest.approx(1)
    assert independent(x) == 1


def test_noise_counts_in_full_whether_or_not_there_are_more_columns_than_rows(rng):
    for shape in [(2000, 60), (60, 2000)]:
        assert independent(rng.standard_normal(shape)) == pytest.approx(shape[1], rel=0.1)


def test_groups_of_copies_count_as_their_mean_square_correlation_says(rng):
    """Three orthogonal directions with 4, 2 and 1 columns: 21 squares of one among 49."""
    Q = np.linalg.qr(rng.standard_normal((50, 3)))[0]
    X = Q[:, [0, 0, 0, 0, 1, 1, 2]]
    off_diagonal = (21 - 7) / 42
    expected = 7 / (1 + 6 * (off_diagonal - 1 / 50) / (1 - 1 / 50))
    assert independent(X, center=False) == pytest.approx(expected)


def test_copies_of_rows_count_as_rows(rng):
    X, copies = rng.standard_normal((9, 4)), np.array([1.0, 2, 3] * 3)
    repeated = independent(np.repeat(X, copies.astype(int), axis=0))
    assert independent(X, weights=copies) == pytest.approx(repeated)


def test_default_tol_is_the_logarithm_of_their_number_for_rows_that_are_there():
    X, y = inputs.two_of_six_columns()
    weights = np.repeat([1.0, 0.0], [60, 20])
    far = np.where(weights[:, None] > 0, X, 1e6)
    default = SparseBayesianRegressor().fit(far, y, sample_weight=weights)
    nats = float(np.log(independent(X[:60])))
    assert nats > 1
    given = SparseBayesianRegressor(tol=nats, n_starts=2).fit(X[:60], y[:60])
    assert default.log_evidence_ == pytest.approx(given.log_evidence_, rel=1e-12)


def test_tol_is_checked():
    X, y = inputs.two_of_six_columns()
    with pytest.raises(ValueError, match="tol=-1"):
        SparseBayesianRegressor(tol=-1).fit(X, y)
