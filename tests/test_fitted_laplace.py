"""Fitted classifiers and models of counts against dense matrices, on every kernel.

What is fitted are the precisions: given those, weights, spread and evidence have to follow.
"""

import numpy as np
import pytest
from sklearn.base import is_classifier

from tests.support.covering import covering
from tests.support.laplace import MODE, DenseMode
from tests.support.machines import MACHINES
from tests.test_fitted_evidence import CASES, data

pytestmark = pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
COPIES = np.arange(30) % 4


def close(expected):
    """As near as the modes are that a Newton step of 1e-9 nats leads to."""
    return pytest.approx(expected, abs=1e-6)


@pytest.fixture(params=[kind for kind in MACHINES if kind != "regression"])
def machine(request):
    """Every kind of estimator that Laplace's method is for."""
    return MACHINES[request.param]


def targets(model, y):
    """Target of each machine of an estimator, shape (n_samples, d)."""
    if not is_classifier(model):
        return [y[:, None]]
    one_hot = (y[:, None] == model.classes_).astype(float)
    if len(model.classes_) == 2:
        return [one_hot[:, 1:]]
    return [one_hot] if len(model.fit_result_.outputs) == 1 else list(one_hot.T[:, :, None])


def dense(model, X, y, copies=None):
    """The machines of a fitted estimator from its precisions alone."""
    Phi, alphas = model.basis_.transform(X), np.atleast_2d(model.weight_precision_)
    return [
        DenseMode(
            Phi[:, one.columns],
            t,
            one.likelihood,
            alpha[one.columns],
            model.fit_intercept,
            np.ones(len(X)) if copies is None else copies,
        )
        for one, t, alpha in zip(model.fit_result_.outputs, targets(model, y), alphas, strict=True)
    ]


def functions(model, machine, outputs):
    """What an estimator shows of outputs: the functions of classes, or the log rate."""
    return machine.likelihood.functions(outputs) if is_classifier(model) else outputs


@pytest.mark.parametrize(
    ("machine", "name", "fit_intercept"),
    covering([kind for kind in MACHINES if kind != "regression"], CASES, [False, True]),
    indirect=["machine"],
)
def test_weights_and_evidence_follow_from_the_precisions(name, fit_intercept, machine):
    X, y = data(name)
    y = machine.target(y)
    model = machine.make(kernel=CASES[name], fit_intercept=fit_intercept).fit(X, y)
    modes = dense(model, X, y)
    assert model.log_evidence_ == close(sum(mode.log_evidence for mode in modes))
    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_, rel=1e-8)
    Phi, rows = model.basis_.transform(X), []
    for one, mode in zip(model.fit_result_.outputs, modes, strict=True):
        np.testing.assert_allclose(one.posterior.mean, mode.weights, **MODE)
        covariance = one.posterior.latent_covariance(Phi[:, one.columns])
        np.testing.assert_allclose(covariance, mode.bend.spread(mode.Phi), **MODE)
        weights = np.zeros((len(model.relevance_), mode.bend.outputs))
        weights[one.columns] = mode.weights
        rows.append(functions(model, one, np.vstack([weights, mode.level])).T)
    shown = np.vstack(rows)
    np.testing.assert_allclose(np.atleast_2d(model.dual_coef_), shown[:, :-1], **MODE)
    np.testing.assert_allclose(np.atleast_1d(model.intercept_), shown[:, -1], **MODE)
    assert fit_intercept or not np.any(model.intercept_)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", ["rbf", "linear_spline"])
def test_weights_of_rows_count_copies(name, fit_intercept, machine):
    X, y = data(name)
    y = machine.target(y)
    model = machine.make(kernel=CASES[name], fit_intercept=fit_intercept)
    model.fit(X, y, sample_weight=COPIES)
    modes = dense(model, X, y, COPIES)
    assert model.log_evidence_ == close(sum(mode.log_evidence for mode in modes))
    for one, mode in zip(model.fit_result_.outputs, modes, strict=True):
        np.testing.assert_allclose(one.posterior.mean, mode.weights, **MODE)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "linear_spline"])
def test_well_determined_is_what_the_prior_leaves_to_the_data(name, machine):
    X, y = data(name)
    y = machine.target(y)
    model = machine.make(kernel=CASES[name]).fit(X, y)
    well = np.atleast_2d(model.well_determined_)
    assert ((well >= 0) & (well <= 1)).all()
    for one, mode, row in zip(model.fit_result_.outputs, dense(model, X, y), well, strict=True):
        variance = mode.bend.inverse.diagonal()[: mode.bend.n_weights].reshape(mode.weights.shape)
        by_hand = 1 - mode.alpha * variance.mean(axis=1)
        np.testing.assert_allclose(row[one.columns], by_hand, rtol=1e-5, atol=1e-6)
        assert not row[np.setdiff1d(np.arange(len(row)), one.columns)].any()


def test_evidence_of_other_data_is_the_dense_one(machine):
    X, y = data("rbf")
    y = machine.target(y)
    model = machine.make().fit(X, y)
    other, t = 1.1 * X[::-1] + 0.1, y.copy()
    expected = sum(mode.log_evidence for mode in dense(model, other, t))
    assert model.log_evidence(other, t) == close(expected)
