"""Fits that miss the function are told from good ones, and the noise is not blamed for it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1, make_moons
from sklearn.preprocessing import StandardScaler

from relvec import RVC, RVR, SparseBayesianRegressor
from relvec._fitting import residuals
from relvec._fitting.residuals import Neighbours, left_out
from relvec.datasets import make_sinc
from relvec.exceptions import UnderfitWarning
from relvec.solvers import Sequential

pytestmark = pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")

#: Findings that say that the noise is not what it was taken for.
ON_NOISE = {"heteroscedastic", "outliers", "non_gaussian"}


def sine(low, high, n, noise, periods=None, *, even=True):
    """Return rows, targets, and a width of the kernel that suits them."""

    def draw(seed):
        rng = np.random.RandomState(seed)
        x = np.linspace(low, high, n) if even else np.sort(rng.uniform(low, high, n))
        w = 1.0 if periods is None else 2 * np.pi * periods / (high - low)
        return x[:, None], np.sin(w * x) + noise * rng.standard_normal(n), 0.3 * w**2

    return draw


SINES = {
    "0 to 20": sine(0, 20, 100, 0.1),
    "0 to 30": sine(0, 30, 200, 0.1),
    "three periods": sine(-1, 1, 100, 0.05, 3),
    "six periods": sine(-1, 1, 200, 0.05, 6, even=False),
    "two periods": sine(-1, 1, 60, 0.05, 2, even=False),
}
UNDERFITS = {
    "wide": lambda gamma: RVR(gamma=1e-3 * gamma),
    "narrow": lambda gamma: RVR(gamma=1e4 * gamma),
    "stopped": lambda gamma: RVR(gamma=gamma, solver=Sequential(n_starts=1, tol=3000.0)),
}


@pytest.mark.parametrize("data", SINES)
@pytest.mark.parametrize("fault", UNDERFITS)
def test_bad_fits_are_laid_to_the_width_or_the_starts(data, fault):
    X, y, gamma = SINES[data](0)
    diagnosis = UNDERFITS[fault](gamma).fit(X, y).diagnose(X, y)
    assert {"underfit", "kernel_narrow"}.intersection(diagnosis.codes)
    assert "gamma" in str(diagnosis)
    assert not ON_NOISE.intersection(diagnosis.codes)
    assert diagnosis.codes[0] == "underfit" or "kernel_narrow" in diagnosis.codes


def warned(model, X, y, weights=None):
    """Warnings of a fit whose function misses a part of the targets, in words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, weights)
    return [str(one.message) for one in caught if one.category is UnderfitWarning]


@pytest.mark.parametrize("data", SINES)
@pytest.mark.parametrize("fault", ["wide", "stopped"])
def test_the_fit_itself_warns(data, fault):
    X, y, gamma = SINES[data](0)
    model = UNDERFITS[fault](gamma)
    (text,) = warned(model, X, y)
    finding = model.diagnose(X, y)[0]
    assert text == f"{finding.fact}; see diagnose(X, y)"
    assert model.diagnose().codes[0] == "underfit"
    assert model.diagnose(X, y).codes.count("underfit") == 1


def test_good_fits_are_not_warned_of():
    assert sum(map(len, (warned(*case) for case in good_fits()))) <= 2


def test_of_a_fit_that_was_stopped_nothing_more_is_said():
    X, y, gamma = SINES["0 to 20"](0)
    assert warned(RVR(gamma=1e-3 * gamma), X, y)
    assert not warned(RVR(gamma=1e-3 * gamma, max_iter=1), X, y)


def test_the_worst_of_several_targets_is_told_of():
    X, y, gamma = SINES["0 to 20"](0)
    slow = np.cos(0.1 * X[:, 0]) + 0.1 * np.random.RandomState(1).standard_normal(len(X))
    model = RVR(gamma=1e-3 * gamma)
    (alone,) = warned(model, X, y)
    assert warned(model, X, np.column_stack([slow, y, slow])) == [alone]
    assert not warned(model, X, slow)


