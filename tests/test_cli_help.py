"""Help teaches by examples that run, and every end of a command has its code."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relvec import basis
from relvec._commands import COMMANDS, arguments
from relvec._commands.main import build_parser, main

NAMES = [command.__name__.rpartition(".")[2] for command in COMMANDS]
RELVEC = str(Path(sys.executable).with_name("relvec"))


def examples(name, capsys):
    """Lines of the help of a command that begin with the program's name, without redirection."""
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    return [line.partition(" > ")[0] for line in lines if line.startswith("relvec ")]


@pytest.fixture
def _houses(tmp_path, monkeypatch):
    """A folder with the tables that the examples read."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.uniform(20, 200, 60)})
    table.to_csv("new_houses.csv", index=False)
    table.to_parquet("new_houses.parquet", index=False)
    table["price"] = table["size"] / 50 + rng.normal(scale=0.1, size=60)
    table.to_csv("houses.csv", index=False)
    more = {"owner": rng.choice(["Ann", "Bob"], 60), "sold": table["size"] > 100}
    table.assign(**more).to_parquet("houses.parquet", index=False)


@pytest.mark.usefixtures("_houses")
def test_the_examples_of_the_help_run_in_their_order(capsys):
    for name in NAMES:
        lines = examples(name, capsys)
        assert len(lines) >= 2, name
        for line in lines:
            words = shlex.split(line)[1:]
            assert words[0] == name
            assert main(words) == 0, line
    assert capsys.readouterr().err == ""


def test_the_help_lists_the_commands_and_the_exit_codes(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    out = " ".join(capsys.readouterr().out.split())
    assert all(f" {name} " in out for name in NAMES)
    assert all(f" {code} " in out for code in (0, 2, 130, 141))


@pytest.mark.parametrize("words", [["--help"], ["fit", "--help"], ["fit", "a.csv"], ["forecast"]])
def test_help_and_wrong_arguments_are_answered_without_numpy(words):
    script = (
        "import sys\nfrom relvec._commands.main import main\n"
        f"try:\n    main({words})\n"
        "finally:\n    assert not {'numpy', 'sklearn'} & {*sys.modules}"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.returncode == (0 if "--help" in words else 2)


def test_kernels_of_the_command_line_are_those_of_rows():
    assert {*arguments.KERNELS} == {*basis.KERNELS} - {"precomputed"}


@pytest.mark.parametrize("columns", ["60", "100"])
def test_lines_of_help_fit_the_window_except_examples(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    parser = build_parser()
    for line in parser.format_help().splitlines():
        assert len(line) <= int(columns)


def test_an_interrupted_command_says_so_in_one_line(monkeypatch, capsys):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr("relvec._commands.demo.run", interrupted)
    assert main(["demo"]) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "relvec: interrupted\n"


def test_a_command_whose_output_nobody_reads_ends_quietly():
    read, written = os.pipe()
    os.close(read)
    with os.fdopen(written) as unread:
        done = subprocess.run(
            [RELVEC, "completion", "bash"], stdout=unread, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 141
    assert done.stderr == b""
