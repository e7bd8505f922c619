"""RVR(noise="learnt"): noise of variance σ²e^g(x), where g is sparse and learnt.

The bound is compared with its definition from dense matrices; noise, coverage and density with the
processes that data were drawn from.
"""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import helmert
from scipy.stats import multivariate_normal, norm

from relvec import RVR, SparseBayesianRegressor, compare, log_density, storage
from relvec.basis import RBF, Columns, Concatenate
from relvec.datasets import make_sinc
from relvec.display import RegressionDisplay

QUERY = np.linspace(0, 1, 7)[:, None]
#: Width of the kernel of the sine.
GAMMA = 10.0


def goldberg(n, seed):
    """Goldberg, Williams and Bishop (1998): a sine with a standard deviation of 0.5 + x."""
    draw = np.random.default_rng(seed)
    X = np.sort(draw.uniform(0, 1, (n, 1)), axis=0)
    std = 0.5 + X[:, 0]
    return X, 2 * np.sin(2 * np.pi * X[:, 0]) + std * draw.standard_normal(n), std


def even(n, seed):
    """The same function with one noise."""
    draw = np.random.default_rng(seed)
    X = np.sort(draw.uniform(0, 1, (n, 1)), axis=0)
    return X, 2 * np.sin(2 * np.pi * X[:, 0]) + 0.5 * draw.standard_normal(n)


@pytest.fixture(scope="module")
def model():
    X, y, _ = goldberg(200, 1)
    return RVR(gamma=GAMMA, noise="learnt").fit(X, y)


def bound(model, X, y, copies=1, fit_intercept=True):
    """⟨log p(t, w, u) − log q(w) q(u)⟩ less what a constant g adds, from dense matrices."""
    (output,), noise = model.fit_result_.outputs, model.fit_result_.outputs[0].noise
    X, y = (np.repeat(part, copies, axis=0) for part in (X, y))
    n, g, spread = len(y), *noise.log_moments(X)
    contrasts = helmert(n) if fit_intercept else np.eye(n)
    precision = np.exp(0.5 * spread - g) / output.likelihood.noise_variance
    Phi = contrasts @ model.basis_.transform(X)
    C = contrasts @ np.diag(1 / precision) @ contrasts.T
    C += (Phi / model.weight_precision_) @ Phi.T
    fitted = multivariate_normal.logpdf(contrasts @ y, cov=C)
    mean, cov = noise.posterior.mean[:, 0], noise.posterior.covariance
    prior = multivariate_normal(np.zeros(len(mean)), np.diag(1 / noise.alpha))
    kept = prior.logpdf(mean) - 0.5 * noise.alpha @ cov.diagonal()  # ⟨log p(u)⟩
    entropy = multivariate_normal(mean, cov).entropy()
    level = norm(scale=np.sqrt(noise.posterior.level_covariance[0, 0])).entropy()
    constant = norm(scale=np.sqrt(2 / n)).entropy() - 0.5
    return fitted - 0.25 * spread.sum() + kept + entropy + level - constant


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_evidence_is_the_bound_of_both_posteriors(fit_intercept):
    X, y, _ = goldberg(150, 0)
    model = RVR(gamma=GAMMA, noise="learnt", fit_intercept=fit_intercept).fit(X, y)
    assert len(model.noise_summary())
    expected = bound(model, X, y, fit_intercept=fit_intercept)
    assert model.log_evidence_ == pytest.approx(expected, rel=1e-8)
    assert model.log_evidence(X, y) == pytest.approx(expected, rel=1e-8)
    assert model.history_[-1].log_evidence == model.log_evidence_
    assert (np.diff([row.log_evidence for row in model.history_]) > -1e-6).all()


def test_function_has_the_posterior_of_rows_of_the_expected_precision(model):
    """That of the function is exact under rows whose precisions are those expected of g."""
    X, y, _ = goldberg(200, 1)
    (output,) = model.fit_result_.outputs
    precision = output.noise.relative_precision(X) / output.likelihood.noise_variance
    Phi = np.column_stack([model.basis_.transform(X), np.ones(200)])
    A = np.diag(np.append(model.weight_precision_, 0))
    covariance = np.linalg.inv(Phi.T @ (Phi * precision[:, None]) + A)
    mean = covariance @ Phi.T @ (precision * y)
    queries = np.column_stack([model.basis_.transform(QUERY), np.ones(len(QUERY))])
    found, std = model.predict_latent(QUERY, return_std=True)
    assert_allclose(found, queries @ mean, rtol=1e-6)
    assert_allclose(std**2, np.einsum("ij,jk,ik->i", queries, covariance, queries), rtol=1e-6)


