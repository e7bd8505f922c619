"""The evidence of Laplace's method against integrals over the weights, and between likelihoods."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from relvec._evidence.hyperparameters import Hyperparameters
from relvec.likelihoods import Bernoulli, Categorical, Gaussian, Poisson
from tests.support import laplace, reference
from tests.support.laplace import LatentProblem, targets

#: Likelihood, number of functions and intercept, such that one or two weights and levels are free.
TWO_AT_MOST = [
    (Bernoulli(), 1, False),
    (Bernoulli(), 2, False),
    (Bernoulli(), 1, True),
    (Poisson(), 1, False),
    (Poisson(), 2, False),
    (Poisson(), 1, True),
    (Categorical(3), 1, False),
]


def small(likelihood, count, center, n=20):
    x = np.linspace(-2, 2, n)
    Phi = np.column_stack([np.tanh(x + 0.3), np.cos(2 * x)])[:, :count]
    return LatentProblem(Phi, targets(likelihood, 1.5 * Phi[:, 0] + 0.5), likelihood, center)


def integral(dense, width=9.0, places=161):
    """log ∫ p(t|w) N(w; 0, A⁻¹) dw over a grid of whole standard deviations around the mode.

    The trapezium rule, whose error for such a function is less than any power of the step.
    """
    root, flat = np.linalg.cholesky(dense.bend.inverse), dense.bend.prior == 0
    z = np.linspace(-width, width, places)
    grid = np.stack(np.meshgrid(*[z] * len(root), indexing="ij"), axis=-1).reshape(-1, len(root))
    joint = dense.joint + grid @ root.T
    height = -0.5 * joint**2 @ dense.bend.prior
    for row, X in enumerate(dense.bend.joined):
        t = np.broadcast_to(dense.t[row], (len(joint), dense.t.shape[1]))
        height += dense.copies[row] * dense.likelihood.log_prob(t, joint @ X.T)
    cell = np.linalg.slogdet(root)[1] + len(root) * np.log(z[1] - z[0])
    prior = 0.5 * np.log(dense.bend.prior[~flat] / (2 * np.pi)).sum()
    return float(logsumexp(height) + cell + prior)


@pytest.mark.parametrize(("likelihood", "count", "center"), TWO_AT_MOST, ids=str)
def test_evidence_nears_the_integral_as_the_data_grow(likelihood, count, center):
    """With k copies of rows and prior alike the error is c/k + O(1/k²), of an exact integral."""
    problem = small(likelihood, count, center)
    alpha, errors = np.array([0.5, 2.0])[:count], []
    for k in (1, 2, 4, 8, 64):
        grown = replace(problem, copies=np.full(len(problem.t), float(k)))
        found = grown.inference.log_evidence(k * alpha)
        errors.append(found - integral(grown.dense(np.arange(count), k * alpha)))
    errors = np.array(errors)
    assert 1e-4 < np.abs(errors[0]) < 0.1, "an approximation"
    first_order = 8 * errors[3] * (2 - errors[2] / (2 * errors[3]))  # c, with 1/k² eliminated
    assert errors[4] * 64 == pytest.approx(first_order, rel=0.03)
    assert np.abs(errors[4]) < 0.03 * np.abs(errors[0])


def test_the_integral_of_a_gaussian_posterior_is_exact():
    """Where the grid and Laplace's method have to give the same."""
    problem = small(Gaussian(0.4), 2, True, n=9)
    dense = problem.dense([0, 1], [0.5, 2.0])
    assert integral(dense, places=41) == pytest.approx(dense.log_evidence, rel=1e-12)


def test_gaussian_noise_has_its_exact_evidence(rng, center):
    """A flat level counts √(2π) each, and the density of contrasts √N more."""
    problem = laplace.draw(rng, Gaussian(0.3), center)
    alpha = np.exp(rng.normal(size=7)) * problem.design.scale**2
    expected = reference.log_evidence_dense(
        problem.Phi, problem.t[:, 0], alpha, 1 / 0.3, fit_intercept=center
    )
    found = problem.inference.log_evidence(alpha)
    assert found + 0.5 * center * np.log(len(problem.t)) == pytest.approx(expected, rel=1e-9)


