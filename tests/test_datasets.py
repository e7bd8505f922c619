"""Generators give the paper's distributions; readers find their folder or say where they looked."""

import numpy as np
import pytest

from relvec.datasets import find_staged, load_staged, make_friedman, make_sinc, sinc


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


def test_reader_takes_the_configured_folder_first(tmp_path, monkeypatch):
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "data.csv").write_text("a,b,target\n1,2,3\n4,5,6.5\n")
    monkeypatch.setenv("RELVEC_DATA", str(tmp_path))
    table = load_staged("toy")
    np.testing.assert_array_equal(table.X, [[1, 2], [4, 5]])
    np.testing.assert_array_equal(table.y, [3, 6.5])
    assert table.feature_names == ("a", "b")


def test_reader_finds_a_folder_beside_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "shared" / "data" / "toy").mkdir(parents=True)
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    monkeypatch.delenv("RELVEC_DATA", raising=False)
    monkeypatch.chdir(checkout)
    assert find_staged("toy") == tmp_path / "shared" / "data" / "toy"


def test_reader_says_what_is_missing_and_where_it_looked(tmp_path, monkeypatch):
    monkeypatch.setenv("RELVEC_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(FileNotFoundError, match=r"'no_such_set' not found in .*elsewhere"):
        find_staged("no_such_set")


def test_boston_housing_has_the_paper_s_shape(staged):
    table = staged(load_staged, "boston_housing")
    assert table.X.shape == (506, 13)
    assert len(table.feature_names) == 13
    assert np.isfinite(table.X).all()
