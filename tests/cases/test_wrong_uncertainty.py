"""Error bars that are wrong without any error being raised."""

import numpy as np
import pytest

from relvec import RVR
from relvec.basis import RBF, Bias, Columns, Concatenate, Laplacian
from tests.support import inputs
from tests.support.covering import covering
from tests.support.machines import MACHINES, answers


@pytest.mark.parametrize(
    ("kernel", "slope"),
    [("rbf", 0.0), ("laplacian", 0.0), ("linear_spline", 0.0), ("poly", 0.1), ("linear", 0.1)],
)
def test_prediction_of_a_row_does_not_depend_on_its_batch(kernel, slope, machine):
    X, y = inputs.noisy_sinc(40, seed=13, slope=slope)
    model = machine.make(kernel=kernel).fit(X, machine.target(y))
    query = np.linspace(-10.0, 10.0, 11)[:, None]
    together, backwards = answers(model, query), answers(model, query[::-1])
    alone = np.vstack([answers(model, row[None]) for row in query])
    np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(backwards[::-1], together, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e3, 1e8])
@pytest.mark.parametrize("kernel", ["rbf", "linear_spline", "laplacian"])
def test_units_of_the_target_only_scale_the_answer(kernel, scale):
    X, y = inputs.noisy_sinc(40, seed=15)
    query = np.linspace(-9.0, 9.0, 13)[:, None]
    plain, scaled = RVR(kernel=kernel).fit(X, y), RVR(kernel=kernel).fit(X, scale * y)
    assert set(scaled.relevance_) == set(plain.relevance_)
    mean, std = plain.predict(query, return_std=True)
    scaled_mean, scaled_std = scaled.predict(query, return_std=True)
    np.testing.assert_allclose(scaled_mean, scale * mean, rtol=1e-4, atol=1e-4 * scale * 0.1)
    np.testing.assert_allclose(scaled_std, scale * std, rtol=1e-4)
    np.testing.assert_allclose(
        scaled.log_evidence_, plain.log_evidence_ - 39 * np.log(scale), atol=1e-3
    )


