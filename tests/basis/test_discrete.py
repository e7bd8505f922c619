"""Kernels of categories and fingerprints against scikit-learn's distances and one-hot columns."""

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import OneHotEncoder

from relvec import RVC, RVR
from relvec.basis import RBF, CategoricalKernel, Hamming, Tanimoto

COLOURS, SIZES = np.array(["red", "blue", "green"]), np.array(["big", "small"])


def objects(rng, n=60):
    """Two columns of texts and one of numbers."""
    table = np.empty((n, 3), dtype=object)
    table[:, 0], table[:, 1] = rng.choice(COLOURS, n), rng.choice(SIZES, n)
    table[:, 2] = rng.integers(0, 4, n)
    return table


def test_tanimoto_is_one_less_jaccards_distance(rng):
    X, Z = rng.integers(0, 2, (9, 12)), rng.integers(0, 2, (6, 12))
    expected = 1 - pairwise_distances(X.astype(bool), Z.astype(bool), metric="jaccard")
    np.testing.assert_allclose(Tanimoto().fit(Z).transform(X), expected, rtol=1e-13)


def test_fingerprints_without_a_bit_are_the_same():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    expected = [[1, 0, 0], [0, 1, 0.5], [0, 0.5, 1]]
    np.testing.assert_array_equal(Tanimoto().fit_transform(X), expected)


def test_tanimoto_is_a_covariance(rng):
    K = Tanimoto().fit_transform(rng.integers(0, 2, (40, 30)))
    assert np.linalg.eigvalsh(K).min() > -1e-12


def test_hamming_is_one_less_the_distance(rng):
    X, Z = rng.integers(0, 3, (9, 5)).astype(float), rng.integers(0, 3, (6, 5)).astype(float)
    expected = 1 - pairwise_distances(X, Z, metric="hamming")
    np.testing.assert_allclose(Hamming().fit(Z).transform(X), expected, rtol=1e-13)


@pytest.mark.parametrize("gamma", [0.7, [0.2, 0.0, 0.9]])
def test_categories_are_their_indicators(gamma, rng):
    """A Gaussian kernel of one-hot columns, in which two categories are √2 apart."""
    X = objects(rng)
    columns = OneHotEncoder(sparse_output=False).fit(X)
    each = np.repeat(np.broadcast_to(gamma, 3), [len(c) for c in columns.categories_]) / 2
    expected = RBF(each).fit_transform(columns.transform(X))
    found = CategoricalKernel(gamma).fit_transform(X)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("kernel", [Hamming(), CategoricalKernel(), CategoricalKernel("ard")])
def test_codes_of_categories_do_not_matter(kernel, rng):
    X = objects(rng)
    y = np.where(X[:, 0] == "red", 1.0, -1.0) + 0.3 * rng.standard_normal(len(X))
    coded = np.column_stack([np.unique(x.astype(str), return_inverse=True)[1] for x in X.T])
    coded = np.array([7.0, -3.0, 0.5, 11.0])[coded]
    texts, numbers = RVR(kernel).fit(X, y), RVR(kernel).fit(coded, y)
    assert numbers.log_evidence_ == pytest.approx(texts.log_evidence_, rel=1e-9)
    np.testing.assert_allclose(numbers.predict(coded), texts.predict(X), atol=1e-6)


def test_scale_follows_how_often_rows_differ(rng):
    X = objects(rng)
    differ = np.mean([[(x != z).sum() for z in X] for x in X])
    assert CategoricalKernel().fit(X).gamma_ == pytest.approx(2 / differ)
    assert CategoricalKernel("auto").fit(X).gamma_ == pytest.approx(1 / 3)
    X[:, 1] = "big"
    assert CategoricalKernel("ard").fit(X).gamma_[1] == 0
    assert CategoricalKernel().fit(X[:1]).gamma_ == 1.0


def test_rows_count_as_often_as_they_are_there(rng):
    X, copies = objects(rng, 30), np.arange(30) % 3
    y = (X[:, 0] == "red") + 0.1 * rng.standard_normal(30)
    weighted = RVR("categorical").fit(X, y, sample_weight=copies)
    repeated = RVR("categorical").fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    assert weighted.basis_.gamma_ == pytest.approx(repeated.basis_.gamma_)
    assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, rel=1e-6)


def test_inputs_that_matter_are_found(rng):
    X = objects(rng, 150)
    y = np.where(X[:, 0] == "red", 2.0, 0.0) + (X[:, 2] == 3) + 0.2 * rng.standard_normal(150)
    model = RVR(CategoricalKernel("ard")).fit(X, y)
    assert model.basis_.gamma_[1] == 0
    assert (model.basis_.gamma_[[0, 2]] > 0).all()
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("kernel", ["hamming", "categorical"])
def test_classes_of_texts(kernel, rng):
    X = objects(rng, 100)
    labels = np.where((X[:, 0] == "red") & (X[:, 1] == "big"), "yes", "no")
    model = RVC(kernel).fit(X, labels)
    assert model.score(X, labels) > 0.95
    assert model.predict_proba([["mauve", "huge", 9]]).shape == (1, 2)


def test_molecules_by_fingerprints(rng):
    """What a bit adds is learnt from similarities."""
    X = (rng.uniform(size=(120, 40)) < 0.3).astype(float)
    y = X[:, :4] @ [1.0, -1.0, 0.5, 0.5] + 0.1 * rng.standard_normal(120)
    model = RVR("tanimoto", remainder="process", noise_variance=0.01).fit(X[:90], y[:90])
    assert model.score(X[90:], y[90:]) > 0.3
