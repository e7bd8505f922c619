"""Pages as sessions: their blocks of code in order, each with what it prints."""

import doctest
import re
import shlex
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"
#: A block of Python, with what it prints where the next block says so.
PYTHON = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
#: A block of commands after prompts, each with the lines that it prints.
CONSOLE = re.compile(r"^```console\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def python_blocks(page: Path) -> list[tuple[str, str]]:
    """Code and what it prints, empty where the page does not say."""
    return PYTHON.findall(page.read_text(encoding="utf-8"))


def commands(page: Path, program: str) -> list[tuple[list[str], str]]:
    """Words of every command of a program, and what it prints, empty where the page does not say.

    A line of three points stands for any number of lines.
    """
    blocks = CONSOLE.findall(page.read_text(encoding="utf-8"))
    found = [part.partition("\n") for block in blocks for part in block.split("$ ")[1:]]
    words = [(shlex.split(command, comments=True), printed) for command, _, printed in found]
    return [(command[1:], printed) for command, printed in words if command[0] == program]


def check_printed(printed: str, expected: str) -> None:
    """Raise unless a command printed what the page says."""
    assert doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS), (
        f"printed\n{printed}where the page says\n{expected}"
    )
