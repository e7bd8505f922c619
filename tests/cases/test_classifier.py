"""Faults of classifiers: symmetry, separable and missing classes, imbalance, probabilities."""

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import recall_score
from sklearn.model_selection import KFold, cross_val_score

from relvec import RVC
from tests.support import inputs
from tests.support.covering import covering

#: Kernels with k(-x, -z) = k(x, z).
MIRRORED = ["rbf", "laplacian", "linear", "poly", "sigmoid"]
KERNELS = ["rbf", "laplacian", "linear", "linear_spline"]


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
@pytest.mark.parametrize(
    ("kernel", "fit_intercept", "labels", "proba"),
    covering(MIRRORED, [True, False], [(0, 1), (1, 0), ("spam", "ham")], ["integrated", "mode"]),
)
def test_mirror_images_have_mirrored_probabilities(kernel, fit_intercept, labels, proba):
    X, y = inputs.mirror_pair()
    model = RVC(kernel=kernel, fit_intercept=fit_intercept, proba=proba)
    model.fit(X, np.array(labels)[y])
    p = model.predict_proba([[-2.0], [-0.5], [0.0], [0.5], [2.0]])[:, 0]
    np.testing.assert_allclose(p + p[::-1], 1.0, atol=1e-6)
    assert p[2] == pytest.approx(0.5, abs=1e-6)
    if fit_intercept:
        assert list(model.predict(X)) == list(labels)


@pytest.mark.parametrize(
    ("kernel", "middle", "half", "n_columns"),
    covering(["rbf", "linear"], [0.0, -7.0], [1e-6, 1.0, 1e6], [1, 3]),
)
def test_the_mirror_may_stand_anywhere(kernel, middle, half, n_columns):
    X, y = inputs.mirror_pair(middle, half, n_columns)
    model = RVC(kernel=kernel).fit(X, y)
    steps = np.array([-2.0, -1.0, -0.3, 0.0, 0.3, 1.0, 2.0])
    p = model.predict_proba(middle + half * np.repeat(steps[:, None], n_columns, axis=1))[:, 1]
    np.testing.assert_allclose(p + p[::-1], 1.0, atol=1e-6)
    assert p[1] < 0.5 < p[-2]


@pytest.mark.parametrize(
    ("kernel", "gap", "n_columns", "unit", "proba"),
    covering(
        ["rbf", "linear"],
        [1e-6, 1e-3, 2.0, 1e3],
        [1, 2, 5],
        [1e-9, 1.0, 1e9],
        ["integrated", "mode"],
    ),
)
def test_separable_classes_keep_finite_weights(kernel, gap, n_columns, unit, proba):
    X, y = inputs.two_sides(gap, n_columns)
    model = RVC(kernel=kernel, proba=proba).fit(unit * X, y)
    assert_sober(model, unit * X)
    assert model.score(unit * X, y) >= 1 - 2 / len(y), "more than the two rows at the gap"


@pytest.mark.parametrize(
    ("kernel", "spread", "multi_class", "fit_intercept"),
    covering(["rbf", "linear"], [1e-9, 1e-3, 0.1], ["multinomial", "ovr"], [True, False]),
)
def test_several_separable_classes_keep_finite_weights(kernel, spread, multi_class, fit_intercept):
    X, y = inputs.clouds(8, 8, 8, 8, spread=spread)
    model = RVC(kernel=kernel, multi_class=multi_class, fit_intercept=fit_intercept).fit(X - 1, y)
    assert_sober(model, X - 1)


def assert_sober(model, X):
    """No weight is infinite, and nothing about the rows is impossible, nor certain.

    A plug-in probability may be within the last digit of one.
    """
    for attribute in (model.dual_coef_, model.intercept_, model.log_evidence_):
        assert np.isfinite(attribute).all()
    for p in (model.predict_proba(X), np.exp(model.predict_log_proba(X))):
        assert (p > 0).all()
        assert (p < 1).all() or model.proba == "mode"


@pytest.mark.parametrize("value", [1, 0, -7, True, 2.0, "ham", np.str_("spam")], ids=repr)
@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_a_single_class_is_refused_with_the_number_of_classes(multi_class, value):
    X = inputs.threshold()[0]
    with pytest.raises(ValueError, match=r"\b1 class\b"):
        RVC(multi_class=multi_class).fit(X, [value] * 20)
    with pytest.raises(ValueError, match=r"\b1 class\b"):
        RVC(multi_class=multi_class).fit(X, np.full(20, value, dtype=object).astype(str))