def test_log_variance_is_where_the_gradient_of_the_bound_vanishes(model):
    """At the mode of g, to the digits in which the last rounds agree, by differences."""
    X, y, _ = goldberg(200, 1)
    (output,) = model.fit_result_.outputs
    noise, mean = output.noise, model.predict_latent(X, return_std=True)
    square = (y - mean[0]) ** 2 + mean[1] ** 2
    Psi = noise.basis.transform(X)

    def log_joint(u, level):
        g = level + (Psi - Psi.mean(axis=0)) @ u
        return -0.5 * np.sum(g + square * np.exp(-g)) - 0.5 * noise.alpha @ u**2

    u, step = noise.posterior.mean[:, 0], 1e-4
    g, _ = noise.log_moments(X)
    level = np.log(output.likelihood.noise_variance) + g.mean()
    for m, each in enumerate(np.eye(len(u))):
        slope = (log_joint(u + step * each, level) - log_joint(u - step * each, level)) / (2 * step)
        assert abs(slope) * np.sqrt(noise.posterior.covariance[m, m]) < 0.1


def test_noise_that_varies_is_found(model):
    """Standard deviation, and coverage of new targets in thirds of x, on Goldberg's function."""
    errors, inside = [], []
    for seed in range(8):
        X, y, _ = goldberg(200, seed)
        learnt = RVR(gamma=GAMMA, noise="learnt").fit(X, y)
        X_new, y_new, std = goldberg(3000, 100 + seed)
        errors.append(np.sqrt(np.mean(np.log(learnt.predict_noise(X_new) / std) ** 2)))
        lower, upper = learnt.predict_interval(X_new)
        inside.append([part.mean() for part in np.split((lower < y_new) & (y_new < upper), 3)])
        constant = RVR(gamma=GAMMA).fit(X, y)
        assert log_density(learnt, X_new, y_new) > log_density(constant, X_new, y_new) + 0.02
    assert np.mean(errors) < 0.12
    assert_allclose(np.mean(inside, axis=0), 0.95, atol=0.04)


def test_even_noise_stays_constant():
    kept = []
    for seed in range(10):
        X, y = even(100, seed)
        learnt, constant = (
            RVR(gamma=GAMMA, noise=noise).fit(X, y) for noise in ("learnt", "constant")
        )
        kept.append(len(learnt.noise_summary()) == 0)
        if kept[-1]:
            assert_array_equal(learnt.predict(QUERY, True), constant.predict(QUERY, True))
            assert learnt.log_evidence_ == constant.log_evidence_
            assert_array_equal(learnt.predict_noise(QUERY), np.sqrt(constant.noise_variance_))
    assert sum(kept) >= 9


def test_noise_does_not_collapse_where_rows_are_few():
    """Rows far apart are followed by functions of their own, and still have noise."""
    draw = np.random.default_rng(0)
    X = np.append(np.linspace(0, 1, 80), [1.5, 2.0, 2.5, 3.0])[:, None]
    std = np.where(X[:, 0] < 0.5, 0.1, 1.0)
    y = np.sin(6 * X[:, 0]) + std * draw.standard_normal(84)
    model = RVR(gamma=20.0, noise="learnt").fit(X, y)
    assert len(model.noise_summary())
    noise = model.predict_noise(X)
    assert noise.min() > 0.04
    assert_allclose(np.exp(np.mean(np.log(noise[:40]))), 0.1, rtol=0.5)
    assert_allclose(noise[60:], 1.0, rtol=0.3)


def test_weights_are_copies():
    X, y, _ = goldberg(80, 3)
    copies = 1 + np.arange(80) % 3
    machine = RVR(gamma=GAMMA, noise="learnt", centers=X[::4])
    weighted = machine.fit(X, y, copies)
    assert len(weighted.noise_summary())
    assert weighted.log_evidence_ == pytest.approx(bound(weighted, X, y, copies), rel=1e-8)
    found = weighted.predict(QUERY, return_std=True), weighted.predict_noise(QUERY, True)
    evidence = weighted.log_evidence_
    repeated = machine.fit(*(np.repeat(part, copies, axis=0) for part in (X, y)))
    assert repeated.log_evidence_ == pytest.approx(evidence, rel=1e-7)
    assert_allclose(repeated.predict(QUERY, return_std=True), found[0], rtol=1e-4)
    assert_allclose(repeated.predict_noise(QUERY, True), found[1], rtol=1e-4)


