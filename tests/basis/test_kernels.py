"""Every kernel against its formula for two points, and the scale γ against ``SVR``."""

from fractions import Fraction
from math import exp, pi, prod, sin, sqrt, tanh

import numpy as np
import pytest
from sklearn.svm import SVR

from relvec.basis import (
    KERNELS,
    RBF,
    CallableKernel,
    CategoricalKernel,
    Hamming,
    Kernel,
    Laplacian,
    LinearKernel,
    LinearSpline,
    Matern32,
    Matern52,
    Periodic,
    PolynomialKernel,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    Tanimoto,
)
from relvec.basis.kernels import MANY_FEATURES, SAFE_LENGTH2, squared_distances
from relvec.basis.scale import resolve_gamma

EACH = np.array([0.3, 0.0, 1.5])


def dot(x, z, gamma=(1, 1, 1)):
    return sum(g * a * b for g, a, b in zip(gamma, x, z, strict=True))


def spline(x, z):
    """Eq. 29, with 1 + xz + ∫ (x − u)₊ (z − u)₊ du from 0 in each factor."""
    m = min(x, z)
    return 1 + x * z + x * z * m - (x + z) * m**2 / 2 + m**3 / 3


def matern32(s):
    return (1 + sqrt(6 * s)) * exp(-sqrt(6 * s))


def matern52(s):
    return (1 + sqrt(10 * s) + 10 * s / 3) * exp(-sqrt(10 * s))


FORMULAS = {
    "rbf": (RBF(0.7), lambda x, z: exp(-0.7 * dot(x - z, x - z))),
    "rbf, one gamma each": (RBF(EACH), lambda x, z: exp(-dot(x - z, x - z, EACH))),
    "matern32": (Matern32(0.7), lambda x, z: matern32(0.7 * dot(x - z, x - z))),
    "matern32, one gamma each": (
        Matern32(EACH),
        lambda x, z: matern32(dot(x - z, x - z, EACH)),
    ),
    "matern52": (Matern52(0.7), lambda x, z: matern52(0.7 * dot(x - z, x - z))),
    "rational_quadratic": (
        RationalQuadratic(0.4, 0.7),
        lambda x, z: (1 + 0.7 * dot(x - z, x - z) / 0.4) ** -0.4,
    ),
    "periodic": (
        Periodic(1.7, EACH),
        lambda x, z: exp(
            -2 * sum(g * sin(pi * d / 1.7) ** 2 for g, d in zip(EACH, x - z, strict=True))
        ),
    ),
    "tanimoto": (Tanimoto(), lambda x, z: dot(x, z) / (dot(x, x) + dot(z, z) - dot(x, z))),
    "hamming": (Hamming(), lambda x, z: np.mean(x.round() == z.round())),
    "categorical": (CategoricalKernel(EACH), lambda x, z: exp(-dot(x.round() != z.round(), EACH))),
    "laplacian": (Laplacian(0.7), lambda x, z: exp(-0.7 * sum(abs(x - z)))),
    "laplacian, one gamma each": (Laplacian(EACH), lambda x, z: exp(-dot(abs(x - z), EACH))),
    "linear": (LinearKernel(), dot),
    "poly": (PolynomialKernel(3, 0.7, -0.4), lambda x, z: (0.7 * dot(x, z) - 0.4) ** 3),
    "poly, one gamma each": (
        PolynomialKernel(2, EACH, 1.0),
        lambda x, z: (dot(x, z, EACH) + 1) ** 2,
    ),
    "sigmoid": (Sigmoid(0.1, 0.3), lambda x, z: tanh(0.1 * dot(x, z) + 0.3)),
    "sigmoid, one gamma each": (Sigmoid(EACH), lambda x, z: tanh(dot(x, z, EACH))),
    "linear_spline": (LinearSpline(), lambda x, z: prod(map(spline, x, z))),
    "callable": (CallableKernel(lambda X, Z: X @ Z.T + 2), lambda x, z: dot(x, z) + 2),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_kernel_is_its_formula(name, rng):
    kernel, formula = FORMULAS[name]
    X, Z = rng.standard_normal((4, 3)), rng.standard_normal((5, 3))
    if isinstance(kernel, Hamming | CategoricalKernel):
        X, Z = X.round(), Z.round()
    expected = [[formula(x, z) for z in Z] for x in X]
    np.testing.assert_allclose(kernel.fit(Z).transform(X), expected, rtol=1e-13)


def test_every_named_kernel_has_a_formula():
    kernels = {name for name, kind in KERNELS.items() if issubclass(kind, Kernel)}
    assert kernels <= set(FORMULAS)


def test_linear_spline_is_the_integral_of_the_paper():
    """k(x, z) = 1 + xz + ∫_0^min(x, z) (x − u)(z − u) du, positive x and z."""
    for x, z in [(2.0, 3.5), (1.0, 1.0), (0.25, 4.0)]:
        u = (np.arange(100_000) + 0.5) / 100_000 * min(x, z)
        integral = ((x - u) * (z - u)).mean() * min(x, z)
        found = LinearSpline().fit([[z]]).transform([[x]])[0, 0]
        assert found == pytest.approx(1 + x * z + integral, rel=1e-9)


def test_precomputed_values_are_taken_as_they_are(rng):
    K = rng.standard_normal((5, 5))
    np.testing.assert_array_equal(Precomputed().fit(K).transform(K[:2]), K[:2])


@pytest.mark.parametrize(
    "kernel",
    [RBF(0.5), RBF(EACH), Laplacian(0.5), Laplacian(EACH), Matern32(EACH), Periodic(3.0, EACH)],
)
@pytest.mark.parametrize("origin", [2.0**20, -(2.0**40)])
def test_origin_of_the_inputs_costs_no_digits(kernel, origin, rng):
    """The inputs are multiples of 1/16, so that adding the origin loses nothing."""
    X, Z = (rng.integers(-40, 40, size=(n, 3)) / 16 for n in (5, 4))
    near = kernel.fit(Z).transform(X)
    np.testing.assert_array_equal(kernel.fit(Z + origin).transform(X + origin), near)


@pytest.mark.parametrize("cls", [RBF, Laplacian, Matern32, Matern52])
def test_kernels_of_distances_are_one_at_their_centre(cls, rng):
    X = 1e6 + rng.standard_normal((30, 40))
    np.testing.assert_allclose(cls(1e-3).fit(X).transform(X).diagonal(), 1, atol=1e-12)


# Distances


@pytest.mark.parametrize("n_features", [1, 3, MANY_FEATURES - 1])
def test_distances_of_few_features_are_exact_to_rounding(n_features, rng):
    X, Z = 1e3 + rng.standard_normal((4, n_features)), 1e3 + rng.standard_normal((3, n_features))
    exact = [
        [float(sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, z, strict=True))) for z in Z]
        for x in X
    ]
    np.testing.assert_allclose(squared_distances(X, Z, 1.0), exact, rtol=1e-14)


