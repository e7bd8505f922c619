"""A Gaussian process as functions, against kernel matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relvec.basis import (
    RBF,
    Bias,
    CallableKernel,
    Centers,
    Concatenate,
    Laplacian,
    LinearKernel,
    Process,
    Sigmoid,
)

N = 60


@pytest.fixture(name="X")
def rows(rng):
    return rng.normal(size=(N, 2))


def placed(X, *args, weights=None, **parameters):
    """A process of training rows with frequencies; it chooses its centres itself."""
    return Process(*args, **parameters).place(X, None, weights)


def rbf(X, Z):
    return np.exp(-0.4 * ((X[:, None] - Z) ** 2).sum(axis=-1))


@pytest.mark.parametrize("kernel", [RBF(gamma=0.4), Laplacian(gamma=0.3)], ids=["rbf", "laplacian"])
def test_with_all_rows_as_centres_the_covariance_is_the_kernel(kernel, X):
    process = placed(X, kernel, N)
    Phi = process.evaluate(X)
    assert_allclose(Phi @ Phi.T, kernel.fit(X).evaluate(X), atol=1e-9)
    assert_allclose(process.unspanned(X)[0], 0, atol=1e-9)


def test_a_kernel_of_few_directions_needs_few_centres(X):
    process = placed(X, LinearKernel())
    Phi = process.evaluate(X)
    assert Phi.shape == (N, 2)
    assert_allclose(Phi @ Phi.T, X @ X.T, atol=1e-10)


def test_with_few_centres_the_covariance_is_nystroms(X, rng):
    process, later = placed(X, RBF(gamma=0.4), 9), 3 * rng.normal(size=(20, 2))
    c = process.kernel_.centers_
    assert len(c) == 9
    assert (c[:, None] == X).all(axis=-1).any(axis=1).all(), "centres are training rows"
    Phi = process.evaluate(later)
    nystrom = rbf(later, c) @ np.linalg.solve(rbf(c, c), rbf(c, later))
    assert_allclose(Phi @ Phi.T, nystrom, atol=1e-10)
    training = 1 - np.diag(rbf(X, c) @ np.linalg.solve(rbf(c, c), rbf(c, X)))
    assert process.unspanned_ == pytest.approx(training.mean(), rel=1e-9)
    expected = np.maximum(1 - nystrom.diagonal() - training.mean(), 0)
    assert_allclose(process.unspanned(later)[0], expected, atol=1e-10)
    assert process.unspanned(np.full((1, 2), 1e3))[0] == pytest.approx(1 - training.mean())


def test_each_centre_is_where_the_earlier_leave_most(X):
    c = placed(X, RBF(gamma=0.4), 9).kernel_.centers_
    for k in range(1, 9):
        earlier = c[:k]
        known = rbf(X, earlier) @ np.linalg.solve(rbf(earlier, earlier), rbf(earlier, X))
        left = 1 - known.diagonal()
        at = (c[k] == X).all(axis=1).argmax()
        assert left[at] == pytest.approx(left.max(), abs=1e-9)


def test_centres_double_where_what_they_leave_counts_beside_the_noise(rng, monkeypatch):
    monkeypatch.setattr("relvec.basis.process.FEWEST", 10)
    X = rng.normal(size=(50, 4))
    process = placed(X, RBF(gamma=0.2))
    assert process.coarse
    assert len(process.kernel_.centers_) == 10
    enough, less = (process.unspanned_ / share * np.ones(10) for share in (0.19, 0.21))
    assert process.refined(X, None, enough) is process
    finer = process.refined(X, None, less)
    assert_array_equal(finer.kernel_.centers_, placed(X, RBF(gamma=0.2), 20).kernel_.centers_)
    whole = Concatenate([Bias(), RBF(gamma=0.1), Process(RBF(gamma=0.2))])
    whole = whole.place(X, Centers.on(X[:3]), None)
    noise = np.append(np.zeros(4), less)
    assert whole.refined(X, None, np.append(np.zeros(4), enough)) is whole
    assert_allclose(whole.refined(X, None, noise).evaluate(X)[:, 4:], finer.evaluate(X))
    given = placed(X, RBF(gamma=0.2), 10)
    assert not given.coarse
    assert given.refined(X, None, less) is given
    apart = placed(X, RBF(gamma=5.0))
    assert apart.unspanned_ > 0.5
    assert not apart.coarse, "rows far apart"


def test_weights_are_copies(X, rng):
    weights = rng.integers(0, 4, N).astype(float)
    one = placed(X, RBF(gamma=0.4), 9, weights=weights)
    other = placed(np.repeat(X, weights.astype(int), axis=0), RBF(gamma=0.4), 9)
    assert_array_equal(one.kernel_.centers_, other.kernel_.centers_)
    assert one.unspanned_ == pytest.approx(other.unspanned_, rel=1e-12)


def test_order_of_rows_does_not_matter(X, rng):
    one, other = placed(X, n_centers=9), placed(X[rng.permutation(N)], n_centers=9)
    assert_array_equal(one.kernel_.centers_, other.kernel_.centers_)
    assert_allclose(one.evaluate(X), other.evaluate(X), atol=1e-10)


def test_by_default_widths_are_those_of_the_inputs(X):
    process = placed(X * [1.0, 1e6])
    deviation = np.array([1.0, 1e6]) * X.std(axis=0)
    assert_allclose(process.kernel_.gamma_, 1 / (2 * deviation**2))
    assert_allclose(process.evaluate(X * [1.0, 1e6]), placed(X).evaluate(X), atol=1e-8)


@pytest.mark.parametrize("X", [np.ones((5, 2)), np.array([[1.0], [2.0]])], ids=["alike", "two"])
def test_few_different_rows_make_few_centres(X):
    assert len(placed(X).kernel_.centers_) == len(np.unique(X, axis=0))


def test_a_kernel_that_is_no_covariance_has_its_functions(X):
    kernel = Sigmoid(gamma=0.5, coef0=-1.0)
    process = placed(X, kernel, 9)
    assert_allclose(process.evaluate(X), np.tanh(0.5 * X @ process.kernel_.centers_.T - 1))
    assert process.unspanned(X) == {}


def test_columns_of_texts_are_left_to_others(rng, X):
    rows = np.column_stack([X, rng.choice(["a", "b"], N)]).astype(object)
    rows[:, :2] = X
    assert_array_equal(placed(rows).features_, [0, 1])
    assert_allclose(placed(rows).evaluate(rows), placed(X).evaluate(X), atol=1e-10)
    assert_array_equal(placed(X, excluded=[0]).features_, [1])


def test_a_kernel_of_texts_is_a_process_of_them():
    def same(X, Z):
        return (X[:, 0][:, None] == Z[:, 0]).astype(float)

    X = np.array([["a"], ["b"], ["a"], ["c"]], dtype=object)
    Phi = placed(X, CallableKernel(same)).evaluate(X)
    assert_allclose(Phi @ Phi.T, same(X, X))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("n_centers", {"n_centers": 0}),
        ("n_centers", {"n_centers": 2.5}),
        ("kernel", {"kernel": "rbf"}),
        ("kernel", {"kernel": RBF("evidence")}),
    ],
)
def test_bad_parameters_are_named(name, parameters, X):
    with pytest.raises((ValueError, TypeError), match=f"^{name}="):
        placed(X, **parameters)
