"""Noise that is correlated between rows: an autoregression whose ρ is learnt, or a known matrix.

The evidence is compared with the density of the target under C = σ²R + ΦA⁻¹Φᵀ: of all N values, or
of their N − 1 contrasts.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import helmert, toeplitz
from scipy.stats import multivariate_normal
from sklearn.base import clone

from relvec import RVR, SparseBayesianRegressor, load, save
from relvec.likelihoods import AR1

TIMES = np.sort(np.random.default_rng(5).uniform(0, 60, 60))


def noise(time, rho, rng, sigma=1.0):
    """Draw of σε with the correlation ρ^Δ."""
    R = rho ** np.abs(np.subtract.outer(time, time))
    return sigma * np.linalg.cholesky(R) @ rng.standard_normal(len(time))


def columns(n=60, rho=0.8, seed=0, time=None):
    """Five columns of which two matter, and a target with an autoregression for its noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    time = np.arange(n) if time is None else time
    return X, 3 + 2 * X[:, 0] - X[:, 1] + noise(time, rho, rng)


def density(model, X, y, R):
    """Log density of the target under the covariance that a fitted model describes."""
    contrasts = helmert(len(y)) if model.fit_intercept else np.eye(len(y))
    Phi = model.basis_.transform(X)
    C = model.noise_variance_ * R + (Phi / model.weight_precision_) @ Phi.T
    return multivariate_normal.logpdf(contrasts @ y, cov=contrasts @ C @ contrasts.T)


def in_time(model, time):
    """Correlation of the noise that a model learnt, at times."""
    return model.noise_correlation_.correlation(np.abs(np.subtract.outer(time, time)))


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(
    ("machine", "times"), [(SparseBayesianRegressor(), TIMES), (RVR(gamma=0.1), None)]
)
def test_evidence_is_the_density_of_the_data(machine, times, fit_intercept):
    time = np.arange(60) if times is None else times
    X, y = columns(time=time)
    model = clone(machine).set_params(noise_correlation="ar1", fit_intercept=fit_intercept)
    model.fit(X, y, times=times)
    assert model.log_evidence_ == pytest.approx(density(model, X, y, in_time(model, time)), 1e-8)
    assert model.log_evidence(X, y, times=times) == pytest.approx(model.log_evidence_, rel=1e-9)
    assert model.history_[-1].log_evidence == pytest.approx(model.log_evidence_, rel=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_known_covariance_is_that_of_the_noise(kind):
    X, y = columns()
    R = toeplitz([2.0, 0.9, 0.2] + [0.0] * 57)
    order = np.random.default_rng(1).permutation(60)  # a band that has to be found
    X, y, R = X[order], y[order], R[np.ix_(order, order)]
    model = SparseBayesianRegressor(noise_correlation=kind(R)).fit(X, y)
    assert model.log_evidence_ == pytest.approx(density(model, X, y, R / 2), rel=1e-8)
    assert model.log_evidence(X, y) == pytest.approx(model.log_evidence_, rel=1e-9)


def test_the_posterior_is_that_of_generalised_least_squares():
    X, y = columns()
    model = SparseBayesianRegressor(noise_correlation=AR1(0.7)).fit(X, y)
    R = 0.7 ** np.abs(np.subtract.outer(*[np.arange(60)] * 2))
    Phi = np.column_stack([model.basis_.transform(X), np.ones(60)])
    precision = np.linalg.inv(R) / model.noise_variance_
    covariance = np.linalg.inv(
        Phi.T @ precision @ Phi + np.diag(np.append(model.weight_precision_, 0))
    )
    weights = covariance @ Phi.T @ precision @ y
    assert_allclose(np.append(model.dual_coef_, model.intercept_), weights, rtol=1e-8)
    mean, std = model.predict_latent(X, return_std=True)
    assert_allclose(std**2, np.einsum("ni,ij,nj->n", Phi, covariance, Phi), rtol=1e-8)
    # and what follows is the conditional mean and variance of a joint Gaussian
    follows = np.array([1.0, 2.5])
    new = np.random.default_rng(1).standard_normal((2, 5))
    both = np.vstack([Phi, np.column_stack([model.basis_.transform(new), np.ones(2)])])
    time = np.append(np.arange(60), 59 + follows)
    flat = np.diag(np.append(1 / model.weight_precision_, 1e8))
    joint = model.noise_variance_ * 0.7 ** np.abs(np.subtract.outer(time, time))
    joint += both @ flat @ both.T
    gain = np.linalg.solve(joint[:60, :60], joint[:60, 60:]).T
    dated = SparseBayesianRegressor(noise_correlation=AR1(0.7)).fit(X, y, times=np.arange(60))
    mean, std = dated.forecast(new, times=59 + follows, return_std=True)
    assert_allclose(mean, gain @ y, rtol=1e-5)
    conditional = joint[60:, 60:] - gain @ joint[:60, 60:]
    assert_allclose(std**2, conditional.diagonal(), rtol=1e-5)
    assert_allclose(dated.forecast(X, times=np.arange(60)), dated.predict(X))


def test_no_correlation_is_independent_noise():
    X, y = columns(rho=0.0)
    known, alone = (RVR(gamma=0.1, noise_correlation=c).fit(X, y) for c in (AR1(0.0), None))
    assert known.log_evidence_ == pytest.approx(alone.log_evidence_, rel=1e-12)
    assert_allclose(known.predict(X, True), alone.predict(X, True), rtol=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 0.95])