@pytest.mark.parametrize("length", [1.0, SAFE_LENGTH2**0.5, 1e8])
def test_distances_of_many_features_keep_eleven_digits_after_the_point(length, rng):
    """Expanded or not; what is lost is an absolute error, in units of the kernel's width."""
    shape = (6, MANY_FEATURES)
    X = rng.standard_normal(shape)
    X *= length / np.linalg.norm(X, axis=1, keepdims=True) / 2
    X[1:3] = X[0] + 1e-3 * rng.standard_normal((2, MANY_FEATURES))
    found = squared_distances(X, X, 1.0)
    expected = ((X[:, None] - X) ** 2).sum(axis=-1)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-11)


@pytest.mark.parametrize("n_features", [2, MANY_FEATURES])
def test_scale_multiplies_each_feature_before_it_is_squared(n_features, rng):
    X, scale = rng.standard_normal((5, n_features)), rng.uniform(0, 2, n_features)
    expected = ((scale * (X[:, None] - X)) ** 2).sum(axis=-1)
    np.testing.assert_allclose(squared_distances(X, X, scale), expected, atol=1e-11)


# γ


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_gamma_means_what_it_means_in_svr(gamma, rng):
    X = 5 + rng.standard_normal((30, 4)) * [1, 2, 3, 0.5]
    y = X.sum(axis=1)
    number = resolve_gamma(gamma, X, None)
    theirs, ours = SVR(gamma=gamma).fit(X, y), SVR(gamma=number).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert RBF(gamma).fit(X).gamma_ == number


def test_gamma_scale_is_one_where_nothing_varies():
    assert resolve_gamma("scale", np.full((5, 2), 3.0), None) == 1.0


def test_gamma_scale_counts_copies_and_leaves_out_absent_rows(rng):
    X, copies = rng.standard_normal((9, 2)), np.array([0, 1, 3] * 3)
    repeated = resolve_gamma("scale", np.repeat(X, copies, axis=0), None)
    assert resolve_gamma("scale", X, copies.astype(float)) == pytest.approx(repeated, rel=1e-12)


@pytest.mark.parametrize("origin", [1e6, 1e9])
def test_gamma_scale_far_from_zero_loses_no_more_than_the_inputs_did(origin, rng):
    X = rng.standard_normal((50, 1))
    far = resolve_gamma("scale", X + origin, None)
    assert far == pytest.approx(resolve_gamma("scale", X, None), rel=1e-14 * origin)


@pytest.mark.parametrize("gamma", [[1.0, 2.0], np.ones((3, 3)), [1.0, -1.0, 1.0], [0.0] * 3, "big"])
def test_gamma_that_is_none_is_refused(gamma, rng):
    with pytest.raises(ValueError, match="gamma"):
        RBF(gamma).fit(rng.standard_normal((5, 3)))


# Functions of the user's own


def test_callable_that_returns_another_shape_is_refused(rng):
    kernel = CallableKernel(lambda X, Z: np.ones(len(X)))
    with pytest.raises(ValueError, match=r"\(4,\), expected \(4, 4\)"):
        kernel.fit_transform(rng.standard_normal((4, 2)))


def test_callable_may_keep_what_it_returns(rng):
    kept = rng.standard_normal((4, 4))
    Phi = CallableKernel(lambda X, Z: kept).fit_transform(np.zeros((4, 2)))
    Phi[:] = 0
    assert kept.all()
