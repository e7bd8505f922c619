"""A model that keeps no function is legal: the mean of the target, a finite std, and a warning."""

import numpy as np
import pytest

from relvec import RVR
from relvec.exceptions import EmptyModelWarning
from tests.support import inputs


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_two_rows_give_a_finite_model(kernel):
    X, y = inputs.two_rows()
    model = RVR(kernel=kernel).fit(X, y)
    mean, std = model.predict(np.ones((5, 2)), return_std=True)
    assert mean.shape == std.shape == (5,)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    if len(model.relevance_) == 0:
        np.testing.assert_allclose(mean, y.mean(), rtol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "linear_spline", "linear"])
def test_target_that_no_function_can_follow_keeps_nothing(kernel, fit_intercept):
    """The target changes sign faster than any of these smooth functions can follow."""
    x = np.linspace(-1.0, 1.0, 40)
    y = np.tile([1.0, -1.0, -1.0, 1.0], 10)
    with pytest.warns(EmptyModelWarning):
        model = RVR(kernel=kernel, gamma=0.01, fit_intercept=fit_intercept).fit(x[:, None], y)
    mean, std = model.predict(x[:7, None], return_std=True)
    np.testing.assert_allclose(mean, 0.0, atol=1e-12)
    variance = np.mean(y**2) * (1 + fit_intercept / 40) * 40 / (40 - fit_intercept)
    np.testing.assert_allclose(std, np.sqrt(variance), rtol=1e-6)
    for attribute, shape in [
        (model.relevance_, (0,)),
        (model.relevance_rows_, (0,)),
        (model.dual_coef_, (0,)),
        (model.weight_precision_, (0,)),
        (model.well_determined_, (0,)),
        (model.weight_covariance_, (0, 0)),
    ]:
        assert np.shape(attribute) == shape
    assert model.sample_y(x[:3, None], 2).shape == (3, 2)


@pytest.mark.parametrize("seed", range(10))
def test_warns_exactly_when_nothing_is_kept(seed, recwarn):
    draw = np.random.RandomState(seed)
    X, y = draw.standard_normal((30, 2)), draw.standard_normal(30)
    model = RVR(gamma=0.05).fit(X, y)
    warned = any(issubclass(w.category, EmptyModelWarning) for w in recwarn)
    assert warned == (len(model.relevance_) == 0)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("order", range(8))
def test_a_strong_signal_survives_any_order_of_columns(order, scale):
    X, y = inputs.two_strong_columns()
    columns = np.random.RandomState(order).permutation(5)
    model = RVR(kernel="linear").fit(X[:, columns], scale * y)
    assert model.score(X[:, columns], scale * y) > 0.99
    strongest = columns[np.argsort(-np.abs(model.coef_))[:2]]
    assert set(strongest) == {0, 3}
