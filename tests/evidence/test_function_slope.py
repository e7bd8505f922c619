"""Slopes of the evidence in the input scales, against finite differences at a pruned model."""

import numpy as np
import pytest

from relvec._design import DenseDesign
from relvec._evidence import evidence_model
from relvec._fitting.scale_ascent import theta_of, with_theta
from relvec.basis import RBF, Centers, Laplacian, PolynomialKernel, Sigmoid
from relvec.likelihoods import Bernoulli, Categorical, Gaussian, Poisson
from tests.support.differences import derivative

KERNELS = [
    RBF,
    Laplacian,
    lambda gamma: PolynomialKernel(degree=2, gamma=gamma, coef0=0.5),
    lambda gamma: Sigmoid(gamma=gamma, coef0=-0.2),
]
ALPHA = np.array([0.5, 1.0, 2.0, 0.1, 0.7])


@pytest.fixture(scope="module")
def data():
    """Inputs in different units far from zero, a smooth function of them, copies of the rows."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((40, 3)) * [1.0, 2.0, 0.5] + [0.0, 3.0, 1.0]
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1], rng.randint(1, 4, 40).astype(float)


def targets(likelihood, f):
    """Draw targets of the kind that a likelihood is for."""
    rng = np.random.RandomState(1)
    if isinstance(likelihood, Categorical):
        return np.eye(3)[np.digitize(f + 0.5 * rng.standard_normal(40), [0.3, 1.2])]
    noisy = f + 0.5 * rng.standard_normal(40)
    kinds = {Gaussian: noisy, Bernoulli: noisy > 1, Poisson: np.floor(np.exp(noisy))}
    return kinds[type(likelihood)].astype(float)[:, None]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("gamma", ["evidence", "ard"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "likelihood", [Gaussian(0.1), Bernoulli(), Poisson(), Categorical(3)], ids=lambda x: type(x)
)
def test_slope_in_the_scales(data, likelihood, kernel, gamma, intercept):
    """The chain of ∂L/∂Φ and ∂Φ/∂log η is the derivative of the evidence, α in raw units held."""
    X, f, weights = data
    t = targets(likelihood, f)
    basis = kernel(gamma=gamma).place(X, Centers.on(X, np.array([1, 5, 9, 20, 33])), weights)
    start = theta_of(basis)
    assert len(start) == (1 if gamma == "evidence" else 3)

    def evidence(theta):
        moved = with_theta(basis, theta)
        design = DenseDesign(moved.evaluate(X), center=intercept, weights=weights)
        inference = evidence_model(likelihood, design, t).all_active()
        point = inference.at(inference.hyper_of(ALPHA))
        D = inference.function_slope(point)
        return point.log_evidence, np.ravel(*moved.hyper_gradient(X, D).values())

    expected = derivative(lambda place: evidence(place)[0], start)
    np.testing.assert_allclose(evidence(start)[1], expected, rtol=1e-5, atol=1e-5)
