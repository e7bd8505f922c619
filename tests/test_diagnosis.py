"""Each rule speaks on data that provoke it, and on healthy fits none does."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.random import RandomState
from scipy.signal import lfilter
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    make_friedman1,
    make_moons,
)
from sklearn.preprocessing import StandardScaler

from relvec import (
    RVC,
    RVR,
    EffectsRegressor,
    SparseBayesianClassifier,
    SparseBayesianRegressor,
)
from relvec._assess.diagnose import RULES
from relvec._assess.findings import Diagnosis
from relvec.basis import KERNELS, RBF, Columns, Fourier, Polynomial
from relvec.datasets import make_sinc, sinc
from relvec.exceptions import CentersWarning, CheckpointWarning, RelvecWarning
from tests.support import inputs
from tests.support.machines import MACHINES
from tests.support.rows import cauchy

#: Codes of what a fit warns of at its end.
CODES = {kind.code for kind in RelvecWarning.__subclasses__()} - {
    CentersWarning.code,
    CheckpointWarning.code,
}

quiet = pytest.mark.filterwarnings("ignore::UserWarning")


def standardised(X):
    return StandardScaler().fit_transform(X)


def waves(n, seed=0):
    X = np.linspace(0, 20, n)[:, None]
    return X, np.sin(X[:, 0]) + 0.1 * RandomState(seed).standard_normal(n)


def noisy_line(n=200, seed=0):
    draw = RandomState(seed)
    X = draw.uniform(-3, 3, (n, 2))
    return X, X[:, 0] - X[:, 1], draw


def codes(model, X, y):
    return model.fit(X, y).diagnose(X, y).codes


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("model", "data"),
    [
        (RVR(gamma=0.1), lambda seed: make_sinc(50, noise_scale=0.1, random_state=seed)),
        (RVR(), lambda seed: make_sinc(100, noise_scale=0.1, grid=False, random_state=seed)),
        (RVR("linear_spline"), lambda seed: make_sinc(100, noise_scale=0.2, random_state=seed)),
        (RVR(gamma=0.05), lambda seed: make_friedman1(200, noise=1.0, random_state=seed)),
        (RVC(), lambda seed: make_moons(200, noise=0.3, random_state=seed)),
        (RVC(), lambda seed: inputs.noisy_border(100, seed)),
        (SparseBayesianRegressor(), lambda seed: _with_noise(*noisy_line(100, seed))),
    ],
)
def test_healthy_fits_have_nothing_to_report(model, data, seed):
    X, y = data(seed)
    diagnosis = model.fit(standardised(X) if X.shape[1] > 2 else X, y)
    assert str(diagnosis.diagnose()) == "nothing to report"
    assert codes(model, standardised(X) if X.shape[1] > 2 else X, y) == []


def _with_noise(X, f, draw):
    return X, f + draw.standard_normal(len(f))


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_healthy_iris_has_nothing_to_report(multi_class):
    X, y = load_iris(return_X_y=True)
    assert codes(RVC(multi_class=multi_class), standardised(X), y) == []


def test_findings_print_one_a_line_with_their_numbers():
    X, y = load_breast_cancer(return_X_y=True)
    (finding,) = diagnosis = RVC().fit(X, y).diagnose()
    assert isinstance(diagnosis, Diagnosis)
    assert diagnosis.codes == ["scales_uneven"]
    assert str(diagnosis) == repr(diagnosis) == f"scales_uneven: {finding.sentence}"
    assert finding.numbers["ratio"] > 1e4
    assert f"{finding.numbers['ratio']:.3g}" in finding.sentence
    assert str(Diagnosis([finding, finding])).count("\n") == 1


def test_every_rule_is_tested_by_name():
    assert {f"test_rule_{rule.__name__}" for rule in RULES} <= set(globals())


def test_the_page_lists_every_code():
    root = Path(__file__).resolve().parents[1]
    files = (root / "src" / "relvec" / "_assess").glob("*.py")
    rules = "\n".join(file.read_text(encoding="utf-8") for file in files)
    page = (root / "docs" / "guide" / "uncertainty.md").read_text(encoding="utf-8")
    table = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    listed = {code for cell in table for code in re.findall(r"`([a-z_]+)`", cell)}
    found = set(re.findall(r'Finding\(\s*"(\w+)"', rules)) | CODES
    assert found == listed


def test_rule_underfit():
    X, y = waves(100)
    (finding,) = RVR(gamma=1e-3).fit(X, y).diagnose(X, y)
    assert finding.code == "underfit"
    assert finding.numbers["common"] > 0.9
    assert "gamma='evidence'" in finding.sentence
    assert "n_starts" in finding.sentence
    assert codes(RVR(gamma=0.3), X, y) == []


@quiet
@pytest.mark.parametrize(
    ("code", "parameter", "model", "data"),
    [
        ("not_converged", "max_iter", RVR(gamma=0.3, max_iter=1), inputs.noisy_sinc()),
        ("empty_model", "gamma", RVR(), inputs.constant_target(3.0)),
        ("noise_floor", "noise_variance", RVR("linear"), inputs.one_column_is_the_target()),
    ],
)
def test_rule_warned(code, parameter, model, data):
    (finding,) = model.fit(*data).diagnose()
    assert finding.code == code
    assert parameter in finding.sentence
    assert finding.sentence in model.status_


def test_rule_starts_disagree():
    X, y = make_sinc(100, noise_scale=0.1, grid=False, random_state=3)
    for seed in range(20):
        X, y = make_sinc(100, noise_scale=0.1, grid=False, random_state=seed)
        model = RVR(n_starts=3).fit(X, y)
        (search,) = model.fit_result_.searches
        alone = search.agreed == 1
        assert search.starts == 3
        assert alone == ("1 of 3 starts" in model.status_)
        assert model.diagnose().codes == (["starts_disagree"] if alone else [])
        if alone:
            break
    (finding,) = model.diagnose()
    assert finding.numbers == {"agreed": 1, "starts": 3}
    assert "n_starts" in finding.sentence


def test_a_start_that_the_search_adds_to_one_has_none_to_agree_with():
    model = RVR(gamma=0.3).fit(*waves(100))
    (search,) = model.fit_result_.searches
    assert (search.starts, search.agreed) == (2, 0)
    assert "of 2 starts" in model.status_
    assert model.diagnose() == []


@quiet
def test_rule_kernel_narrow():
    draw = RandomState(0)
    x = np.linspace(-10, 10, 60)
    y = draw.standard_normal(60)
    model = RVR("laplacian", gamma=5.0, noise_variance=1e-4).fit(x[:, None], y)
    (finding,) = model.diagnose()
    assert finding.code == "kernel_narrow"
    assert finding.numbers["used"] > 30
    assert "gamma" in finding.sentence


def test_rule_kernel_narrow_tells_from_neighbours_too():
    x = np.linspace(-10, 10, 100)
    y = 0.1 * RandomState(0).standard_normal(100)
    y[[20, 50, 81]] += 2.0
    model = RVR(gamma=1000.0, noise_variance=0.02).fit(x[:, None], y)
    assert model.diagnose().codes == []
    (finding,) = model.diagnose(x[:, None])
    assert finding.code == "kernel_narrow"
    assert finding.numbers == {"neighbours": 0}
    assert model.diagnose(x[:, None] + 0.01).codes == ["far_from_data"], "are other rows"


@quiet
@pytest.mark.parametrize("gamma", ["evidence", "ard", 5.0])
def test_a_width_that_was_learnt_is_not_to_be_set_otherwise(gamma):
    y = RandomState(0).standard_normal(60)
    model = RVR("laplacian", gamma=gamma, noise_variance=1e-4)
    (finding,) = model.fit(np.linspace(-10, 10, 60)[:, None], y).diagnose()
    assert finding.code == "kernel_narrow"
    assert ("a smaller gamma" in finding.sentence) == (gamma == 5.0)
    assert ("rows left out" in finding.sentence) == (gamma != 5.0)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_rule_kernel_wide(kernel):
    X, y = inputs.steep_line_far_from_zero()
    (finding,) = RVR(kernel, gamma=1e-6).fit(X, y).diagnose(X)
    assert finding.code == "kernel_wide"
    assert finding.numbers["spread"] < 0.1
    assert "larger gamma" in finding.sentence


def test_rule_scales_uneven():
    X, f, draw = noisy_line()
    y = f + draw.standard_normal(200)
    assert codes(RVR(), X, y) == []
    assert codes(RVR(), X * [1, 1000], y) == ["scales_uneven"]
    assert codes(RVR(gamma=[1e-1, 1e-7]), X * [1, 1000], y) == []
    assert "scales_uneven" not in codes(RVR("linear"), X * [1, 1000], y)
    table = pd.DataFrame(X * [1, 1000], columns=["length", "mass"])
    (finding,) = RVR().fit(table, y).diagnose()
    assert "the spread of mass is " in finding.sentence
    assert "that of length " in finding.sentence


def test_rule_collinear_weights():
    draw = RandomState(0)
    a, b = draw.standard_normal((2, 100))
    X = np.column_stack([a, a + 0.01 * b, draw.standard_normal(100)])
    y = 100 * (X[:, 0] - X[:, 1]) + X[:, 0] + 0.1 * draw.standard_normal(100)
    (finding,) = SparseBayesianRegressor().fit(X, y).diagnose()
    assert finding.code == "collinear"
    assert "x0 and x1" in finding.sentence
    assert finding.numbers["correlation"] > 0.99


def test_rule_collinear_weights_of_classes():
    draw = RandomState(0)
    a, b = draw.standard_normal((2, 400))
    X = np.column_stack([a, a + 0.05 * b])
    height = 5 * (20 * (X[:, 0] - X[:, 1]) + a)
    y = np.digitize(height + draw.logistic(size=400), [-1.0, 1.0])
    model = SparseBayesianClassifier().fit(X, y)
    assert len(model.relevance_) == 2
    assert model.diagnose().codes == ["collinear"]


def test_rule_collinear_inputs():
    X, y = inputs.parallel_columns()
    model = SparseBayesianRegressor().fit(X, y)
    assert model.diagnose().codes == []
    (finding,) = model.diagnose(X)
    assert finding.code == "collinear"
    assert finding.numbers == {"correlation": pytest.approx(1), "pairs": 2}
    assert codes(RVR([Columns(), Polynomial(2)]), *_with_noise(*noisy_line())) == []


def test_rule_separable():
    X, y = inputs.two_sides()
    model = RVC("linear").fit(X, y)
    (finding,) = model.diagnose()
    assert finding.code == "separable"
    assert finding.numbers["log_evidence"] == model.log_evidence_ > 0
    X, y = make_moons(200, noise=0.1, random_state=0)
    model = RVC().fit(X, y)
    assert model.log_evidence_ < 0
    assert model.diagnose().codes == model.diagnose(X).codes == []
    assert model.diagnose(X, y).codes == ["separable"]
    assert model.diagnose(X[:-1], y[:-1]).codes == [], "are not all rows of the fit"


def test_rule_imbalance():
    draw = RandomState(2)
    X = np.vstack([draw.standard_normal((380, 2)), draw.standard_normal((20, 2)) + 0.5])
    y = np.repeat(["common", "rare"], [380, 20])
    (finding,) = RVC("linear").fit(X, y).diagnose(X, y)
    assert finding.code == "imbalance"
    assert "class rare is 5 %" in finding.sentence
    assert codes(RVC("linear", class_weight="balanced"), X, y) == []


def test_rule_outliers():
    X, y = inputs.noisy_sinc(100)
    y[[10, 40, 77]] += [2.0, -2.0, 3.0]
    model = RVR(gamma=0.1).fit(X, y)
    (finding,) = model.diagnose(X, y)
    assert finding.code == "outliers"
    assert "rows 10, 40, 77" in finding.sentence
    assert finding.numbers["outliers"] == 3
    other, target = inputs.noisy_sinc(99, seed=1)
    assert RVR(gamma=0.1).fit(*inputs.noisy_sinc(100)).diagnose(other, target).codes == []


def test_rule_outliers_is_content_with_noise_that_has_them():
    X, y = inputs.noisy_sinc(100)
    y[[10, 40, 77]] += [2.0, -2.0, 3.0]
    assert codes(RVR(gamma=0.1, likelihood="student_t"), X, y) == []


def test_rule_non_gaussian():
    X, f, draw = noisy_line(400)
    y = f + 2 * draw.uniform(-1, 1, 400)
    (finding,) = SparseBayesianRegressor().fit(X, y).diagnose(X, y)
    assert finding.code == "non_gaussian"
    assert finding.numbers["kurtosis"] == pytest.approx(-1.2, abs=0.15)
    y = f + draw.gamma(3.0, size=400)
    assert "non_gaussian" in codes(SparseBayesianRegressor(), X, y)


def test_rule_heteroscedastic():
    X, f, draw = noisy_line(300)
    y = f + np.exp(X[:, 1] / 4) * draw.standard_normal(300)
    (finding,) = SparseBayesianRegressor().fit(X, y).diagnose(X, y)
    assert finding.code == "heteroscedastic"
    assert "grows with x1" in finding.sentence
    known = SparseBayesianRegressor().fit(X, y, noise_variance_per_row=np.exp(X[:, 1] / 2))
    assert known.diagnose(X, y).codes == []


def test_rule_heteroscedastic_names_the_target():
    X, f, draw = noisy_line(300)
    noise = draw.standard_normal((300, 2)) * np.column_stack([np.ones(300), np.exp(X[:, 0] / 4)])
    model = RVR("linear", multi_output="independent").fit(X, np.column_stack([f, f]) + noise)
    (finding,) = model.diagnose(X, np.column_stack([f, f]) + noise)
    assert finding.sentence.startswith("target 1: ")


def test_rule_correlated():
    X, f, draw = noisy_line(200)
    noise = lfilter([0.6], [1, -0.8], draw.standard_normal(200))
    model = SparseBayesianRegressor().fit(X, f + noise)
    (finding,) = model.diagnose(X, f + noise)
    assert finding.code == "correlated"
    assert "noise_correlation='ar1'" in finding.sentence
    assert finding.numbers["correlation"] == pytest.approx(0.8, abs=0.15)
    in_time = SparseBayesianRegressor(noise_correlation="ar1").fit(X, f + noise)
    assert in_time.diagnose(X, f + noise).codes == []


def test_rule_error_bars_short():
    X, y = inputs.noisy_sinc(100)
    assert codes(RVR(gamma=0.1, noise_variance=1e-2), X, y) == []
    model = RVR(gamma=0.1, noise_variance=3e-3).fit(X, y)
    (finding,) = model.diagnose(X, y)
    assert finding.code == "error_bars_short"
    assert finding.numbers["mean_square"] > 1.5


def test_rule_error_bars_short_counts_rows_outside_of_intervals():
    """Few rows in 79 % of intervals of 95 %: 42 of 200 outside, 1e-14 by chance."""
    X, f, draw = noisy_line(350)
    y = f + draw.standard_normal(350)
    model = SparseBayesianRegressor().fit(X[:150], y[:150])
    new, t = X[150:], model.predict(X[150:])
    std = model.predict(new, return_std=True)[1]
    off = np.repeat([2.1, 0.1], [42, 158]) * np.tile([1, -1], 100)
    (finding,) = model.diagnose(new, t + off * std)
    assert finding.code == "error_bars_short"
    assert finding.numbers["coverage"] == pytest.approx(0.79)
    assert "hold 79 % of them" in finding.sentence
    few = new[:24], t[:24] + off[37:61] * std[:24]  # 5 of 24 outside, also 79 %
    assert "error_bars_short" in model.diagnose(*few).codes
    off = np.repeat([2.1, 0.1], [16, 184]) * np.tile([1, -1], 100)
    assert "error_bars_short" not in model.diagnose(new, t + off * std).codes


def test_rule_error_bars_short_of_counts():
    draw = RandomState(0)
    x = np.linspace(-3, 3, 200)
    rate = np.exp(2 + np.sin(x))
    assert codes(RVR(likelihood="poisson"), x[:, None], draw.poisson(rate)) == []
    wild = draw.poisson(rate * draw.gamma(2.0, 0.5, size=200))
    model = RVR(likelihood="poisson", gamma=0.2).fit(x[:, None], wild)
    assert model.diagnose(x[:, None], wild).codes == ["error_bars_short"]


def test_rule_overconfident():
    draw = RandomState(0)
    X = draw.standard_normal((400, 2))
    y = (X[:, 0] + draw.logistic(size=400) > 0).astype(int)
    model = SparseBayesianClassifier().fit(X[:150], y[:150])
    assert model.diagnose(X[150:], y[150:]).codes == []
    certain = SparseBayesianClassifier().fit(X[:150], (X[:150, 0] > 0).astype(int))
    finding = next(each for each in certain.diagnose(X[150:], y[150:]) if each.code != "separable")
    assert finding.code == "overconfident"
    p = np.maximum(certain.predict_proba(X[150:])[np.arange(250), y[150:]], 1e-300)
    assert finding.numbers["log_loss"] == pytest.approx(-np.log(p).mean())
    assert finding.numbers["log_loss"] > 1.5 * finding.numbers["expected"]


def test_rule_no_skill():
    X, f, draw = noisy_line(400)
    y = f + draw.standard_normal(400)
    model = SparseBayesianRegressor().fit(X[:150], y[:150])
    assert model.diagnose(X[150:], y[150:]).codes == []
    finding = model.diagnose(X[150:], -y[150:])[-1]
    assert finding.code == "no_skill"
    assert finding.numbers["constant"] == pytest.approx(y[150:].std())
    assert finding.numbers["error"] > y[150:].std()


def test_rule_no_skill_of_classes():
    X, f, draw = noisy_line(400)
    y = f + draw.logistic(size=400) > 0
    model = SparseBayesianClassifier().fit(X[:150], y[:150])
    assert model.diagnose(X[150:], y[150:]).codes == []
    finding = model.diagnose(X[150:], ~y[150:])[-1]
    assert finding.code == "no_skill"
    assert finding.numbers["log_loss"] > finding.numbers["constant"]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", cauchy])
def test_rule_far_from_data(kernel):
    X, y = inputs.noisy_sinc(100)
    model = RVR(kernel, gamma=0.1).fit(X, y)
    assert model.diagnose(X).codes == []
    far = X + 200.0
    (finding,) = model.diagnose(far)
    assert finding.code == "far_from_data"
    assert finding.numbers["share"] == 1
    assert "augment=True" in finding.sentence


@pytest.mark.parametrize("kernel", ["linear_spline", "linear", ["rbf", "linear"]])
def test_rule_far_from_data_speaks_of_functions_that_vanish(kernel):
    X, y = inputs.noisy_sinc(100, slope=0.5)
    codes = RVR(kernel, gamma=0.1).fit(X, y).diagnose(X + 100.0).codes
    assert codes == (["underfit"] if kernel == "linear" else [])


def test_kernel_values_are_no_inputs():
    X, y = inputs.noisy_sinc(60)
    K = np.exp(-0.1 * (X - X.T) ** 2)
    model = RVR("precomputed").fit(K, y)
    assert model.diagnose(K, y).codes == model.diagnose(np.zeros((5, 60))).codes == []


def test_healthy_new_rows_are_judged_too():
    rng = RandomState(5)
    X = rng.uniform(-10, 10, (2000, 1))
    y = sinc(X[:, 0]) + 0.1 * rng.standard_normal(2000)
    model = RVR(gamma=0.1).fit(X[:100], y[:100])
    assert model.diagnose(X[100:], y[100:]).codes == []


def test_targets_need_rows_and_have_the_shape_of_the_fit():
    X, y = inputs.noisy_sinc()
    model = RVR(gamma=0.1).fit(X, y)
    with pytest.raises(ValueError, match="y is given without X"):
        model.diagnose(y=y)
    with pytest.raises(ValueError, match="y has 2 columns, expected 1"):
        model.diagnose(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="expected labels out of"):
        RVC().fit(X, y > 0).diagnose(X, np.where(y > 0, "a", "b"))


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 200])
def test_chance_makes_rules_speak_once_in_a_thousand(n):
    """Three statistical rules on 1000 draws of Gaussian noise around a line: three are expected."""
    chance, spoken = {"outliers", "non_gaussian", "heteroscedastic", "error_bars_short"}, 0
    for seed in range(1000):
        draw = RandomState(seed)
        X = draw.uniform(-1, 1, (n, 2))
        y = 2 * X[:, 0] + draw.standard_normal(n)
        found = SparseBayesianRegressor().fit(X, y).diagnose(X, y).codes
        spoken += len(chance.intersection(found))
    assert spoken <= 9  # more have a probability of 0.001


def test_real_findings_name_the_cause():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    (finding,) = SparseBayesianRegressor().fit(X, y).diagnose(X, y)
    assert finding.code == "heteroscedastic"
    assert "the prediction" in finding.sentence or any(name in finding.sentence for name in X)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("kernel", [*KERNELS, cauchy, [RBF(0.3), Columns()], Fourier(2)], ids=str)
def test_every_kind_of_model_has_a_diagnosis(name, kernel):
    X, y = inputs.noisy_sinc(60, slope=0.2)
    target = MACHINES[name].target(y)
    X = np.exp(-0.1 * (X - X.T) ** 2) if kernel == "precomputed" else X
    model = MACHINES[name].make(kernel=kernel, gamma=0.1).fit(X, target)
    for diagnosis in (model.diagnose(), model.diagnose(X[:5]), model.diagnose(X, target)):
        assert isinstance(diagnosis, Diagnosis)
        assert all(np.isfinite(list(finding.numbers.values())).all() for finding in diagnosis)


# Units are powers of two, which round nothing: the evidence of an exact line has dozens of maxima,
# not all with the noise at its floor, and the last digits of X decide which of them is reached.
@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
@pytest.mark.parametrize(
    "data",
    [
        inputs.two_rows(),
        inputs.constant_target(0.0),
        (np.arange(60.0)[:, None], np.full(60, 7.0)),
        (np.arange(60.0)[:, None], np.arange(60.0)),
        (np.arange(60.0)[:, None], np.eye(60)[30]),
        (np.column_stack([np.arange(60.0), np.ones(60)]), np.sin(np.arange(60.0))),
        (np.ones((60, 1)), np.sin(np.arange(60.0))),
    ],
    ids=["two", "zero", "constant", "line", "one of 60", "constant column", "one place"],
)
def test_degenerate_data_have_a_diagnosis_in_any_unit(data):
    X, y = data
    codes = RVR().fit(X, y).diagnose(X, y).codes
    for unit in (2.0**-332, 2.0**-100, 2.0**100, 2.0**332):
        assert RVR().fit(unit * X, y).diagnose(unit * X, y).codes == codes
        assert RVR().fit(X, unit * y).diagnose(X, unit * y).codes == codes


def test_rule_unknown_category():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=80), "town": rng.choice(["Bonn", "Rome"], 80)})
    y = X["size"] + 3 * (X["town"] == "Rome") + 0.1 * rng.normal(size=80)
    model = EffectsRegressor(interactions=None).fit(X, y)
    new = X[:40].assign(town=["Bonn", "Oslo", "Rome", "Pisa"] * 10)
    (finding,) = (f for f in model.diagnose(new) if f.code == "unknown_category")
    assert finding.fact.startswith("town is 'Oslo', 'Pisa' in 20 of these rows")
    assert finding.numbers == {"rows": 20, "categories": 2}
    assert "unknown_category" not in model.diagnose(X, y).codes