def test_rows_out_of_memory_are_looked_at_too():
    X, y, gamma = SINES["0 to 20"](0)
    model = RVR(gamma=1e-3 * gamma)
    da = pytest.importorskip("dask.array")
    assert warned(model, da.from_array(X, (30, 1)), da.from_array(y, 30)) == warned(model, X, y)


def test_of_many_rows_some_are_looked_at(monkeypatch):
    X, y, gamma = SINES["0 to 30"](0)
    monkeypatch.setattr(residuals, "MOST_ROWS", 120)
    assert warned(RVR(gamma=1e-3 * gamma), X, y)
    monkeypatch.setattr(residuals, "MOST_ROWS", 5)  # too few to tell
    assert not warned(RVR(gamma=1e-3 * gamma), X, y)


def test_copies_of_rows_count_in_the_residuals_as_they_do_in_the_fit():
    """Under weights of 3, a row is predicted with two copies of itself."""
    X, y, gamma = SINES["0 to 20"](0)
    model = RVR(gamma=1e-3 * gamma)
    copies = np.full(len(X), 3.0)
    (text,) = warned(model, X, y, copies)
    Phi = model.basis_.values(X)
    residual, variance = left_out(model.fit_result_, Phi, y[:, None], weights=copies)
    common, _ = Neighbours(X).common((residual / np.sqrt(variance))[:, 0])
    assert text.startswith(residuals.statement(common))


def good_fits():
    """Thirty models and data that suit them."""
    for seed in range(4):
        for data in SINES.values():
            X, y, gamma = data(seed)
            yield RVR(gamma=gamma), X, y
    for seed in range(3):
        X, y = make_friedman1(200, noise=1.0, random_state=seed)
        yield RVR(gamma=0.05), StandardScaler().fit_transform(X), y
        yield SparseBayesianRegressor(), X, X[:, 0] - X[:, 1] + y - y.mean()
        yield (RVR(), *make_sinc(100, noise_scale=0.1, grid=False, random_state=seed))
    yield (RVC(), *make_moons(200, noise=0.3, random_state=0))


def test_good_fits_have_nothing_to_report():
    found = [str(model.fit(X, y).diagnose(X, y)) for model, X, y in good_fits()]
    assert len(found) == 30
    assert found.count("nothing to report") >= 28


def test_classes_in_stripes_are_missed_by_a_wide_kernel():
    x = np.random.RandomState(0).uniform(-10, 10, (200, 1))
    stripes = np.where(np.sin(x[:, 0]) > 0, "up", "down")
    assert RVC(gamma=1e-3).fit(x, stripes).diagnose(x, stripes).codes[0] == "underfit"
    assert "underfit" not in RVC(gamma=1.0).fit(x, stripes).diagnose(x, stripes).codes


def test_each_of_several_classes_is_looked_at():
    x = np.random.RandomState(0).uniform(-10, 10, (300, 1))
    y = np.digitize(np.sin(x[:, 0]), [-0.5, 0.5])
    finding = RVC(gamma=1e-4).fit(x, y).diagnose(x, y)[0]
    assert finding.code == "underfit"
    assert finding.sentence.startswith("class ")


@pytest.mark.parametrize("seed", range(5))
def test_few_rows_tell_of_it_too(seed):
    X, y, gamma = sine(0, 20, 40, 0.1)(seed)
    assert RVR(gamma=1e-3 * gamma).fit(X, y).diagnose(X, y).codes[0] == "underfit"
    assert "underfit" not in RVR(gamma=gamma).fit(X, y).diagnose(X, y).codes


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), [(40, 1), (50, 5)])
def test_noise_is_taken_for_a_missed_function_less_than_once_in_a_thousand(n, d):
    """Of 400 draws, where three have a probability of 0.008 at that level."""
    rng, spoken = np.random.RandomState(0), 0
    for _ in range(400):
        X = rng.uniform(-1, 1, (n, d))
        y = X[:, 0] + rng.standard_normal(n)
        spoken += "underfit" in SparseBayesianRegressor().fit(X, y).diagnose(X, y).codes
    assert spoken <= 2


def test_columns_that_cannot_bend_are_told_of_without_a_kernel():
    X, y, _ = SINES["0 to 20"](0)
    (finding,) = SparseBayesianRegressor().fit(X, y).diagnose(X, y)
    assert finding.code == "underfit"
    assert "add columns to X" in finding.sentence
    assert "gamma" not in finding.sentence


