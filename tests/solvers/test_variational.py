"""The variational bound against its definition, term by term: expectations and entropies."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import dblquad
from scipy.special import digamma, log_expit
from scipy.stats import gamma as gamma_distribution
from scipy.stats import multivariate_normal

from relvec._fitting.alternating import fit
from relvec._numerics.priors import Gamma
from relvec.likelihoods import Bernoulli, Gaussian
from relvec.solvers import EM, Variational
from tests.support import laplace, problems
from tests.support.differences import derivative
from tests.support.problems import Problem

Array = NDArray[np.float64]
SOLVER = Variational(tol=1e-9, max_iter=100_000)


@dataclass(frozen=True)
class Precision:
    """q of one precision, a Gamma, under a prior without its constant."""

    shape: float
    rate: float
    prior: Gamma

    @property
    def mean(self):
        return self.shape / self.rate

    @property
    def log_mean(self):
        """⟨log α⟩."""
        return float(digamma(self.shape) - np.log(self.rate))

    @property
    def own(self):
        """⟨log p⟩ and the entropy."""
        log_prior = (self.prior.shape - 1) * self.log_mean - self.prior.rate * self.mean
        return log_prior + float(gamma_distribution.entropy(self.shape, scale=1 / self.rate))


@dataclass(frozen=True)
class Regression:
    """q(w, α, β) of a linear model with its lower bound."""

    Phi: Array
    t: Array
    mean: Array
    root: Array  # of the covariance
    alphas: tuple[Precision, ...]
    beta: Precision

    @property
    def covariance(self):
        return self.root @ self.root.T

    @property
    def of_weights(self):
        """⟨log p(w | α)⟩ and the entropy."""
        square = self.mean**2 + self.covariance.diagonal()
        prior = sum(
            0.5 * (alpha.log_mean - np.log(2 * np.pi) - alpha.mean * each)
            for alpha, each in zip(self.alphas, square, strict=True)
        )
        return prior + multivariate_normal(self.mean, self.covariance).entropy()

    @property
    def of_data(self):
        """⟨log p(t | w, β)⟩."""
        misfit = ((self.t - self.Phi @ self.mean) ** 2).sum()
        misfit += np.trace(self.Phi @ self.covariance @ self.Phi.T)
        constant = self.beta.log_mean - np.log(2 * np.pi)
        return 0.5 * (len(self.t) * constant - self.beta.mean * misfit)

    @property
    def bound(self):
        return self.of_data + self.of_weights + self.beta.own + sum(a.own for a in self.alphas)


def of_solution(problem, found, alpha_prior, beta_prior):
    """q of a solution: the best normal for the means of the precisions, and their Gammas."""
    Phi, t = problem.contrasts @ problem.Phi[:, found.active], problem.contrasts @ problem.t
    beta = 1 / found.likelihood.noise_variance
    covariance = np.linalg.inv(beta * Phi.T @ Phi + np.diag(found.alpha))
    shape = alpha_prior.shape + 0.5
    alphas = tuple(Precision(shape, shape / alpha, alpha_prior) for alpha in found.alpha)
    counted = beta_prior.shape + len(t) / 2
    noise = Precision(counted, counted / beta, beta_prior)
    mean = beta * covariance @ Phi.T @ t
    return Regression(Phi, t, mean, np.linalg.cholesky(covariance), alphas, noise)


def regular(center):
    problem = problems.draw(np.random.default_rng(3), center, 25, 6)
    return Problem(problem.Phi / np.linalg.norm(problem.Phi, axis=0), problem.t, center)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("alpha_prior", [Gamma(0.5, 100.0), Gamma(0.0, 50.0)])
@pytest.mark.parametrize("beta_prior", [Gamma(), Gamma(4.0, 30.0)])
def test_history_ends_at_the_bound(center, alpha_prior, beta_prior):
    problem = regular(center)
    solver = replace(SOLVER, alpha_prior=alpha_prior)
    found = fit(Gaussian(precision_prior=beta_prior), solver, problem.design, problem.t[:, None])
    assert len(found.active) == 6
    q = of_solution(problem, found, alpha_prior, beta_prior)
    assert found.history[-1].log_evidence == pytest.approx(q.bound, rel=1e-8)


def test_under_the_uniform_prior_history_leaves_out_what_infinite_precisions_add():
    problem = problems.smooth(True, n=25)
    found = fit(Gaussian(), SOLVER, problem.design, problem.t[:, None])
    assert 1 < len(found.active) < 10
    q = of_solution(problem, found, Gamma(), Gamma())
    alpha = Precision(0.5, 0.5 / 1e12, Gamma())
    alone = Regression(
        np.zeros((0, 1)), np.zeros(0), np.zeros(1), np.full((1, 1), 1e-6), (alpha,), q.beta
    )
    infinite = alone.of_weights + alpha.own
    expected = q.bound - len(found.active) * infinite
    assert found.history[-1].log_evidence == pytest.approx(expected, rel=1e-8)


def test_every_factor_is_the_best_given_the_others():
    """Finite differences of the bound in each factor's parameters."""
    problem, alpha_prior, beta_prior = regular(False), Gamma(0.5, 100.0), Gamma(4.0, 30.0)
    solver = replace(SOLVER, tol=1e-12, alpha_prior=alpha_prior)
    found = fit(Gaussian(precision_prior=beta_prior), solver, problem.design, problem.t[:, None])
    q = of_solution(problem, found, alpha_prior, beta_prior)

    def with_precision(i, **changes):
        alphas = list(q.alphas)
        alphas[i] = replace(q.alphas[i], **changes)
        return replace(q, alphas=tuple(alphas))

    def slope(changed):
        return derivative(lambda h: changed(h).bound, 0.0)

    spread = np.sqrt(q.covariance.diagonal())
    for i, each in enumerate(np.eye(6)):
        assert abs(slope(lambda h, e=each: replace(q, mean=q.mean + h * spread * e))) < 1e-5
        for j in range(i + 1):
            entry = np.outer(each, np.eye(6)[j]) * q.root[i, i]
            assert abs(slope(lambda h, e=entry: replace(q, root=q.root + h * e))) < 1e-5
        for name in ("shape", "rate"):
            value = getattr(q.alphas[i], name)
            assert (
                abs(slope(lambda h, v=value, n=name, k=i: with_precision(k, **{n: v * (1 + h)})))
                < 1e-5
            )
    for name in ("shape", "rate"):
        value = getattr(q.beta, name)
        assert (
            abs(
                slope(
                    lambda h, v=value, n=name: replace(q, beta=replace(q.beta, **{n: v * (1 + h)}))
                )
            )
            < 1e-5
        )


