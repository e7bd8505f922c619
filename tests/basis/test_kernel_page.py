"""The kernel with parameters of its own, as it stands on the page that shows how to write one."""

from pathlib import Path

import numpy as np
import pytest

from relvec import RVR
from relvec._fitting.scale_ascent import may_vanish, theta_of, with_theta
from relvec.basis import RBF, Columns, Concatenate, Product, Sum
from tests.support.pages import python_blocks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extend" / "kernel.md"


@pytest.fixture(scope="module")
def periodic():
    """The class, from all the code of the page."""
    names = {}
    for code, _ in python_blocks(PAGE):
        exec(compile(code, "docs/extend/kernel.md", "exec"), names)
    return names["Periodic"]


@pytest.mark.parametrize(
    "joined",
    [
        lambda kernel: kernel,
        lambda kernel: Concatenate([Columns(), kernel, RBF("ard")]),
        lambda kernel: Sum([RBF("evidence"), kernel]),
        lambda kernel: Product([kernel, RBF("ard"), kernel]),
    ],
    ids=["alone", "beside", "sum", "product"],
)
def test_gradients_are_difference_quotients(joined, periodic, rng):
    X, rows = rng.uniform(0, 5, (7, 2)), rng.uniform(0, 5, (6, 2))
    basis = joined(periodic(period=2.3, gamma=0.4)).fit(X)
    D, theta = rng.standard_normal((6, len(basis.rows_))), theta_of(basis)

    def total(theta):
        return np.vdot(D, with_theta(basis, theta).evaluate(rows))

    gradient = basis.hyper_gradient(rows, D)
    found = [np.atleast_1d(gradient[name]) for name in basis.hyper]
    expected = [(total(theta + h) - total(theta - h)) / 2e-5 for h in 1e-5 * np.eye(len(theta))]
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-7, atol=1e-8)
    numbers = [np.ndim(value) == 0 for value in basis.hyper.values()]
    assert not may_vanish(basis)[np.repeat(numbers, [len(each) for each in found])].any()


def series(rng, period=27.3):
    day = np.sort(rng.uniform(0, 200, 120))[:, None]
    return day, np.exp(np.sin(2 * np.pi * day[:, 0] / period)) + 0.1 * rng.standard_normal(120)


@pytest.mark.parametrize("start", [25.0, 29.0])
def test_the_period_of_a_series_is_recovered(start, periodic, rng):
    """To far within the error of the first guess, and prediction goes on where rows end."""
    day, y = series(rng)
    model = RVR(kernel=periodic(period=start)).fit(day, y)
    assert model.basis_.period_ == pytest.approx(27.3, abs=0.1)
    later = np.linspace(200, 300, 50)[:, None]
    truth = np.exp(np.sin(2 * np.pi * later[:, 0] / 27.3))
    assert np.abs(model.predict(later) - truth).max() < 0.2


def test_the_period_is_learnt_beside_other_kernels(periodic, rng):
    day, y = series(rng)
    model = RVR(kernel=[Columns(), periodic(period=26.0)]).fit(day, y + 0.02 * day[:, 0])
    assert model.basis_.hyper["1:period"] == pytest.approx(27.3, abs=0.1)
    assert model.dual_coef_[model.basis_.names().index("x0")] == pytest.approx(0.02, abs=0.002)
