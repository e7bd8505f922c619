"""Labels of every type, and labels that are none."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_classification

from relvec import RVC
from tests.support import inputs
from tests.support.machines import at_the_mode

#: Two labels in ascending order, how they are given, and the type of `classes_`.
TYPES = {
    "text": (("ham", "spam"), np.array, "U"),
    "text of digits": (("10", "9"), np.array, "U"),
    "text as objects": (("ham", "spam"), lambda y: np.array(y, dtype=object), "O"),
    "numpy text in a list": (("ham", "spam"), lambda y: [np.str_(label) for label in y], "U"),
    "list of text": (("ham", "spam"), list, "U"),
    "bool": ((False, True), np.array, "b"),
    "int": ((3, 11), np.array, "i"),
    "negative int": ((-5, -1), np.array, "i"),
    "neighbours beyond float": ((2**60, 2**60 + 1), np.array, "i"),
    "int8": ((0, 1), lambda y: np.array(y, dtype=np.int8), "i"),
    "uint8": ((0, 255), lambda y: np.array(y, dtype=np.uint8), "u"),
    "float": ((1.0, 2.0), np.array, "f"),
    "list of int": ((0, 1), list, "i"),
    "pandas text": (("ham", "spam"), lambda y: pd.Series(y, dtype=object), "O"),
    "pandas string": (("ham", "spam"), lambda y: pd.Series(y, dtype="string"), "O"),
    "pandas int with an index": ((0, 1), lambda y: pd.Series(y, index=range(9, 9 + len(y))), "i"),
    "pandas categorical": (
        ("ham", "spam"),
        lambda y: pd.Series(pd.Categorical(y, categories=["spam", "eggs", "ham"])),
        "O",
    ),
    "polars text": (("ham", "spam"), pl.Series, "U"),
}


if hasattr(np.dtypes, "StringDType"):  # NumPy 2 has it
    TYPES["text of any length"] = (
        ("ham", "spam"),
        lambda y: np.array(y, dtype=np.dtypes.StringDType()),
        "U",
    )


@pytest.mark.parametrize("kind", TYPES)
def test_labels_come_back_as_they_were_given(kind):
    labels, as_type, dtype = TYPES[kind]
    X, above = inputs.threshold()
    y = as_type([labels[int(one)] for one in above])
    model, plain = RVC().fit(X, y), RVC().fit(X, above.astype(int))
    assert list(model.classes_) == list(labels)
    assert model.classes_.dtype.kind == dtype
    predicted = model.predict(X)
    assert predicted.dtype == model.classes_.dtype
    assert list(predicted) == [labels[one] for one in plain.predict(X)]
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.score(X, y) == plain.score(X, above.astype(int))
    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_, rel=1e-9)


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_names_of_several_classes_only_order_the_columns(multi_class):
    X, y = inputs.clouds(20, 20, 20, 20, spread=1.5)
    model = RVC(multi_class=multi_class).fit(X, y)
    for names in (["d", "c", "b", "a"], ["b", "d", "a", "c"], [7, -2, 100, 0]):
        named = RVC(multi_class=multi_class).fit(X, np.array(names)[y])
        assert list(named.classes_) == sorted(names)
        assert named.log_evidence_ == pytest.approx(model.log_evidence_, abs=1e-6)
        columns = np.searchsorted(named.classes_, names)
        # The quadrature over several classes is good to 5e-3, whatever their order.
        for of, atol in ((at_the_mode, 1e-6), (lambda model: model, 5e-3)):
            np.testing.assert_allclose(
                of(named).predict_proba(X)[:, columns], of(model).predict_proba(X), atol=atol
            )


@pytest.mark.parametrize("seed", range(6))
def test_swapping_two_labels_swaps_the_columns(seed):
    X, y = inputs.noisy_border(seed=seed)
    model, swapped = RVC().fit(X, y), RVC().fit(X, 1 - y)
    np.testing.assert_allclose(swapped.predict_proba(X)[:, ::-1], model.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(swapped.decision_function(X), -model.decision_function(X), atol=1e-5)
    assert swapped.log_evidence_ == pytest.approx(model.log_evidence_, abs=1e-6)


@pytest.mark.parametrize("n_informative", [1, 3])
def test_labels_are_one_of_k_whatever_their_distance(n_informative):
    """A class is no number: 0, 1, 1000 are as far from one another as 0, 1, 2."""
    X, y = make_classification(
        60, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=n_informative
    )
    near, far = RVC().fit(X, y), RVC().fit(X, np.array([0, 1, 1000])[y])
    np.testing.assert_array_equal(near.predict_proba(X), far.predict_proba(X))


def bad_labels():
    X, above = inputs.threshold()
    return {
        "none": (None, "y"),
        "NaN": (np.where(above, 1.0, np.nan), r"(?s)\by\b.*NaN"),
        "infinity": (np.where(above, 1.0, np.inf), r"(?s)\by\b.*infinity"),
        "missing number": (pd.Series(above).astype("Int64").mask(X[:, 0] < -1), r"(?s)\by\b.*NaN"),
        "real numbers": (X[:, 0], "(?i)label type.*continuous"),
        "several labels a row": (np.column_stack([above, above]), r"\(20, 2\)"),
        "too few": (above[:-1], r"(?s)20.*19|19.*20"),
        "text and numbers": (np.array(["ham" if one else 1 for one in above], object), "(?i)label"),
        "one label": ("ham", "y|array"),
    }


@pytest.mark.parametrize("kind", bad_labels())
def test_labels_that_are_none_are_refused(kind):
    y, message = bad_labels()[kind]
    with pytest.raises((ValueError, TypeError), match=message):
        RVC().fit(inputs.threshold()[0], y)


def _labels(first):
    return [first, *["ham", "spam"] * 20]


MISSING = {
    "None": lambda: np.array(_labels(None), dtype=object),
    "NaN among objects": lambda: np.array(_labels(np.nan), dtype=object),
    "NA among objects": lambda: np.array(_labels(pd.NA), dtype=object),
    "a list": lambda: _labels(None),
    "pandas": lambda: pd.Series(_labels(None)),
    "pandas string": lambda: pd.Series(_labels(None), dtype="string"),
    "arrow": lambda: pd.Series(_labels(None), dtype="string[pyarrow]"),
    "categorical": lambda: pd.Series(pd.Categorical(_labels(None))),
    "polars": lambda: pl.Series(_labels(None)),
    "a column": lambda: pd.DataFrame({"label": _labels(None)}),
    "float": lambda: np.array([np.nan, *[0.0, 1.0] * 20]),
    "nullable int": lambda: pd.Series([None, *[0, 1] * 20], dtype="Int64"),
    "nullable bool": lambda: pd.Series([None, *[False, True] * 20], dtype="boolean"),
    "times": lambda: np.array(["NaT", *["2020-01-01", "2021-01-01"] * 20], "datetime64[D]"),
    "pandas times": lambda: pd.Series(pd.to_datetime([None, *["2020-01-01", "2021-01-01"] * 20])),
    "masked": lambda: np.ma.array([0, 1] * 20 + [1], mask=np.arange(41) == 0),
}


if hasattr(np.dtypes, "StringDType"):
    MISSING["text of any length"] = lambda: np.array(
        _labels(np.nan), np.dtypes.StringDType(na_object=np.nan)
    )


@pytest.mark.parametrize("kind", MISSING)
def test_missing_labels_are_named_as_such_with_their_rows(kind, rng):
    X = rng.standard_normal((41, 2))
    with pytest.raises(ValueError, match=r"^y contains missing values .* in row 0"):
        RVC().fit(X, MISSING[kind]())


def test_a_fold_may_lack_a_class_that_is_weighted(rng):
    X = rng.standard_normal((40, 2))
    y = np.where(X[:, 0] > 0, "ham", "spam")
    model = RVC(class_weight={"ham": 2.0, "spam": 1.0, "eggs": 3.0}).fit(X, y)
    same = RVC(class_weight={"ham": 2.0, "spam": 1.0}).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))


@pytest.mark.parametrize("weight", [{"ham": 2.0, "spma": 1.0}, {"eggs": 1.0}], ids=str)
def test_a_weight_of_an_unknown_class_is_refused_where_a_class_has_none(weight, rng):
    X = rng.standard_normal((40, 2))
    with pytest.raises(ValueError, match=r"class_weight holds .* expected labels out of"):
        RVC(class_weight=weight).fit(X, np.where(X[:, 0] > 0, "ham", "spam"))
