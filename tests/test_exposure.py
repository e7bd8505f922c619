"""RVR(likelihood="poisson").fit(exposure=...): counts over unequal times or areas."""

import math
from functools import partial

import numpy as np
import pytest
from matplotlib import pyplot
from scipy.special import gammaln
from scipy.stats import gamma, nbinom
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import PoissonRegressor
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import Pipeline

from relvec import RVR, EffectsRegressor, SparseBayesianRegressor, calibrate, compare, log_density
from relvec._design import DenseDesign
from relvec._evidence import evidence_model
from relvec.basis import RBF
from relvec.display import CoverageDisplay, RegressionDisplay
from relvec.likelihoods import Poisson

SLOPES = np.array([1.0, -0.5, 0.3])
QUERY = np.random.RandomState(1).uniform(-1, 1, size=(7, 3))


def counts(n=120, seed=0):
    """Counts whose log rate is linear, and exposures over two orders of magnitude."""
    draw = np.random.RandomState(seed)
    X, exposure = draw.uniform(-1, 1, size=(n, 3)), np.exp(draw.uniform(-1, 3, size=n))
    return X, draw.poisson(exposure * np.exp(0.7 + X @ SLOPES)).astype(float), exposure


def wide(X, y, exposure):
    """Posterior of a linear log rate with all but no prior."""
    design = DenseDesign(X.copy(), center=True)
    model = evidence_model(Poisson(), design, np.column_stack([y, np.log(exposure)]))
    return model.at_precisions(np.full(X.shape[1], 1e-9)).posterior


def test_a_wide_prior_is_a_generalised_linear_model():
    """Of scikit-learn: rates weighted by the exposures have the likelihood of the counts."""
    X, y, exposure = counts()
    found = wide(X, y, exposure)
    glm = PoissonRegressor(alpha=0.0, tol=1e-12, solver="newton-cholesky")
    glm.fit(X, y / exposure, sample_weight=exposure)
    np.testing.assert_allclose(found.mean[:, 0], glm.coef_, rtol=1e-6)
    np.testing.assert_allclose(found.intercept[0], glm.intercept_, rtol=1e-6)


