"""The Gaussian posterior nearest to that of the weights, against the definition of its bound."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_expit
from scipy.stats import multivariate_normal, norm

from relvec import RVC
from relvec._design import DenseDesign
from relvec._evidence import evidence_model, gaussian_posterior
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.variational import SurrogateRows
from relvec.basis import RBF, Process
from relvec.likelihoods import Bernoulli
from relvec.likelihoods.bernoulli import ExpectedLogistic
from relvec.likelihoods.quadrature import expectation
from tests.support import laplace
from tests.support.differences import derivative

LIKELIHOOD = ExpectedLogistic()


@pytest.fixture
def closely(monkeypatch):
    monkeypatch.setattr(gaussian_posterior, "AT_REST", 1e-16)


@pytest.mark.parametrize("variance", [1e-3, 0.5, 30.0, 1e5])
def test_surrogates_are_expectations(variance):
    mean = np.array([[-40.0], [-3.0], [0.0], [2.0], [300.0]])
    spread = np.full((5, 1), variance)
    for t, sign in ((np.ones((5, 1)), 1.0), (np.zeros((5, 1)), -1.0)):
        found = LIKELIHOOD.surrogate(t, mean, spread[:, :, None])
        log_prob = found.value - 0.5 * found.weight[:, 0, 0] * variance
        for value, function in (
            (log_prob, lambda y, sign=sign: log_expit(sign * y)),
            (found.gradient[:, 0], lambda y, t=t: Bernoulli().gradient(t[0], y)),
            (found.weight[:, 0, 0], lambda y: Bernoulli().neg_hessian(None, y)[:, :, 0]),
        ):
            expected = expectation(function, mean, spread)[:, 0]
            np.testing.assert_allclose(value, expected, rtol=1e-9, atol=2e-8)


@pytest.mark.parametrize("center", [False, True])
def test_no_other_gaussian_has_a_greater_bound(center, rng, closely):
    """The bound is E log p(t, w) and the entropy; the intercept has the density one."""
    problem = laplace.draw(rng, Bernoulli(), center)
    model = evidence_model(LIKELIHOOD, problem.design, problem.t)
    alpha = np.full(problem.Phi.shape[1], 0.7)
    found = model.at(model.hyper_of(alpha))
    X, n = np.hstack([problem.Phi, np.ones((len(problem.t), int(center)))]), len(alpha)

    def bound(mean, covariance):
        y, variance = X @ mean[:, None], np.einsum("nk,kl,nl->n", X, covariance, X)[:, None]
        log_prob = expectation(lambda y, s: log_expit(s * y), y, variance, 2 * problem.t - 1).sum()
        square = covariance.diagonal()[:n] + mean[:n] ** 2
        log_prior = 0.5 * (np.log(alpha / (2 * np.pi)) - alpha * square).sum()
        entropy = multivariate_normal(np.zeros(len(mean)), covariance).entropy()
        return log_prob + log_prior + entropy

    weights = found.weights[:, 0] / problem.design.scale
    level = found.mode.linear_predictor[0] - problem.Phi[0] @ weights
    mean = np.append(weights, level)[: X.shape[1]]
    B = SurrogateRows(1).neg_hessian(found.mode.t, np.zeros_like(problem.t))[:, 0]
    covariance = np.linalg.inv((X * B).T @ X + np.diag(np.append(alpha, 0.0)[: X.shape[1]]))
    best = bound(mean, covariance)
    assert found.log_evidence == pytest.approx(best, abs=1e-6)
    root = np.linalg.cholesky(covariance)
    for _ in range(5):
        step = 0.02 * rng.standard_normal(root.shape)
        assert bound(mean + root @ step[0], covariance) < best
        moved = root @ (np.eye(len(root)) + step)
        assert bound(mean, moved @ moved.T) < best


@pytest.mark.parametrize("alpha", [0.03, 0.3])
def test_the_bound_is_under_the_evidence_and_above_that_of_other_bounds(alpha, rng, closely):
    phi = rng.normal(size=(20, 1))
    t = (rng.random((20, 1)) < 0.5 + 0.5 * np.tanh(2 * phi)).astype(float)
    design, sign = DenseDesign(phi.copy(), center=False), 2 * t - 1

    def density(w):
        return np.exp(log_expit(sign * phi * w).sum()) * norm.pdf(w, scale=alpha**-0.5)

    exact = np.log(quad(density, -30, 30, points=[0, 2, 5], limit=200)[0])
    nearest, touching = (
        evidence_model(each, design, t) for each in (LIKELIHOOD, Bernoulli().bound())
    )
    hyper = nearest.hyper_of(np.array([alpha]))
    touched = touching.at(hyper)
    for _ in range(100):
        touched = touching.at(hyper, touched.warm_start())
    assert touched.log_evidence < nearest.at(hyper).log_evidence < exact
    assert nearest.at(hyper).log_evidence == pytest.approx(exact, abs=0.03)


@pytest.mark.parametrize("center", [False, True])
def test_slopes_are_those_of_differences(center, rng, closely):
    problem = laplace.draw(rng, Bernoulli(), center)
    labels = np.array([0, 0, 1, 2, 2, 2, 3])

    def model(Phi):
        return evidence_model(LIKELIHOOD, DenseDesign(Phi, center=center, groups=labels), problem.t)

    at = model(problem.Phi.copy())
    hyper = Hyperparameters(np.arange(6), np.array([0.5, 2.0, 0.1]), group=labels[:6])
    found = at.at(hyper)
    slope = derivative(
        lambda place: at.at(hyper.at(np.exp(place), hyper.beta)).log_evidence,
        np.log(hyper.alpha),
        step=1e-2,
    )
    np.testing.assert_allclose(found.evidence_gradient(), slope, rtol=1e-6, atol=1e-6)
    direction, alpha = rng.normal(size=problem.Phi.shape), np.ones(7)
    found, slope = (
        at.at(at.hyper_of(alpha)),
        derivative(
            lambda h: model(problem.Phi + h * direction).log_evidence(alpha), 0.0, step=1e-3
        ),
    )
    assert (at.function_slope(found) * direction).sum() == pytest.approx(slope, abs=1e-6)


def test_copies_count_as_rows(rng, closely):
    problem = laplace.draw(rng, Bernoulli(), True)
    copies = rng.integers(0, 4, len(problem.t))
    alpha, Phi = np.full(problem.Phi.shape[1], 0.7), problem.Phi
    weighed = DenseDesign(Phi.copy(), center=True, weights=copies.astype(float))
    repeated = DenseDesign(np.repeat(Phi, copies, axis=0), center=True)
    evidences = [
        evidence_model(LIKELIHOOD, weighed, problem.t).log_evidence(alpha),
        evidence_model(LIKELIHOOD, repeated, np.repeat(problem.t, copies, axis=0)).log_evidence(
            alpha
        ),
    ]
    assert evidences[0] == pytest.approx(evidences[1], abs=1e-9)


def test_classes_far_apart_are_told_with_less_doubt_than_by_laplaces_method(rng):
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 2)) + np.where(y, 3.0, -3.0)[:, None]
    nearest, at_mode = (
        RVC(Process(RBF(0.1)), approximation=how).fit(X, y) for how in ("variational", "laplace")
    )
    sure, timid = (model.predict_proba(X)[range(40), y].min() for model in (nearest, at_mode))
    assert sure > timid
    assert nearest.log_evidence(X, y) == pytest.approx(nearest.log_evidence_, abs=1e-5)


def test_classes_and_rows_have_no_order(rng):
    X, order = rng.normal(size=(40, 2)), rng.permutation(40)
    y = (rng.random(40) < 0.5 + 0.5 * np.tanh(2 * X[:, 0])).astype(int)
    model = RVC("processes", approximation="variational").fit(X, y)
    other = RVC("processes", approximation="variational", memory_limit=1.0)
    p = other.fit(X[order], 1 - y[order]).predict_proba(X)
    np.testing.assert_allclose(p[:, ::-1], model.predict_proba(X), atol=1e-5)
    assert other.log_evidence_ == pytest.approx(model.log_evidence_, abs=1e-5)


def test_a_softmax_has_laplaces_posterior_alone(rng):
    X = rng.normal(size=(30, 2))
    model = RVC(approximation="variational", multi_class="multinomial")
    with pytest.raises(ValueError, match=r"approximation='variational'.*'laplace'.*multinomial"):
        model.fit(X, np.arange(30) % 3)