def test_the_correlation_is_learnt_within_its_standard_error(rho):
    errors = []
    for seed in range(3):
        model = SparseBayesianRegressor(noise_correlation="ar1").fit(*columns(200, rho, seed))
        ar1 = model.noise_correlation_
        errors.append((ar1.rho - rho) / ar1.std_error)
    assert np.sum(np.square(errors)) < 11.3  # one time in 100 it is more
    assert set(model.relevance_) >= {0, 1}


def test_the_standard_error_is_that_of_a_numerical_profile():
    """By the densities of the dense formula at the best precisions of fits with ρ held."""
    X, y = columns(200)
    ar1 = SparseBayesianRegressor(noise_correlation="ar1").fit(X, y).noise_correlation_
    step = 0.5 * ar1.std_error
    below, at, above = (
        SparseBayesianRegressor(noise_correlation=AR1(rho)).fit(X, y).log_evidence_
        for rho in (ar1.rho - step, ar1.rho, ar1.rho + step)
    )
    assert at > max(below, above)
    assert step / np.sqrt(2 * at - below - above) == pytest.approx(ar1.std_error, rel=0.03)


def test_rows_that_are_missing_leave_gaps():
    """Marginal densities of an autoregression are those at the times that are left."""
    X, y = columns()
    left = np.delete(np.arange(60), [3, 4, 20, 41])
    model = SparseBayesianRegressor(noise_correlation="ar1").fit(X[left], y[left], times=left)
    assert model.noise_correlation_.step == 1
    expected = density(model, X[left], y[left], in_time(model, left))
    assert model.log_evidence_ == pytest.approx(expected, rel=1e-8)


def test_the_order_of_rows_and_the_unit_and_origin_of_time_do_not_matter():
    X, y = columns(time=TIMES)
    order = np.random.default_rng(0).permutation(60)
    given = [(slice(None), TIMES), (order, TIMES[order]), (order, 1e3 * TIMES[order] - 7e3)]
    models = [
        SparseBayesianRegressor(noise_correlation="ar1").fit(X[rows], y[rows], times=times)
        for rows, times in given
    ]
    for model, unit in zip(models[1:], [1, 1e3], strict=True):
        assert model.log_evidence_ == pytest.approx(models[0].log_evidence_, abs=1e-6)
        assert model.noise_correlation_.rho == pytest.approx(
            models[0].noise_correlation_.rho, abs=1e-5
        )
        step = unit * models[0].noise_correlation_.step
        assert model.noise_correlation_.step == pytest.approx(step)


def test_dates_are_times():
    X, y = columns()
    days = np.datetime64("2024-02-01") + np.arange(60)
    by_date, by_row = SparseBayesianRegressor(noise_correlation="ar1"), None
    by_date.fit(X, y, times=days)
    by_row = clone(by_date).fit(X, y)
    assert by_date.noise_correlation_.step == pytest.approx(86400)
    assert by_date.noise_correlation_.rho == pytest.approx(by_row.noise_correlation_.rho, abs=1e-6)
    later = by_date.forecast(X[:2], times=days[-1:] + np.array([1, 2]))
    assert_allclose(later, by_row.forecast(X[:2]), rtol=1e-6)


def test_series_are_independent_and_each_goes_on_by_itself():
    X, y = columns()
    series = np.array(["b", "a", "b"] * 20)
    model = SparseBayesianRegressor(noise_correlation="ar1").fit(X, y, series=series)
    place = np.empty(60)
    for label in "ab":
        place[series == label] = np.arange(np.sum(series == label))
    R = in_time(model, place) * (series[:, None] == series)
    assert model.log_evidence_ == pytest.approx(density(model, X, y, R), rel=1e-8)
    ends = {label: np.flatnonzero(series == label)[-1] for label in "ab"}
    rho, new = model.noise_correlation_.rho, X[:3]
    asked = np.array(["a", "b", "c"])
    expected = model.predict(new)
    for row, label in enumerate("ab"):
        expected[row] += rho * (y - model.predict(X))[ends[label]]
    assert_allclose(model.forecast(new, series=asked), expected)


def test_rows_that_tell_nothing_of_the_correlation_have_none():
    X, y = columns()
    each = SparseBayesianRegressor(noise_correlation="ar1").fit(X, y, series=np.arange(60))
    assert each.noise_correlation_.rho == 0
    assert each.log_evidence_ == pytest.approx(SparseBayesianRegressor().fit(X, y).log_evidence_)


