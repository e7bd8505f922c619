"""RVR.fit(noise_variance_per_row=...): the variance of the noise is known for every row.

The evidence is compared with the density of the target under C = diag(v) + ΦA⁻¹Φᵀ: of all N values,
or of their N − 1 contrasts.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import helmert
from scipy.stats import multivariate_normal

from relvec import RVR
from relvec.basis import RBF, Bias, Concatenate
from tests.support.reference import log_evidence_exact

QUERY = np.linspace(-12.0, 12.0, 9)[:, None]
KERNELS = {
    "rbf": RBF(0.2),
    "wide": RBF(1e-3),
    "linear": "linear",
    "linear_spline": "linear_spline",
    "bias": Concatenate([Bias(), RBF(0.5)]),
}


def data(n=40, seed=0):
    """A curve whose noise grows a hundredfold from left to right."""
    draw = np.random.RandomState(seed)
    X = np.sort(draw.uniform(-8, 8, (n, 1)), axis=0)
    v = 10.0 ** np.linspace(-4, 0, n)
    return X, np.sinc(X[:, 0] / np.pi) + 3 + np.sqrt(v) * draw.standard_normal(n), v


def density(model, X, y, v, copies=1):
    """Log density of the data under the covariance that a fitted model describes."""
    X, y, v = (np.repeat(part, copies, axis=0) for part in (X, y, v))
    contrasts = helmert(len(y)) if model.fit_intercept else np.eye(len(y))
    Phi = contrasts @ model.basis_.transform(X)
    C = contrasts @ np.diag(v) @ contrasts.T + (Phi / model.weight_precision_) @ Phi.T
    if np.linalg.cond(C) < 1e9:
        return multivariate_normal.logpdf(contrasts @ y, cov=C)
    Phi, alpha = model.basis_.transform(X), model.weight_precision_
    return log_evidence_exact(Phi, y, alpha, 1 / v, fit_intercept=model.fit_intercept)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_evidence_is_the_density_of_the_data(name, fit_intercept):
    X, y, v = data()
    model = RVR(KERNELS[name], fit_intercept=fit_intercept).fit(X, y, noise_variance_per_row=v)
    expected = density(model, X, y, v)
    assert model.log_evidence_ == pytest.approx(expected, rel=1e-8)
    again = model.log_evidence(X, y, noise_variance_per_row=v)
    assert again == pytest.approx(model.log_evidence_, rel=1e-9)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_posterior_is_that_of_rows_weighted_by_their_precision(fit_intercept):
    X, y, v = data()
    model = RVR(RBF(0.2), fit_intercept=fit_intercept).fit(X, y, noise_variance_per_row=v)
    prior, Phi, queries = model.weight_precision_, *map(model.basis_.transform, (X, QUERY))
    if fit_intercept:  # a weight without prior
        prior = np.append(prior, 0)
        Phi, queries = (np.column_stack([part, np.ones(len(part))]) for part in (Phi, queries))
    covariance = np.linalg.inv(Phi.T @ (Phi / v[:, None]) + np.diag(prior))
    weights = covariance @ Phi.T @ (y / v)
    joint = queries @ covariance @ queries.T
    mean, std = model.predict_latent(QUERY, return_std=True)
    assert_allclose(mean, queries @ weights, rtol=1e-7)
    assert_allclose(std**2, joint.diagonal(), rtol=1e-6)
    _, cov = model.predict(QUERY, return_cov=True, noise_variance_per_row=np.arange(1.0, 10.0))
    assert_allclose(cov, joint + np.diag(np.arange(1.0, 10.0)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_no_function_left_out_would_raise_the_evidence(fit_intercept):
    """S and Q of every candidate from the dense C: no gain at the best precision reaches `tol`."""
    X, y, v = data()
    model = RVR(RBF(0.2), fit_intercept=fit_intercept).fit(X, y, noise_variance_per_row=v)
    contrasts = helmert(len(y)) if fit_intercept else np.eye(len(y))
    every = contrasts @ RBF(0.2).fit(X).transform(X)
    kept = every[:, model.relevance_]
    C = contrasts @ np.diag(v) @ contrasts.T + (kept / model.weight_precision_) @ kept.T
    left = np.delete(every, model.relevance_, axis=1)
    inverse = np.linalg.inv(C)
    S, Q = np.einsum("ij,ij->j", left, inverse @ left), left.T @ inverse @ contrasts @ y
    ratio = np.maximum(Q**2 / S, 1)
    assert (0.5 * (ratio - 1 - np.log(ratio))).max() < model.tol


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("variance", [0.01, 0.1, 3.7e5])
def test_equal_variances_are_the_known_noise_exactly(variance, fit_intercept):
    X, y, _ = data()
    y = y * np.sqrt(100 * variance)
    by_row = RVR(fit_intercept=fit_intercept).fit(X, y, noise_variance_per_row=[variance] * 40)
    known = RVR(fit_intercept=fit_intercept, noise_variance=variance).fit(X, y)
    assert by_row.noise_variance_ == variance
    assert by_row.log_evidence_ == known.log_evidence_
    assert_array_equal(by_row.predict(QUERY, return_std=True), known.predict(QUERY, True))


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_weights_are_copies_each_with_noise_of_its_own(fit_intercept):
    """A copy of a row with variance v is another observation, not one of variance v / 2."""
    X, y, v = data()
    copies = np.arange(40) % 4
    machine = RVR(RBF(0.2), fit_intercept=fit_intercept, centers=X[::2])
    weighted = machine.fit(X, y, copies, v).predict(QUERY, return_std=True)
    evidence, mean_variance = machine.log_evidence_, machine.noise_variance_
    assert evidence == pytest.approx(density(machine, X, y, v, copies), rel=1e-8)
    assert machine.log_evidence(X, y, copies, v) == pytest.approx(evidence, rel=1e-9)
    assert mean_variance == pytest.approx(np.repeat(v, copies).mean(), rel=1e-12)
    X, y, v = (np.repeat(part, copies, axis=0) for part in (X, y, v))
    repeated = machine.fit(X, y, noise_variance_per_row=v)
    assert repeated.log_evidence_ == pytest.approx(evidence, rel=1e-8)
    assert_allclose(repeated.predict(QUERY, return_std=True), weighted, rtol=1e-5)


def test_rows_of_weight_zero_are_absent():
    X, y, v = data()
    present = np.arange(40) % 3 > 0
    weighted = RVR().fit(X, np.where(present, y, 1e6), present, np.where(present, v, 1e-9))
    without = RVR().fit(X[present], y[present], noise_variance_per_row=v[present])
    assert weighted.log_evidence_ == pytest.approx(without.log_evidence_, rel=1e-9)
    assert weighted.noise_variance_ == pytest.approx(without.noise_variance_, rel=1e-12)
    assert_allclose(weighted.predict(QUERY), without.predict(QUERY), rtol=1e-7)


@pytest.mark.parametrize("unit", [2.0**-20, 1e3, 2.0**40])
def test_units_of_the_target_only_change_units(unit):
    X, y, v = data()
    plain, scaled = RVR(), RVR()
    plain.fit(X, y, noise_variance_per_row=v)
    scaled.fit(X, unit * y, noise_variance_per_row=unit**2 * v)
    assert_array_equal(scaled.relevance_, plain.relevance_)
    changed = plain.log_evidence_ - 39 * np.log(unit)
    assert scaled.log_evidence_ == pytest.approx(changed, rel=1e-9)
    assert_allclose(scaled.predict(QUERY, True), unit * np.array(plain.predict(QUERY, True)), 1e-6)


def test_predictions_take_the_noise_of_the_queries_or_the_mean():
    X, y, v = data()
    model, queries = RVR().fit(X, y, noise_variance_per_row=v), np.linspace(0.1, 2.0, 9)
    mean, std = model.predict_latent(QUERY, return_std=True)
    assert model.noise_variance_ == pytest.approx(v.mean())
    found = model.predict(QUERY, return_std=True)
    assert_allclose(found, (mean, np.sqrt(std**2 + v.mean())), rtol=1e-12)
    found = model.predict(QUERY, return_std=True, noise_variance_per_row=queries)
    assert_allclose(found, (mean, np.sqrt(std**2 + queries)), rtol=1e-12)
    assert_array_equal(model.predict(QUERY, noise_variance_per_row=queries), mean)


def test_rows_known_well_decide_and_rows_known_badly_do_not():
    """Half the rows are the curve, the other half lie far from it and say so."""
    X = np.linspace(-8, 8, 80)[:, None]
    curve, draw = np.sinc(X[:, 0] / np.pi), np.random.RandomState(0)
    v = np.where(np.arange(80) % 2, 1e-4, 4.0)
    y = curve + np.sqrt(v) * draw.standard_normal(80)
    known = RVR(gamma=0.2).fit(X, y, noise_variance_per_row=v).predict(X) - curve
    learnt = RVR(gamma=0.2).fit(X, y).predict(X) - curve
    assert np.sqrt(np.mean(known**2)) < 0.01 < 0.1 < np.sqrt(np.mean(learnt**2))


@pytest.mark.parametrize(
    ("variances", "message"),
    [
        (np.ones(39), r"noise_variance_per_row has shape \(39,\), expected \(40,\)"),
        (np.ones((40, 1)), "noise_variance_per_row has shape"),
        (1.0, "noise_variance_per_row"),
        (np.zeros(40), "noise_variance_per_row has a minimum of 0, expected numbers > 0"),
        (-np.ones(40), "noise_variance_per_row has a minimum of -1"),
        (np.full(40, np.nan), "noise_variance_per_row contains NaN"),
        (np.full(40, np.inf), "noise_variance_per_row contains infinity"),
    ],
)
def test_what_is_no_variance_a_row_is_refused_by_name(variances, message):
    X, y, v = data()
    with pytest.raises(ValueError, match=message):
        RVR().fit(X, y, noise_variance_per_row=variances)
    model = RVR().fit(X, y, noise_variance_per_row=v)
    with pytest.raises(ValueError, match=message):
        model.predict(X, return_std=True, noise_variance_per_row=variances)
    with pytest.raises(ValueError, match=message):
        model.log_evidence(X, y, noise_variance_per_row=variances)


@pytest.mark.parametrize(
    "other", [{"noise_variance": 0.1}, {"likelihood": "poisson"}, {"beta_prior": (1.0, 1.0)}]
)
def test_noise_is_known_once(other):
    X, y, v = data()
    with pytest.raises(ValueError, match=r"noise_variance_per_row"):
        RVR(**other).fit(X, np.round(np.abs(y)), noise_variance_per_row=v)


def test_counts_have_no_noise_of_their_own():
    X, y, v = data()
    model = RVR(likelihood="poisson").fit(X, np.round(y))
    with pytest.raises(ValueError, match="noise_variance_per_row"):
        model.predict(X, return_std=True, noise_variance_per_row=v)


def test_variances_that_no_float_can_compare_are_refused():
    X, y, v = data()
    with pytest.raises(OverflowError, match="noise_variance_per_row"):
        RVR().fit(X, y, noise_variance_per_row=np.append(v[1:], 1e-320))
