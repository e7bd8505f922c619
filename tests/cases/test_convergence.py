"""Fits that are stopped early, and numbers that must belong to the same step."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from relvec import RVR
from relvec.basis import RBF, Bias, Columns, Concatenate
from tests.support import inputs
from tests.support.covering import covering
from tests.support.machines import MACHINES, answers
from tests.support.reference import log_evidence_exact


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("max_iter", [1, 2])
def test_too_few_passes_warn_and_leave_a_usable_model(max_iter, kernel, machine):
    X, y = inputs.noisy_sinc(50, noise=0.05, seed=41)
    y = machine.target(y)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = machine.make(kernel=kernel, max_iter=max_iter).fit(X, y)
    assert model.n_iter_ == max_iter * len(model.fit_result_.outputs)
    assert "max_iter" in model.status_
    assert np.isfinite(answers(model, X)).all()
    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_, rel=1e-8)


def test_an_ordinary_fit_converges(machine):
    X, y = inputs.noisy_sinc(50, noise=0.05, seed=41)
    model = machine.make().fit(X, machine.target(y))
    assert 1 <= model.n_iter_ < model.get_params()["max_iter"]
    assert "converged" in model.status_


@pytest.mark.parametrize("n", [40, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("machine", "kernel", "gamma"),
    covering(MACHINES, ["rbf", "laplacian", "linear_spline", "sigmoid"], [1e-6, 1e-4, 1e-2, 1.0]),
    indirect=["machine"],
)
@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_adds_and_deletes_do_not_cycle(kernel, gamma, n, machine):
    """Lost digits on wide kernels make a function come and go for ever; it would warn here."""
    X, y = inputs.noisy_sinc(n, seed=39, slope=0.1)
    y = machine.target(y)
    model = machine.make(kernel=kernel, gamma=gamma).fit(X, y)
    assert model.n_iter_ < 200
    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_, rel=1e-8)


@pytest.mark.parametrize("noise_variance", [None, 0.01])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear_spline", "linear", "poly"])
def test_posterior_of_the_stored_numbers_is_the_stored_posterior(
    kernel, fit_intercept, noise_variance
):
    X, y = inputs.noisy_sinc(35, seed=43, slope=0.1)
    model = RVR(kernel=kernel, fit_intercept=fit_intercept, noise_variance=noise_variance)
    Phi, beta = model.fit(X, y).basis_.transform(X), 1 / model.noise_variance_
    Phi, t = Phi - fit_intercept * Phi.mean(axis=0), y - fit_intercept * y.mean()
    whitened = np.sqrt(beta / model.weight_precision_) * Phi
    covariance = np.linalg.inv(np.eye(len(model.relevance_)) + whitened.T @ whitened)
    spread = 1 / np.sqrt(model.weight_precision_)
    weights = spread * (covariance @ (whitened.T @ (np.sqrt(beta) * t)))
    np.testing.assert_allclose(model.dual_coef_, weights, rtol=1e-6)
    np.testing.assert_allclose(
        model.weight_covariance_, covariance * np.outer(spread, spread), rtol=1e-6, atol=0
    )
    well = 1 - model.weight_precision_ * np.diag(model.weight_covariance_)
    np.testing.assert_allclose(model.well_determined_, well, atol=1e-9)


def test_evidence_of_the_stored_numbers_is_the_stored_evidence():
    X, y = inputs.fifteen_rows()
    for kernel, fit_intercept in [
        (Columns(), True),
        (Columns(), False),
        (Concatenate([Bias(), RBF(gamma=0.5)]), False),
    ]:
        model = RVR(kernel=kernel, fit_intercept=fit_intercept).fit(X, y)
        expected = log_evidence_exact(
            model.basis_.transform(X),
            y,
            model.weight_precision_,
            1 / model.noise_variance_,
            fit_intercept=fit_intercept,
        )
        assert model.log_evidence_ == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(
    ("machine", "seed", "kernel"),
    covering(MACHINES, range(41, 44), ["rbf", "linear_spline"]),
    indirect=["machine"],
)
def test_evidence_rises_with_every_pass_of_a_start(kernel, seed, machine):
    X, y = inputs.noisy_sinc(50, noise=0.05, seed=seed)
    model = machine.make(kernel=kernel).fit(X, machine.target(y))
    assert {row.machine for row in model.history_} == set(range(len(model.fit_result_.outputs)))
    for ascent in {(row.machine, row.start) for row in model.history_}:
        trace = np.array(
            [row.log_evidence for row in model.history_ if (row.machine, row.start) == ascent]
        )
        assert (np.diff(trace) >= -1e-8 * np.abs(trace[1:])).all()


def test_no_stationary_point_is_left_in_the_noise():
    """At the optimum beta r = N - sum gamma (eq. 18), for the contrasts with an intercept."""
    X, y = inputs.noisy_sinc(60, seed=44)
    for fit_intercept in (True, False):
        model = RVR(fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
        residual = y - model.predict(X)
        freedom = len(y) - fit_intercept - model.well_determined_.sum()
        np.testing.assert_allclose(model.noise_variance_, residual @ residual / freedom, rtol=1e-3)
