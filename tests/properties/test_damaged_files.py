"""`relvec predict` on damaged models and tables: one line that says what is wrong, and no more."""

import contextlib
import io
import json
import pickle
import zipfile

import hypothesis.strategies as st
import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from relvec import RVR, storage
from relvec._commands.main import main
from relvec.storage import SAFE
from tests.support.commands import Touch

SUFFIXES = [SAFE, ".joblib"]
TABLES = [".csv", ".parquet"]
TRUST = ["--trust-pickle"]


def run(*words):
    """Exit code of a command, and what it wrote to standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    return code, err.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables and models of a regression and of a classification, with predictions."""
    folder = tmp_path_factory.mktemp("files")
    draw = np.random.RandomState(0)
    table = pd.DataFrame({"size": draw.standard_normal(40), "town": ["here", "there"] * 20})
    table["price"] = np.sin(table["size"]) + 0.1 * draw.standard_normal(40)
    table["sold"] = table["size"] > 0
    table.to_csv(folder / "table.csv", index=False)
    table.to_parquet(folder / "table.parquet", index=False)
    for suffix in SUFFIXES:
        for target in ("price", "sold"):
            model = folder / f"{target}{suffix}"
            data = folder / "table.csv"
            assert run("fit", data, "--target", target, "--out", model)[0] == 0
            assert run("predict", model, data, *TRUST, "--out", folder / f"{target}.csv") == (0, "")
    return folder


def flipped(content, place, bit):
    place %= len(content)
    return content[:place] + bytes([content[place] ^ (1 << bit)]) + content[place + 1 :]


places, bits = st.integers(0, 2**20), st.integers(0, 7)
DAMAGES = st.one_of(
    st.builds(lambda at: lambda content: content[: at % len(content)], places),
    st.builds(lambda at: lambda content: content[at % len(content) :], places),
    st.builds(lambda at, bit: lambda content: flipped(content, at, bit), places, bits),
    st.builds(
        lambda at, size: lambda c: c[: at % len(c)] + bytes(size) + c[at % len(c) + size :],
        places,
        st.integers(1, 64),
    ),
    st.builds(lambda new: lambda content: new, st.binary(max_size=64)),
    st.builds(lambda new: lambda content: new.encode(), st.text(max_size=64)),
)


@given(st.sampled_from(["price", "sold"]), st.sampled_from(SUFFIXES), DAMAGES)
def test_a_damaged_model_is_told_or_predicts_as_before(folder, target, suffix, damage):
    model, out = folder / f"damaged{suffix}", folder / "out.csv"
    model.write_bytes(damage((folder / f"{target}{suffix}").read_bytes()))
    code, err = run("predict", model, folder / "table.csv", *TRUST, "--out", out)
    assert code in (0, 2)
    if code:
        assert err.startswith("relvec: error: ")
        assert err.count("\n") == 1
    else:
        assert out.read_bytes() == (folder / f"{target}.csv").read_bytes()


@given(st.sampled_from(TABLES), DAMAGES)
def test_a_damaged_table_is_told_or_read(folder, suffix, damage):
    table = folder / f"damaged{suffix}"
    table.write_bytes(damage((folder / f"table{suffix}").read_bytes()))
    code, err = run("predict", folder / "price.skops", table, "--out", folder / "out.csv")
    *warnings, last = err.splitlines() if code else [*err.splitlines(), "relvec: error: "]
    assert code in (0, 2)
    assert last.startswith("relvec: error: ")
    assert all(line.startswith("relvec: warning: ") for line in warnings)


