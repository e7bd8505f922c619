"""Pieces of C: numbers, functions, brackets."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

import numpy as np

#: How functions are written for double; float has an f behind the names of the library.
FUNCTIONS = {
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "divide": "({0} / {1})",
    "negative": "(-{0})",
    "exp": "exp({0})",
    "log": "log({0})",
    "sqrt": "sqrt({0})",
    "sin": "sin({0})",
    "tanh": "tanh({0})",
    "absolute": "fabs({0})",
    "minimum": "fmin({0}, {1})",
    "maximum": "fmax({0}, {1})",
    "power": "pow({0}, {1})",
    "normal_cdf": "(0.5 * erfc(-0.7071067811865475 * {0}))",
    "choose": "({0} < 0.0 ? {1} : {2})",
}
#: What a reduction starts from, and its step.
STEPS = {
    "sum": ("0.0", "{0} += {1};"),
    "product": ("1.0", "{0} *= {1};"),
    "largest": ("-HUGE_VAL", "{0} = fmax({0}, {1});"),
}
LIBRARY = re.compile(r"\b(exp|log|sqrt|sin|tanh|fabs|fmin|fmax|pow|erfc)\(")
NUMBER = re.compile(r"(?<![\w.])(\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+)(?![\w.])")
#: The shortest types of whole numbers, by their bytes.
INTEGERS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int"}


class Real:
    """Type of numbers that is computed in, double or float."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dtype = np.dtype(np.float32 if name == "float" else np.float64)
        self.smallest = float(np.finfo(np.float32 if name == "float" else np.float64).tiny)

    def number(self, value: float) -> str:
        """A literal with all its digits."""
        with np.errstate(over="ignore"):  # which is told below
            rounded = self.dtype.type(value)
        if not np.isfinite(rounded):
            raise ValueError(f"the model holds {value!r}, which a C {self.name} cannot")
        text = repr(float(value)) if self.name == "double" else str(rounded)
        if not re.search(r"[.e]", text):
            text += ".0"
        return text + ("f" if self.name == "float" else "")

    def typed(self, code: str) -> str:
        """Code for double as code for the type that is computed in."""
        if self.name == "double":
            return code
        return NUMBER.sub(r"\1f", LIBRARY.sub(r"\1f(", code.replace("HUGE_VAL", "HUGE_VALF")))


def bare(text: str) -> str:
    """The text without brackets around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return text[1:-1] if place == len(text) - 1 else text
    return text


def brackets(sizes: Iterable[int]) -> str:
    """Sizes of an array."""
    return "".join(f"[{size}]" for size in sizes)


def braces(texts: list[str], shape: tuple[int, ...], indent: str = "    ") -> str:
    """Nested initialisers."""
    if len(shape) == 1:
        lines = textwrap.wrap(", ".join(texts), 96, initial_indent=indent, subsequent_indent=indent)
        return "{\n" + "\n".join(lines) + f"\n{indent[4:]}}}"
    size = len(texts) // shape[0]
    rows = (texts[begin : begin + size] for begin in range(0, len(texts), size))
    inner = (indent + braces(row, shape[1:], indent + "    ") for row in rows)
    return "{\n" + ",\n".join(inner) + f"\n{indent[4:]}}}"
