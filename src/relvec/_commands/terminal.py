"""Text of messages, and its way to the terminal."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

# Characters that a label may hold and a terminal would obey: control characters but for tabs and
# line ends, other line ends, and those that turn the direction of what follows.
OBEYED = {*range(32), *range(127, 160)} - {9, 10} | {
    *(0x2028, 0x2029),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
}
ESCAPES = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in OBEYED}


def visible(text: str) -> str:
    """Return text with escapes for characters that a terminal would obey."""
    return text.translate(ESCAPES)


def print_text(text: str, file: TextIO | None = None) -> None:
    """Print text, with escapes for control characters and for others that the file cannot hold."""
    file = file or sys.stdout
    encoding = file.encoding or "utf-8"
    print(visible(text).encode(encoding, "backslashreplace").decode(encoding), file=file)


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Show what is being done while it lasts, on a terminal alone."""
    shown = sys.stderr.isatty()
    if shown:
        print(f"relvec: {visible(text)} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shown:  # the line becomes empty
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def one_line(message: object) -> str:
    """Text of a message or an error, its lines joined; the name of an error without text."""
    return " ".join(str(message).split()) or type(message).__name__


def option(name: str, value: object) -> str:
    """An option and its value, as they are typed into a shell."""
    return f"{name}={shlex.quote(str(value))}"


def listed(names: Iterable[object]) -> str:
    """Names of a few, and the number of those beyond."""
    words = [str(name) for name in names]
    shown, rest = ", ".join(words[:12]), len(words) - 12
    return f"{shown} and {rest} more" if rest > 0 else shown