@pytest.mark.parametrize("gamma", ["evidence", "ard"])
def test_a_learnt_width_is_not_to_be_set(gamma):
    X, y, _ = SINES["0 to 20"](0)
    model = RVR(gamma=gamma, solver=Sequential(tol=500.0)).fit(X, y)
    finding = model.diagnose(X, y)[0]
    assert finding.code == "underfit"
    assert [each.parameter for each in finding.advice] == ["n_starts", "kernel"]


def test_a_width_that_cannot_be_learnt_is_not_to_be():
    X, y, gamma = SINES["0 to 20"](0)
    model = RVR(gamma=1e-3 * gamma, likelihood="student_t").fit(X, y)
    finding = next(each for each in model.diagnose(X, y) if each.code == "underfit")
    assert "use another gamma, or raise n_starts" in finding.sentence


def test_new_rows_tell_of_it_too():
    X, y, gamma = SINES["0 to 30"](0)
    new, t, _ = SINES["0 to 30"](1)
    assert "underfit" in RVR(gamma=1e-3 * gamma).fit(X, y).diagnose(new + 0.01, t).codes


def test_the_error_bars_of_a_function_are_no_missed_function():
    """Few rows without noise leave the function open between them, as its error bars say."""
    rng = np.random.RandomState(1)
    X, new = rng.uniform(-10, 10, (14, 1)), np.linspace(-10, 10, 400)[:, None]
    model = RVR(gamma=0.3, noise_variance=1e-6).fit(X, np.sin(X[:, 0]))
    mean, std = model.predict(new, return_std=True)
    assert "underfit" not in model.diagnose(new, mean + 1.4 * std * np.sin(new[:, 0])).codes


# Nearest rows


def test_common_share_is_the_covariance_with_the_nearest_row():
    rng = np.random.RandomState(0)
    X, z = rng.standard_normal((80, 3)), 3 * rng.standard_normal(80)
    distance = ((X[:, None] - X) ** 2 / X.var(axis=0)).sum(axis=2) + np.diag(np.full(80, np.inf))
    z = z - z.mean()
    expected = np.mean(z * z[distance.argmin(axis=1)]) / np.mean(z**2)
    common, n = Neighbours(X).common(z)
    assert common == pytest.approx(expected, rel=1e-9)
    assert n == 80


@pytest.mark.parametrize("unit", [1e-150, 1e-3, 7.0, 1e150])
def test_units_order_and_constant_columns_do_not_matter(unit):
    X, y, _ = SINES["0 to 20"](0)
    order = np.random.RandomState(0).permutation(len(X))
    common, _ = Neighbours(X).common(y)
    other = np.column_stack([unit * X, np.full(len(X), unit / 3)])[order]
    assert Neighbours(other).common(y[order])[0] == pytest.approx(common, rel=1e-9)


def test_copies_of_rows_are_no_neighbours():
    rng = np.random.RandomState(0)
    X, z = rng.standard_normal((60, 1)), rng.standard_normal(60)
    once, twice = (
        Neighbours(X).common(z),
        Neighbours(np.tile(X, (2, 1))).common(np.tile(z, 2)),
    )
    assert twice == (pytest.approx(once[0]), 60)


def test_many_rows_are_looked_at_in_part(monkeypatch):
    X, y, _ = sine(0, 20, 3000, 0.1)(0)
    common, n = Neighbours(X).common(y)
    assert n == 2000
    assert common == pytest.approx(np.corrcoef(y[:-1], y[1:])[0, 1] * y.var(), rel=0.05)


def test_one_place_has_no_neighbours():
    assert Neighbours(np.ones((50, 2))).common(np.arange(50.0)) == (0.0, 1)


def test_rows_are_called_by_their_labels():
    X, y, gamma = SINES["0 to 20"](0)
    y[40] += 3.0
    labels = [f"day {number}" for number in range(100)]
    series = pd.Series(y, index=labels)
    found = RVR(gamma=gamma).fit(X, series).diagnose(X, series)
    assert "(rows day 40)" in str(found)
