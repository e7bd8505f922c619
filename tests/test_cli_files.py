"""Files that the commands write harm no other file, no spreadsheet and no terminal."""

import os
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io

from relvec._commands.files import read_model
from relvec._commands.holdout import HoldoutFit
from relvec._commands.main import main
from tests.support.commands import error_of, write

RED = "\x1b[31mred\x1b[0m\x9b5m"


@pytest.fixture
def folder(tmp_path):
    """A table with links to it, and two models of it."""
    x = np.linspace(-3, 3, 40)
    noise = 0.1 * np.random.default_rng(0).standard_normal(40)
    data = write(pd.DataFrame({"x": x, "y": np.sin(x) + noise}), tmp_path / "data.csv")
    for model in ("model.skops", "model.h"):
        assert main(["fit", data, "--target", "y", "--out", str(tmp_path / model)]) == 0
    (tmp_path / "soft.csv").symlink_to(tmp_path / "data.csv")
    os.link(data, tmp_path / "hard.csv")
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


def _fails_midway(write):
    """Write by this function, spoil the file and fail as a full disk does."""

    def fail(content, path, *arguments, **settings):
        write(content, path, *arguments, **settings)
        Path(path).write_bytes(Path(path).read_bytes()[:10])
        raise OSError(28, "No space left on device")

    return fail


@pytest.mark.parametrize(
    ("words", "owner", "name"),
    [
        ("fit data.csv --target y --out old.skops", skops.io, "dump"),
        ("fit data.csv --target y --out old.joblib", joblib, "dump"),
        ("predict model.skops data.csv --out old.csv", pd.DataFrame, "to_csv"),
        ("predict model.skops data.csv --out old.parquet", pd.DataFrame, "to_parquet"),
    ],
)
def test_a_failed_write_leaves_the_earlier_file(words, owner, name, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    old = Path(words.split()[-1])
    old.write_bytes(b"the earlier file, which is whole")
    capsys.readouterr()
    before = set(folder.iterdir())
    monkeypatch.setattr(owner, name, _fails_midway(getattr(owner, name)))
    assert "No space left" in error_of(capsys, words.split())
    assert old.read_bytes() == b"the earlier file, which is whole"
    assert set(folder.iterdir()) == before


def test_a_file_keeps_its_mode_and_its_link(folder):
    model, link = folder / "model.skops", folder / "link.skops"
    model.chmod(0o600)
    link.symlink_to(model)
    words = ["fit", str(folder / "data.csv"), "--target", "y", "--gamma", "2"]
    assert main([*words, "--out", str(link)]) == 0
    assert link.is_symlink()
    assert model.stat().st_mode & 0o777 == 0o600
    assert read_model(model)[-1].gamma == 2


def test_a_device_is_written_to_directly(folder):
    words = ["fit", str(folder / "data.csv"), "--target", "y", "--out", os.devnull]
    assert main(words) == 0
    assert not Path(os.devnull).is_file()


def test_the_model_is_saved_though_nobody_reads_the_report(folder):
    saved = folder / "unread.skops"
    words = ["fit", str(folder / "data.csv"), "--target", "y", "--out", str(saved)]
    read, written = os.pipe()
    os.close(read)
    with os.fdopen(written) as unread:
        relvec = str(Path(sys.executable).with_name("relvec"))
        done = subprocess.run([relvec, *words], stdout=unread, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")
    assert len(read_model(saved)[-1].relevance_)


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
    assert main(["fit", data, "--target", "label", "--out", model]) == 0
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
    assert main(["fit", data, "--target", RED, "--out", model]) == 0
    out = capsys.readouterr().out
    assert r"\x1b[31mred\x1b[0m\x9b5m" in out
    assert "grün\u202fvert" in out
    assert not {"\x1b", "\x9b"} & set(out)
    unknown = write(pd.DataFrame({"x": [1.0], RED: [RED * 2]}), tmp_path / "unknown.parquet")
    error = error_of(capsys, ["report", model, unknown, "--out", str(tmp_path / "page.html")])
    assert r"\x1b[31mred" in error
    assert not {"\x1b", "\x9b"} & set(error)


def test_labels_that_the_output_cannot_hold_are_escaped(tmp_path):
    x = np.arange(60.0)
    table = pd.DataFrame({"x": x, "label": np.where(x < 30, "grün", "rot")})
    data = write(table, tmp_path / "data.parquet")
    relvec = str(Path(sys.executable).with_name("relvec"))
    done = subprocess.run(
        [relvec, "fit", data, "--target", "label"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert r"2 classes: gr\xfcn, rot" in done.stdout