@pytest.mark.parametrize("unit", [2.0**-20, 1e3, 2.0**40])
def test_units_of_the_target_only_change_units(model, unit):
    X, y, _ = goldberg(200, 1)
    scaled = RVR(gamma=GAMMA, noise="learnt").fit(X, unit * y)
    changed = model.log_evidence_ - 199 * np.log(unit)
    assert scaled.log_evidence_ == pytest.approx(changed, rel=1e-7)
    assert_allclose(scaled.predict(QUERY, True), unit * np.array(model.predict(QUERY, True)), 1e-5)
    both = unit * np.array(model.predict_noise(QUERY, True))
    assert_allclose(scaled.predict_noise(QUERY, True), both, 1e-5)


def test_order_of_rows_does_not_matter(model):
    X, y, _ = goldberg(200, 1)
    order = np.random.default_rng(0).permutation(200)
    shuffled = RVR(gamma=GAMMA, noise="learnt").fit(X[order], y[order])
    assert shuffled.log_evidence_ == pytest.approx(model.log_evidence_, rel=1e-8)
    assert_allclose(shuffled.predict_noise(QUERY), model.predict_noise(QUERY), rtol=1e-5)


def test_noise_is_part_of_all_predictions(model):
    mean, std = model.predict(QUERY, return_std=True)
    latent, own = model.predict_latent(QUERY, return_std=True)
    noise, error = model.predict_noise(QUERY, return_std=True)
    assert np.ptp(noise) > 0.5
    assert (error > 0).all()
    assert_allclose(mean, latent)
    assert_allclose(std**2, own**2 + noise**2, rtol=1e-12)
    lower, upper = model.predict_interval(QUERY)
    assert_allclose(upper - lower, 2 * norm.ppf(0.975) * std, rtol=1e-9)
    density = model.predict_log_density(QUERY, mean + 1)
    assert_allclose(density, norm(mean, std).logpdf(mean + 1), rtol=1e-9)
    _, cov = model.predict(QUERY, return_cov=True)
    assert_allclose(cov.diagonal(), std**2, rtol=1e-9)
    drawn = model.sample_y(QUERY, 20_000, random_state=0, noise=True)
    assert_allclose(drawn.std(axis=1), std, rtol=0.03)
    X, _, _ = goldberg(200, 1)
    mean_square = np.mean(model.predict_noise(X) ** 2)
    assert model.noise_variance_ == pytest.approx(mean_square, rel=1e-9)


def test_the_band_of_a_picture_widens(model):
    X, y, _ = goldberg(200, 1)
    display = RegressionDisplay.from_estimator(model, X, y)
    low, high = display.curve.interval
    assert high[-1] - low[-1] > 1.5 * (high[0] - low[0])


@pytest.mark.parametrize(
    "changed",
    [
        {"noise": Columns()},
        {"noise": RBF(3.0)},
        {"noise": Concatenate([Columns(), RBF(3.0)])},
        {"gamma": "evidence"},
        {"remainder": "process"},
        {"kernel": "linear_spline"},
        {"solver": "fixed_point", "centers": 20, "random_state": 0},
        {"memory_limit": 1e3},
    ],
    ids=str,
)
def test_noise_is_learnt_beside_other_parameters(changed):
    X, y, std = goldberg(200, 1)
    model = RVR(**{"gamma": GAMMA, "noise": "learnt"} | changed).fit(X, y)
    assert_allclose(model.predict_noise(X), std, rtol=0.5)
    assert model.log_evidence_ == pytest.approx(bound(model, X, y), rel=1e-6)


def test_columns_tell_of_function_and_noise():
    draw = np.random.default_rng(0)
    X = pd.DataFrame(draw.standard_normal((300, 5)), columns=list("abcde"))
    y = 2 * X["a"] - X["b"] + np.exp(0.7 * X["c"]) * draw.standard_normal(300)
    model = SparseBayesianRegressor(noise="learnt").fit(X, y)
    assert list(model.noise_summary().index) == ["c"]
    assert model.noise_summary()["weight"].item() == pytest.approx(1.4, abs=0.25)
    constant = SparseBayesianRegressor().fit(X, y)
    (finding,) = (found for found in constant.diagnose(X, y) if found.code == "heteroscedastic")
    assert "noise='learnt'" in finding.sentence
    assert "heteroscedastic" not in model.diagnose(X, y).codes
    found = compare({"learnt": model, "constant": constant}, X, y)
    assert found.index[0] == "learnt"
    assert found["loo_log_density"].idxmax() == "learnt"


