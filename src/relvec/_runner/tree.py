"""Numbers, texts, arrays and dataclasses of this package as JSON and bytes, exactly and no code."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

#: Where the classes come from that a file may name: dataclasses, named tuples and warnings.
PACKAGE = "relvec."


class Tree:
    """Objects as nodes of JSON; the `numbers` of their arrays, one behind the other, as bytes."""

    def __init__(self, numbers: bytes = b"") -> None:
        self.numbers = bytearray(numbers)

    def write(self, value: Any) -> Any:
        """Node of an object."""
        if value is None or isinstance(value, bool | int | float | str):
            return value  # JSON as Python writes it keeps every float, infinite ones and NaN too
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            return {"array": value.dtype.str, "shape": value.shape, "at": self._append(value)}
        if isinstance(value, Warning):
            return {"warning": _name(value), "fields": [self.write(part) for part in value.args]}
        if isinstance(value, list):
            return {"list": [self.write(part) for part in value]}
        if is_dataclass(value):
            made = [field.name for field in fields(value) if field.init]
            return {"class": _name(value), "fields": {n: self.write(vars(value)[n]) for n in made}}
        if hasattr(value, "_fields"):
            return {"class": _name(value), "fields": [self.write(part) for part in value]}
        if isinstance(value, tuple):
            return {"tuple": [self.write(part) for part in value]}
        raise TypeError(f"a checkpoint cannot hold a {type(value).__name__}")

    def read(self, node: Any) -> Any:
        """Object of a node."""
        if not isinstance(node, dict):
            return node
        if "array" in node:
            dtype, shape = np.dtype(node["array"]), tuple(node["shape"])
            count = int(np.prod(shape, dtype=np.int64))
            flat = np.frombuffer(self.numbers, dtype, count, node["at"])
            return flat.reshape(shape).copy()
        if "list" in node:
            return [self.read(part) for part in node["list"]]
        if "tuple" in node:
            return tuple(self.read(part) for part in node["tuple"])
        if "warning" in node:
            return _class(node["warning"], Warning)(*map(self.read, node["fields"]))
        found = _class(node["class"], object)
        if isinstance(node["fields"], list):
            return found(*map(self.read, node["fields"]))
        return found(**{name: self.read(part) for name, part in node["fields"].items()})

    def _append(self, array: np.ndarray[Any, Any]) -> int:
        if array.dtype.hasobject:
            raise TypeError("a checkpoint cannot hold an array of objects")
        at = len(self.numbers)
        self.numbers += np.ascontiguousarray(array).tobytes()
        self.numbers += bytes(-len(self.numbers) % 16)
        return at


def _name(value: Any) -> str:
    """Name of the class of a value, one of this package."""
    cls = type(value)
    if not cls.__module__.startswith(PACKAGE):
        raise TypeError(f"a checkpoint cannot hold a {cls.__qualname__} of {cls.__module__}")
    return f"{cls.__module__}:{cls.__qualname__}"


def _class(name: str, base: type) -> Any:
    """Class of a name in a file, if it is one of those that hold values and do nothing."""
    module, _, qualified = name.partition(":")
    if module.startswith(PACKAGE):
        found = getattr(import_module(module), qualified, None)
        holds_values = is_dataclass(found) or hasattr(found, "_fields") or base is Warning
        if isinstance(found, type) and issubclass(found, base) and holds_values:
            return found
    raise ValueError(f"a class {name!r}, which no checkpoint holds")
