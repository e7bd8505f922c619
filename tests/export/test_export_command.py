"""``relvec export``."""

import numpy as np
import pandas
import pytest
from onnxruntime import InferenceSession

from relvec._commands.main import main
from tests.export.compiled import gcc
from tests.support.commands import error_of, write


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    table = pandas.DataFrame({"size": rng.normal(size=120), "age": rng.integers(1, 9, 120)})
    table["colour"] = rng.choice(["red", "blue"], 120)
    noise = 0.1 * rng.normal(size=120)
    return table.assign(price=np.sin(table["size"]) + 0.1 * table["age"] + noise)


def fit(table, folder, capsys, kind="rvm", target="price"):
    """Fit a table by the command, and return the file of the model."""
    data = write(table, folder / "data.csv")
    model = str(folder / "model.skops")
    assert main(["fit", data, "--target", target, "--model", kind, "--out", model]) == 0
    capsys.readouterr()
    return model, data


@pytest.mark.parametrize(
    ("kind", "names"), [("rvm", ["size", "age", "colour"]), ("effects", ["size", "age"])]
)
@pytest.mark.parametrize(("word", "digits"), [([], 1e-10), (["--float"], 1e-5)])
def test_a_graph_predicts_what_the_command_does(table, tmp_path, capsys, kind, names, word, digits):
    model, data = fit(table[[*names, "price"]], tmp_path, capsys, kind)
    graph, predicted = str(tmp_path / "model.onnx"), tmp_path / "predicted.csv"
    assert main(["export", model, graph, "--std", *word]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:] == [f"inputs: {', '.join(names)}", "outputs: mean, std"]
    assert main(["predict", model, data, "--out", str(predicted)]) == 0
    dtypes = dict.fromkeys(["size", "age"], np.float32 if word else np.float64)
    inputs = {name: table[[name]].to_numpy(dtype=dtypes.get(name, object)) for name in names}
    found = np.hstack(InferenceSession(graph).run(None, inputs))
    expected = pandas.read_csv(predicted).to_numpy()[:, :2]
    np.testing.assert_allclose(found, expected, rtol=0, atol=digits)


def test_c_is_written_beside_its_header_and_its_size_is_told(table, tmp_path, capsys):
    model, _ = fit(table.drop(columns="colour"), tmp_path, capsys)
    assert main(["export", model, str(tmp_path / "price.c"), "--float"]) == 0
    assert "bytes of constants" in capsys.readouterr().out
    gcc(tmp_path, "-c", "price.c")
    header = (tmp_path / "price.h").read_text()
    assert "void price_predict(const float x[PRICE_INPUTS], float mean[PRICE_TARGETS]);" in header
    assert "Inputs: size, age" in header


def test_classes_are_exported_too(table, tmp_path, capsys):
    model, _ = fit(table.drop(columns="price"), tmp_path, capsys, target="colour")
    graph = str(tmp_path / "colour.onnx")
    assert main(["export", model, graph]) == 0
    assert "outputs: label, probabilities" in capsys.readouterr().out
    assert main(["export", model, str(tmp_path / "colour.c")]) == 0
    assert "Classes: 0 'blue', 1 'red'" in (tmp_path / "colour.h").read_text()


def test_what_cannot_be_done_is_told_in_a_line(table, tmp_path, capsys):
    model, _ = fit(table, tmp_path, capsys)
    assert "OneHotEncoder" in error_of(capsys, ["export", model, str(tmp_path / "model.c")])
    assert ".c or .onnx" in error_of(capsys, ["export", model, str(tmp_path / "model.pmml")])
    assert "name='2'" in error_of(capsys, ["export", model, str(tmp_path / "2.c")])
