"""Units, origins and types of the inputs."""

import numpy as np
import pytest

from relvec import RVR
from relvec.basis import RBF, Columns
from relvec.exceptions import RelvecWarning
from tests.support import inputs
from tests.support.covering import covering
from tests.support.machines import MACHINES, answers

pytestmark = pytest.mark.filterwarnings("ignore::relvec.exceptions.NoiseFloorWarning")


@pytest.mark.parametrize(
    ("machine", "origin", "kernel"),
    covering(MACHINES, [1e6, 1e9, -1e9], ["rbf", "laplacian"]),
    indirect=["machine"],
)
def test_origin_of_the_inputs_does_not_matter(origin, kernel, machine):
    X, y = inputs.time_stamps(origin)
    y = machine.target(y)
    far = machine.make(kernel=kernel, gamma=0.5).fit(X, y)
    near = machine.make(kernel=kernel, gamma=0.5).fit(X - origin, y)
    np.testing.assert_allclose(answers(far, X), answers(near, X - origin), atol=1e-6)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")  # the class between
def test_units_of_the_columns_do_not_matter(machine):
    X, y = inputs.two_of_six_columns()
    y, units = machine.target(y), np.array([1e-4, 1.0, 1e3, 1.0, 1e5, 1e-2])
    plain = machine.make(kernel=Columns()).fit(X, y)
    scaled = machine.make(kernel=Columns()).fit(X * units, y)
    assert set(plain.relevance_) == set(scaled.relevance_) >= {0, 4}
    np.testing.assert_allclose(answers(scaled, X * units), answers(plain, X), atol=1e-6)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")  # the class between
@pytest.mark.parametrize(
    ("machine", "factor", "kernel"),
    covering(MACHINES, [1e-6, 10.0, 1e6], ["rbf", "poly"]),
    indirect=["machine"],
)
def test_gamma_scale_cancels_the_unit_of_the_inputs(kernel, factor, machine):
    X, y = inputs.sine_of_one_column()
    y = machine.target(y)
    plain = machine.make(kernel=kernel).fit(X, y)
    scaled = machine.make(kernel=kernel).fit(factor * X, y)
    assert plain.gamma_ == pytest.approx(1 / (3 * X.var()))
    np.testing.assert_allclose(answers(scaled, factor * X), answers(plain, X), atol=1e-6)


def test_gamma_auto_is_one_over_the_number_of_columns():
    X, y = inputs.sine_of_one_column()
    assert RVR(gamma="auto").fit(X, y).gamma_ == pytest.approx(1 / 3)


def test_one_gamma_per_column_is_a_change_of_units():
    X, y = inputs.sine_of_one_column()
    gamma = np.array([0.5, 0.1, 0.02])
    each = RVR(gamma=gamma).fit(X, y)
    one = RVR(gamma=1.0).fit(X * np.sqrt(gamma), y)
    np.testing.assert_array_equal(each.gamma_, gamma)
    np.testing.assert_allclose(each.predict(X), one.predict(X * np.sqrt(gamma)), atol=1e-6)


def test_gamma_multiplies_the_squared_distance():
    X = np.array([[0.0], [1.0], [2.0]])
    near, far = np.exp(-0.5), np.exp(-2.0)
    K = RBF(gamma=0.5).fit(X).transform(X)
    np.testing.assert_allclose(K, [[1, near, far], [near, 1, near], [far, near, 1]], rtol=1e-14)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")  # a product of ten
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly", "linear_spline"])
def test_small_integers_are_taken_as_floats(kernel, machine):
    X, y = inputs.uint16_pixels()
    y = machine.target(y)
    integers = machine.make(kernel=kernel).fit(X, y)
    floats = machine.make(kernel=kernel).fit(X.astype(float), y)
    np.testing.assert_allclose(answers(integers, X), answers(floats, X.astype(float)), rtol=1e-12)


@pytest.mark.parametrize("gamma", [1e4, 1e6, 1e12])
def test_kernel_far_too_narrow_is_reported_and_keeps_an_honest_std(gamma, recwarn):
    """The kernel matrix is the identity, so nothing is known between the points."""
    X, y = inputs.noisy_sinc(n := 30, seed=34)
    model = RVR(gamma=gamma).fit(X, y)
    warned = any(issubclass(w.category, RelvecWarning) for w in recwarn)
    assert warned or len(model.relevance_) >= 0.8 * n
    between = (X[1:] + X[:-1]) / 2
    mean, std = model.predict(between, return_std=True)
    np.testing.assert_allclose(mean, model.intercept_, rtol=1e-12)
    assert (std > 0.01).all(), "a tenth of the true noise"