def test_targets_have_noise_of_their_own():
    X, y, _ = goldberg(200, 1)
    both = np.column_stack([even(200, 2)[1], y])
    model = RVR(gamma=GAMMA, noise="learnt", multi_output="independent").fit(X, both)
    alone = RVR(gamma=GAMMA, noise="learnt").fit(X, y)
    assert_allclose(model.predict_noise(QUERY)[:, 1], alone.predict_noise(QUERY), rtol=1e-9)
    assert model.noise_summary().index.str.startswith("target 1: ").any()
    drawn = model.sample_y(QUERY, 3, random_state=0, noise=True)
    assert drawn.shape == (7, 2, 3)


def test_stored_models_have_their_noise(model, tmp_path):
    storage.save(model, tmp_path / "noise.skops")
    loaded = storage.load(tmp_path / "noise.skops")
    assert_array_equal(loaded.predict(QUERY, True), model.predict(QUERY, True))
    assert_array_equal(loaded.predict_noise(QUERY, True), model.predict_noise(QUERY, True))
    assert loaded.noise_summary().equals(model.noise_summary())


def test_calibrated_intervals_follow_the_noise(model):
    X, y, _ = goldberg(500, 7)
    lower, upper = model.calibrate(X, y).predict_interval([[0.0], [1.0]])
    assert upper[1] - lower[1] > 1.5 * (upper[0] - lower[0])


def test_a_fit_goes_on_from_its_checkpoint(tmp_path):
    X, y, _ = goldberg(100, 0)
    whole = RVR(gamma=GAMMA, noise="learnt").fit(X, y)
    path, passes = tmp_path / "fit.checkpoint", []

    class Killed(BaseException):
        """The process is gone."""

    stopped = RVR(gamma=GAMMA, noise="learnt", checkpoint=path)
    runner = stopped._runner

    def dying(*args):
        found = runner(*args)
        keep = found._keep

        def counted(state):
            keep(state)
            passes.append(state)
            if len(passes) == whole.n_iter_ // 2:
                raise Killed

        found._keep = counted
        return found

    stopped._runner = dying
    with pytest.raises(Killed):
        stopped.fit(X, y)
    again = RVR(gamma=GAMMA, noise="learnt", checkpoint=path).fit(X, y)
    assert again.log_evidence_ == whole.log_evidence_
    assert_array_equal(again.predict_noise(QUERY), whole.predict_noise(QUERY))


def test_noise_of_other_kinds_is_told_or_refused():
    X, y = make_sinc(50, noise_scale=0.1, random_state=0)
    constant = RVR(gamma=0.1).fit(X, y)
    noise, error = constant.predict_noise(X, return_std=True)
    assert_array_equal(noise, np.sqrt(constant.noise_variance_))
    assert_array_equal(error, 0)
    assert len(constant.noise_summary()) == 0
    counts = RVR(likelihood="poisson").fit(X, np.round(np.abs(y)))
    with pytest.raises(ValueError, match="predict_noise with likelihood='poisson'"):
        counts.predict_noise(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"noise": "even"}, "noise='even', expected 'constant', 'learnt' or a relvec.basis"),
        ({"noise": 1.0}, "noise=1.0, expected 'constant', 'learnt'"),
        ({"augment": True}, "augment=True, expected False with noise='learnt'"),
        ({"noise_variance": 0.1}, "noise='learnt' with a likelihood, noise_variance"),
        ({"likelihood": "student_t"}, "noise='learnt' with a likelihood"),
        ({"beta_prior": (1.0, 1.0)}, "noise='learnt' with a likelihood"),
        ({"noise": RBF("evidence")}, "expected a basis whose scales are numbers"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused_by_name(parameters, message):
    X, y = make_sinc(30, noise_scale=0.1, random_state=0)
    with pytest.raises(ValueError, match=message):
        RVR(**{"noise": "learnt"} | parameters).fit(X, y)


def test_data_for_which_there_is_no_learnt_noise_are_refused():
    X, y = make_sinc(30, noise_scale=0.1, random_state=0)
    model = RVR(noise="learnt")
    with pytest.raises(ValueError, match="noise='constant'"):
        model.fit(X, y, noise_variance_per_row=np.ones(30))
    with pytest.raises(ValueError, match=r"noise=.*'constant' with 2 targets"):
        model.fit(X, np.column_stack([y, y**2]))
    with pytest.raises(ValueError, match="has no columns of numbers"):
        RVR("precomputed", noise="learnt").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="where rows come in parts"):
        model.fit_chunks([(X, y)])
