"""calibrate with cv: errors in the rows of the fit, from refits without them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)

from relvec import RVC, RVR
from relvec.basis import RBF

FOLDS = KFold(5, shuffle=True, random_state=0)


def drawn(n, rng, n_inputs=4, width=0.1, noise=0.3):
    """A function that no few functions make up: a draw of a Gaussian process, with noise."""
    X = rng.standard_normal((n, n_inputs))
    K = RBF(gamma=width).fit(X).transform(X)
    values, vectors = np.linalg.eigh(K)
    f = vectors @ (np.sqrt(np.maximum(values, 0)) * rng.standard_normal(n))
    return X, f + noise * rng.standard_normal(n)


def held(intervals, X, y, coverage=0.8):
    lower, upper = intervals.predict_interval(X, coverage)
    return np.mean((lower <= y) & (y <= upper))


@pytest.mark.parametrize("cv", [FOLDS, TimeSeriesSplit(3)])
def test_interval_is_as_wide_as_errors_of_refits(cv, rng):
    """The definition, fold by fold; rows that are never left out do not count."""
    X, y = drawn(60, rng)
    model, scores = RVR(gamma=0.1).fit(X, y), []
    for kept, left in cv.split(X):
        mean, std = clone(model).fit(X[kept], y[kept]).predict(X[left], return_std=True)
        scores.extend(np.abs(y[left] - mean) / std)
    factor = np.sort(scores)[int(np.ceil(0.9 * (len(scores) + 1))) - 1]
    mean, std = model.predict(X, return_std=True)
    found = model.calibrate(X, y, cv=cv).predict_interval(X, 0.9)
    np.testing.assert_allclose(found, [mean - factor * std, mean + factor * std], rtol=1e-12)


def test_sets_hold_classes_that_refits_found_as_probable(rng):
    codes = rng.integers(0, 3, 90)
    X, y = (1.5 * codes + rng.normal(size=90))[:, None], np.array(["blue", "green", "red"])[codes]
    model = RVC().fit(X, y)
    found = cross_val_predict(model, X, y, cv=StratifiedKFold(5), method="predict_proba")
    scores = np.sort(1 - found[np.arange(90), codes])
    threshold = 1 - scores[int(np.ceil(0.9 * 91)) - 1]
    expected = model.predict_proba(X) >= threshold
    np.testing.assert_array_equal(model.calibrate(X, y, cv=5).predict_set(X, 0.9), expected)


def test_folds_hold_their_share_where_the_function_has_more_than_is_kept(rng):
    """With 100 rows the plain 80 % intervals of such functions hold 70 %."""
    plain, by_fold = [], []
    for _ in range(20):
        X, y = drawn(300, rng)
        fitted, new = slice(100), slice(100, None)
        model = RVR(gamma=0.1).fit(X[fitted], y[fitted])
        calibrated = model.calibrate(X[fitted], y[fitted], cv=FOLDS)
        plain.append(held(model, X[new], y[new]))
        by_fold.append(held(calibrated, X[new], y[new]))
    error = np.std(by_fold, ddof=1) / np.sqrt(len(by_fold))
    assert np.mean(plain) < 0.8 - 3 * error
    assert abs(np.mean(by_fold) - 0.8) < 3 * error


def test_groups_that_are_left_out_whole_stand_for_new_groups(rng):
    """Each group has a level of its own, which an input tells of the groups that are known."""
    wide, narrow = [], []
    for _ in range(8):
        group = np.repeat(np.arange(24), 10)
        X = np.column_stack([rng.normal(size=24)[group], rng.normal(size=240)])
        y = rng.normal(size=24)[group] + 0.1 * rng.normal(size=240)
        fitted, new = group < 16, group >= 16
        model = RVR(gamma=[10.0, 0.1]).fit(X[fitted], y[fitted])
        whole = model.calibrate(X[fitted], y[fitted], GroupKFold(4), groups=group[fitted])
        torn = model.calibrate(X[fitted], y[fitted], FOLDS)
        wide.append(held(whole, X[new], y[new]))
        narrow.append(held(torn, X[new], y[new]))
    short, enough = (
        np.mean(shares) + 3 * np.std(shares, ddof=1) / np.sqrt(len(shares))
        for shares in (narrow, wide)
    )
    assert short < 0.8 < enough


def test_a_precomputed_kernel_is_cut_to_the_rows_of_each_refit(rng):
    X, y = drawn(60, rng)
    K = RBF(gamma=0.1).fit(X).transform(X)
    found = RVR(kernel="precomputed").fit(K, y).calibrate(K, y, FOLDS).predict_interval(K)
    expected = RVR(gamma=0.1).fit(X, y).calibrate(X, y, FOLDS).predict_interval(X)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_several_targets_are_calibrated_apart(rng):
    X, y = drawn(60, rng)
    both = np.column_stack([y, rng.permutation(y)])
    found = RVR(multi_output="independent").fit(X, both).calibrate(X, both, cv=FOLDS)
    for target, column in enumerate(both.T):
        one = RVR().fit(X, column).calibrate(X, column, cv=FOLDS)
        for ends, expected in zip(found.predict_interval(X), one.predict_interval(X), strict=True):
            np.testing.assert_allclose(ends[:, target], expected, rtol=1e-9)


def test_data_frames_are_rows_of_folds(rng):
    X, y = drawn(60, rng)
    frame, column = pd.DataFrame(X, columns=list("abcd")), pd.DataFrame({"y": y})["y"]
    found = RVR().fit(frame, column).calibrate(frame, column, FOLDS).predict_interval(frame)
    expected = RVR().fit(X, y).calibrate(X, y, FOLDS).predict_interval(X)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_what_folds_cannot_be_is_named(rng):
    X, y = drawn(40, rng)
    model = RVR().fit(X, y)
    with pytest.raises(ValueError, match="X has 30 rows, expected the 40 of the fit with cv=5"):
        model.calibrate(X[:30], y[:30], cv=5)
    with pytest.raises(ValueError, match=r"cv or groups: .*greater than the number of samples"):
        model.calibrate(X, y, cv=41)
    with pytest.raises(ValueError, match="groups"):
        model.calibrate(X, y, cv=GroupKFold(5))
    with pytest.raises(ValueError, match="groups is given, expected None without cv"):
        model.calibrate(X, y, groups=np.arange(40))
    labels = np.repeat(["one", "other"], 20)
    with pytest.raises(ValueError, match="no row of class 'two'"):
        RVC().fit(X, np.repeat(["one", "three", "two"], [15, 15, 10])).calibrate(
            X, np.repeat(["one", "three", "two"], [15, 15, 10]), cv=KFold(4)
        )
    with pytest.raises(ValueError, match="groups is given, expected None without cv"):
        RVC().fit(X, labels).calibrate(X, labels, groups=labels)
