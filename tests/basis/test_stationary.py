"""Kernels of distances and periods against scikit-learn's, and their gradients."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels

from relvec import RVR
from relvec._fitting.scale_ascent import may_vanish, theta_of, with_theta
from relvec.basis import (
    RBF,
    CategoricalKernel,
    Matern32,
    Matern52,
    Periodic,
    Product,
    RationalQuadratic,
)
from tests.support.differences import derivative

LENGTHS = np.array([0.5, 2.0, 1.3])
GAMMA = 1 / (2 * LENGTHS**2)


@pytest.mark.parametrize(
    ("kernel", "theirs"),
    [
        (RBF(GAMMA), kernels.RBF(LENGTHS)),
        (Matern32(GAMMA), kernels.Matern(LENGTHS, nu=1.5)),
        (Matern52(GAMMA), kernels.Matern(LENGTHS, nu=2.5)),
        (RationalQuadratic(0.7, 1 / (2 * 1.3**2)), kernels.RationalQuadratic(1.3, alpha=0.7)),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_kernels_are_those_of_length_scales(kernel, theirs, rng):
    """With γ = 1/(2ℓ²)."""
    X, Z = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    np.testing.assert_allclose(kernel.fit(Z).transform(X), theirs(X, Z), rtol=1e-12)


def test_a_period_is_that_of_a_length_scale(rng):
    """With γ = 1/ℓ², for one input; several go by a product, which is a covariance."""
    X, Z = rng.uniform(0, 9, (7, 1)), rng.uniform(0, 9, (5, 1))
    theirs = kernels.ExpSineSquared(length_scale=1.3, periodicity=2.5)
    found = Periodic(2.5, gamma=1 / 1.3**2).fit(Z).transform(X)
    np.testing.assert_allclose(found, theirs(X, Z), rtol=1e-12)
    X, Z = rng.uniform(0, 9, (7, 2)), rng.uniform(0, 9, (5, 2))
    each = [
        Periodic(2.5, gamma=g).fit(Z[:, [d]]).transform(X[:, [d]]) for d, g in enumerate([0.3, 0.9])
    ]
    both = Periodic(2.5, gamma=[0.3, 0.9]).fit(Z)
    np.testing.assert_allclose(both.transform(X), np.prod(each, axis=0), rtol=1e-12)
    np.testing.assert_allclose(both.transform(X + 5.0), both.transform(X), rtol=1e-12)


def test_many_widths_that_are_alike_are_one(rng):
    X = rng.standard_normal((9, 2))
    found = RationalQuadratic(alpha=1e8, gamma=0.7).fit_transform(X)
    np.testing.assert_allclose(found, RBF(0.7).fit_transform(X), rtol=1e-6)


@pytest.mark.parametrize(
    "kernel",
    [
        RBF("evidence"),
        Matern32("ard"),
        Matern52("evidence"),
        Matern52("ard"),
        RationalQuadratic("evidence", "ard"),
        RationalQuadratic("evidence", 0.3),
        RationalQuadratic(0.6, "evidence"),
        Periodic(2.5),
        Periodic(2.5, "ard"),
        Periodic(2.5, 0.4),
        Periodic(2.5, "evidence", learn_period=False),
        Product([Periodic(2.5), RBF("ard")]),
        CategoricalKernel("evidence"),
        CategoricalKernel("ard"),
    ],
    ids=str,
)
def test_gradients_are_difference_quotients(kernel, rng):
    categories = isinstance(kernel, CategoricalKernel)
    X = rng.integers(0, 3, (12, 2)).astype(float) if categories else rng.uniform(0, 5, (12, 2))
    basis = kernel.fit(X[:7])
    D, theta = rng.standard_normal((12, 7)), theta_of(basis)

    def total(theta):
        return np.vdot(D, with_theta(basis, theta).evaluate(X))

    found = np.hstack([np.ravel(value) for value in basis.hyper_gradient(X, D).values()])
    assert len(found) == basis.n_hyper == len(theta) == len(may_vanish(basis))
    np.testing.assert_allclose(found, derivative(total, theta, 2e-4), rtol=1e-8, atol=1e-9)
    assert set(basis.hyper_gradient(X, D)) == set(basis.hyper)
    none = basis.restrict(np.empty(0, dtype=np.intp)).hyper_gradient(X, D[:, :0])
    assert all(not np.any(value) for value in none.values())


@pytest.mark.parametrize("kernel", [Matern32, Matern52, RationalQuadratic])
def test_units_of_the_inputs_do_not_matter(kernel, rng):
    X = rng.uniform(0, 5, (60, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(60)
    plain = RVR(kernel(gamma="evidence")).fit(X, y)
    scaled = RVR(kernel(gamma="evidence")).fit(1000 * X, y)
    assert scaled.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-6)
    np.testing.assert_allclose(scaled.predict(1000 * X), plain.predict(X), atol=1e-4)


def test_a_period_is_learnt(rng):
    day = np.sort(rng.uniform(0, 200, 120))[:, None]
    y = np.exp(np.sin(2 * np.pi * day[:, 0] / 27.3)) + 0.1 * rng.standard_normal(120)
    model = RVR(Periodic(25.0)).fit(day, y)
    assert model.basis_.period_ == pytest.approx(27.3, abs=0.1)
    known = RVR(Periodic(27.3, learn_period=False)).fit(day, y)
    assert known.basis_.period_ == 27.3
    assert model.log_evidence_ > known.log_evidence_ - 3
    later = day + 27.3 * 40
    truth = np.exp(np.sin(2 * np.pi * later[:, 0] / 27.3))
    assert np.sqrt(np.mean((known.predict(later) - truth) ** 2)) < 0.1


def test_the_rough_function_has_more_evidence_under_the_rough_kernel(rng):
    """Of draws of either process, at known widths."""
    X = np.linspace(0, 10, 80)[:, None]
    for theirs, own, other in [
        (kernels.Matern(1.0, nu=1.5), Matern32(0.5), RBF(0.5)),
        (kernels.RBF(1.0), RBF(0.5), Matern32(0.5)),
    ]:
        root = np.linalg.cholesky(theirs(X) + 1e-9 * np.eye(80))
        gains = []
        for _ in range(5):
            y = root @ rng.standard_normal(80) + 0.03 * rng.standard_normal(80)
            fits = [
                RVR(kernel, remainder="process", noise_variance=1e-3, centers=1).fit(X, y)
                for kernel in (own, other)
            ]
            gains.append(fits[0].log_evidence_ - fits[1].log_evidence_)
        assert np.mean(gains) > 0


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (RationalQuadratic(alpha=0.0), "alpha=0.0, expected 'evidence' or a finite number > 0"),
        (RationalQuadratic(alpha="ard"), "alpha='ard', expected 'evidence' or a finite number"),
        (Periodic(-1.0), "period=-1.0, expected a finite number > 0"),
        (Periodic(1.0, gamma="scale"), "gamma='scale', expected 'evidence', 'ard'"),
        (Periodic(1.0, gamma=-1.0), "gamma"),
    ],
)
def test_parameters_out_of_range_are_refused(kernel, message, rng):
    with pytest.raises((ValueError, TypeError), match=message):
        kernel.fit(rng.standard_normal((5, 1)))
