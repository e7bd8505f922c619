"""Writing of files, each of which is whole at every moment: the earlier one or the new one."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, TypeAlias
from uuid import uuid4

if sys.platform != "win32":
    import fcntl

#: Device and number of a file, and the time of its last change.
FileId: TypeAlias = tuple[int, int, int]
#: Bytes that are written to see whether a disk takes any more.
PROBE = 4096


def write_file(path: Path, content: bytes) -> None:
    """Write the file that a path names or leads to by links; a device is written to directly."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)
    else:
        replace_file(path.resolve(), content)


def replace_file(path: Path, content: bytes) -> FileId:
    """Put a new file in the place of another, links included, once it is whole; returns its id.

    It is written beside the other under a name that no other writer has, and gets its mode.
    """
    _remove_left(path.parent)
    new = path.with_name(f".relvec-{uuid4().hex}.part")
    mode = stat.S_IMODE(path.stat().st_mode) if path.is_file() else None
    try:
        with _written(new, content, mode) as written:
            new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    return written


def file_id(path: Path) -> FileId | None:
    """Return what tells a file from any other that comes in its place, or None if there is none."""
    return _id(path.stat()) if path.exists() else None


def check_writable(path: Path) -> None:
    """Raise OSError, with the path in it, unless a file can be written there."""
    target = path.resolve()
    try:
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if target.is_file() or not target.exists():
            with TemporaryFile(dir=target.parent) as file:
                file.write(bytes(PROBE))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def _written(new: Path, content: bytes, mode: int | None) -> Iterator[FileId]:
    """Write a file, which is locked until the end of the block.

    It has no name until it is whole, where the system has such files: if the process is killed
    nothing is left of them.
    """
    file, source = _opened(new)
    with file:
        _locked(file)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), mode)
        written = _id(os.fstat(file.fileno()))
        if source:  # with a folder named, Python follows the link, which leads to the file itself
            os.link(source, new, src_dir_fd=file.fileno())
        if sys.platform == "win32":  # which moves no file that is open
            file.close()
        yield written


def _opened(new: Path) -> tuple[BinaryIO, str]:
    """Open a file to write to; returns it and, if it has no name yet, a link that leads to it."""
    with suppress(AttributeError, OSError):  # a system or a disk that has no such files
        descriptor = os.open(new.parent, os.O_TMPFILE | os.O_WRONLY, 0o666)
        source = f"/proc/self/fd/{descriptor}"
        if Path(source).exists():
            return os.fdopen(descriptor, "wb"), source
        os.close(descriptor)
    return new.open("xb"), ""


def _remove_left(folder: Path) -> None:
    """Remove files of writers that were killed before they put them in their place."""
    if sys.platform == "win32":  # which tells nobody that they were
        return
    for left in folder.glob(".relvec-*.part"):
        with suppress(OSError):
            descriptor = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                # A writer locks its file before it writes to it.
                if os.fstat(descriptor).st_size and _locked(file):
                    left.unlink()


def _locked(file: BinaryIO) -> bool:
    """Lock a file until it is closed; returns False if another has, or there are no locks."""
    if sys.platform == "win32":
        return False
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _id(status: os.stat_result) -> FileId:
    return status.st_dev, status.st_ino, status.st_mtime_ns
