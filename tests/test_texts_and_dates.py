"""Texts among numbers, gaps and dates are refused by row and column, with a remedy that works."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier

from relvec import RVC, RVR, EffectsClassifier, EffectsRegressor, SparseBayesianRegressor
from tests.support.inputs import noisy_sinc

pytestmark = pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")


def tables(**columns):
    X, y = noisy_sinc(20)
    return pd.DataFrame({"size": X[:, 0], **columns}), y


@pytest.mark.parametrize("estimator", [RVR(), RVC(), EffectsRegressor(), SparseBayesianRegressor()])
def test_a_text_among_numbers_is_named_with_row_and_column(estimator):
    X, y = tables(width=[*np.arange(19.0), "big"])
    y = y > 0 if is_classifier(estimator) else y
    expected = "could not convert string to float: 'big' in row 19, column 'width'"
    with pytest.raises(ValueError, match=f"X: {expected}"):
        estimator.fit(X, y)
    fitted = estimator.fit(X.assign(width=1.0), y)
    with pytest.raises(ValueError, match=f"X: {expected}"):
        fitted.predict(X)
    with pytest.raises(ValueError, match=r"X: .* 'big' in row 19, column 1"):
        fitted.predict(X.to_numpy())


@pytest.mark.parametrize("estimator", [RVR(), RVC(), EffectsRegressor()])
def test_missing_inputs_are_named_with_row_and_column(estimator):
    X, y = tables(width=np.arange(20.0), town=list("ab" * 10))
    X = X if isinstance(estimator, EffectsRegressor) else X[["size", "width"]]
    y = y > 0 if is_classifier(estimator) else y
    holed = X.assign(width=X["width"].where(X.index % 9 != 3))
    for asked in (lambda: estimator.fit(holed, y), lambda: estimator.fit(X, y).predict(holed)):
        with pytest.raises(ValueError, match=r"^X contains .* in rows 3, 12, column 'width', "):
            asked()
    with pytest.raises(ValueError, match="in rows 3, 12, column 1, "):
        estimator.fit(holed.to_numpy(), y)


def test_a_text_among_targets_is_named_with_its_row():
    X, y = tables()
    with pytest.raises(ValueError, match=r"y: .* 'big' in row 3, expected numbers$"):
        RVR().fit(X, np.where(np.arange(20) == 3, "big", y.astype(str)))


DAYS = pd.Series(pd.date_range("2020-01-30", periods=20, name="when"))


@pytest.mark.parametrize("estimator", [EffectsRegressor(), EffectsClassifier()])
@pytest.mark.parametrize(
    "dates",
    [
        DAYS,
        DAYS.dt.date,
        DAYS.dt.tz_localize("UTC"),
        DAYS.astype(str),
        DAYS.astype(str) + " 12:00",
        DAYS.astype(object).where(DAYS.index != 0, None),
    ],
    ids=["times", "dates", "zone", "texts", "texts with hours", "one missing"],
)
def test_dates_are_no_categories(dates, estimator):
    X, y = tables(when=dates)
    with pytest.raises(TypeError, match=r"in column 'when', expected numbers, such as") as error:
        estimator.fit(X, y > 0)
    code = str(error.value).partition("that are ")[2]
    days = eval(code, {"pd": pd, "X": X})
    np.testing.assert_allclose(days.diff()[2:], 1)
    X["when"] = days.fillna(0)
    estimator.fit(X, y > 0)


def test_texts_that_are_categories_may_look_like_dates_if_they_are_declared():
    X, y = tables(when=DAYS.astype(str).astype("category"))
    EffectsRegressor().fit(X, y)
    X, y = tables(when=["2020-01", "2020-01-0x"] * 10)
    EffectsRegressor().fit(X, y)
    with pytest.raises(TypeError, match=r"in column 1, expected numbers, .*X\[:, 1\]"):
        EffectsRegressor().fit(X.assign(when=DAYS.dt.date).to_numpy(), y)


def test_columns_of_effects_are_numbers_or_texts():
    expected = r"X: .* 'big' in row 19, column 'width', expected numbers"
    towns, noise = ["Bonn", "Rome"] * 10, np.random.default_rng(0).normal(0, 0.1, 20)
    X, y = tables(town=towns, width=[*np.arange(19.0), "big"])
    with pytest.raises(ValueError, match=expected):
        EffectsRegressor().fit(X, y)
    with pytest.raises(
        ValueError, match="X holds the text '19' among numbers in row 19, column 'w"
    ):
        EffectsRegressor().fit(X.replace("big", "19"), y)
    fitted = EffectsRegressor(interactions=None).fit(X.assign(width=y), y + noise)
    with pytest.raises(ValueError, match=expected):
        fitted.predict(X)
