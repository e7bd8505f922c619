"""EffectsRegressor and EffectsClassifier: terms, shares, evidence and what is left out."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVR, EffectsClassifier, EffectsRegressor, storage
from relvec._fitting import stages
from relvec.datasets import make_sinc
from relvec.exceptions import EmptyModelWarning
from tests.support import needs

SLOW = pytest.mark.slow


def smooth(rng, n=150, d=3):
    """One input alone, and two together."""
    X = rng.uniform(-1, 1, (n, d))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def counts(y):
    return np.round(np.exp(1 + y))


CASES = {
    "regression": (EffectsRegressor(), lambda y: y),
    "two targets": (EffectsRegressor(), lambda y: np.column_stack([y, y**2])),
    "counts": (EffectsRegressor(likelihood="poisson"), counts),
    "outliers": (EffectsRegressor(likelihood="student_t"), lambda y: y),
    "two classes": (EffectsClassifier(), lambda y: y > 0),
    "three classes": (EffectsClassifier(), lambda y: np.digitize(y, [-0.5, 0.5])),
}


@pytest.fixture(params=CASES, scope="module", name="fitted")
def every_kind(request):
    estimator, target = CASES[request.param]
    X, y = smooth(np.random.default_rng(0))
    return clone(estimator).fit(X, target(y)), X


def latent(model, X):
    if isinstance(model, EffectsRegressor):
        return model.predict_latent(X)
    outputs = model.fit_result_.outputs
    Phi = model.basis_.transform(X)
    means = [output.posterior.latent_mean(Phi[:, output.columns])[:, 0] for output in outputs]
    return np.squeeze(np.transpose(means))


def test_effects_add_up(fitted):
    model, X = fitted
    later = 1.5 * X[:40]
    total = model.predict_effects(later).sum(axis=1) + model.constant_
    assert_allclose(total, latent(model, later), rtol=0, atol=1e-10 * (1 + np.abs(total).max()))


def test_effects_are_zero_on_average(fitted):
    model, X = fitted
    assert_allclose(model.predict_effects(X).mean(axis=0), 0, atol=1e-10)


def test_shares_add_up(fitted):
    table = fitted[0].effects_
    shares = table.filter(regex=r"^share(\[|$)").to_numpy()
    assert_allclose(shares.sum(axis=0), 1)
    assert (shares >= 0).all()


def test_standard_deviations_are_those_of_the_weights(fitted):
    model, X = fitted
    mean, std = model.predict_effects(X[:5], return_std=True)
    assert mean.shape == std.shape
    Phi = model.basis_.transform(X) - model.basis_.transform(X).mean(axis=0)
    names = np.array(model.basis_.terms())
    for number, output in enumerate(model.fit_result_.outputs):
        covariance = output.posterior.root @ output.posterior.root.T
        for term, name in enumerate(model.terms_):
            own = names[output.columns] == name
            part = Phi[:5, output.columns][:, own]
            expected = np.einsum("ij,jk,ik->i", part, covariance[np.ix_(own, own)], part)
            found = std.reshape(*std.shape[:2], -1)[:, term, number]
            assert_allclose(found, np.sqrt(expected), atol=1e-10)


def test_evidence_is_the_dense_difference():
    X, y = smooth(np.random.default_rng(1), 100)
    model = EffectsRegressor().fit(X, y)
    Phi, alpha = model.basis_.transform(X), model.weight_precision_
    H = np.linalg.qr(np.column_stack([np.ones(100), np.eye(100)[:, 1:]]))[0][:, 1:].T
    names = np.array(model.basis_.terms())

    def evidence(kept):
        C = model.noise_variance_ * np.eye(100) + (Phi[:, kept] / alpha[kept]) @ Phi[:, kept].T
        return multivariate_normal.logpdf(H @ y, cov=H @ C @ H.T)

    every = evidence(np.ones(len(names), bool))
    assert every == pytest.approx(model.log_evidence_, abs=1e-6)
    for term, row in model.effects_.iterrows():
        assert row["evidence"] == pytest.approx(every - evidence(names != term), rel=1e-6)


def ishigami(X):
    return np.sin(X[:, 0]) + 7 * np.sin(X[:, 1]) ** 2 + 0.1 * X[:, 2] ** 4 * np.sin(X[:, 0])


def ishigami_shares():
    a, b = 7, 0.1
    first = 0.5 * (1 + b * np.pi**4 / 5) ** 2, a**2 / 8, b**2 * np.pi**8 * 8 / 225
    names = "x0", "x1", "x0 × x2"
    return dict(zip(names, np.array(first) / sum(first), strict=True))


def g_function(X, a=(0.0, 1.0, 4.5, 9.0)):
    return np.prod((np.abs(4 * X - 2) + a) / (1 + np.array(a)), axis=1)


def g_shares(a=(0.0, 1.0, 4.5, 9.0)):
    own = 1 / (3 * (1 + np.array(a)) ** 2)
    total = np.prod(1 + own) - 1
    shares = {f"x{i}": own[i] / total for i in range(4)}
    pairs = {f"x{i} × x{j}": own[i] * own[j] / total for i in range(4) for j in range(i + 1, 4)}
    return shares | pairs


@SLOW
@pytest.mark.parametrize(
    ("function", "shares", "low", "high", "d"),
    [
        pytest.param(ishigami, ishigami_shares(), -np.pi, np.pi, 3, id="Ishigami"),
        pytest.param(g_function, g_shares(), 0, 1, 4, id="g"),
    ],
)
def test_shares_are_sobol_indices(function, shares, low, high, d):
    """Of uniform inputs in a design of low discrepancy, so that inputs are nearly independent.

    Without a process, which takes shares of functions with as little noise as these.
    """
    from scipy.stats import qmc

    X = low + (high - low) * qmc.Sobol(d, seed=0).random(2**12)
    y = function(X) + 0.01 * np.random.default_rng(0).normal(size=len(X))
    table = EffectsRegressor(remainder=None).fit(X, y).effects_
    for name in {*shares, *table.index}:
        found = table["share"].get(name, 0.0)
        assert found == pytest.approx(shares.get(name, 0.0), abs=0.01), name


def friedman(rng):
    X = rng.uniform(size=(240, 10))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, f + 10 * X[:, 3] + 5 * X[:, 4], 1.0


def sinc(rng):
    X, f = make_sinc(100, random_state=int(rng.integers(1 << 30)))
    return X, f, 0.1


@SLOW
@pytest.mark.parametrize(("problem", "n_used"), [(friedman, 5), (sinc, 1)])
def test_idle_effects_are_out(problem, n_used):
    clean, process = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, f, noise = problem(rng)
        table = EffectsRegressor().fit(X, f + noise * rng.normal(size=len(X))).effects_
        used = {f"x{j}" for j in range(n_used)} | {"process"}
        named = {one for term in table.index for one in term.split(" × ")}
        clean.append(named <= used)
        process.append(table["share"].get("process", 0.0))
    assert np.mean(clean) >= 0.95
    assert np.mean(np.array(process) < 0.02) >= 0.95


def test_idle_inputs_are_out_of_one_draw():
    rng = np.random.default_rng(0)
    X, f, noise = friedman(rng)
    model = EffectsRegressor().fit(X, f + noise * rng.normal(size=len(X)))
    assert set(model.terms_) >= {"x0", "x1", "x2", "x3", "x4", "x0 × x1"}
    assert not any(f"x{j}" in term for term in model.terms_ for j in range(5, 10))


def table_of(rng, n=150):
    frame = pd.DataFrame(
        {
            "size": rng.lognormal(sigma=1.5, size=n),
            "kind": rng.choice(["a", "b", "c"], n),
            "new": rng.random(n) > 0.5,
            "code": rng.integers(0, 4, n),
        }
    )
    y = np.log(frame["size"]) + frame["kind"].map({"a": 0.0, "b": 1.0, "c": 3.0})
    return frame, y + 2 * (frame["code"] == 2) + 0.1 * rng.normal(size=n)


def test_a_table_goes_in_as_it_is(rng):
    X, y = table_of(rng)
    model = EffectsRegressor(categorical=[3]).fit(X, y)
    assert {"size", "kind", "code"} <= set(model.terms_)
    assert "new" not in model.terms_
    assert np.std(model.predict(X) - y) < 0.15
    query = X.head(2).copy()
    query.loc[0, "kind"] = "d"
    effects = model.predict_effects(query)
    assert effects[0, model.terms_.index("kind")] == pytest.approx(0, abs=1e-12)
    alpha = model.weight_precision_[np.array(model.basis_.terms(list(X))) == "kind"][0]
    _, std = model.predict(query, return_std=True)
    assert std[0] ** 2 > 1 / alpha
    assert std[1] < 0.2


def test_categories_of_pandas_are_categories(rng):
    X, y = table_of(rng)
    one = EffectsRegressor().fit(X, y)
    other = EffectsRegressor().fit(X.astype({"kind": "category"}), y)
    assert_allclose(one.predict(X), other.predict(X.astype({"kind": "category"})), rtol=1e-10)


@pytest.mark.parametrize("rows", [stages.ROWS, 100])
def test_units_and_order_of_rows_do_not_matter(rows, monkeypatch, rng):
    monkeypatch.setattr(stages, "ROWS", rows)
    X, y = smooth(rng)
    order = rng.permutation(len(X))
    model = EffectsRegressor().fit(X, y)
    moved = EffectsRegressor().fit(1e6 * X[order] + 3, 1e3 * y[order])
    assert moved.terms_ == model.terms_
    found = moved.predict(1e6 * X + 3, return_std=True)
    for a, b in zip(found, model.predict(X, return_std=True), strict=True):
        assert_allclose(a / 1e3, b, atol=1e-4)


def test_weights_are_copies(rng):
    X, y = smooth(rng, 200)
    weights = rng.integers(0, 3, 200)
    one = EffectsRegressor().fit(X, y, sample_weight=weights)
    other = EffectsRegressor().fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert one.terms_ == other.terms_
    assert_allclose(one.predict(X), other.predict(X), atol=1e-4)
    assert_allclose(one.effects_, other.effects_, rtol=1e-2)


@pytest.mark.parametrize("kind", ["lognormal", "outlier", "hardly varies"])
def test_predictions_stay_bounded(kind, rng):
    X, y = smooth(rng)
    if kind == "lognormal":
        X = np.exp(4 * X)
    if kind == "outlier":
        X[0, 1] = 1e6
    if kind == "hardly varies":
        X[:, 1] = 1e-9 * (rng.random(150) < 0.03)
    model = EffectsRegressor().fit(X, y)
    later = np.vstack([X, X + rng.normal(size=X.shape), X[:, ::-1]])
    assert np.abs(model.predict(later)).max() < 100 * np.abs(y).max()


def test_files_and_copies_predict_the_same(fitted, tmp_path):
    model, X = fitted
    copied = pickle.loads(pickle.dumps(model))
    assert_allclose(copied.predict_effects(X), model.predict_effects(X), rtol=0, atol=0)
    sio = needs.library("skops.io")
    sio.dump(model, tmp_path / "model.skops")
    stored = sio.load(tmp_path / "model.skops", trusted=storage.TRUSTED)
    assert_allclose(stored.predict_effects(X), model.predict_effects(X), rtol=1e-12)
    assert stored.effects_.equals(model.effects_)


def test_rvr_with_effects_is_the_same_model(rng):
    X, y = smooth(rng)
    model = EffectsRegressor().fit(X, y)
    other = RVR(kernel="effects", remainder="process", tol=np.log(9), n_starts=1, max_iter=1000)
    assert_allclose(other.fit(X, y).predict(X), model.predict(X), rtol=1e-10)


def test_blocks_of_rows_are_as_rows_in_memory(rng):
    da = needs.library("dask.array")
    X, y = smooth(rng, 240)
    blocks = EffectsRegressor().fit(da.from_array(X, chunks=(80, 3)), da.from_array(y, chunks=80))
    memory = EffectsRegressor().fit(X, y)
    assert blocks.terms_ == memory.terms_
    assert_allclose(blocks.predict(X), memory.predict(X), atol=1e-6)
    assert_allclose(blocks.effects_, memory.effects_, rtol=1e-4)


def test_rows_in_parts_are_refused_by_name(rng):
    X, y = smooth(rng)
    with pytest.raises(AttributeError) as caught:
        EffectsRegressor().partial_fit(X, y)
    assert "RVR(kernel=Effects" in str(caught.value.__cause__)
    parts = RVR(kernel="effects").partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    assert np.std(parts.predict(X) - y) < 0.15


def test_it_stands_in_pipelines_and_is_cloned(rng):
    X, y = smooth(rng)
    model = EffectsRegressor(interactions=[(1, 2)], remainder=None)
    assert clone(model).get_params() == model.get_params()
    scaled = make_pipeline(StandardScaler(), model).fit(X, y)
    assert scaled.score(X, y) > 0.9
    assert {"x0", "x1 × x2"} <= set(scaled[-1].terms_)


def test_inputs_by_name_are_those_by_position(rng):
    X, y = smooth(rng)
    table = pd.DataFrame(X, columns=[*"abcdef"[: X.shape[1]]]).round(1)
    by_name, by_place = (
        EffectsRegressor(interactions=[pair], categorical=[label], remainder=None).fit(table, y)
        for pair, label in ((("b", "c"), "a"), ((1, 2), 0))
    )
    assert by_name.terms_ == by_place.terms_
    assert_allclose(by_name.predict(table), by_place.predict(table))
    with pytest.raises(ValueError, match=r"categorical=\[.z.\]"):
        EffectsRegressor(categorical=["z"]).fit(table, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("interactions", "all"),
        ("interactions", 3),
        ("interactions", [(0, 7)]),
        ("categorical", [5]),
        ("remainder", "gp"),
        ("remainder_centers", 0),
        ("max_iter", 0),
    ],
)
@pytest.mark.parametrize("estimator", [EffectsRegressor, EffectsClassifier])
def test_bad_parameters_are_named(estimator, name, value, rng):
    X, y = smooth(rng)
    with pytest.raises((ValueError, TypeError), match=f"^{name}="):
        estimator(**{name: value}).fit(X, y > 0)


@pytest.mark.parametrize("seed", range(3))
def test_a_process_of_rows_far_apart_does_not_stand_for_noise(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 100)), rng.normal(size=60)
    with pytest.warns(EmptyModelWarning):
        model = EffectsRegressor(interactions=None).fit(X, y)
    assert model.noise_variance_ == pytest.approx(y.var(ddof=1), rel=1e-6)


def test_categories_of_one_row_each_do_not_stand_for_noise(rng):
    X = np.empty((80, 2), dtype=object)
    X[:, 0], X[:, 1] = rng.normal(size=80), [f"row {number}" for number in range(80)]
    y = np.sin(2 * X[:, 0].astype(float)) + 0.1 * rng.normal(size=80)
    model = EffectsRegressor(remainder=None).fit(X, y)
    assert model.terms_ == ["x0"]
    assert model.noise_variance_ == pytest.approx(0.01, rel=0.5)


def test_of_many_rows_some_are_fitted_first_where_no_pair_is_to_be_chosen(monkeypatch, rng):
    X = rng.normal(size=(200, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=200)
    monkeypatch.setattr(stages, "ROWS", 100)
    found = EffectsRegressor(interactions=None).fit(X, y)
    assert "x0" in found.terms_
    assert found.noise_variance_ == pytest.approx(0.01, rel=0.5)


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e160, 1e299])
def test_units_whose_squares_are_out_of_range_do_not_matter(unit, rng):
    X = rng.normal(size=(60, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=60)
    expected, found = (
        EffectsRegressor(remainder=None).fit(unit_of * X, y) for unit_of in (1.0, unit)
    )
    assert found.log_evidence_ == pytest.approx(expected.log_evidence_, rel=1e-9)
    assert_allclose(found.predict(unit * X), expected.predict(X), rtol=1e-7)