@pytest.mark.parametrize("offset", [-1e6, 1e3, 1e6])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_constant_added_to_the_target_only_moves_the_mean(kernel, offset):
    X, y = inputs.noisy_sinc(40, seed=15, slope=0.1)
    plain, moved = RVR(kernel=kernel).fit(X, y), RVR(kernel=kernel).fit(X, y + offset)
    mean, std = plain.predict(X, return_std=True)
    moved_mean, moved_std = moved.predict(X, return_std=True)
    np.testing.assert_allclose(moved_mean - offset, mean, atol=1e-7)
    np.testing.assert_allclose(moved_std, std, rtol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kernel", [RBF(), Laplacian(), Concatenate([Bias(), RBF()])])
def test_std_is_never_below_the_noise(kernel, fit_intercept):
    X, y = inputs.noisy_sinc(50, half_width=4.0, seed=17)
    model = RVR(kernel=kernel, fit_intercept=fit_intercept).fit(X, y)
    query = np.array([0.0, 2.0, 4.0, 6.0, 20.0, 1e6])[:, None]
    noise = np.sqrt(model.noise_variance_)
    std = model.predict(query, return_std=True)[1]
    assert (std >= noise).all()
    far = np.sqrt(model.noise_variance_ + model.predict_latent(query, return_std=True)[1] ** 2)
    np.testing.assert_allclose(std, far, rtol=1e-12)


@pytest.mark.parametrize("seed", range(18, 22))
@pytest.mark.parametrize("degree", [2, 3, 5, 7])
@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_variance_of_a_steep_polynomial_is_never_negative(degree, seed):
    """Far outside the data the variance is a small difference of huge numbers, if so computed."""
    X, y = inputs.noisy_sinc(40, seed=seed, slope=0.2)
    model = RVR(kernel="poly", degree=degree, coef0=1.0).fit(X, y)
    query = np.array([-1e4, -20.0, 0.0, 8.0, 1e4])[:, None]
    std = model.predict(query, return_std=True)[1]
    assert (std >= np.sqrt(model.noise_variance_)).all()
    assert (model.predict_latent(query, return_std=True)[1] >= 0).all()
    covariance = model.predict(query / 1e3, return_cov=True)[1]
    assert np.linalg.eigvalsh(covariance).min() >= 0


def test_replicates_give_both_places_the_spread_of_their_targets():
    X, y = inputs.replicates()
    mean, std = RVR().fit(X, y).predict([[20.0], [140.0]], return_std=True)
    np.testing.assert_allclose(mean, [700.0, 1250.0], atol=40.0)
    np.testing.assert_allclose(std[0], std[1], rtol=1e-6)
    assert 12.0 < std[0] < 45.0


@pytest.mark.parametrize("kernel", ["linear", Columns()])
def test_std_is_smallest_where_the_data_are(kernel):
    X, y = inputs.steep_line_far_from_zero()
    at = RVR(kernel=kernel).fit(X, y).predict([[90.0], [80.0], [100.0], [0.0]], return_std=True)[1]
    assert at[0] < at[1]
    assert at[2] < at[3]
    np.testing.assert_allclose(at[1], at[2], rtol=1e-6)


@pytest.mark.parametrize("n", [9, 25, 101])
@pytest.mark.parametrize("kernel", ["linear", Columns()])
def test_intercept_has_its_share_of_the_variance(kernel, n):
    """At the centroid a flat-prior intercept adds noise / n to the variance of the mean."""
    X, y = inputs.zigzag_line(n)
    model = RVR(kernel=kernel).fit(X, y)
    std = model.predict([[0.0]], return_std=True)[1]
    np.testing.assert_allclose(std**2 / model.noise_variance_, 1 + 1 / n, rtol=1e-6)


@pytest.mark.parametrize(
    ("machine", "kernel", "weights", "fit_intercept"),
    covering(
        MACHINES,
        ["rbf", "laplacian", Columns()],
        [np.arange(80) % 4, np.full(80, 20)],
        [True, False],
    ),
    indirect=["machine"],
)
def test_weight_k_is_k_copies_and_zero_is_absence(kernel, weights, fit_intercept, machine):
    X, y = inputs.two_of_six_columns()
    y, copies = machine.target(y), np.repeat(np.arange(80), weights)
    fixed = machine.make(kernel=kernel, fit_intercept=fit_intercept, centers=X[::8], tol=1e-9)
    weighted = fixed.fit(X, y, sample_weight=weights)
    expected, evidence = answers(weighted, X), weighted.log_evidence_
    assert weighted.log_evidence(X[copies], y[copies]) == pytest.approx(evidence, rel=1e-9)
    copied = fixed.fit(X[copies], y[copies])
    assert copied.log_evidence_ == pytest.approx(evidence, abs=1e-7)
    np.testing.assert_allclose(answers(copied, X), expected, rtol=1e-4, atol=1e-4)


def test_repeated_rows_are_weights_where_every_row_carries_a_function(machine):
    X, y = inputs.two_of_six_columns()
    y, weights = machine.target(y), np.arange(80) % 3
    copies = np.repeat(np.arange(80), weights)
    weighted = machine.make().fit(X, y, sample_weight=weights)
    copied = machine.make().fit(X[copies], y[copies])
    assert copied.gamma_ == pytest.approx(weighted.gamma_, rel=1e-12)
    assert set(copies[copied.relevance_rows_]) == set(weighted.relevance_rows_)
    np.testing.assert_allclose(answers(copied, X), answers(weighted, X), rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
@pytest.mark.parametrize("seed", range(3))
def test_weights_may_differ_by_twelve_orders_of_magnitude(seed, machine):
    """A fit is found wherever the last digit of the likelihood is, which is far from small here."""
    draw = np.random.RandomState(seed)
    X = draw.standard_normal((30, 2))
    y = machine.target(np.sin(2 * X[:, 0]) + X[:, 1] + draw.standard_normal(30))
    weights = 10.0 ** draw.uniform(-5, 7, 30)
    model = machine.make().fit(X, y, sample_weight=weights)
    assert np.isfinite(answers(model, X[weights > 1e3])).all()
    assert np.isfinite(model.log_evidence_)


def test_rows_of_weight_zero_carry_no_functions(machine):
    X, y = inputs.noisy_sinc(54, seed=21)
    y, kept = machine.target(y), np.tile(inputs.INTEGER_WEIGHTS, 3) > 0
    far_away = np.where(kept[:, None], X, 1e6)
    weighted = machine.make().fit(far_away, y, sample_weight=kept.astype(float))
    fewer = machine.make().fit(X[kept], y[kept])
    assert weighted.gamma_ == pytest.approx(fewer.gamma_, rel=1e-12)
    assert weighted.log_evidence_ == pytest.approx(fewer.log_evidence_, abs=1e-8)
    np.testing.assert_allclose(answers(weighted, X), answers(fewer, X), atol=1e-8)
    assert kept[weighted.relevance_rows_].all()