@pytest.fixture
def pair(center, rng):
    """Two classes as one output, and as a softmax with its precisions twice as large."""
    two = laplace.draw(rng, Bernoulli(), center)
    return two, replace(two, t=np.hstack([two.t, 1 - two.t]), likelihood=Categorical(2))


def test_a_softmax_of_two_classes_is_the_binary_machine_with_precisions_doubled(pair):
    """The log-odds are √2 times its output, which a flat level of that output counts too."""
    hyper = Hyperparameters(np.array([4, 0, 2]), np.array([0.3, 0.01, 0.05]))
    one, many = pair
    doubled = replace(hyper, alpha=2 * hyper.alpha)
    binary, softmax = one.inference.at(hyper), many.inference.at(doubled)
    level = 0.5 * np.log(2) * one.center
    assert softmax.log_evidence == pytest.approx(binary.log_evidence - level, abs=1e-8)
    np.testing.assert_allclose(np.sqrt(2) * softmax.weights, binary.weights, rtol=1e-7)
    np.testing.assert_allclose(softmax.variances[0], binary.variances[0], rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(softmax.gradient(), binary.gradient(), atol=1e-8)
    np.testing.assert_allclose(softmax.evidence_gradient(), binary.evidence_gradient(), atol=1e-7)
    gains = one.inference.scores(binary).gain, many.inference.scores(softmax).gain
    np.testing.assert_allclose(*gains, rtol=1e-6, atol=1e-8)


def test_predictions_of_a_softmax_of_two_classes_are_the_binary_machines(pair, rng):
    hyper = Hyperparameters(np.array([0, 2, 4]), np.array([0.3, 0.01, 0.05]))
    one, many = pair
    binary = one.inference.finalize(hyper)
    softmax = many.inference.finalize(replace(hyper, alpha=2 * hyper.alpha))
    Phi = one.Phi[:, hyper.active] * rng.uniform(0.5, 2, (len(one.t), 1))
    moments = [
        accepted.likelihood.mean_probabilities(
            accepted.posterior.latent_mean(Phi), accepted.posterior.latent_covariance(Phi)
        )
        for accepted in (binary, softmax)
    ]
    np.testing.assert_allclose(moments[1][:, ::-1], moments[0], atol=1e-3)
    np.testing.assert_allclose(softmax.alpha, 2 * binary.alpha)
    np.testing.assert_allclose(softmax.well_determined, binary.well_determined, rtol=1e-6)


# Where weights would be infinite


def separable(likelihood, center, n=12):
    """Classes side by side on a line, which the function x tells apart."""
    x = np.linspace(-1, 1, n)
    one_hot = np.eye(3)[np.arange(n) * 3 // n]
    t = one_hot if isinstance(likelihood, Categorical) else (x[:, None] > 0).astype(float)
    return LatentProblem(np.column_stack([x, x**2]), t, likelihood, center)


@pytest.mark.parametrize("likelihood", [Bernoulli(), Categorical(3)], ids=str)
@pytest.mark.parametrize("alpha", [1e-2, 1e-4, 1e-6])
def test_the_prior_holds_the_weights_of_classes_that_a_function_separates(
    likelihood, center, alpha
):
    problem, every = separable(likelihood, center), np.arange(2)
    found = problem.inference.at(Hyperparameters(every, np.full(2, alpha)))
    dense = problem.standard(every, np.full(2, alpha))
    size = np.abs(dense.weights).max()
    np.testing.assert_allclose(found.weights, dense.weights, atol=1e-3 * size)
    assert found.log_evidence == pytest.approx(dense.log_evidence, abs=1e-3)


@pytest.mark.parametrize("likelihood", [Bernoulli(), Categorical(3)], ids=str)
def test_a_prior_that_hardly_holds_them_is_nothing_to_stumble_over(likelihood, center):
    problem = separable(likelihood, center)
    for alpha in 10.0 ** np.arange(-8, -24, -3):
        found = problem.inference.at(Hyperparameters(np.arange(2), np.full(2, alpha)))
        assert np.isfinite(found.weights).all()
        assert np.isfinite(found.log_evidence)
