"""relvec fit --exposure: rates of counts over unequal times, fitted, judged and predicted."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from relvec import log_density
from relvec._commands.main import main
from relvec.storage import load
from tests.support.commands import error_of, report, write

FIT = ["fit", "counts.csv", "--target", "count", "--exposure", "hours", "--test-size", "0"]
LINEAR = [*FIT, "--model", "linear", "--out", "model.skops"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"heat": rng.uniform(0, 30, 60), "hours": np.exp(rng.uniform(-1, 3, 60))})
    table["count"] = rng.poisson(table["hours"] * np.exp(0.05 * table["heat"]))
    write(table, tmp_path / "counts.csv")
    return table


def test_counts_are_fitted_judged_and_predicted_at_their_exposure(table, capsys):
    assert main([*LINEAR, "--cv", "3"]) == 0
    told, model = report(capsys.readouterr().out), load("model.skops")
    assert (told["numbers"], told["exposure"]) == ("heat", "hours")
    X, y, exposure = table[["heat"]].to_numpy(), table["count"], table["hours"]
    estimator, scaled = model[-1], model[:-1].transform(table)
    own = clone(estimator).fit(scaled, y, exposure=exposure)
    assert estimator.log_evidence_ == pytest.approx(own.log_evidence_)
    density = []
    for kept, left in KFold(3, shuffle=True, random_state=0).split(X):
        mean, std = X[kept].mean(), X[kept].std()
        fold = clone(estimator).fit((X[kept] - mean) / std, y[kept], exposure=exposure[kept])
        density.append(log_density(fold, (X[left] - mean) / std, y[left], exposure[left]))
    assert f"log density {np.mean(density):.4g} ±" in told["cross-validated"]

    assert main(["predict", "model.skops", "counts.csv", "--out", "told.csv"]) == 0
    found = pd.read_csv("told.csv")
    np.testing.assert_allclose(found["mean"], own.predict(scaled, exposure=exposure))
    ends = own.predict_interval(scaled, exposure=exposure)
    np.testing.assert_allclose(found[["lower_95", "upper_95"]].T, ends)
    assert main(["report", "model.skops", "counts.csv", "--out", "page.html"]) == 0
    assert "<td>exposure</td>" in Path("page.html").read_text()


def test_rows_without_an_exposure_above_zero_are_named_or_left_empty(table, capsys):
    assert main(LINEAR) == 0
    table["hours"] = [0.0, np.nan, *table["hours"][2:]]
    write(table.drop(columns="count"), Path("bad.csv"))
    capsys.readouterr()
    assert "'hours' holds '0.0' in row 0" in error_of(capsys, ["predict", "model.skops", "bad.csv"])
    assert main(["predict", "model.skops", "bad.csv", "--skip-bad", "--out", "told.csv"]) == 0
    assert pd.read_csv("told.csv")["mean"].isna().tolist() == [True, True] + [False] * 58


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--likelihood", "gaussian"], "--exposure hours is for counts"),
        (["--task", "classification"], "--exposure hours is for counts"),
        (["--exposure", "count"], "--exposure count is the target"),
        (["--exposure", "minutes"], "no column minutes"),
    ],
)
def test_exposures_that_are_none_are_refused(table, words, part, capsys):
    assert part in error_of(capsys, [*FIT, *words])
