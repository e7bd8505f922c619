"""The table of kept functions: one row each, its numbers those of the fitted attributes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor
from relvec._assess import summary as tables
from relvec.basis import RBF, Bias, Columns
from tests.support import inputs

NUMBERS = ["weight", "std", "weight_precision", "well_determined"]


@pytest.fixture
def without_pandas(monkeypatch):
    monkeypatch.setattr(tables, "find_spec", lambda name: None)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
def test_rows_are_the_kept_functions_by_name(machine):
    X, y = inputs.noisy_sinc(slope=0.1)
    model = machine.make(kernel=[RBF(0.2), Columns()]).fit(X, machine.target(y))
    summary = model.summary()
    assert isinstance(summary, pd.DataFrame)
    assert list(summary.index) == model.basis_.names()
    assert {name.split("[")[0] for name in summary.columns} - {"at"} == set(NUMBERS)
    for start, values in {
        "weight": model.dual_coef_,
        "weight_precision": model.weight_precision_,
        "well_determined": model.well_determined_,
    }.items():
        columns = [name for name in summary.columns if name.split("[")[0] == start]
        assert_array_equal(summary[columns].to_numpy().T, np.atleast_2d(values))


def test_feature_names_are_respected():
    X, y = inputs.two_of_six_columns()
    table = pd.DataFrame(X, columns=["age", *"bcdef"])
    assert list(SparseBayesianRegressor().fit(table, y).summary().index) == ["age", "e"]
    assert list(SparseBayesianRegressor().fit(X, y).summary().index) == ["x0", "x4"]


def test_std_of_a_regression_weight_is_that_of_its_covariance():
    X, y = inputs.noisy_sinc()
    model = RVR(gamma=0.2).fit(X, y)
    summary = model.summary()
    assert list(summary.columns) == [*NUMBERS, "at"]
    assert_allclose(summary["std"], np.sqrt(model.weight_covariance_.diagonal()), rtol=1e-12)


def test_std_of_a_class_weight_is_that_of_the_contrasts():
    X, y = inputs.clouds(30, 30, 30)
    model = RVC(gamma=0.3, multi_class="multinomial").fit(X, y + 5)
    (machine,), contrasts = (
        model.fit_result_.outputs,
        model.fit_result_.outputs[0].likelihood.contrasts,
    )
    n_active = len(model.relevance_)
    to_classes = np.kron(np.eye(n_active), contrasts)
    covariance = to_classes.T @ machine.posterior.covariance @ to_classes
    expected = np.sqrt(covariance.diagonal()).reshape(n_active, 3)
    summary = model.summary()
    assert_allclose(summary[[f"std[{k}]" for k in (5, 6, 7)]], expected, rtol=1e-10)
    assert "weight_precision" in summary.columns


def test_machines_have_columns_of_their_own():
    X, y = inputs.clouds(30, 30, 30)
    labels = np.array(["ash", "elm", "oak"])[y]
    model = SparseBayesianClassifier(multi_class="ovr").fit(X, labels)
    summary = model.summary()
    assert list(summary.columns[:3]) == ["weight[ash]", "weight[elm]", "weight[oak]"]
    for number, (label, machine) in enumerate(
        zip(model.classes_, model.fit_result_.outputs, strict=True)
    ):
        std = np.zeros(len(summary))
        std[machine.columns] = np.sqrt(machine.posterior.covariance.diagonal())
        assert_allclose(summary[f"std[{label}]"], std, rtol=1e-12)
        assert_array_equal(summary[f"weight_precision[{label}]"], model.weight_precision_[number])


def test_plain_table_holds_and_prints_the_same(without_pandas):
    X, y = inputs.two_strong_columns()
    model = RVR(kernel=[Bias(), Columns()], fit_intercept=False, tol=1.0).fit(X, y)
    summary = model.summary()
    assert isinstance(summary, tables.Summary)
    assert summary.index == ["x0", "x3"]
    assert len(summary) == 2
    assert_array_equal(summary["weight"], model.dual_coef_)
    header, *rows = str(summary).partition("\n\n")[2].splitlines()
    assert header.split() == NUMBERS
    assert [row.split()[0] for row in rows] == summary.index
    printed = np.array([row.split()[1:] for row in rows], dtype=float)
    assert_allclose(printed, np.column_stack(list(summary.columns.values())), rtol=1e-5)
    assert len({len(line) for line in (header, *rows)}) == 1
    assert repr(summary) == str(summary)


@pytest.mark.filterwarnings("ignore::relvec.exceptions.EmptyModelWarning")
@pytest.mark.parametrize("pandas", [True, False])
def test_model_of_nothing_has_an_empty_table(pandas, request):
    if not pandas:
        request.getfixturevalue("without_pandas")
    X, y = inputs.constant_target(3.0)
    summary = SparseBayesianRegressor().fit(X, y).summary()
    assert len(summary) == 0
    assert list(summary.columns) == NUMBERS
    assert "weight" in str(summary)


def test_functions_have_the_inputs_that_they_are_centred_on():
    X, y = inputs.noisy_sinc()
    model = RVR(gamma=0.2).fit(pd.DataFrame({"width": X[:, 0]}), y)
    expected = [f"width {value:.4g}" for value in model.relevance_vectors_[:, 0]]
    assert list(model.summary()["at"]) == expected
    wide = RVR(gamma=0.2).fit(np.tile(X, 5), y).summary()["at"].iloc[0]
    assert [part.split()[0] for part in wide.split(", ")] == ["x0", "x1", "x2", "…"]


@pytest.mark.parametrize("pandas", [True, False])
def test_facts_of_the_fit_stand_above_the_table(pandas, request):
    if not pandas:
        request.getfixturevalue("without_pandas")
    X, y = inputs.noisy_sinc()
    model = RVR(gamma=0.2).fit(X, y)
    summary = model.summary(X, y)
    error = np.sqrt(np.mean((model.predict(X) - y) ** 2))
    assert summary.facts == {
        "functions kept": f"{len(model.relevance_)}, fitted to {len(y)} rows",
        "log evidence": f"{model.log_evidence_:.2f} nats",
        "noise sd": f"{np.sqrt(model.noise_variance_):.4g}",
        "status": model.status_,
        "intercept": f"{model.intercept_:.4g}",
        "error": f"root mean square {error:.4g} on {len(y)} rows",
    }
    above, _, below = repr(summary).partition("\n\n")
    assert [line.split("  ")[0] for line in above.splitlines()] == list(summary.facts)
    assert "well_determined" in below
    assert "..." not in below
    assert "error" not in model.summary().facts


def test_facts_go_with_the_table_and_not_with_parts_of_it():
    X, y = inputs.noisy_sinc()
    summary = RVR(gamma=0.2).fit(X, y).summary()
    assert pickle.loads(pickle.dumps(summary)).facts == summary.facts
    assert "log evidence" in summary._repr_html_()
    assert type(summary.head(2)) is pd.DataFrame


def test_error_of_classes_is_the_share_of_wrong_labels():
    X, y = inputs.clouds(30, 30, 30)
    model = RVC(gamma=0.3).fit(X, y)
    wrong = 100 * np.mean(model.predict(X) != y)
    assert model.summary(X, y).facts["error"] == f"{wrong:.4g} % of labels on 90 rows"
    with pytest.raises(ValueError, match="one of X and y is given"):
        model.summary(X)
