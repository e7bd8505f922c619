"""Results of the parts of a fit, in the order in which it asks for them.

A fit takes the same way in another process: its parts follow each other by what the earlier ones
found. So it begins again from the front, and finds what was found already instead of computing it,
until there is no more. A part may have parts; once it is finished, what they found is forgotten.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

import numpy as np

from relvec._runner.tree import Tree

T = TypeVar("T")

#: Share of the time that writing may take: after a write that took a second, none for 20 s.
SHARE = 0.05
#: What the file is known by.
FORMAT = "relvec checkpoint 1"


class Checkpoint:
    """What a fit has found so far, in memory and, where the user asked, in a file.

    Parameters
    ----------
    path : Path or None
        File, which may be there already.
    made_of : mapping of str to str
        What the fit is made of: digests, by the names that messages call them.
    """

    def __init__(self, path: Path | None = None, made_of: Mapping[str, str] | None = None) -> None:
        self.path, self._made_of = path, dict(made_of or {})
        self._found: dict[tuple[int, ...], Any] = {}
        self._place = [0]
        self._closed, self._earlier = False, 0.0
        self._began = time.perf_counter()
        self._free_at = -np.inf
        if path is not None and path.exists():
            self._read(path)

    def seconds(self) -> float:
        """Time since the fit began, in all processes together, less what was lost."""
        return self._earlier + time.perf_counter() - self._began

    def once(self, compute: Callable[[], T]) -> T:
        """Result of a part that computes it, unless it is known."""
        place = self.place()
        if place in self._found:
            known: T = self._found[place]
            return known
        self._place.append(0)
        try:
            result = compute()
        finally:
            self._place.pop()
        self.put(place, result)
        return result

    def place(self) -> tuple[int, ...]:
        """Place of the next part."""
        place = tuple(self._place)
        self._place[-1] += 1
        return place

    def get(self, place: tuple[int, ...], default: T) -> T:
        """What a part has found so far."""
        found: T = self._found.get(place, default)
        return found

    def put(self, place: tuple[int, ...], result: Any) -> None:
        """Keep what a part found, or has found so far, and forget what its parts did."""
        if self._closed:
            return
        depth = len(place)
        inside = [other for other in self._found if other[:depth] == place]
        for other in inside:
            del self._found[other]
        self._found[place] = result
        if time.perf_counter() >= self._free_at:
            self._write()

    def close(self) -> None:
        """Keep nothing more: what comes is not what an undisturbed fit finds."""
        if not self._closed:
            self._write()
            self._closed = True

    def finish(self) -> None:
        """Remove the file of a fit that came to its end."""
        if self.path is not None and not self._closed:
            self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        """Put a new file in the place of the old one, which is whole until then."""
        if self.path is None:
            return
        began, tree = time.perf_counter(), Tree()
        header = {
            "format": FORMAT,
            "made_of": self._made_of,
            "seconds": self.seconds(),
            "found": [[place, tree.write(result)] for place, result in self._found.items()],
        }
        text = np.frombuffer(json.dumps(header).encode(), np.uint8)
        part = self.path.with_name(f"{self.path.name}.part")
        with part.open("wb") as file:
            np.savez(file, header=text, numbers=np.frombuffer(bytes(tree.numbers), np.uint8))
        part.replace(self.path)
        now = time.perf_counter()
        self._free_at = now + (now - began) / SHARE

    def _read(self, path: Path) -> None:
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
                header = json.loads(parts["header"].tobytes())
                tree = Tree(parts["numbers"].tobytes())
            if header["format"] != FORMAT:
                raise ValueError(f"format {header['format']!r}")
            made_of, self._earlier = dict(header["made_of"]), float(header["seconds"])
        except (OSError, BadZipFile, ValueError, KeyError, TypeError, EOFError) as error:
            raise ValueError(
                f"checkpoint={str(path)!r} is not a checkpoint that this version of relvec wrote "
                f"({error}); remove it or name another file"
            ) from error
        names = sorted(self._made_of.keys() | made_of.keys())
        other = [name for name in names if made_of.get(name) != self._made_of.get(name)]
        if other:
            raise ValueError(
                f"checkpoint={str(path)!r} is of another fit, which differs in {', '.join(other)}; "
                "fit the same again to resume that, remove the file or name another one"
            )
        self._found = {tuple(place): tree.read(node) for place, node in header["found"]}