def test_texts_that_are_none_are_told(folder):
    table = folder / "damaged.parquet"
    table.write_bytes((folder / "table.parquet").read_bytes().replace(b"there", b"th\xffre"))
    assert b"\xff" in table.read_bytes()
    code, err = run("predict", folder / "price.skops", table, "--out", folder / "out.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert "no readable parquet file" in err


def made_up(source, path, rng):
    """Write a skops file in which something stands in the place of something else."""
    with zipfile.ZipFile(source) as sound:
        members = {name: sound.read(name) for name in sound.namelist()}
    schema = json.loads(members.pop("schema.json"))
    nodes = [node for node in inside(schema) if node]
    keys = [(node, key) for node in nodes for key in node]
    node, key = keys[rng.integers(len(keys))]
    other, there = keys[rng.integers(len(keys))]
    node[key] = json.loads(json.dumps(other[there])) if rng.random() < 0.7 else None
    with zipfile.ZipFile(path, "w") as trap:
        for name, content in members.items():
            trap.writestr(name, content)
        trap.writestr("schema.json", json.dumps(schema))


def inside(node):
    """Every dictionary in a schema."""
    if isinstance(node, dict):
        yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from inside(part)


@pytest.mark.filterwarnings("ignore::Warning")
@pytest.mark.parametrize("files", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_a_model_of_another_making_is_told_or_predicts(files, folder, rng):
    path = folder / "made up.skops"
    for _ in range(files):
        made_up(folder / "price.skops", path, rng)
        code, err = run("predict", path, folder / "table.csv", "--out", folder / "out.csv")
        assert code in (0, 2)
        assert code == 0 or err.splitlines()[-1].startswith("relvec: error: ")


def test_a_model_that_cannot_be_used_is_named(folder):
    model = storage.load(folder / "price.skops")
    model[0].transformers_ = 3
    path = folder / "no steps.skops"
    skops.io.dump(model, path)
    code, err = run("predict", path, folder / "table.csv", "--out", folder / "out.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert "no steps.skops holds a model that cannot be used" in err


WRONG = {
    "a dictionary": {"a": 1},
    "an array": np.arange(3.0),
    "another estimator": make_pipeline(LinearRegression()).fit([[0.0], [1.0]], [0.0, 1.0]),
    "no pipeline": RVR(noise_variance=0.1).fit(np.eye(9), np.arange(9.0)),
    "an unfitted pipeline": make_pipeline(RVR()),
    "a pipeline of no named columns": make_pipeline(RVR(noise_variance=1.0)).fit(
        np.eye(4), np.arange(4.0)
    ),
}


@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", WRONG)
def test_a_file_of_something_else_is_told(kind, suffix, folder):
    path = folder / f"other{suffix}"
    (skops.io.dump if suffix == SAFE else joblib.dump)(WRONG[kind], path)
    code, err = run("predict", path, folder / "table.csv", *TRUST, "--out", folder / "out.csv")
    assert code == 2
    assert err.count("\n") == 1
    assert "not a model of `relvec fit`" in err


@pytest.mark.parametrize("trust", [[], TRUST], ids=["", "trusted"])
def test_a_pickle_called_skops_is_not_run(trust, folder):
    made, path = folder / "made-by-pickle", folder / "trap.skops"
    path.write_bytes(pickle.dumps(Touch(made)))
    code, err = run("predict", path, folder / "table.csv", *trust, "--out", folder / "out.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert not made.exists()
    pickle.loads(path.read_bytes())
    assert made.exists(), "or the trap would not have caught anything"
    made.unlink()


@pytest.mark.parametrize(
    ("module", "name", "loader"),
    [
        ("os", "system", "FunctionNode"),
        ("builtins", "eval", "TypeNode"),
        ("subprocess", "Popen", "ConstructorFromReduceNode"),
        ("subprocess", "Popen", "ObjectNode"),
        ("pathlib", "Path", "ReduceNode"),
    ],
)
def test_a_skops_file_that_names_code_is_not_run(module, name, loader, folder):
    with zipfile.ZipFile(folder / "price.skops") as sound:
        members = {item: sound.read(item) for item in sound.namelist()}
    schema = json.loads(members.pop("schema.json"))
    inside = schema["content"]["content"]
    key = next(iter(inside))
    inside[key] = {"__class__": name, "__module__": module, "__loader__": loader, "__id__": 1}
    inside[key]["content"] = {
        "__class__": "tuple",
        "__module__": "builtins",
        "__loader__": "TupleNode",
        "content": [],
        "__id__": 2,
    }
    path = folder / "trap.skops"
    with zipfile.ZipFile(path, "w") as trap:
        for item, content in members.items():
            trap.writestr(item, content)
        trap.writestr("schema.json", json.dumps(schema))
    code, err = run("predict", path, folder / "table.csv", "--out", folder / "out.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert "not a saved model" in err