def test_a_wide_prior_has_the_errors_of_a_generalised_linear_model():
    """Of statsmodels, which takes the exposure itself."""
    linear_models = pytest.importorskip("statsmodels.api")
    X, y, exposure = counts()
    found, joint = wide(X, y, exposure), np.column_stack([X, np.ones(len(X))])
    family = linear_models.families.Poisson()
    glm = linear_models.GLM(y, joint, family, exposure=exposure).fit(tol=1e-12)
    np.testing.assert_allclose(found.mean[:, 0], glm.params[:3], rtol=1e-6)
    np.testing.assert_allclose(found.covariance, glm.cov_params()[:3, :3], rtol=1e-6)
    latent = found.latent_covariance(QUERY)[:, 0, 0]
    at = np.column_stack([QUERY, np.ones(7)])
    expected = np.einsum("ni,ij,nj->n", at, glm.cov_params(), at)
    np.testing.assert_allclose(latent, expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_one_rate_has_its_conjugate_posterior():
    """With a flat prior on its logarithm a rate is Gamma with shape Σt and mean Σt/ΣE."""
    y, exposure = np.array([3.0, 0.0, 4.0, 7.0, 1.0]), np.array([0.5, 0.2, 1.0, 3.0, 0.3])
    model = RVR(likelihood="poisson").fit(np.ones((5, 1)), y, exposure=exposure)
    mean, std = model.predict(np.ones((2, 1)), return_std=True, exposure=[1.0, 10.0])
    rate = gamma(y.sum(), scale=1 / exposure.sum())
    np.testing.assert_allclose(mean, [rate.mean(), 10 * rate.mean()], rtol=1e-9)
    variance = mean + np.array([1.0, 100.0]) * rate.var()
    np.testing.assert_allclose(std, np.sqrt(variance), rtol=1e-8)
    # Laplace's method for the integral of Π Poisson(t | E r) over log r.
    r, t = rate.mean(), y.sum()
    at_mode = (y * np.log(exposure * r) - exposure * r - gammaln(y + 1)).sum()
    expected = at_mode + 0.5 * np.log(2 * np.pi / t)
    assert model.log_evidence_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("unit", [60.0, 1e-6, 1e12])
@pytest.mark.parametrize(
    "model",
    [
        RVR(gamma=0.3, likelihood="poisson"),
        RVR(gamma="evidence", likelihood="poisson"),
        SparseBayesianRegressor(likelihood="poisson"),
        EffectsRegressor(likelihood="poisson"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_evidence_does_not_depend_on_the_unit_of_exposure(model, unit):
    X, y, exposure = counts(60)
    evidence = model.fit(X, y, exposure=exposure).log_evidence_
    latent, kept = model.predict_latent(QUERY), len(model.relevance_)
    mean = model.predict(QUERY, exposure=np.full(7, 3.0))
    model.fit(X, y, exposure=unit * exposure)
    assert model.log_evidence_ == pytest.approx(evidence, rel=1e-9)
    assert len(model.relevance_) == kept
    np.testing.assert_allclose(model.predict_latent(QUERY) + np.log(unit), latent, atol=1e-6)
    found = model.predict(QUERY, exposure=np.full(7, 3.0 * unit))
    np.testing.assert_allclose(found, mean, rtol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_of_one_place_are_their_sum(fit_intercept):
    """Counts of one rate add up as their exposures do, but for what says how they are divided."""
    X, y, exposure = counts(20)
    share = np.random.RandomState(2).uniform(0.1, 0.9, size=20)
    part = np.random.RandomState(3).binomial(y.astype(int), share)
    kernel = RBF(0.3)
    one = RVR(kernel, centers=X, likelihood="poisson", fit_intercept=fit_intercept)
    whole = one.fit(X, y, exposure=exposure).predict_latent(QUERY, return_std=True)
    evidence, kept = one.log_evidence_, one.relevance_
    one.fit(
        np.vstack([X, X]),
        np.append(part, y - part),
        exposure=np.append(share * exposure, (1 - share) * exposure),
    )
    divided = gammaln(y + 1) - gammaln(part + 1) - gammaln(y - part + 1)
    divided += part * np.log(share) + (y - part) * np.log(1 - share)
    assert one.log_evidence_ == pytest.approx(evidence + divided.sum(), abs=1e-5)
    np.testing.assert_array_equal(one.relevance_, kept)
    np.testing.assert_allclose(
        one.predict_latent(QUERY, return_std=True), whole, rtol=1e-4, atol=1e-5
    )


def test_exposures_of_one_are_none():
    X, y, _ = counts()
    plain = RVR(likelihood="poisson").fit(X, y)
    ones = RVR(likelihood="poisson").fit(X, y, exposure=np.ones(len(X)))
    assert ones.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-12)
    np.testing.assert_allclose(ones.predict_latent(QUERY), plain.predict_latent(QUERY))
    np.testing.assert_allclose(plain.predict(QUERY, exposure=np.ones(7)), plain.predict(QUERY))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_evidence_of_the_training_rows_is_that_of_the_fit(weighted):
    X, y, exposure = counts()
    weights = np.arange(len(X)) % 3 if weighted else None
    model = RVR(likelihood="poisson").fit(X, y, weights, exposure=exposure)
    again = model.log_evidence(X, y, weights, exposure=exposure)
    assert again == pytest.approx(model.log_evidence_, rel=1e-9)
    copies = np.ones(len(X)) if weights is None else weights
    assert copies @ model.predict(X, exposure=exposure) == pytest.approx(copies @ y, rel=1e-6)


def test_predictions_are_of_counts_at_their_exposure():
    """Negative binomial, as without an exposure; draws, densities and covariances agree."""
    X, y, exposure = counts()
    model, E = RVR(gamma=0.3, likelihood="poisson").fit(X, y, exposure=exposure), np.arange(1.0, 8)
    latent, band = model.predict_latent(QUERY, return_std=True)
    rate = E * np.exp(latent)
    expected = nbinom(1 / band**2, 1 / (1 + band**2 * rate))
    mean, std = model.predict(QUERY, return_std=True, exposure=E)
    np.testing.assert_allclose(mean, expected.mean(), rtol=1e-7)
    np.testing.assert_allclose(std, expected.std(), rtol=1e-7)
    np.testing.assert_array_equal(model.predict(QUERY, exposure=E), mean)
    lower, upper = model.predict_interval(QUERY, 0.9, exposure=E)
    np.testing.assert_array_equal([lower, upper], expected.interval(0.9))
    seen = np.round(mean)
    density = model.predict_log_density(QUERY, seen, exposure=E)
    np.testing.assert_allclose(density, expected.logpmf(seen), rtol=1e-6)
    assert log_density(model, QUERY, seen, exposure=E) == pytest.approx(density.mean())
    _, covariance = model.predict(QUERY, return_cov=True, exposure=E)
    np.testing.assert_allclose(covariance.diagonal(), std**2, rtol=1e-9)
    draws = model.sample_y(QUERY, 4000, random_state=0, noise=True, exposure=E)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=5 * std.max() / np.sqrt(4000))


def test_several_targets_have_the_exposure_of_their_row():
    X, y, exposure = counts()
    other = np.random.RandomState(5).poisson(2 * exposure)
    both = RVR(gamma=0.3, likelihood="poisson", multi_output="independent")
    both.fit(X, np.column_stack([y, other]), exposure=exposure)
    alone = RVR(gamma=0.3, likelihood="poisson").fit(X, y, exposure=exposure)
    E = np.arange(1.0, 8)
    found = both.predict(QUERY, return_std=True, exposure=E)
    np.testing.assert_allclose(
        np.array(found)[:, :, 0], alone.predict(QUERY, True, exposure=E), rtol=1e-9
    )


@pytest.mark.filterwarnings("ignore::relvec.exceptions.CentersWarning")
@pytest.mark.parametrize("parameters", [{"memory_limit": 5e3}, {"augment": True}], ids=str)
def test_exposures_go_with_their_rows(parameters):
    """Where functions are evaluated in blocks of rows, or added at the queries."""
    X, y, exposure = counts()
    model = RVR(gamma=0.3, likelihood="poisson", **parameters).fit(X, y, exposure=exposure)
    plain = RVR(gamma=0.3, likelihood="poisson").fit(X, y, exposure=exposure)
    assert model.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-8)
    if "augment" not in parameters:
        np.testing.assert_allclose(model.predict_latent(X), plain.predict_latent(X), atol=1e-6)


def test_exposures_are_routed():
    X, y, exposure = counts()
    with config_context(enable_metadata_routing=True):
        model = SparseBayesianRegressor(likelihood="poisson")
        model.set_fit_request(exposure=True).set_score_request(exposure=True)
        scores = cross_validate(model, X, y, cv=3, params={"exposure": exposure})["test_score"]
    # Counts vary with their exposures far more than about their means.
    assert scores.min() > 0.8


def test_models_of_counts_with_an_exposure_compare():
    X, y, exposure = counts()
    models = {"kernel": RVR(likelihood="poisson"), "columns": SparseBayesianRegressor()}
    models["columns"].set_params(likelihood="poisson")
    fitted = models["columns"].fit(X, y, exposure=exposure)
    found = compare({"kernel": models["kernel"], "columns": fitted}, X, y, exposure=exposure)
    assert list(found.index) == ["columns", "kernel"]
    with pytest.raises(ValueError, match="log evidence"):
        compare({"columns": fitted}, X, y)


@pytest.mark.parametrize(
    ("exposure", "message"),
    [
        (np.ones(119), r"exposure has shape \(119,\), expected \(120,\)"),
        (np.append(np.ones(119), 0.0), "exposure has a minimum of 0, expected numbers > 0"),
        (np.full(120, np.nan), "exposure contains NaN"),
        (np.full(120, np.inf), "exposure contains infinity"),
    ],
)
def test_exposures_that_are_none_are_refused(exposure, message):
    X, y, good = counts()
    model = RVR(likelihood="poisson")
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, exposure=exposure)
    model.fit(X, y, exposure=good)
    for asked in (model.predict, model.predict_interval):
        with pytest.raises(ValueError, match=message):
            asked(X, exposure=exposure)
    with pytest.raises(ValueError, match=message):
        model.log_evidence(X, y, exposure=exposure)


def test_what_has_no_place_for_an_exposure_says_so():
    X, y, exposure = counts()
    for likelihood in ("gaussian", "student_t"):
        model = SparseBayesianRegressor(likelihood=likelihood)
        with pytest.raises(ValueError, match="exposure is given, expected None"):
            model.fit(X, y, exposure=exposure)
        with pytest.raises(ValueError, match="exposure is given, expected None"):
            model.fit(X, X @ SLOPES + np.sin(y)).predict(X, exposure=exposure)
    counted = RVR(likelihood="poisson").fit(X, y, exposure=exposure)
    for asked in (
        counted.calibrate,
        counted.summary,
        counted.diagnose,
        partial(CoverageDisplay.from_estimator, counted),
        partial(RegressionDisplay.from_estimator, counted),
    ):
        with pytest.raises(ValueError, match="exposure is None, expected that of each row"):
            asked(X, y)
    with pytest.raises(ValueError, match="exposure is given, expected None"):
        RVR().fit(X, X @ SLOPES).diagnose(X, X @ SLOPES, exposure)
    with pytest.raises(ValueError, match=r"exposure has shape \(9,\), expected \(120,\)"):
        counted.calibrate(X, y, cv=3, exposure=exposure[:9])


def test_counts_are_judged_at_their_exposure():
    X, y, exposure = counts()
    model = RVR(likelihood="poisson").fit(X[::2], y[::2], exposure=exposure[::2])
    new, truth, own = X[1::2], y[1::2], exposure[1::2]
    low, high = model.predict_interval(new, 0.8, exposure=own)
    coverage = CoverageDisplay.from_estimator(model, new, truth, coverages=[0.8], exposure=own)
    assert coverage.held[0] == np.mean((low <= truth) & (truth <= high))
    shown = RegressionDisplay.from_estimator(model, new, truth, exposure=own)
    np.testing.assert_array_equal(shown.mean, model.predict(new, exposure=own))
    pyplot.close("all")
    # at another exposure the same counts are not those that the model expects
    assert "error_bars_short" not in model.diagnose(new, truth, own).codes
    assert "error_bars_short" in model.diagnose(new, truth, own / 20).codes


def test_calibrated_intervals_are_of_counts_at_their_exposure():
    """Errors of rows left out are in units of the spread at their exposure, as intervals are."""
    X, y, exposure = counts()
    folds = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    model = SparseBayesianRegressor(likelihood="poisson").fit(X, y, exposure=exposure)
    errors = []
    for fitted, left in folds:
        refit = clone(model).fit(X[fitted], y[fitted], exposure=exposure[fitted])
        mean, std = refit.predict(X[left], return_std=True, exposure=exposure[left])
        errors.append(np.abs(y[left] - mean) / std)
    factor = np.sort(np.concatenate(errors))[math.ceil(121 * 0.9) - 1]
    mean, std = model.predict(X, return_std=True, exposure=exposure)
    lower, upper = model.calibrate(X, y, cv=folds, exposure=exposure).predict_interval(
        X, 0.9, exposure=exposure
    )
    np.testing.assert_allclose(lower, np.maximum(mean - factor * std, 0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(upper, mean + factor * std, rtol=1e-9)
    told = model.summary(X, y, exposure).facts["error"]
    assert told == f"root mean square {np.sqrt(np.mean((y - mean) ** 2)):.4g} on 120 rows"


@pytest.mark.parametrize("searched", [False, True], ids=["pipeline", "search"])
def test_refits_of_whole_models_have_the_exposure_of_their_rows(searched):
    X, y, exposure = counts()
    model = Pipeline([("columns", "passthrough"), ("rate", RVR(gamma=0.3, likelihood="poisson"))])
    model = GridSearchCV(model, {"rate__gamma": [0.3]}, cv=2) if searched else model
    model.fit(X, y, rate__exposure=exposure)
    own = RVR(gamma=0.3, likelihood="poisson").fit(X, y, exposure=exposure)
    found, expected = (
        calibrate(one, X, y, cv=KFold(3), exposure=exposure).predict_interval(X, 0.8, exposure)
        for one in (model, own)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
