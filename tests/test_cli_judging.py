"""Cross-validated scores, calibrated predictions, and what is shown while they are made."""

import io
import re
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold

from relvec import log_density
from relvec._commands.main import main
from relvec.storage import load
from tests.support.commands import error_of, report, write

ROWS = 90
WHOLE = ["--model", "linear", "--test-size", "0", "--out", "model.skops"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=ROWS), "kind": rng.choice(["a", "b"], ROWS)})
    table["y"] = table["x"] + (table["kind"] == "a") + 0.3 * rng.standard_t(3, ROWS)
    return table.assign(sold=np.where(table["y"] + rng.normal(size=ROWS) > 0, "yes", "no"))


@pytest.fixture
def data(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(table.drop(columns="y"), tmp_path / "classes.csv")
    return write(table.drop(columns="sold"), tmp_path / "numbers.csv")


def test_cross_validated_scores_are_those_of_rows_left_out(table, data, capsys):
    assert main(["fit", data, "--target", "y", *WHOLE, "--cv", "4", "--random-state", "2"]) == 0
    said = report(capsys.readouterr().out)["cross-validated"]
    model, X, y = load("model.skops"), table[["x", "kind"]], table["y"]
    rmse, density = [], []
    for train, test in KFold(4, shuffle=True, random_state=2).split(X):
        fold = clone(model).fit(X.iloc[train], y.iloc[train])
        rmse.append(root_mean_squared_error(y.iloc[test], fold.predict(X.iloc[test])))
        density.append(log_density(fold, X.iloc[test], y.iloc[test]))
    assert said == (
        f"RMSE {np.mean(rmse):.4g} ± {np.std(rmse, ddof=1):.2g}, "
        f"log density {np.mean(density):.4g} ± {np.std(density, ddof=1):.2g} nats a row "
        "(mean and sd of 4 folds of 90 rows)"
    )


def test_classes_are_cross_validated_with_shares_of_each(table, data, capsys):
    assert main(["fit", "classes.csv", "--target", "sold", *WHOLE, "--cv", "3"]) == 0
    said = report(capsys.readouterr().out)["cross-validated"]
    model, X, y = load("model.skops"), table[["x", "kind"]], table["sold"]
    right = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        fold = clone(model).fit(X.iloc[train], y.iloc[train])
        right.append(accuracy_score(y.iloc[test], fold.predict(X.iloc[test])))
    assert said.startswith(f"accuracy {np.mean(right):.4g} ± {np.std(right, ddof=1):.2g}, log")


def test_calibrated_intervals_are_those_of_the_estimator(table, data, capsys):
    words = ["fit", data, "--target", "y", *WHOLE]
    assert main([*words, "--calibrate"]) == 0
    model, X, y = load("model.skops"), table[["x", "kind"]], table["y"]
    inputs = model[:-1].transform(X)
    folds = KFold(5, shuffle=True, random_state=0)
    lower, upper = model[-1].calibrate(inputs, y, cv=folds).predict_interval(inputs, 0.8)
    words = ["predict", "model.skops", data, "--coverage", "0.8", "--out", "out.csv"]
    assert main(words) == 0
    told = pd.read_csv("out.csv")
    np.testing.assert_allclose(told[["lower_80", "upper_80"]].T, [lower, upper])
    np.testing.assert_allclose(told["mean"], model.predict(X))
    assert not np.allclose(lower, model[-1].predict_interval(inputs, 0.8)[0])
    assert main(["report", "model.skops", data, "--out", "page.html"]) == 0


def test_refits_repeat_no_warning_of_the_model(table, data, tmp_path, capsys):
    write(table[["x"]].assign(y=np.cos(4 * table["x"])), tmp_path / "missed.csv")
    words = ["fit", "missed.csv", "--target", "y", *WHOLE, "--calibrate", "--cv", "3"]
    assert main(words) == 0
    assert capsys.readouterr().err.count("residuals depend on X") == 1


def test_calibrated_classes_are_the_sets_of_the_estimator(table, data, capsys):
    assert main(["fit", "classes.csv", "--target", "sold", *WHOLE, "--calibrate"]) == 0
    model, X, y = load("model.skops"), table[["x", "kind"]], table["sold"]
    inputs = model[:-1].transform(X)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    members = model[-1].calibrate(inputs, y, cv=folds).predict_set(inputs, 0.9)
    words = ["predict", "model.skops", "classes.csv", "--coverage", "0.9", "--out", "out.parquet"]
    assert main(words) == 0
    told = pd.read_parquet("out.parquet")["classes_90"]
    assert list(told) == [" | ".join(model.classes_[row]) for row in members]
    assert {"no", "yes", "no | yes"} <= {*told}


def test_too_few_rows_are_told(table, tmp_path, capsys):
    few = write(table.drop(columns="sold").head(6), tmp_path / "few.csv")
    for words in (["--cv", "4"], ["--calibrate"]):
        assert f"{words[0]} takes" in error_of(
            capsys, ["fit", few, "--target", "y", *WHOLE[:4], *words]
        )
    error = error_of(capsys, ["fit", few, "--target", "y", "--cv", "1"])
    assert "1 fold leaves no rows to fit" in error


def test_centers_reach_the_estimators_that_have_them(data, capsys):
    words = ["fit", data, "--target", "y", "--test-size", "0", "--out", "model.skops"]
    assert main([*words, "--centers", "20", "--model", "rvm"]) == 0
    assert load("model.skops")[-1].centers == 20
    capsys.readouterr()
    error = error_of(capsys, [*words, "--centers", "20", "--model", "linear"])
    assert "--centers is for --model rvm" in error


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_a_terminal_shows_what_is_being_done(kind, data, monkeypatch):
    monkeypatch.setattr(sys, "stderr", kind())
    words = ["--cv", "2", "--calibrate", "--gamma", "1"]
    assert main(["fit", data, "--target", "y", "--out", "model.skops", *words]) == 0
    shown = sys.stderr.getvalue()
    lines = re.split(r"\r\x1b\[K", shown)
    assert lines[-1] == ""
    expected = ["fitting rvm to 72 rows", "cross-validating in 2 folds", "calibrating"]
    assert lines[:-1] == [f"relvec: {text} ..." for text in expected if kind is Terminal]
