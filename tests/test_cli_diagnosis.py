"""`relvec fit` and `relvec report` say what is wrong in words that their users can follow."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from relvec._commands.main import main
from relvec.storage import load
from tests.support.commands import error_of, report, write


def fitted(capsys, table, path, *words, target="price"):
    """Lines of the report on a fit, and what was warned of."""
    assert main(["fit", write(table, path), "--target", target, *words]) == 0
    out, err = capsys.readouterr()
    below = out[out.index("diagnosis") : out.index("\nseconds")]
    return report(out) | {"diagnosis": " ".join(below.split())}, err


@pytest.fixture
def waves():
    rng = np.random.default_rng(0)
    size = np.sort(rng.uniform(0, 60, 250))
    return pd.DataFrame({"size": size, "price": np.sin(size) + 0.1 * rng.normal(size=250)})


def test_a_fit_that_misses_the_function_names_options(waves, tmp_path, capsys):
    path = tmp_path / "waves.csv"
    lines, _ = fitted(capsys, waves, path, "--gamma", "0.01")
    assert lines["diagnosis"].startswith("diagnosis underfit: ")
    assert "(--gamma evidence learns one)" in lines["diagnosis"]
    assert "raise --n-starts" in lines["diagnosis"]
    lines, _ = fitted(capsys, waves, path, "--gamma", "evidence", "--n-starts", "2")
    assert lines["diagnosis"] == "diagnosis nothing to report"


def test_rows_held_out_have_findings(tmp_path, capsys):
    """An even line, which the rows that the command holds out leave to either side."""
    rng = np.random.default_rng(0)
    size = rng.uniform(20, 200, 400)
    table = pd.DataFrame({"size": size, "price": size / 50 + 0.1 * rng.normal(size=400)})
    held = ["--test-size", "0.4", "--random-state", "1"]
    lines, _ = fitted(capsys, table, tmp_path / "good.csv", *held)
    assert lines["diagnosis"] == "diagnosis nothing to report"
    _, test = train_test_split(table, test_size=0.4, random_state=1)
    table.loc[test.index, "price"] += 0.4 * rng.choice([-1, 1], len(test))
    lines, _ = fitted(capsys, table, tmp_path / "bad.csv", *held)
    share = float(lines["95 % interval"].split()[1])
    assert share < 60
    assert "error_bars_short: rows held out: targets miss" in lines["diagnosis"]
    assert f"hold {share:.0f} % of them" in lines["diagnosis"]
    assert "calibrate" not in lines["diagnosis"], "no option of the command"


def test_columns_have_their_names(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=300), "age": rng.normal(size=300)})
    table["kind"] = rng.choice(["old", "new"], 300)
    table["price"] = table["size"] + np.exp(table["age"] / 2) * rng.normal(size=300)
    saved = tmp_path / "model.skops"
    words = ["--kernel", "linear", "--test-size", "0", "--out", str(saved)]
    lines, _ = fitted(capsys, table, tmp_path / "table.csv", *words)
    assert "heteroscedastic: the size of the residuals grows with age (" in lines["diagnosis"]
    assert "noise_variance_per_row" not in lines["diagnosis"]
    names = load(saved)[-1].feature_names_in_
    assert list(names) == ["size", "age", "kind_new", "kind_old"]


def test_columns_whose_names_would_be_those_of_categories_are_told_apart(tmp_path, capsys):
    table = pd.DataFrame({"kind_a": np.arange(40.0), "kind": ["a", "b"] * 20})
    table["price"] = table["kind_a"] / 7 % 3 + (table["kind"] == "a")
    saved = tmp_path / "model.skops"
    fitted(capsys, table, tmp_path / "table.csv", "--out", str(saved))
    names = list(load(saved)[-1].feature_names_in_)
    assert names == ["numbers__kind_a", "categories__kind_a", "categories__kind_b"]


def test_outliers_are_rows_of_the_table(tmp_path, capsys):
    """Their numbers are those in the file, though the rows that are fitted are drawn from it."""
    rng = np.random.default_rng(0)
    size = rng.uniform(20, 200, 250)
    table = pd.DataFrame({"size": size, "price": size / 50 + 0.1 * rng.normal(size=250)})
    train, _ = train_test_split(table, test_size=0.2, random_state=0)
    odd = sorted(train.index[[17, 101, 150]])
    table.loc[odd, "price"] += [2.0, -2.0, 2.0]
    lines, _ = fitted(capsys, table, tmp_path / "houses.csv")
    found = lines["diagnosis"]
    assert "outliers: 3 of 200 residuals" in found
    named = re.search(r"\(rows ([\d, ]+)\)", found).group(1)
    assert sorted(map(int, named.split(", "))) == odd
    assert "use --likelihood student_t" in found


def test_warnings_name_options(waves, tmp_path, capsys):
    _, err = fitted(capsys, waves, tmp_path / "waves.csv", "--max-iter", "1")
    assert err == "relvec: warning: stopped after max_iter=1 passes; raise --max-iter\n"


def test_the_report_has_the_words_of_the_command(waves, tmp_path, capsys):
    saved = tmp_path / "model.skops"
    words = ["--gamma", "0.01", "--out", str(saved)]
    fitted(capsys, waves[::2], tmp_path / "half.csv", *words)
    other, page = write(waves[1::2], tmp_path / "other.csv"), tmp_path / "page.html"
    assert main(["report", str(saved), other, "--out", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<strong>underfit</strong>" in text
    assert "raise --n-starts" in text


def test_options_of_the_search_reach_the_estimator(waves, tmp_path, capsys):
    saved = tmp_path / "model.skops"
    words = ["--likelihood", "student_t", "--n-starts", "2", "--max-iter", "700"]
    fitted(capsys, waves, tmp_path / "waves.csv", *words, "--out", str(saved))
    model = load(saved)[-1]
    assert (model.likelihood, model.n_starts, model.max_iter) == ("student_t", 2, 700)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--likelihood", "poisson"], "--likelihood poisson is for numbers, but 'kind' holds"),
        (["--n-starts", "0"], "'0' is not a whole number above zero"),
        (["--max-iter", "many"], "'many' is not a whole number above zero"),
    ],
)
def test_options_that_do_not_fit_are_refused(words, message, tmp_path, capsys):
    table = pd.DataFrame({"size": np.arange(40.0), "kind": ["a", "b"] * 20})
    path = write(table, tmp_path / "table.csv")
    assert message in error_of(capsys, ["fit", path, "--target", "kind", *words])
