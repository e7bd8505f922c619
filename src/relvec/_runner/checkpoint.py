"""Results of the finished parts of a fit, in their order, and the state of the search that runs.

A fit takes the same way in another process: its parts follow each other by what the earlier ones
found. So it begins again from the front, and is given what was found instead of computing it,
until there is no more. A part may have parts; once it is finished, its result replaces theirs.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relvec._files import file_id, replace_file
from relvec._runner.tree import Tree
from relvec._runner.warn import warn_user
from relvec.exceptions import Advice, CheckpointWarning

#: Share of the time that writing may take: after a write that took a second, none for 20 s.
SHARE = 0.05
#: What the file is known by.
FORMAT = "relvec checkpoint 2"
#: What a fit may raise if the results that it goes on from are not those of such a fit.
DUE_TO_A_FILE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass
class Part:
    """A part of a fit, whose result is known already or is to be set."""

    result: Any = None
    finished: bool = False


class Checkpoint:
    """Results of a fit so far, in a file that may be there already.

    The fit is `made_of` digests, by the names that messages call them. `earlier` seconds of it were
    in other processes, less what was lost.
    """

    def __init__(self, path: Path, made_of: Mapping[str, str]) -> None:
        self.path, self._made_of = path, dict(made_of)
        self._found: list[tuple[int, Any]] = []  # results, each with the number of parts around it
        self._state: Any = None
        self._position = self._depth = 0
        self._closed, self.earlier = False, 0.0
        self._file = file_id(path)  # the file that is this fit's own
        self._taken = self._warned = False
        self._began, self._free_at = time.perf_counter(), -np.inf
        if self._file is not None:
            self._read()

    @contextmanager
    def part(self) -> Iterator[Part]:
        """The next part; once it ends, its result takes the place of those of its parts."""
        at = self._position
        if not self._closed and self._found[at : at + 1] and self._found[at][0] == self._depth:
            self._position += 1
            yield Part(self._found[at][1], finished=True)
            return
        part = Part()
        self._depth += 1
        try:
            yield part
        finally:
            self._depth -= 1
        self.put(at, part.result)

    def put(self, at: int, result: Any) -> None:
        """Keep the result of a part that began with the result number `at`."""
        if not self._closed:
            self._found[at:] = [(self._depth, result)]
            self._position, self._state = at + 1, None
            self._write_now_and_then()

    def put_state(self, state: Any) -> None:
        """Keep the state of the search that runs."""
        if not self._closed:
            self._state = state
            self._write_now_and_then()

    def state(self) -> Any:
        """State of the search that begins, or None if another process left none."""
        left = self._position == len(self._found) and not self._closed
        return self._state if left else None

    def close(self) -> None:
        """Keep nothing more: what comes is not what an undisturbed fit finds."""
        if not self._closed:
            self._write()
            self._closed = True

    @contextmanager
    def resuming(self) -> Iterator[None]:
        """Name the file in an error of a fit that went on from it, which may be due to the file."""
        resumed = bool(self._found) or self._state is not None
        try:
            yield
        except DUE_TO_A_FILE as error:
            if not resumed:
                raise
            raise ValueError(
                f"checkpoint={str(self.path)!r} holds what the fit could not go on from "
                f"({type(error).__name__}: {error}); remove it or name another file"
            ) from error

    def finish(self) -> None:
        """Remove the file of a fit that came to its end."""
        if not self._closed:
            with self._warning("removed"):
                self._check_own()
                self.path.unlink(missing_ok=True)

    def _write_now_and_then(self) -> None:
        began = time.perf_counter()
        if began >= self._free_at:
            self._write()
            now = time.perf_counter()
            self._free_at = now + (now - began) / SHARE

    def _write(self) -> None:
        """Put a new file in the place of the old one, which is whole until then."""
        if not self._taken:
            with self._warning("written"):
                self._check_own()
                self._file = replace_file(self.path, self._content())

    def _content(self) -> bytes:
        """Bytes of the file."""
        tree = Tree()
        header = {
            "format": FORMAT,
            "made_of": self._made_of,
            "seconds": self.earlier + time.perf_counter() - self._began,
            "parts": [[depth, tree.write(result)] for depth, result in self._found],
            "state": tree.write(self._state),
        }
        text, file = np.frombuffer(json.dumps(header).encode(), np.uint8), io.BytesIO()
        np.savez(file, header=text, numbers=np.frombuffer(bytes(tree.numbers), np.uint8))
        return file.getvalue()

    def _check_own(self) -> None:
        """Raise if another fit has put its file in the place of this one's."""
        if file_id(self.path) not in (None, self._file):
            self._taken = True
            raise FileExistsError("another fit writes there")

    @contextmanager
    def _warning(self, done: str) -> Iterator[None]:
        """Warn, once in a fit, where what is done to the file fails: the fit itself goes on."""
        try:
            yield
        except OSError as error:
            if not self._warned:
                self._warned = True
                warn_user(
                    CheckpointWarning(
                        f"checkpoint={str(self.path)!r} could not be {done} "
                        f"({error.strerror or error}): the fit goes on",
                        Advice("make room, or name another file in {}", "checkpoint"),
                    )
                )

    def _read(self) -> None:
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                header = json.loads(arrays["header"].tobytes())
                tree = Tree(arrays["numbers"].tobytes())
            if header["format"] != FORMAT:
                raise ValueError(f"format {header['format']!r}")
            made_of, self.earlier = dict(header["made_of"]), float(header["seconds"])
            self._found = [(depth, tree.read(node)) for depth, node in header["parts"]]
            self._state = tree.read(header["state"])
        except Exception as error:  # whatever the damage makes the readers do
            raise ValueError(
                f"checkpoint={str(self.path)!r} is not a checkpoint that this version of relvec "
                f"wrote ({error}); remove it or name another file"
            ) from error
        names = sorted(self._made_of.keys() | made_of.keys())
        other = [name for name in names if made_of.get(name) != self._made_of.get(name)]
        if other:
            raise ValueError(
                f"checkpoint={str(self.path)!r} is of another fit, which differs in "
                f"{', '.join(other)}; fit the same again to resume that, remove the file or name "
                "another one"
            )
