"""The command line chooses among kinds of models, and handles models of effects."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from relvec import RVC, RVR, EffectsRegressor, SparseBayesianRegressor, log_density
from relvec._commands import models
from relvec._commands.main import main
from relvec.storage import load
from tests.support.commands import error_of, report, write

WHOLE = ["--target", "y", "--test-size", "0"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.uniform(-3, 3, 80), "kind": rng.choice(["a", "b"], 80)})
    noise = 0.1 * rng.standard_normal(80)
    return table.assign(y=np.sin(table["x"]) + 2.0 * (table["kind"] == "a") + noise)


@pytest.fixture
def data(table, tmp_path):
    return write(table, tmp_path / "data.csv")


def figures(out):
    """Log densities in a printed report, by kinds of models."""
    lines = (line.split() for line in out.splitlines())
    kinds = {"rvm", "effects", "linear"}
    return {words[0]: words[1] for words in lines if len(words) == 2 and words[0] in kinds}


def choice(out):
    return report(out)["model"].split(",")[0]


def prepared(machine):
    """Standardise x and encode the kind."""
    columns = make_column_transformer((StandardScaler(), ["x"]), (OneHotEncoder(), ["kind"]))
    return make_pipeline(columns.set_output(transform="default"), machine)


def test_auto_takes_the_best_cross_validated_log_density(table, data, capsys):
    assert main(["fit", data, *WHOLE, "--random-state", "5"]) == 0
    out = capsys.readouterr().out
    X, y, folds = table[["x", "kind"]], table["y"], KFold(3, shuffle=True, random_state=5)
    machines = {
        "rvm": prepared(RVR(random_state=5)),
        "effects": EffectsRegressor(),
        "linear": prepared(SparseBayesianRegressor()),
    }
    scores = {
        kind: cross_val_score(model, X, y, scoring=log_density, cv=folds)
        for kind, model in machines.items()
    }
    sizes = [len(left_out) for _, left_out in folds.split(X)]
    truth = {kind: np.average(score, weights=sizes) for kind, score in scores.items()}
    found = {kind: float(text) for kind, text in figures(out).items()}
    assert found == pytest.approx(truth, rel=1e-3)
    assert choice(out) == max(found, key=found.get)
    assert "nats a row, 3 folds)" in report(out)["model"]


def test_classes_have_the_log_loss_of_rows_left_out(table, tmp_path, capsys):
    table["y"] = np.where(table["y"] > 1, "high", "low")
    path = write(table, tmp_path / "classes.csv")
    assert main(["fit", path, *WHOLE]) == 0
    out = capsys.readouterr().out
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = prepared(RVC(random_state=0))
    probability = cross_val_predict(
        model, table[["x", "kind"]], table["y"], cv=folds, method="predict_proba"
    )
    assert float(figures(out)["rvm"]) == pytest.approx(-log_loss(table["y"], probability), rel=1e-3)


def test_some_of_many_rows_choose_and_all_are_fitted(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(models, "MOST_ROWS", 30)
    assert main(["fit", data, *WHOLE, "--out", str(tmp_path / "model.skops")]) == 0
    out = capsys.readouterr().out
    assert "3 folds of 30 rows, drawn from 80)" in report(out)["model"]
    assert report(out)["rows"] == "80 to fit, 0 held out"
    assert load(tmp_path / "model.skops")[-1].n_samples_fit_ == 80


def test_effects_of_many_columns_are_not_compared(table, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(models, "MOST_COLUMNS", 1)
    assert main(["fit", write(table, tmp_path / "wide.csv"), *WHOLE]) == 0
    out = capsys.readouterr().out
    assert figures(out).keys() == {"rvm", "linear"}
    assert "effects not compared, with pairs of 2 columns: --model effects fits it" in out


def test_few_rows_are_fitted_by_the_first_kind(table, tmp_path, capsys):
    assert main(["fit", write(table[:5], tmp_path / "few.csv"), *WHOLE]) == 0
    out = capsys.readouterr().out
    assert report(out)["model"] == "rvm, as too few rows tell the kinds of models apart"


def test_a_class_that_a_fold_lacks_does_not_keep_kinds_from_being_compared(table, tmp_path, capsys):
    table["y"] = np.where(table["y"] > 1, "high", "low")
    table.loc[3, "y"] = "odd"
    assert main(["fit", write(table, tmp_path / "odd.csv"), *WHOLE]) == 0
    found = figures(capsys.readouterr().out)
    assert found.keys() == {"rvm", "effects", "linear"}
    assert all(np.isfinite(float(density)) for density in found.values())


@pytest.mark.parametrize(
    ("words", "kinds"),
    [(["--gamma", "2"], set()), (["--n-starts", "2"], {"rvm", "linear"})],
)
def test_kinds_that_lack_an_option_are_not_compared(words, kinds, data, capsys):
    assert main(["fit", data, *WHOLE, *words]) == 0
    out = capsys.readouterr().out
    assert figures(out).keys() == kinds
    assert kinds or report(out)["model"] == "rvm"


@pytest.mark.parametrize(
    ("kind", "estimator"), [("effects", EffectsRegressor), ("linear", SparseBayesianRegressor)]
)
def test_the_model_that_was_asked_for(kind, estimator, table, data, tmp_path, capsys):
    path, out = str(tmp_path / "model.skops"), tmp_path / "out.csv"
    assert main(["fit", data, *WHOLE, "--model", kind, "--out", path]) == 0
    model = load(tmp_path / "model.skops")
    assert isinstance(model[-1], estimator)
    lines = report(capsys.readouterr().out)
    assert lines["model"] == kind
    assert main(["predict", path, data, "--out", str(out)]) == 0
    np.testing.assert_allclose(pd.read_csv(out)["mean"], model.predict(table[["x", "kind"]]))
    page = tmp_path / "page.html"
    assert main(["report", path, data, "--out", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert ("What each term adds" in text) == (kind == "effects")


def test_the_report_has_the_table_of_effects(data, tmp_path, capsys):
    path = tmp_path / "model.skops"
    assert main(["fit", data, *WHOLE, "--model", "effects", "--out", str(path)]) == 0
    out = capsys.readouterr().out
    effects = load(path)[-1].effects_
    rows = [line.split() for line in out.splitlines() if line.split()[0] in effects.index]
    assert [row[0] for row in rows] == list(effects.index) != []
    np.testing.assert_allclose([float(row[1]) for row in rows], effects["share"], rtol=0.01)


def test_effects_refuse_what_they_lack(data, tmp_path, capsys):
    words = ["fit", data, "--target", "y", "--model", "effects"]
    assert "--gamma is for --model rvm" in error_of(capsys, [*words, "--gamma", "2"])
    path = str(tmp_path / "model.skops")
    assert main([*words, "--out", path]) == 0
    capsys.readouterr()
    error = error_of(capsys, ["export", path, str(tmp_path / "model.c")])
    assert "has categories ['a', 'b'], which cannot be exported" in error
