"""Files that the commands write harm no other file, no spreadsheet and no terminal."""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relvec import storage
from relvec._commands.holdout import HoldoutFit
from relvec._commands.main import main
from relvec.storage import load
from tests.support.commands import Touch, error_of, write

RED = "\x1b[31mred\x1b[0m\x9b5m"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder of a table and two models of it."""
    folder, x = tmp_path_factory.mktemp("fitted"), np.linspace(-3, 3, 40)
    noise = 0.1 * np.random.default_rng(0).standard_normal(40)
    data = write(pd.DataFrame({"x": x, "y": np.sin(x) + noise}), folder / "data.csv")
    words = ["--target", "y", "--model", "rvm", "--out", str(folder / "model.skops")]
    assert main(["fit", data, *words]) == 0
    (folder / "model.h").write_bytes((folder / "model.skops").read_bytes())
    return folder


@pytest.fixture
def folder(fitted, tmp_path):
    """A copy of it, with links to the table."""
    shutil.copytree(fitted, tmp_path, dirs_exist_ok=True)
    (tmp_path / "soft.csv").symlink_to(tmp_path / "data.csv")
    os.link(tmp_path / "data.csv", tmp_path / "hard.csv")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "fit data.csv --target y --out data.csv",
        "fit data.csv --target y --out ../{}/data.csv",
        "fit data.csv --target y --out soft.csv",
        "fit data.csv --target y --out hard.csv",
        "fit data.csv --target y --plot data.csv",
        "fit data.csv --target y --out new.png --plot new.png",
        "predict model.skops data.csv --out data.csv",
        "predict model.skops soft.csv --out hard.csv",
        "report model.skops data.csv --out model.skops",
        "export model.h model.c",
    ],
)
def test_nothing_is_written_over_what_a_command_reads(words, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    capsys.readouterr()
    before = {path: path.read_bytes() for path in folder.iterdir()}
    error = error_of(capsys, words.format(folder.name).split())
    assert "would be written over" in error
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_is_no_file_to_write(folder, capsys):
    capsys.readouterr()
    words = ["fit", str(folder / "data.csv"), "--target", "y", "--out", str(folder)]
    assert "is a folder, expected a file" in error_of(capsys, words)


def _full(descriptor):
    """Fail as a full disk does."""
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "words",
    [
        "fit data.csv --target y --model rvm --out old.skops",
        "fit data.csv --target y --model rvm --out old.joblib",
        "predict model.skops data.csv --out old.csv",
        "predict model.skops data.csv --out old.parquet",
        "report model.skops data.csv --out old.html",
        "export model.skops old.c",
        "export model.skops old.onnx",
    ],
)
def test_a_failed_write_leaves_the_earlier_file(words, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    old = next(Path(word) for word in words.split() if word.startswith("old"))
    old.write_bytes(b"the earlier file, which is whole")
    capsys.readouterr()
    before = set(folder.iterdir())
    monkeypatch.setattr(os, "fsync", _full)
    assert "No space left" in error_of(capsys, words.split())
    assert old.read_bytes() == b"the earlier file, which is whole"
    assert set(folder.iterdir()) == before


@pytest.mark.parametrize("suffix", [".skops", ".joblib"])
def test_a_model_that_cannot_be_written_is_put_elsewhere(suffix, folder, monkeypatch, capsys):
    place = folder / "spare"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setattr(os, "fsync", _full_once(os.fsync))
    words = ["fit", str(folder / "data.csv"), "--target", "y", "--gamma", "2"]
    capsys.readouterr()
    error = error_of(capsys, [*words, "--out", str(folder / f"new{suffix}")])
    (spare,) = place.glob(f"*/new{suffix}")
    assert error.endswith(f"No space left on device): the model is in {spare}\n")
    assert load(spare, trust_pickle=True)[-1].gamma == 2
    assert not (folder / f"new{suffix}").exists()


def _full_once(write):
    """Fail as a full disk does, the first time."""
    turns = iter([_full])
    return lambda descriptor: next(turns, write)(descriptor)


@pytest.mark.parametrize(
    "words",
    [
        "fit data.csv --target y --out {}.skops",
        "fit data.csv --target y --out new.skops --plot {}.png",
        "predict model.skops data.csv --out {}.csv",
        "report model.skops data.csv --out {}.html",
        "export model.skops {}.c",
        "export model.skops {}.onnx",
        "demo --out {}.png",
    ],
)
def test_a_place_that_takes_no_file_is_told_before_any_work(words, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for name in ("read_table", "read_csv"):
        monkeypatch.setattr(pd, name, lambda *_: pytest.fail("read in vain"))
    monkeypatch.setattr(HoldoutFit, "run", lambda *_, **__: pytest.fail("fitted in vain"))
    monkeypatch.setattr(storage, "load", lambda *_, **__: pytest.fail("loaded in vain"))
    full = Path(words.split("{}")[-1]).name  # the suffix
    Path(f"broken{full}").symlink_to(folder / "nowhere" / "file")
    capsys.readouterr()
    error = error_of(capsys, words.format("broken").split())
    assert f"No such file or directory: 'broken{full}'" in error
    assert not Path("new.skops").exists()


@pytest.mark.parametrize("name", ["n" * 300, "a\nb/file", "a\x1bb/file"])
def test_names_of_files_that_cannot_be_are_told_in_a_line(name, folder, capsys):
    capsys.readouterr()
    words = ["fit", str(folder / "data.csv"), "--target", "y", "--out", f"{name}.skops"]
    assert error_of(capsys, words).startswith("relvec")


@pytest.mark.parametrize("name", ["model.SKOPS", "model.skops.bak", "model", "model.joblib.gz"])
def test_models_are_written_to_files_of_known_suffixes_only(name, folder, monkeypatch, capsys):
    monkeypatch.setattr(HoldoutFit, "run", lambda *_, **__: pytest.fail("fitted in vain"))
    capsys.readouterr()
    words = ["fit", str(folder / "data.csv"), "--target", "y", "--out", str(folder / name)]
    assert "must end in .skops, which can hold no code, or in .joblib" in error_of(capsys, words)


@pytest.mark.parametrize("suffix", [".joblib", ".pkl", ".SKOPS", ".skops.bak", ""])
@pytest.mark.parametrize(
    "words",
    [
        "predict {} data.csv --out new.csv",
        "report {} data.csv --out new.html",
        "export {} new.c",
    ],
)
def test_a_pickle_is_read_only_where_the_user_says_so(suffix, words, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    made, trap = folder / "made by a pickle", f"trap{suffix}"
    Path(trap).write_bytes(pickle.dumps(Touch(made)))
    capsys.readouterr()
    assert "--trust-pickle" in error_of(capsys, words.format(trap).split())
    assert not made.exists()
    trusted = error_of(capsys, [*words.format(trap).split(), "--trust-pickle"])
    assert "holds a NoneType, not a model" in trusted
    assert made.exists()


def test_a_pickle_that_is_trusted_is_read(folder):
    data, model, out = (str(folder / name) for name in ("data.csv", "model.pkl", "out.csv"))
    assert main(["fit", data, "--target", "y", "--model", "rvm", "--out", model]) == 0
    assert main(["predict", model, data, "--trust-pickle", "--out", out]) == 0
    assert main(["predict", str(folder / "model.skops"), data, "--out", str(folder / "b.csv")]) == 0
    assert (folder / "out.csv").read_bytes() == (folder / "b.csv").read_bytes()


def test_a_file_keeps_its_mode_and_its_link(folder):
    model, link = folder / "model.skops", folder / "link.skops"
    model.chmod(0o600)
    link.symlink_to(model)
    words = ["fit", str(folder / "data.csv"), "--target", "y", "--gamma", "2"]
    assert main([*words, "--out", str(link)]) == 0
    assert link.is_symlink()
    assert model.stat().st_mode & 0o777 == 0o600
    assert load(model)[-1].gamma == 2


def test_a_device_is_written_to_directly(folder):
    model, data = str(folder / "model.skops"), str(folder / "data.csv")
    assert main(["report", model, data, "--out", os.devnull]) == 0
    assert not Path(os.devnull).is_file()


def test_the_model_is_saved_though_nobody_reads_the_report(folder):
    saved = folder / "unread.skops"
    words = ["fit", str(folder / "data.csv"), "--target", "y", "--model", "rvm"]
    words += ["--out", str(saved)]
    read, written = os.pipe()
    os.close(read)
    with os.fdopen(written) as unread:
        relvec = str(Path(sys.executable).with_name("relvec"))
        done = subprocess.run([relvec, *words], stdout=unread, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")
    assert len(load(saved)[-1].relevance_)


def test_a_model_that_cannot_be_saved_is_told_before_the_fit(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    monkeypatch.setattr(HoldoutFit, "run", lambda *_, **__: pytest.fail("fitted in vain"))
    capsys.readouterr()
    words = ["fit", str(folder / "data.csv"), "--target", "y", "--out", str(folder / "new.skops")]
    assert "a model in a .skops file needs skops" in error_of(capsys, words)


@pytest.mark.parametrize("label", ["=1+1", "+cmd", "-cmd", "@SUM(A1)", "\t=1", "-1", "+1", "plain"])
def test_labels_are_no_formulas_in_csv_files(label, tmp_path):
    x = np.arange(40.0)
    labels = np.where(x < 20, label, "other")
    data = write(pd.DataFrame({"x": x, "label": labels}), tmp_path / "data.parquet")
    model = str(tmp_path / "model.skops")
    assert main(["fit", data, "--target", "label", "--model", "linear", "--out", model]) == 0
    for suffix in (".csv", ".parquet"):
        assert main(["predict", model, data, "--out", str(tmp_path / f"out{suffix}")]) == 0
    written = pd.read_csv(tmp_path / "out.csv", dtype=str)["predicted"]
    harmless = label in ("-1", "+1", "plain")
    assert set(written) == {label if harmless else f"'{label}", "other"}
    assert set(pd.read_parquet(tmp_path / "out.parquet")["predicted"]) == {label, "other"}


def test_labels_do_not_command_the_terminal(tmp_path, capsys):
    x = np.arange(60.0)
    table = pd.DataFrame({"x": x, RED: np.where(x < 30, RED, "grün\u202fvert")})
    data, model = write(table, tmp_path / "data.parquet"), str(tmp_path / "model.skops")
    assert main(["fit", data, "--target", RED, "--model", "linear", "--out", model]) == 0
    out = capsys.readouterr().out
    assert r"\x1b[31mred\x1b[0m\x9b5m" in out
    assert "grün\u202fvert" in out
    assert not {"\x1b", "\x9b"} & set(out)
    unknown = write(pd.DataFrame({"x": [1.0], RED: [RED * 2]}), tmp_path / "unknown.parquet")
    error = error_of(capsys, ["report", model, unknown, "--out", str(tmp_path / "page.html")])
    assert r"\x1b[31mred" in error
    assert not {"\x1b", "\x9b"} & set(error)


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u2028", "\x07", "\x7f", "\r"])
def test_signs_that_a_terminal_obeys_are_escaped_in_csv_files_too(sign, tmp_path, capsys):
    x = np.arange(60.0)
    label = f"re{sign}d"
    data = write(
        pd.DataFrame({"x": x, "label": np.where(x < 30, label, "blue")}), tmp_path / "data.parquet"
    )
    model, out = str(tmp_path / "model.skops"), tmp_path / "out.csv"
    assert main(["fit", data, "--target", "label", "--model", "linear", "--out", model]) == 0
    assert main(["predict", model, data, "--out", str(out)]) == 0
    code = ord(sign)
    shown = f"re\\x{code:02x}d" if code < 256 else f"re\\u{code:04x}d"
    printed, written = capsys.readouterr().out, out.read_text(encoding="utf-8")
    assert shown in printed
    assert sign not in printed + written
    assert set(pd.read_csv(out)["predicted"]) == {shown, "blue"}
    assert f"probability_{shown}" in written.partition("\n")[0]


def test_labels_that_the_output_cannot_hold_are_escaped(tmp_path):
    x = np.arange(60.0)
    table = pd.DataFrame({"x": x, "label": np.where(x < 30, "grün", "rot")})
    data = write(table, tmp_path / "data.parquet")
    relvec = str(Path(sys.executable).with_name("relvec"))
    done = subprocess.run(
        [relvec, "fit", data, "--target", "label", "--model", "linear"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert r"2 classes: gr\xfcn, rot" in done.stdout
