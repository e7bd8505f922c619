"""Solvers and hyperpriors by the parameters of the estimators."""

import numpy as np
import pytest

from relvec import RVC, RVR
from tests.support.inputs import noisy_sinc
from tests.support.machines import MACHINES
from tests.support.reference import log_evidence_dense

TOP_DOWN = ["fixed_point", "em", "variational"]
SERVED = [
    (solver, kind)
    for solver in TOP_DOWN
    for kind in MACHINES
    if solver != "variational" or kind not in ("counts", "three classes")
]


@pytest.mark.parametrize(("solver", "kind"), SERVED)
@pytest.mark.parametrize("alpha_prior", [(0.0, 0.0), (0.5, 1e-3)])
def test_evidence_of_the_training_data_is_that_of_the_fit(solver, kind, alpha_prior):
    X, y = noisy_sinc(60)
    machine = MACHINES[kind]
    model = machine.make(solver=solver, alpha_prior=alpha_prior, max_iter=100_000)
    target = machine.target(y)
    model.fit(X, target)
    assert "converged" in model.status_
    assert model.log_evidence(X, target) == pytest.approx(model.log_evidence_, rel=1e-6)


@pytest.mark.parametrize("solver", ["sequential", *TOP_DOWN])
def test_evidence_includes_the_priors_in_the_units_of_the_user(solver):
    X, y = noisy_sinc(40)
    a, b = (0.0, 0.0) if solver == "sequential" else (0.5, 1e-3)
    c, d = 3.0, 0.2
    model = RVR(
        solver=solver, alpha_prior=(a, b), beta_prior=(c, d), max_iter=100_000, gamma=0.2
    ).fit(X, 10 * y)
    alpha, beta = model.weight_precision_, 1 / model.noise_variance_
    Phi = model.basis_.transform(X)
    evidence = log_evidence_dense(Phi, 10 * y, alpha, beta, fit_intercept=True)
    terms = (a * np.log(alpha) - b * alpha).sum() + c * np.log(beta) - d * beta
    assert model.log_evidence_ == pytest.approx(evidence + terms, rel=1e-7)


@pytest.mark.parametrize("solver", ["sequential", *TOP_DOWN])
@pytest.mark.parametrize("weight", [1, 1000])
def test_noise_obeys_a_prior_as_far_as_it_outweighs_the_data(solver, weight):
    """2c observations of variance 0.04 against 40 of variance 0.01."""
    X, y = noisy_sinc(40)
    model = RVR(solver=solver, beta_prior=(weight, 0.04 * weight), max_iter=10_000).fit(X, y)
    if weight == 1000:
        assert model.noise_variance_ == pytest.approx(0.04, rel=0.05)
    else:
        assert 0.005 < model.noise_variance_ < 0.02


@pytest.mark.parametrize("kind", ["counts", "three classes"])
def test_likelihoods_without_a_bound_are_refused_by_name(kind):
    X, y = noisy_sinc(20)
    machine = MACHINES[kind]
    with pytest.raises(ValueError, match=r"variational.*(Poisson|Categorical).*fixed_point"):
        machine.make(solver="variational").fit(X, machine.target(y))


@pytest.mark.parametrize("solver", TOP_DOWN)
@pytest.mark.parametrize("model", [RVR(), RVC()], ids=["regression", "classes"])
def test_another_start_is_refused_where_there_is_none(solver, model):
    X, y = noisy_sinc(20)
    target = y if isinstance(model, RVR) else y > np.median(y)
    with pytest.raises(ValueError, match=r"n_starts=3.*sequential"):
        model.set_params(solver=solver, n_starts=3).fit(X, target)