def test_means_are_the_precisions_of_expectation_maximisation():
    """Footnote 6: they are where it ends as well."""
    problem = problems.smooth(True)
    by_em = fit(
        Gaussian(), replace(EM(tol=1e-9), max_iter=100_000), problem.design, problem.t[:, None]
    )
    found = fit(Gaussian(), SOLVER, problem.design, problem.t[:, None])
    np.testing.assert_allclose(found.alpha, by_em.alpha, rtol=1e-9)
    assert found.log_evidence == pytest.approx(by_em.log_evidence, rel=1e-12)


# Two classes


def xi_bound(problem, found, prior):
    """The bound of two classes with every ξ at its best, iterated with dense matrices."""
    X = problem.Phi[:, found.active]
    precision = found.alpha
    if problem.center:
        X, precision = np.hstack([X, np.ones((len(X), 1))]), np.append(precision, 0.0)
    t, xi = problem.t[:, 0], np.ones(len(X))
    for _ in range(2000):
        lam = np.tanh(xi / 2) / (4 * xi)
        covariance = np.linalg.inv((X.T * 2 * lam) @ X + np.diag(precision))
        mean = covariance @ X.T @ (t - 0.5)
        xi = np.sqrt((X @ mean) ** 2 + np.einsum("nk,kl,nl->n", X, covariance, X))
    k = len(found.alpha)
    shape = prior.shape + 0.5
    alphas = tuple(Precision(shape, shape / alpha, prior) for alpha in found.alpha)
    square = (mean**2 + covariance.diagonal())[:k]
    weights = sum(
        0.5 * (alpha.log_mean - np.log(2 * np.pi) - alpha.mean * each)
        for alpha, each in zip(alphas, square, strict=True)
    )
    data = (log_expit(xi) + (t - 0.5) * (X @ mean) - xi / 2).sum()
    entropy = multivariate_normal(mean, covariance).entropy()
    updated = (0.5 + prior.shape) / (0.5 * square + prior.rate)
    return data + weights + entropy + sum(a.own for a in alphas), updated


@pytest.mark.parametrize("center", [False, True])
def test_history_ends_at_the_bound_of_two_classes(center):
    rng, prior = np.random.default_rng(3), Gamma(0.5, 1.0)
    problem = laplace.draw(rng, Bernoulli(), center, n=40, m=6)
    problem = replace(problem, Phi=problem.Phi / np.linalg.norm(problem.Phi, axis=0) * 4)
    solver = replace(SOLVER, alpha_prior=prior)
    found = fit(Bernoulli(), solver, problem.design, problem.t)
    assert len(found.active) == 6
    expected, updated = xi_bound(problem, found, prior)
    assert found.history[-1].log_evidence == pytest.approx(expected, rel=1e-7)
    np.testing.assert_allclose(found.alpha, updated, rtol=1e-4)
    dense = problem.dense(found.active, found.alpha).log_evidence
    terms = prior.shape * np.log(found.alpha).sum() - prior.rate * found.alpha.sum()
    assert found.log_evidence == pytest.approx(dense + terms, rel=1e-7)


@pytest.mark.parametrize("center", [False, True])
def test_no_pass_lowers_the_bound_of_two_classes(center):
    for seed in range(4):
        problem = laplace.smooth(Bernoulli(), center, n=40, width=[0.7, 2.0][seed % 2], seed=seed)
        for prior in (Gamma(), Gamma(0.5, 0.1)):
            solver = Variational(max_iter=10_000, alpha_prior=prior)
            found = fit(Bernoulli(), solver, problem.design, problem.t)
            trace = np.array([row.log_evidence for row in found.history])
            assert len(trace) > 10
            assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()


@pytest.mark.parametrize("likelihood", [Gaussian(0.5), Bernoulli()], ids=["noise", "classes"])
def test_the_bound_is_lower_than_the_evidence_of_all_weights_and_precisions(likelihood, rng):
    """By quadrature over the weight and log α of one function."""
    phi, prior = rng.standard_normal((20, 1)), Gamma(0.7, 0.4)
    t = likelihood.sample(1.3 * phi, np.random.RandomState(0))
    problem = Problem(phi, t[:, 0], False)
    found = fit(likelihood, replace(SOLVER, alpha_prior=prior), problem.design, t)
    bound = found.history[-1].log_evidence

    def density(w, log_alpha):
        alpha = np.exp(log_alpha)
        log_p = likelihood.log_prob(t, phi * w).sum() + prior.log_prob(np.array([alpha]))
        log_p += 0.5 * (log_alpha - np.log(2 * np.pi) - alpha * w**2)
        return np.exp(log_p - bound)

    whole = np.log(dblquad(density, -12, 6, -2, 5, epsabs=1e-6)[0])
    assert 0 < whole < 1
