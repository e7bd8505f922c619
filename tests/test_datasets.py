"""Generators give the paper's distributions."""

import numpy as np
import pytest

from relvec.datasets import (
    RIPLEY_CENTRES,
    make_friedman,
    make_overlapping_uniforms,
    make_ripley,
    make_sinc,
    sinc,
)


def test_sinc_is_one_at_zero_and_even():
    x = np.linspace(0, 10, 7)
    assert sinc(0.0) == 1
    np.testing.assert_allclose(sinc(x[1:]), np.sin(x[1:]) / x[1:], atol=1e-15)
    np.testing.assert_array_equal(sinc(-x), sinc(x))


@pytest.mark.parametrize(("noise", "sd"), [("gaussian", 0.1), ("uniform", 0.1 / np.sqrt(3))])
def test_sinc_noise_has_the_stated_distribution(noise, sd):
    X, y = make_sinc(20_000, noise=noise, random_state=0)
    residual = y - sinc(X.ravel())
    assert residual.std() == pytest.approx(sd, rel=0.02)
    assert (np.abs(residual).max() <= 0.1) == (noise == "uniform")


def test_sinc_inputs_are_a_grid_or_a_draw():
    grid, _ = make_sinc(11)
    drawn, _ = make_sinc(500, grid=False, random_state=0)
    np.testing.assert_allclose(grid.ravel(), np.linspace(-10, 10, 11))
    assert len(np.unique(np.diff(np.sort(drawn.ravel())).round(9))) > 400
    assert np.abs(drawn).max() <= 10


def test_sinc_refuses_an_unknown_noise():
    with pytest.raises(ValueError, match="noise must be 'gaussian' or 'uniform', got 'cauchy'"):
        make_sinc(noise="cauchy")


def test_ripley_s_classes_overlap_as_their_densities_do():
    """Errors of the likelier class on a draw, and the integral of the less likely density."""

    def densities(X):
        square = ((X[:, None, None] - RIPLEY_CENTRES) ** 2).sum(axis=-1)
        return np.exp(-square / (2 * 0.03)).sum(axis=-1) / (4 * 2 * np.pi * 0.03)

    axis, step = np.linspace(-2, 2, 401, retstep=True)
    plane = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    least = densities(plane).min(axis=1).sum() * step**2
    assert least == pytest.approx(0.089, abs=0.0005)
    X, y = make_ripley(40_000, random_state=0)
    assert (densities(X).argmax(axis=1) != y).mean() == pytest.approx(least, abs=0.005)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_friedman_noise_is_the_paper_s(number):
    X, y = make_friedman(number, 20_000, random_state=3)
    same_X, truth = make_friedman(number, 20_000, noise=False, random_state=3)
    np.testing.assert_array_equal(X, same_X)
    expected = 1.0 if number == 1 else truth.std() / 3
    assert (y - truth).std() == pytest.approx(expected, rel=0.02)


def test_friedman_functions_are_equations_62_to_64():
    X, y = make_friedman(1, 5, noise=False, random_state=0)
    expected = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    np.testing.assert_allclose(y, expected + 10 * X[:, 3] + 5 * X[:, 4])
    X, y = make_friedman(2, 5, noise=False, random_state=0)
    inner = X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])
    np.testing.assert_allclose(y, np.hypot(X[:, 0], inner))
    X, y = make_friedman(3, 5, noise=False, random_state=0)
    inner = X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])
    np.testing.assert_allclose(y, np.arctan(inner / X[:, 0]))


def test_friedman_refuses_an_unknown_number():
    with pytest.raises(ValueError, match="number must be 1, 2 or 3, got 4"):
        make_friedman(4)


def test_overlapping_uniforms_are_appendix_d_2():
    X, y = make_overlapping_uniforms(40_000, random_state=0)
    x = X.ravel()
    assert np.mean(y == 1) == pytest.approx(0.5, abs=0.01)
    for label, low in ((1, 0.0), (-1, 0.5)):
        share = np.histogram(x[y == label], bins=10, range=(low, low + 1))[0] / np.sum(y == label)
        np.testing.assert_allclose(share, 0.1, atol=0.01)
    # The best rule errs on half of the rows in the overlap, which are half of all rows.
    overlap = (x >= 0.5) & (x <= 1)
    assert np.mean(overlap) == pytest.approx(0.5, abs=0.01)
    assert np.mean(y[overlap] == 1) == pytest.approx(0.5, abs=0.01)
