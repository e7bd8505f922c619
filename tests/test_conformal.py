"""calibrate: intervals and sets that cover what they say, whether or not the model is right."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import betabinom

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor
from relvec._assess.conformal import CalibratedClassifier, conformal_quantile
from relvec.likelihoods import Gaussian, Interval

COVERAGES = [0.5, 0.8, 0.95]
N_NEW = 20
COLOURS = np.array(["blue", "green", "red"])


def skewed(n, rng):
    """A target that a straight line with Gaussian noise misses, in its shape and in its noise."""
    X = rng.uniform(-2, 2, size=(n, 1))
    return X, X[:, 0] ** 3 + np.exp(X[:, 0]) * (rng.exponential(size=n) - 1)


def coloured(n, rng):
    """Three classes that overlap, one of them in two places."""
    codes = rng.integers(0, 3, n)
    place = np.where((codes == 2) & (rng.uniform(size=n) < 0.3), -3.0, 1.5 * codes)
    return (place + rng.normal(size=n))[:, None], COLOURS[codes]


def order_statistic(scores, coverage):
    """The score that `coverage` of all, and of one to come, are at most."""
    return np.sort(scores)[int(np.ceil(coverage * (len(scores) + 1))) - 1]


@pytest.fixture
def line(rng):
    return SparseBayesianRegressor().fit(*skewed(100, rng))


@pytest.fixture
def colours(rng):
    return RVC().fit(*coloured(90, rng))


@pytest.mark.parametrize("coverage", COVERAGES)
def test_interval_is_as_wide_as_the_order_statistic_of_scaled_errors(line, coverage, rng):
    (X, y), (Z, _) = skewed(73, rng), skewed(40, rng)
    mean, std = line.predict(X, return_std=True)
    factor = order_statistic(np.abs(y - mean) / std, coverage)
    mean, std = line.predict(Z, return_std=True)
    found = line.calibrate(X, y).predict_interval(Z, coverage)
    np.testing.assert_allclose(found, [mean - factor * std, mean + factor * std], rtol=1e-12)


def test_std_is_such_that_calibration_rows_miss_by_one(line, rng):
    X, y = skewed(73, rng)
    calibrated = line.calibrate(X, y)
    mean, std = calibrated.predict(X, return_std=True)
    np.testing.assert_allclose(np.mean(((y - mean) / std) ** 2), 1, rtol=1e-12)
    np.testing.assert_array_equal(mean, line.predict(X))
    np.testing.assert_array_equal(mean, calibrated.predict(X))
    plain = line.predict(X, return_std=True)[1]
    np.testing.assert_allclose(std / plain, np.full(73, std[0] / plain[0]), rtol=1e-12)


@pytest.mark.parametrize("coverage", COVERAGES)
def test_set_holds_the_classes_up_to_the_order_statistic(colours, coverage, rng):
    (X, y), (Z, _) = coloured(73, rng), coloured(200, rng)
    own = colours.predict_proba(X)[np.arange(73), np.searchsorted(COLOURS, y)]
    threshold = 1 - order_statistic(1 - own, coverage)
    found = colours.calibrate(X, y).predict_set(Z, coverage)
    np.testing.assert_array_equal(found, colours.predict_proba(Z) >= threshold)
    assert found.dtype == bool
    assert 0 < found.sum() < found.size


class Told:
    """A classifier that is told the probabilities."""

    def predict_proba(self, X):
        return X


def test_rounding_of_a_probability_leaves_no_class_out():
    """Where rows are alike their scores are, but for how each was predicted among others."""
    calibrated = CalibratedClassifier(Told(), np.tile([0.7, 0.3], (20, 1)), np.zeros(20, dtype=int))
    found = calibrated.predict_set(np.array([[np.nextafter(0.7, 0), 0.3], [0.69, 0.31]]), 0.9)
    np.testing.assert_array_equal(found, [[True, False], [False, False]])


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 47])
@pytest.mark.parametrize("coverage", COVERAGES)
def test_calibrated_intervals_cover_though_the_model_is_wrong(line, coverage, n, rng):
    """Beta-binomial hits over many calibrations: the guarantee is their mean."""
    hits = []
    for _ in range(400):
        calibrated = line.calibrate(*skewed(n, rng))
        Z, t = skewed(N_NEW, rng)
        lower, upper = calibrated.predict_interval(Z, coverage)
        hits.append(((lower <= t) & (t <= upper)).sum())
    check_hits(hits, n, coverage)


@pytest.mark.slow
def test_plain_intervals_do_not_cover_where_the_model_is_wrong(line, rng):
    """Else there would be nothing to calibrate."""
    X, y = skewed(20_000, rng)
    lower, upper = line.predict_interval(X, 0.5)
    assert ((lower <= y) & (y <= upper)).mean() > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 47])
@pytest.mark.parametrize("coverage", COVERAGES)
def test_calibrated_sets_cover_though_the_probabilities_are_wrong(coverage, n, rng):
    """A linear model of classes that no line divides; probabilities differ from row to row."""
    model = SparseBayesianClassifier().fit(*coloured(90, rng))
    hits = []
    for _ in range(400):
        calibrated = model.calibrate(*coloured(n, rng))
        Z, t = coloured(N_NEW, rng)
        sets = calibrated.predict_set(Z, coverage)
        hits.append(sets[np.arange(N_NEW), np.searchsorted(COLOURS, t)].sum())
    check_hits(hits, n, coverage)


def check_hits(hits, n, coverage):
    """Compare with the mean of a beta-binomial count, which no score but a tied one escapes."""
    rank = int(np.ceil(coverage * (n + 1)))
    expected = betabinom(N_NEW, rank, n + 1 - rank)
    assert rank / (n + 1) >= coverage
    assert np.mean(hits) == pytest.approx(
        expected.mean(), abs=4 * expected.std() / np.sqrt(len(hits))
    )


def test_more_coverage_takes_wider_intervals_and_larger_sets(line, colours, rng):
    coverages = np.linspace(0.1, 0.9, 17)
    calibrated = line.calibrate(*skewed(73, rng))
    Z = skewed(9, rng)[0]
    lower, upper = np.swapaxes([calibrated.predict_interval(Z, c) for c in coverages], 0, 1)
    assert (np.diff(lower, axis=0) <= 0).all()
    assert (np.diff(upper, axis=0) >= 0).all()
    calibrated = colours.calibrate(*coloured(73, rng))
    Z = coloured(50, rng)[0]
    sets = np.array([calibrated.predict_set(Z, c) for c in coverages])
    assert (sets[1:] >= sets[:-1]).all()
    assert sets[0].sum() < sets[-1].sum()


@pytest.mark.parametrize("unit", [1e-60, 1e-12, 1e60])
def test_units_of_the_target_do_not_matter(unit, rng):
    (X, y), (Z, t), (Q, _) = (skewed(60, rng) for _ in range(3))
    plain = RVR().fit(X, y).calibrate(Z, t).predict_interval(Q, 0.8)
    scaled = RVR().fit(X, unit * y).calibrate(Z, unit * t).predict_interval(Q, 0.8)
    np.testing.assert_allclose(scaled, unit * np.array(plain), rtol=1e-5)


def test_several_targets_are_calibrated_apart(rng):
    (X, y), (Z, t), (Q, _) = (skewed(60, rng) for _ in range(3))
    both = RVR().fit(X, np.column_stack([y, y[::-1]])).calibrate(Z, np.column_stack([t, 5 * t]))
    lower, upper = both.predict_interval(Q, 0.8)
    assert lower.shape == upper.shape == (60, 2)
    mean, std = both.model.predict(Z, return_std=True)
    scores = np.abs(np.column_stack([t, 5 * t]) - mean) / std
    factor = [order_statistic(own, 0.8) for own in scores.T]
    std = both.model.predict(Q, return_std=True)[1]
    np.testing.assert_allclose(upper - lower, 2 * np.array(factor) * std, rtol=1e-10)
    found = both.predict(Q, return_std=True)[1]
    np.testing.assert_allclose(found, np.sqrt(np.mean(scores**2, axis=0)) * std, rtol=1e-10)


def test_counts_are_never_negative(rng):
    X = rng.uniform(-2, 2, size=(150, 1))
    y = rng.poisson(np.exp(X[:, 0])).astype(float)
    model = RVR(likelihood="poisson").fit(X[:100], y[:100])
    lower, upper = model.calibrate(X[100:], y[100:]).predict_interval(X, 0.95)
    mean, std = model.predict(X, return_std=True)
    factor = ((upper - mean) / std)[0]
    assert (mean - factor * std < 0).any()
    np.testing.assert_allclose(lower, np.maximum(mean - factor * std, 0), rtol=1e-9, atol=1e-12)


class Share(Gaussian):
    """Gaussian noise around shares."""

    support = Interval(0.0, 1.0)


def test_intervals_end_where_targets_do(rng):
    X = rng.uniform(-3, 3, size=(150, 1))
    y = np.clip(0.5 + 0.3 * np.sin(X[:, 0]) + 0.2 * rng.normal(size=150), 0, 1)
    plain, share = (
        model.fit(X[:100], y[:100]).calibrate(X[100:], y[100:]).predict_interval(X)
        for model in (RVR(), RVR(likelihood=Share()))
    )
    assert min(plain[0]) < 0 < 1 < max(plain[1])
    np.testing.assert_allclose(share, np.clip(plain, 0, 1), rtol=1e-9, atol=1e-12)


def test_data_frames_are_calibration_rows(line, colours, rng):
    X, y = skewed(50, rng)
    frame = pd.DataFrame(X, columns=["x"])
    model = RVR().fit(frame, y)
    found = model.calibrate(frame, pd.Series(y)).predict_interval(frame)
    np.testing.assert_array_equal(found, model.calibrate(frame, y).predict_interval(frame))
    X, y = coloured(50, rng)
    frame = pd.DataFrame(X, columns=["x"])
    model = RVC().fit(frame, y)
    found = model.calibrate(frame, pd.Series(y)).predict_set(frame)
    np.testing.assert_array_equal(found, model.calibrate(frame, y).predict_set(frame))


def test_two_classes_of_any_label_have_sets(rng):
    X, y = coloured(150, rng)
    model = RVC().fit(X[:100], y[:100] == "red")
    sets = model.calibrate(X[100:], y[100:] == "red").predict_set(X, 0.9)
    assert sets.shape == (150, 2)
    assert ((model.predict_proba(X).max(axis=1) > 0.99) <= (sets.sum(axis=1) < 2)).all()


def test_precomputed_kernels_are_calibrated_by_their_values(rng):
    (X, y), (Z, t) = skewed(60, rng), skewed(50, rng)

    def k(A):
        return np.exp(-((A - X.T) ** 2))

    found = RVR(kernel="precomputed").fit(k(X), y).calibrate(k(Z), t).predict_interval(k(Z))
    expected = RVR(gamma=1.0).fit(X, y).calibrate(Z, t).predict_interval(Z)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_calibrated_model_outlives_another_fit(line, rng):
    Z, t = skewed(50, rng)
    calibrated = line.calibrate(Z, t)
    before = calibrated.predict_interval(Z)
    line.fit(Z[:30], -t[:30])
    np.testing.assert_array_equal(calibrated.predict_interval(Z), before)


@pytest.mark.parametrize(
    ("coverage", "enough"),
    [
        *[(0.05, 1), (0.5, 1), (0.7, 3), (0.9, 9), (0.95, 19), (0.99, 99), (0.999, 999)],
        *[(0.05 * 19, 19), (1 - 0.05, 19), (np.float32(0.95), 19)],  # roundings of 0.95
    ],
)
def test_least_number_of_calibration_rows_is_that_of_the_order_statistic(coverage, enough, rng):
    """The largest score is the ⌈(n + 1)·coverage⌉-th smallest of as few as that."""
    scores = rng.uniform(size=(2, enough))
    if coverage >= 0.5:
        np.testing.assert_array_equal(conformal_quantile(scores, coverage), scores.max(axis=1))
    with pytest.raises(ValueError, match=rf"{enough - 1} calibration rows, .* least {enough}$"):
        conformal_quantile(scores[:, 1:], coverage)


@pytest.mark.parametrize(("n", "enough"), [(19, True), (18, False)])
def test_too_few_calibration_rows_are_counted(line, colours, n, enough, rng):
    regression, classes = line.calibrate(*skewed(n, rng)), colours.calibrate(*coloured(n, rng))
    for ask in (regression.predict_interval, classes.predict_set):
        if enough:
            ask(np.zeros((1, 1)), 0.95)
            continue
        with pytest.raises(ValueError, match=r"coverage=0.95 with 18 calibration rows, .* 19"):
            ask(np.zeros((1, 1)), 0.95)


@pytest.mark.parametrize("coverage", [k / 100 for k in range(1, 100)])
def test_rank_is_that_of_the_decimal_and_not_of_its_rounding(coverage, rng):
    """(n + 1)·coverage is a whole number of hundredths here, and often rounded up in float64."""
    scores = rng.permutation(np.arange(1.0, 100.0))
    assert conformal_quantile(scores, coverage) == round(100 * coverage)


def test_wrong_targets_are_named(line, colours, rng):
    X, y = skewed(30, rng)
    with pytest.raises(ValueError, match="y has 2 columns, expected 1"):
        line.calibrate(X, np.column_stack([y, y]))
    X, y = coloured(30, rng)
    with pytest.raises(ValueError, match="y holds 'pink', expected labels out of"):
        colours.calibrate(X, np.where(y == "red", "pink", y))
    with pytest.raises(ValueError, match="features"):
        colours.calibrate(np.hstack([X, X]), y)


@pytest.mark.parametrize("coverage", [0, 1.0, True])
def test_coverage_that_is_no_probability_is_named(line, colours, coverage, rng):
    for ask in (
        line.calibrate(*skewed(30, rng)).predict_interval,
        colours.calibrate(*coloured(30, rng)).predict_set,
    ):
        with pytest.raises(ValueError, match=f"coverage={coverage!r}, expected a probability"):
            ask(np.zeros((1, 1)), coverage)
