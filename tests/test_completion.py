"""Bash completes the words of the commands by the script that `relvec completion` prints."""

import subprocess

import pytest

from relvec._commands import COMMANDS
from relvec._commands.main import main
from tests.support import needs

# Does what bash does at a press of Tab: calls the function of the command with the words typed.
TAB = """
set -eu
source "$1"; shift
function=$(complete -p relvec | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
COMP_WORDS=(relvec "$@") COMP_CWORD=$# COMP_LINE="relvec $*" COMP_POINT=${#COMP_LINE}
set +eu
"$function" relvec "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def completed(tmp_path, monkeypatch, capsys):
    """What bash offers for words, the last of which is unfinished."""
    bash = needs.program("bash")
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "houses.csv").touch()
    monkeypatch.chdir(folder)

    def complete(*words):
        words = [bash, "--norc", "-c", TAB, "bash", str(script), *words]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return {word.strip() for word in done.stdout.split("\n")} - {""}

    return complete


def test_commands(completed):
    assert completed("f") == {"fit"}
    names = {command.__name__.rpartition(".")[2] for command in COMMANDS}
    assert completed("") >= names


def test_options_and_what_they_may_be(completed):
    assert completed("fit", "--ta") == {"--target", "--task"}
    assert completed("fit", "--task", "") == {"auto", "regression", "classification"}
    assert completed("fit", "--kernel", "l") == {"laplacian", "linear", "linear_spline"}


def test_files(completed):
    assert completed("fit", "hou") == {"houses.csv"}
    assert completed("report", "model.skops", "") >= {"houses.csv"}


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_scripts_of_other_shells_name_every_command(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in ("fit", "predict", "report", "demo"))
