"""Targets with no variance, no noise, or no number in them."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from relvec import RVR
from relvec.basis import Columns
from relvec.exceptions import EmptyModelWarning, NoiseFloorWarning
from tests.support import inputs

#: The noise variance is at least this fraction of the variance of the target.
NOISE_FLOOR = 1e-6


@pytest.mark.filterwarnings("ignore::relvec.exceptions.NoiseFloorWarning")
@pytest.mark.parametrize("value", [0.0, 7.0, -3e9, 2e-12])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_constant_target_is_predicted_exactly(kernel, value):
    X, y = inputs.constant_target(value)
    with pytest.warns(EmptyModelWarning):
        model = RVR(kernel=kernel).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, value, rtol=1e-14)
    assert np.isfinite(std).all()
    assert (std >= 0).all()


@pytest.mark.filterwarnings("ignore::relvec.exceptions.NoiseFloorWarning")
def test_zero_target_without_intercept_is_predicted_exactly():
    X, y = inputs.constant_target(0.0)
    with pytest.warns(EmptyModelWarning):
        mean, std = RVR(fit_intercept=False).fit(X, y).predict(X, return_std=True)
    np.testing.assert_array_equal(mean, 0.0)
    assert np.isfinite(std).all()


@pytest.mark.filterwarnings("ignore::relvec.exceptions.NoiseFloorWarning")
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("kernel", ["rbf", "linear_spline"])
@pytest.mark.parametrize("n", [30, 60, 120])
def test_noise_free_target_keeps_a_relative_noise_floor(n, kernel, scale):
    X, y = inputs.noisy_sinc(n, noise=0.0)
    model = RVR(kernel=kernel).fit(X, scale * y)
    assert model.score(X, scale * y) > 0.999
    assert model.noise_variance_ >= NOISE_FLOOR * np.var(scale * y) * (1 - 1e-9)
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()


def test_noise_at_its_floor_warns():
    X, y = inputs.noisy_sinc(60, noise=0.0)
    with pytest.warns(NoiseFloorWarning):
        model = RVR(gamma=0.1).fit(X, y)
    np.testing.assert_allclose(model.noise_variance_, NOISE_FLOOR * np.var(y), rtol=0.1)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.NoiseFloorWarning")
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_target_equal_to_one_column(fit_intercept):
    X, y = inputs.one_column_is_the_target()
    model = RVR(kernel=Columns(), fit_intercept=fit_intercept).fit(X, y)
    coef = np.zeros(3)
    coef[model.relevance_] = model.dual_coef_
    np.testing.assert_allclose(coef, [0.0, 1.0, 0.0], atol=1e-6)
    assert np.isfinite(model.noise_variance_)


@pytest.mark.parametrize("dtype", [bool, int, np.float32, object])
def test_type_of_the_target_does_not_matter(dtype):
    X, y = inputs.noisy_sinc(40, seed=9)
    y = (y > 0.2).astype(dtype)
    typed, plain = RVR().fit(X, y), RVR().fit(X, y.astype(float))
    np.testing.assert_array_equal(typed.predict(X), plain.predict(X))


@pytest.mark.parametrize("height", [1e3, 1e9])
def test_one_enormous_target_leaves_finite_numbers(height):
    X, y = inputs.noisy_sinc(40, seed=9)
    y[11] = height
    model = RVR().fit(X, y)
    assert np.isfinite(model.predict(X, return_std=True)).all()
    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_, rel=1e-8)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_target_that_is_not_finite_is_refused(bad):
    X, y = inputs.noisy_sinc(20)
    y[3] = bad
    with pytest.raises(ValueError, match=r"(?s)\by\b.*(NaN|infinity)"):
        RVR().fit(X, y)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
@pytest.mark.parametrize("solver", ["sequential", "fixed_point", "em", "variational"])
@pytest.mark.parametrize("max_iter", [2, 30])
def test_target_of_zeros_leaves_every_solver_in_range(solver, max_iter):
    X, _ = inputs.constant_target(0.0)
    model = RVR(solver=solver, max_iter=max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, np.zeros(20))
    mean, std = model.predict(X, return_std=True)
    assert not mean.any()
    assert (std < 1e-90).all()
    assert np.isfinite(model.weight_precision_).all()