def test_scales_are_learnt_by_the_evidence_of_correlated_noise():
    """Its slope is the rate of change of the evidence: no other scale is better nearby."""
    rng = np.random.default_rng(0)
    x = np.linspace(0, 6, 80)[:, None]
    y = 3 * np.sin(2 * x[:, 0]) + noise(np.arange(80), 0.6, rng)
    model = RVR(gamma="evidence", noise_correlation=AR1(0.6)).fit(x, y)
    alpha, centers = model.weight_precision_, model.relevance_vectors_

    def evidence(gamma):
        Phi = np.exp(-gamma * (x - centers.T) ** 2)
        R, H = 0.6 ** np.abs(np.subtract.outer(*[np.arange(80)] * 2)), helmert(80)
        C = model.noise_variance_ * R + (Phi / alpha) @ Phi.T
        return multivariate_normal.logpdf(H @ y, cov=H @ C @ H.T)

    assert evidence(model.gamma_) == pytest.approx(model.log_evidence_, rel=1e-8)
    assert evidence(model.gamma_) > max(evidence(0.8 * model.gamma_), evidence(1.25 * model.gamma_))


def test_a_stored_model_forecasts_and_parameters_may_change(tmp_path):
    X, y = columns()
    model = SparseBayesianRegressor(noise_correlation=AR1()).fit(X, y, series=["a"] * 60)
    save(model, tmp_path / "model.skops")
    stored = load(tmp_path / "model.skops").set_params(noise_correlation=None)
    assert stored.noise_correlation_ == model.noise_correlation_
    assert_allclose(
        stored.forecast(X[:2], series=["a", "a"]), model.forecast(X[:2], series=["a"] * 2)
    )
    assert "noise correlation" in stored.summary().facts


def fitted(machine, **given):
    X, y = columns(12)
    return machine.fit(X, given.pop("y", y), **given)


@pytest.mark.parametrize(
    ("parameters", "given", "words"),
    [
        ({"noise": "learnt"}, {}, "noise='learnt', expected 'constant'"),
        ({"augment": True}, {}, "augment=True, expected False"),
        ({"alpha_prior": (1.0, 1.0)}, {}, "alpha_prior="),
        ({"likelihood": "student_t"}, {}, "likelihood='student_t', expected 'gaussian'"),
        ({"likelihood": "poisson"}, {"y": np.arange(12)}, "likelihood='poisson'"),
        ({}, {"sample_weight": np.arange(12)}, "sample_weight is given, expected None"),
        ({}, {"noise_variance_per_row": np.ones(12)}, "noise_variance_per_row is given"),
        ({}, {"y": np.ones((12, 2)) * np.arange(12)[:, None]}, "y has 2 columns, expected one"),
        ({}, {"times": np.zeros(12)}, "times has 0 twice in one series, in rows 0 and 1"),
        ({}, {"times": np.arange(5)}, r"times has shape \(5,\), expected \(12,\)"),
        ({}, {"times": [np.nan] * 12}, "times"),
        ({}, {"series": np.arange(5)}, r"series has shape \(5,\)"),
        ({"noise_correlation": "ar2"}, {}, "noise_correlation='ar2', expected None, 'ar1'"),
        ({"noise_correlation": AR1(1.0)}, {}, "rho=1.0, expected None or a number"),
        ({"noise_correlation": AR1(-0.5)}, {"times": TIMES[:12]}, "no multiples of step="),
        ({"noise_correlation": None}, {"times": np.arange(12)}, "times is given, expected None"),
        ({"noise_correlation": np.eye(3)}, {}, r"noise_correlation has shape \(3, 3\)"),
        ({"noise_correlation": np.ones((12, 12))}, {}, "not positive definite"),
        ({"noise_correlation": np.eye(12) + np.eye(12, k=1)}, {}, "not symmetric"),
        ({"memory_limit": 100.0}, {}, "memory_limit=100, expected room"),
    ],
)
def test_what_does_not_go_together_is_refused_by_name(parameters, given, words):
    with pytest.raises(ValueError, match=words):
        fitted(RVR(**{"noise_correlation": "ar1"} | parameters), **given)


def test_rows_that_are_not_kept_have_no_order():
    model = SparseBayesianRegressor(noise_correlation="ar1")
    with pytest.raises(ValueError, match="noise_correlation is given, expected None where rows"):
        model.fit_chunks([columns(12)])
    fitted(model)
    with pytest.raises(ValueError, match="cv=3, expected None with noise_correlation"):
        model.calibrate(*columns(12), cv=3)
    with pytest.raises(ValueError, match="times are numbers, expected numbers of rows"):
        model.forecast(columns(12)[0], times=np.arange(12))
    with pytest.raises(AttributeError, match="noise_correlation_ is only available"):
        fitted(SparseBayesianRegressor()).forecast(columns(12)[0])
