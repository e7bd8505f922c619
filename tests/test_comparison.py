"""What `compare` tells of several models, and which it refuses to."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor, compare
from relvec._assess import summary
from relvec.basis import RBF, Bias, Laplacian
from tests.support import inputs
from tests.support.machines import MACHINES

COLUMNS = ["log_evidence", "less_best", "schwarz", "loo_log_density", "n_functions", "seconds"]


def candidates():
    return {
        "wide": RVR(gamma=0.02),
        "right": RVR(gamma=0.2),
        "spline": RVR("linear_spline"),
        "mixed": make_pipeline(StandardScaler(), RVR([RBF(2.0), Laplacian(1.0)])),
    }


def test_rows_are_the_fits_best_first():
    X, y = inputs.noisy_sinc(60)
    models = candidates()
    table = compare(models, X, y)
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == COLUMNS
    assert table.index.name == "model"
    assert sorted(table.index) == sorted(models)
    for name, model in models.items():
        assert not hasattr(model, "n_features_in_"), "it is a clone that is fitted"
        fitted = clone(model).fit(X, y)
        machine = fitted[-1] if name == "mixed" else fitted
        assert table.loc[name, "log_evidence"] == machine.log_evidence_
        assert table.loc[name, "n_functions"] == len(machine.relevance_)
    evidence = table["log_evidence"].to_numpy()
    assert np.all(np.diff(evidence) < 0)
    assert_allclose(table["less_best"], evidence - evidence.max())
    assert (table["seconds"] > 0).all()


@pytest.mark.parametrize(("weight", "weights"), [(None, None), (3.0, np.full(40, 3.0)), (3.0, 3.0)])
def test_functions_and_learnt_scales_have_a_penalty(weight, weights):
    X, y = inputs.noisy_sinc(40)
    models = {"given": RVR(gamma=0.1), "learnt": RVR(gamma="evidence")}
    table = compare(models, X, y, sample_weight=weights)
    chosen = table["n_functions"] + (table.index == "learnt")
    expected = table["log_evidence"] - 0.5 * np.log(40 * (weight or 1)) * chosen
    assert_allclose(table["schwarz"], expected)


def test_bases_of_all_kinds_have_one_scale_of_evidence():
    """The density of the contrasts of y under the covariance of each fit."""
    X, y = inputs.noisy_sinc(30)
    models = {
        "rbf": RVR(gamma=0.3),
        "spline": RVR("linear_spline"),
        "both": RVR([Bias(), RBF(0.3)]),
    }
    table, contrasts = (
        compare(models, X, y),
        np.linalg.qr(np.column_stack([np.ones(30), np.eye(30)])),
    )
    H = contrasts[0][:, 1:30]
    for name, model in models.items():
        fitted = model.fit(X, y)
        Phi = fitted.basis_.transform(X)
        C = np.eye(30) * fitted.noise_variance_ + (Phi / fitted.weight_precision_) @ Phi.T
        expected = multivariate_normal.logpdf(H.T @ y, cov=H.T @ C @ H)
        assert table.loc[name, "log_evidence"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_loo_is_the_sum_over_refits(fit_intercept, known):
    X, y = inputs.noisy_sinc(30)
    copies = np.arange(30) % 3
    variances = np.linspace(0.005, 0.02, 30) if known else None
    model = RVR(gamma=0.3, fit_intercept=fit_intercept)
    table = compare({"it": model}, X, y, copies, variances)
    model.fit(X, y, copies, variances)
    variances = np.full(30, model.noise_variance_) if variances is None else variances
    Phi, alpha, total = model.basis_.transform(X), model.weight_precision_, 0.0
    if fit_intercept:
        Phi, alpha = np.column_stack([Phi, np.ones(30)]), np.append(alpha, 0.0)
    for row in np.flatnonzero(copies):
        precision = (copies - (np.arange(30) == row)) / variances
        H = (Phi.T * precision) @ Phi + np.diag(alpha)
        mean = Phi[row] @ np.linalg.solve(H, Phi.T @ (precision * y))
        variance = variances[row] + Phi[row] @ np.linalg.solve(H, Phi[row])
        total += copies[row] * multivariate_normal.logpdf(y[row], mean, variance)
    assert table.loc["it", "loo_log_density"] == pytest.approx(total, rel=1e-8)


def test_loo_of_several_targets_is_their_sum():
    X, y = inputs.noisy_sinc(40)
    other = np.cos(X[:, 0]) + inputs.noisy_sinc(40, seed=1)[1]
    model = RVR(gamma=0.3, multi_output="independent")
    both = compare({"both": model}, X, np.column_stack([y, other]))
    parts = [compare({"one": model}, X, target) for target in (y, other)]
    for column in ("log_evidence", "loo_log_density"):
        assert both.loc["both", column] == pytest.approx(sum(p.loc["one", column] for p in parts))


@pytest.mark.parametrize("name", [name for name in MACHINES if name != "regression"])
def test_other_likelihoods_have_no_loo(name):
    X, y = inputs.noisy_sinc(60, slope=0.2)
    machine = MACHINES[name]
    models = {"narrow": machine.make(gamma=1.0), "wide": machine.make(gamma=0.05)}
    table = compare(models, X, machine.target(y))
    assert table["loo_log_density"].isna().all()
    assert table["less_best"].max() == 0


@pytest.mark.parametrize("weight", [None, {0: 2.0, 1: 0.5}, "balanced"])
def test_fitted_models_are_taken_as_they_are(weight):
    X, y = inputs.noisy_border()
    fitted = make_pipeline(StandardScaler(), RVC(gamma=0.3, class_weight=weight)).fit(X, y)
    fresh = RVC(gamma=0.5, class_weight=weight)
    table = compare({"fitted": fitted, "fresh": fresh}, X, y)
    assert table.loc["fitted", "log_evidence"] == fitted[-1].log_evidence_
    assert np.isnan(table.loc["fitted", "seconds"])
    assert table.loc["fresh", "seconds"] > 0


def test_fitted_classifier_finds_its_weights_again():
    X, y = inputs.noisy_border()
    copies = np.arange(len(y)) % 3
    model = RVC(gamma=0.3, class_weight="balanced").fit(X, y, sample_weight=copies)
    assert model.log_evidence(X, y, copies) == pytest.approx(model.log_evidence_, rel=1e-9)
    table = compare({"it": model}, X, y, sample_weight=copies)
    assert table.loc["it", "log_evidence"] == model.log_evidence_


@pytest.mark.parametrize("multi_output", ["shared", "independent"])
def test_fitted_several_targets_find_their_evidence_again(multi_output):
    X, y = inputs.noisy_sinc(40)
    Y = np.column_stack([y, 3 * y[::-1] + X[:, 0]])
    model = RVR(gamma=0.3, multi_output=multi_output).fit(X, Y)
    assert compare([model], X, Y)["log_evidence"].iloc[0] == model.log_evidence_


def test_robust_models_compare_among_themselves():
    X, y = inputs.noisy_sinc(60)
    y[[10, 40]] += 2.0
    robust = RVR(gamma=0.3, likelihood="student_t")
    table = compare({"fitted": clone(robust).fit(X, y), "fresh": robust}, X, y)
    assert table["less_best"].to_list() == [0, 0]
    assert table["loo_log_density"].isna().all()
    with pytest.raises(ValueError, match=r"likelihood is .*do not compare"):
        compare({"robust": robust, "plain": RVR(gamma=0.3)}, X, y)


@pytest.mark.parametrize(
    ("models", "names"),
    [
        ([RVR(gamma=0.2), SparseBayesianRegressor(tol=1e-6)], ["RVR", "SparseBayesianRegressor"]),
        (
            [RVR(gamma=0.2, tol=0.1), RVR(gamma=0.1, tol=0.1), SparseBayesianRegressor()],
            ["RVR(gamma=0.2)", "RVR(gamma=0.1)", "SparseBayesianRegressor"],
        ),
        ([RVR(RBF(0.2)), RVR(RBF(0.1))], ["RVR(kernel__gamma=0.2)", "RVR(kernel__gamma=0.1)"]),
        (
            [RVR(RBF(0.2)), RVR(Laplacian(0.2))],
            ["RVR(kernel=RBF(gamma=0.2))", "RVR(kernel=Laplacian(gamma=0.2))"],
        ),
        (
            [make_pipeline(StandardScaler(with_mean=mean), RVR()) for mean in (True, False)],
            ["RVR(standardscaler__with_mean=True)", "RVR(standardscaler__with_mean=False)"],
        ),
        (
            [make_pipeline(StandardScaler(), RVR(gamma=gamma)) for gamma in (0.1, 0.2)],
            ["RVR(gamma=0.1)", "RVR(gamma=0.2)"],
        ),
    ],
)
def test_models_of_a_list_are_named_by_what_differs(models, names):
    X, y = inputs.noisy_sinc(20)
    assert set(compare(models, X, y + X[:, 0]).index) == set(names)


def test_a_fitted_search_is_the_model_that_it_found():
    X, y = inputs.noisy_sinc(40)
    search = GridSearchCV(RVR(), {"gamma": [0.1, 0.3]}).fit(X, y)
    table = compare({"found": search}, X, y)
    assert table.loc["found", "log_evidence"] == search.best_estimator_.log_evidence_
    changed = TransformedTargetRegressor(RVR(), transformer=StandardScaler()).fit(X, y)
    with pytest.raises(TypeError, match=r"StandardScaler\(\) change of the target"):
        compare({"changed": changed}, X, y)


def test_table_without_pandas(monkeypatch):
    monkeypatch.setattr(summary, "find_spec", lambda name: None)
    X, y = inputs.noisy_sinc()
    table = compare({"wide": RVR(gamma=0.05), "narrow": RVR(gamma=1.0)}, X, y)
    assert isinstance(table, summary.Summary)
    assert list(table.columns) == COLUMNS
    assert table["less_best"][0] == 0


@pytest.mark.parametrize(
    ("a", "b", "what"),
    [
        (RVR(), RVR(fit_intercept=False), "fit_intercept"),
        (RVR(), RVR(likelihood="poisson"), "likelihood"),
        (RVR(), make_pipeline(StandardScaler(), RVR(beta_prior=(1.0, 1.0))), "beta_prior"),
        (RVR(), RVR(solver="em", alpha_prior=(1.0, 1.0)), "alpha_prior"),
        (RVC(), RVC(multi_class="multinomial"), "multi_class"),
        (
            RVC(multi_class="multinomial"),
            SparseBayesianClassifier(class_weight="balanced"),
            "class_weight",
        ),
        (RVR(), RVC(), "kind of target"),
    ],
)
def test_evidences_that_do_not_compare_are_refused(a, b, what):
    X, y = inputs.noisy_sinc(20)
    with pytest.raises(ValueError, match=f"(?s){what}.*do not compare"):
        compare({"a": a, "b": b}, X, np.round(np.abs(5 * y)))


def test_fitted_models_of_other_data_are_refused():
    X, y = inputs.noisy_sinc(40)
    model = RVR(gamma=0.3).fit(X, y)
    with pytest.raises(ValueError, match="'it' was fitted to 40 rows and y has 39"):
        compare({"it": model}, X[1:], y[1:])
    for other, weights in ((1.01 * y, None), (y[::-1], None), (y, np.linspace(0.5, 2, 40))):
        with pytest.raises(ValueError, match=r"'it' has a log evidence of .* but finds"):
            compare({"it": model}, X, other, sample_weight=weights)


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        TransformedTargetRegressor(RVR(), transformer=StandardScaler()),
        GridSearchCV(RVR(), {"gamma": [0.1, 1.0]}),
        make_pipeline(StandardScaler(), LinearRegression()),
    ],
)
def test_only_models_of_this_package_are_taken(model):
    with pytest.raises(TypeError, match="expected an estimator of relvec"):
        compare({"ours": RVR(), "theirs": model}, *inputs.noisy_sinc(20))


def test_arguments_that_say_nothing_are_refused():
    X, y = inputs.noisy_sinc(20)
    with pytest.raises(ValueError, match=r"models=.* is empty"):
        compare([], X, y)
    with pytest.raises(ValueError, match="more than once"):
        compare([RVR(), RVR()], X, y)
    with pytest.raises(ValueError, match="noise_variance_per_row is given"):
        compare([RVC()], X, y > 0, noise_variance_per_row=np.ones(20))