@pytest.mark.parametrize("weight", [1.0, 3.5])
def test_a_class_whose_weights_are_zero_is_absent(weight):
    X, above = inputs.threshold()
    with pytest.raises(ValueError, match=r"\b1 class\b"):
        RVC().fit(X, above, sample_weight=weight * above)
    X, y = inputs.clouds(15, 15, 15)
    weights = weight * (y != 1)
    assert list(RVC().fit(X, y, sample_weight=weights).classes_) == [0, 2]


def test_a_fold_of_one_class_is_refused_in_cross_validation():
    X, above = inputs.threshold(at=0.0)
    with pytest.raises(ValueError, match=r"\b1 class\b"):
        cross_val_score(RVC(), X, above, cv=KFold(2), error_score="raise")


@pytest.mark.parametrize("rare", [0, 1])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_rare_class_is_found_and_not_overrated(kernel, rare):
    X, y = inputs.unbalanced()
    y = y if rare else 1 - y
    plain = RVC(kernel=kernel).fit(X, y)
    assert plain.predict_proba(X)[:, rare].mean() == pytest.approx(0.05, abs=0.03)
    recall = recall_score(y, plain.predict(X), pos_label=rare)
    assert recall > 0.4
    balanced = RVC(kernel=kernel, class_weight="balanced").fit(X, y)
    assert recall_score(y, balanced.predict(X), pos_label=rare) > recall
    assert balanced.predict_proba(X)[:, rare].mean() > plain.predict_proba(X)[:, rare].mean()


@pytest.mark.parametrize("weights", [None, np.arange(70) % 3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_weights_multiply_the_weights_of_the_rows(n_classes, weights):
    X, y = inputs.clouds(*[40, 10, 20][:n_classes], spread=1.5)
    copies = np.ones(len(y)) if weights is None else weights[: len(y)]
    totals = np.bincount(y, copies)
    balanced = totals.sum() / (n_classes * totals)
    for class_weight, factors in [
        ("balanced", balanced),
        (dict(enumerate(balanced)), balanced),
        ({0: 2.5}, np.array([2.5, 1.0, 1.0])),
    ]:
        by_class = RVC(class_weight=class_weight).fit(X, y, sample_weight=copies)
        by_row = RVC().fit(X, y, sample_weight=copies * factors[y])
        np.testing.assert_allclose(by_class.predict_proba(X), by_row.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("sizes", [(38, 2), (30, 10), (40, 8, 2), (12, 6, 20, 3)])
def test_plug_in_probabilities_of_a_class_add_up_to_its_weight(sizes, class_weight):
    """The slope of the posterior in a flat-prior intercept is zero at its mode."""
    X, y = inputs.clouds(*sizes, spread=2.0)
    model = RVC(proba="mode", class_weight=class_weight, multi_class="multinomial").fit(X, y)
    counts = np.array(sizes)
    weights = (len(y) / (len(counts) * counts) if class_weight else np.ones(len(counts)))[y]
    total = weights @ model.predict_proba(X)
    np.testing.assert_allclose(total, np.bincount(y, weights), rtol=1e-6)


@pytest.mark.parametrize(
    ("sizes", "multi_class", "proba"),
    covering(
        [(20, 20), (20, 20, 20), (20, 20, 1), (12, 7, 9, 11, 8, 1)],
        ["multinomial", "ovr"],
        ["integrated", "mode"],
    ),
)
def test_probabilities_of_classes_sum_to_one_and_decide(sizes, multi_class, proba):
    X, y = inputs.clouds(*sizes)
    model = RVC(multi_class=multi_class, proba=proba).fit(X, y)
    query = np.vstack([X, 10 * X, np.full((1, 2), 1e6)])
    p = model.predict_proba(query)
    assert p.shape == (len(query), len(sizes))
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    assert (p >= 0).all()
    np.testing.assert_array_equal(model.predict(query), p.argmax(axis=1))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(query)), p, rtol=1e-12)
    decision = model.decision_function(query)
    if len(sizes) == 2:
        np.testing.assert_array_equal(model.predict(query), decision > 0)
    else:
        assert decision.shape == p.shape
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("n", [20, 41])
def test_labels_in_a_column_are_the_same_labels(n):
    X, above = inputs.threshold(at=0.1, n=n)
    with pytest.warns(DataConversionWarning) as caught:
        column = RVC().fit(X, above.astype(int)[:, None])
    assert len(caught) == 1
    row = RVC().fit(X, above.astype(int))
    assert column.predict(X).shape == (n,)
    np.testing.assert_array_equal(column.predict_proba(X), row.predict_proba(X))
    with pytest.raises(ValueError, match=rf"\({n}, 2\)"):
        RVC().fit(X, np.column_stack([above, ~above]))
