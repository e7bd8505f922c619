"""RVR(likelihood="student_t"): targets with outliers."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import t as student
from sklearn.exceptions import ConvergenceWarning

from relvec import RVR, SparseBayesianRegressor
from relvec.basis import RBF
from relvec.datasets import make_sinc
from relvec.likelihoods import StudentT
from tests.support.differences import derivative
from tests.support.inputs import noisy_sinc

QUERY = np.linspace(-12.0, 12.0, 9)[:, None]


def contaminated(n=60, seed=0, size=4.0):
    """A sinc with normal noise, one target in twelve of which is moved far away."""
    draw = np.random.RandomState(seed)
    X = np.sort(draw.uniform(-10, 10, (n, 1)), axis=0)
    clean = np.sinc(X[:, 0] / np.pi) + 0.1 * draw.standard_normal(n)
    moved = draw.permutation(n) < n // 12
    return X, clean + np.where(moved, size * draw.choice([-1, 1], n), 0.0), clean


def fit(X, y, **parameters):
    return RVR(RBF(1 / 9), likelihood="student_t", **parameters).fit(X, y)


def bound(model, X, t, alpha, scale2, nu, precision):
    """The lower bound, from dense matrices, at the posterior that some row precisions give.

    Σ log St(⟨(t − y)²⟩) less the divergence of q(w) from its prior; with an intercept, which has a
    flat prior, of the contrasts.
    """
    Phi, flat = model.basis_.transform(X), int(model.fit_intercept)
    A = np.append(alpha, np.zeros(flat))
    if flat:
        Phi = np.column_stack([Phi, np.ones(len(Phi))])
    covariance = np.linalg.inv((Phi.T * precision) @ Phi / scale2 + np.diag(A))
    mean = covariance @ Phi.T @ (precision * t) / scale2
    square = (t - Phi @ mean) ** 2 + np.einsum("ni,ij,nj->n", Phi, covariance, Phi)
    expected = StudentT(scale2, nu).log_prob_at(square / scale2).sum()
    by_prior = 0.5 * (np.log(alpha).sum() - A @ (mean**2 + covariance.diagonal()))
    entropy = 0.5 * (np.linalg.slogdet(covariance)[1] + len(A))
    return expected + by_prior + entropy + flat * 0.5 * np.log(2 * np.pi * len(t))


def place(model):
    """Precisions, σ² and ν of a model, and ⟨u⟩ of the rows of its training data."""
    noise = model.fit_result_.outputs[0].likelihood
    return model.weight_precision_, noise.scale2, noise.degrees_of_freedom


def touching(model, X, t):
    latent, std = model.predict_latent(X, return_std=True)
    noise = model.fit_result_.outputs[0].likelihood
    return noise.row_precision(((t - latent) ** 2 + std**2) / noise.scale2)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_evidence_is_the_bound_of_dense_matrices_and_is_stationary(fit_intercept):
    """In every precision, in σ², in ν within its range and in the scales of the rows."""
    X, y, _ = contaminated()
    model = fit(X, y, fit_intercept=fit_intercept, tol=1e-5)
    alpha, scale2, nu = place(model)
    u = touching(model, X, y)
    value = bound(model, X, y, alpha, scale2, nu, u)
    assert model.log_evidence_ == pytest.approx(value, abs=1e-6)

    def moved(logs):
        return bound(model, X, y, alpha * np.exp(logs[:-1]), scale2 * np.exp(logs[-1]), nu, u)

    np.testing.assert_allclose(derivative(moved, np.zeros(len(alpha) + 1)), 0, atol=0.01)
    for n in range(0, len(y), 7):
        step = np.exp(0.1 * (np.arange(len(y)) == n))
        assert bound(model, X, y, alpha, scale2, nu, u * step) < value
        assert bound(model, X, y, alpha, scale2, nu, u / step) < value
    assert nu == 3.0  # the end of its range, where fewer would be better
    assert bound(model, X, y, alpha, scale2, 1.01 * nu, u) < value


def test_degrees_of_freedom_within_their_range_are_stationary():
    X, y = noisy_sinc(200)[0], np.zeros(200)
    draw = np.random.RandomState(1)
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * draw.standard_t(6.0, 200)
    model = fit(X, y, tol=1e-5)
    alpha, scale2, nu = place(model)
    assert 3.5 < nu < 30
    u = touching(model, X, y)
    up, down = (bound(model, X, y, alpha, scale2, nu * f, u) for f in (np.exp(0.01), np.exp(-0.01)))
    assert (up - down) / 0.02 == pytest.approx(0, abs=0.01)


def test_bound_is_under_the_evidence():
    """One weight without an intercept, whose posterior is integrated out numerically."""
    X, y, _ = contaminated(n=24)
    model = RVR(
        RBF(0.05), likelihood="student_t", fit_intercept=False, centers=[[0.0]], tol=1e-4
    ).fit(X, y)
    alpha, scale2, nu = place(model)
    phi = model.basis_.transform(X)[:, 0]

    def density(w):
        rows = student.logpdf(y, nu, loc=phi * w, scale=scale2**0.5).sum()
        return np.exp(rows + 0.5 * np.log(alpha[0] / (2 * np.pi)) - 0.5 * alpha[0] * w**2 + shift)

    shift = -model.log_evidence_
    centre = model.dual_coef_[0]
    integral = quad(density, centre - 2, centre + 2, points=[centre], epsabs=1e-12)[0]
    gap = np.log(integral)
    assert 0 < gap < 1


@pytest.mark.parametrize("solver", ["sequential", "fixed_point", "em", "variational"])
def test_every_solver_finds_the_function_and_the_bound_never_falls(solver):
    X, y, _ = contaminated()
    model = fit(X, y, solver=solver, max_iter=20_000)
    error = model.predict(QUERY[1:-1]) - np.sinc(QUERY[1:-1, 0] / np.pi)
    assert np.abs(error).max() < 0.2
    rows = model.history_
    assert model.n_iter_ >= len(rows)
    assert [row.seconds for row in rows] == sorted(row.seconds for row in rows)
    if solver == "sequential":
        assert rows[-1].log_evidence == pytest.approx(model.log_evidence_, abs=1e-3)
        for before, after in pairwise(rows):
            if before.n_active <= after.n_active:  # a function may go that is worth less than tol
                assert after.log_evidence >= before.log_evidence - 1e-8


@pytest.mark.parametrize("seeds", [range(24), pytest.param(range(60), marks=pytest.mark.slow)])
def test_outliers_hardly_move_the_function_and_do_under_gaussian_noise(seeds):
    """One target in twenty, at 20 to 50 standard deviations; errors over that of the clean fit."""
    grid, errors = np.linspace(-10, 10, 500)[:, None], []
    for seed in seeds:
        draw = np.random.RandomState(seed)
        X, clean = make_sinc(100, noise_scale=0.1, random_state=draw)
        moved = draw.permutation(100) < 5
        y = clean + moved * draw.choice([-1, 1], 100) * draw.uniform(2, 5, 100)
        fits = [RVR(gamma=1 / 9, likelihood=name) for name in ("gaussian", "gaussian", "student_t")]
        for model, t in zip(fits, (clean, y, y), strict=True):
            model.fit(X, t)
        truth = np.sinc(grid[:, 0] / np.pi)
        errors.append([np.mean((model.predict(grid) - truth) ** 2) for model in fits])
    clean, gaussian, robust = np.sqrt(np.mean(errors, axis=0))
    assert robust < 1.2 * clean
    assert gaussian > 3 * clean


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_normal_noise_gives_the_gaussian_fit(fit_intercept):
    X, _, clean = contaminated(100, seed=3)
    found = fit(X, clean, fit_intercept=fit_intercept)
    gaussian = RVR(RBF(1 / 9), fit_intercept=fit_intercept).fit(X, clean)
    assert found.degrees_of_freedom_ > 9000
    at_same = gaussian.log_evidence_ - 1
    assert found.log_evidence_ > at_same
    assert_allclose(found.predict(QUERY), gaussian.predict(QUERY), atol=0.05)
    assert found.noise_variance_ == pytest.approx(gaussian.noise_variance_, rel=0.05)


def test_evidence_of_the_training_data_is_that_of_the_fit():
    X, y, _ = contaminated()
    model = fit(X, y)
    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_, abs=1e-5)


def test_units_and_shift_of_the_target_do_not_matter():
    X, y, _ = contaminated()
    here, there = fit(X, y), fit(X, 1e6 - 1e3 * y)
    assert_allclose(there.predict(QUERY), 1e6 - 1e3 * here.predict(QUERY), rtol=1e-8)
    assert there.noise_scale_ == pytest.approx(1e3 * here.noise_scale_, rel=1e-5)
    assert there.degrees_of_freedom_ == here.degrees_of_freedom_
    jacobian = (len(y) - 1) * np.log(1e3)
    assert there.log_evidence_ == pytest.approx(here.log_evidence_ - jacobian, abs=1e-4)


def test_weights_are_copies():
    X, y, _ = contaminated()
    copies = np.random.RandomState(0).randint(0, 4, len(y))
    weighted = RVR(RBF(1 / 9), likelihood="student_t").fit(X, y, sample_weight=copies)
    copied = fit(X.repeat(copies, axis=0), y.repeat(copies))
    assert_allclose(weighted.predict(QUERY), copied.predict(QUERY), atol=1e-5)
    assert weighted.log_evidence_ == pytest.approx(copied.log_evidence_, abs=1e-4)
    assert weighted.noise_scale_ == pytest.approx(copied.noise_scale_, rel=1e-4)


def test_predictions_add_the_noise_to_the_function():
    X, y, _ = contaminated()
    model = fit(X, y)
    latent, band = model.predict_latent(QUERY, return_std=True)
    mean, std = model.predict(QUERY, return_std=True)
    _, covariance = model.predict(QUERY, return_cov=True)
    nu, scale = model.degrees_of_freedom_, model.noise_scale_
    assert model.noise_variance_ == pytest.approx(scale**2 * nu / (nu - 2))
    assert_allclose(mean, latent)
    assert_allclose(std**2, band**2 + model.noise_variance_)
    assert_allclose(covariance.diagonal(), std**2)
    drawn = model.sample_y(QUERY, 40_000, random_state=0, noise=True)
    low, high = model.predict_interval(QUERY, coverage=0.8)
    held = ((drawn > low[:, None]) & (drawn < high[:, None])).mean(axis=1)
    assert_allclose(held, 0.8, atol=0.01)


def test_columns_of_x_and_independent_targets():
    draw = np.random.RandomState(0)
    X = draw.standard_normal((80, 5))
    y = 2 * X[:, 1] + 0.1 * draw.standard_normal(80)
    y[::15] += 50
    model = SparseBayesianRegressor(likelihood="student_t").fit(X, y)
    assert_allclose(model.coef_, [0, 2, 0, 0, 0], atol=0.05)
    both = RVR("linear", likelihood="student_t", multi_output="independent")
    both.fit(X, np.column_stack([y, -y]))
    assert both.degrees_of_freedom_.shape == (2,)
    assert_allclose(both.predict(X)[:, 0], -both.predict(X)[:, 1], atol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"noise_variance": 0.1}, r"noise_variance=0\.1, expected None.*student_t"),
        ({"beta_prior": (1.0, 1.0)}, r"beta_prior.*expected \(0, 0\).*student_t"),
        ({"gamma": "evidence"}, "gamma='evidence' or 'ard'.*StudentT"),
        ({"gamma": "ard"}, "gamma='evidence' or 'ard'.*StudentT"),
    ],
)
def test_what_it_does_not_learn_is_refused_by_name(parameters, message):
    X, y, _ = contaminated(30)
    with pytest.raises(ValueError, match=message):
        RVR(likelihood="student_t", **parameters).fit(X, y)


def test_targets_that_share_functions_and_noise_known_by_row_are_refused_by_name():
    X, y, _ = contaminated(30)
    model = RVR(likelihood="student_t")
    with pytest.raises(ValueError, match="likelihood='student_t', expected 'gaussian'"):
        model.fit(X, np.column_stack([y, y**2]))
    with pytest.raises(ValueError, match="noise_variance_per_row"):
        model.fit(X, y, noise_variance_per_row=np.ones(30))
    with pytest.raises(ValueError, match=r"noise_variance_per_row.*student_t"):
        model.fit(X, y).predict(X, noise_variance_per_row=np.ones(30))
    with pytest.raises(AttributeError, match=r"degrees_of_freedom_.*gaussian"):
        _ = RVR().fit(X, y).degrees_of_freedom_


@pytest.mark.parametrize("max_iter", [1, 2, 7])
def test_passes_run_out_with_a_warning(max_iter):
    X, y, _ = contaminated()
    with pytest.warns(ConvergenceWarning, match=f"max_iter={max_iter}"):
        model = fit(X, y, max_iter=max_iter)
    assert model.n_iter_ <= max_iter
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("y", [[1.0] * 8, [0.0] * 7 + [1.0], [0.0, 0, 0, 0, 0, 1, 2, 3]])
def test_targets_more_than_half_of_which_are_equal(y):
    X = np.arange(8.0)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = RVR(likelihood="student_t").fit(X, y)
    assert np.isfinite(np.column_stack(model.predict(X, return_std=True))).all()
    assert np.isfinite(model.log_evidence_)
