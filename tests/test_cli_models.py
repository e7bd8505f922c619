"""The command line chooses among kinds of models, and handles models of effects."""

import numpy as np
import pandas as pd
import pytest

from relvec import EffectsRegressor, SparseBayesianRegressor
from relvec._commands.files import read_model
from relvec._commands.main import main
from tests.support.commands import error_of, report, write


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.uniform(-3, 3, 80), "kind": rng.choice(["a", "b"], 80)})
    noise = 0.1 * rng.standard_normal(80)
    y = np.sin(table["x"]) + 2.0 * (table["kind"] == "a") + noise
    return write(table.assign(y=y), tmp_path / "data.csv")


def test_auto_takes_the_best_density_and_says_so(data, capsys):
    assert main(["fit", data, "--target", "y"]) == 0
    out = capsys.readouterr().out
    chosen = report(out)["model"].split(":")[0]
    lines = (line.split() for line in out.splitlines())
    figures = {f[0]: float(f[1]) for f in lines if len(f) == 2 and f[0] in NAMES}
    assert figures.keys() == NAMES
    assert figures[chosen] == max(figures.values())


NAMES = {"rvm", "effects", "linear"}


@pytest.mark.parametrize(
    ("kind", "estimator"), [("effects", EffectsRegressor), ("linear", SparseBayesianRegressor)]
)
def test_the_model_that_was_asked_for(kind, estimator, data, tmp_path):
    path, out = str(tmp_path / "model.skops"), str(tmp_path / "out.csv")
    assert main(["fit", data, "--target", "y", "--model", kind, "--out", path]) == 0
    assert isinstance(read_model(tmp_path / "model.skops")[-1], estimator)
    assert main(["predict", path, data, "--out", out]) == 0
    page = tmp_path / "page.html"
    assert main(["report", path, data, "--out", str(page)]) == 0
    assert ("<h2>Effects</h2>" in page.read_text(encoding="utf-8")) == (kind == "effects")


def test_effects_refuse_what_they_lack(data, tmp_path, capsys):
    words = ["fit", data, "--target", "y", "--model", "effects"]
    assert "--gamma is for --model rvm" in error_of(capsys, [*words, "--gamma", "2"])
    path = str(tmp_path / "model.skops")
    assert main([*words, "--out", path]) == 0
    capsys.readouterr()
    error = error_of(capsys, ["export", path, str(tmp_path / "model.c")])
    assert "cannot be exported yet" in error
