"""A file that is written is the earlier one or the new one, whole, whatever happens meanwhile."""

import fcntl
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from relvec import _files
from relvec._files import check_writable, file_id, replace_file, write_file

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(params=[True, False], ids=["without a name", "with a name"])
def _way(request, monkeypatch):
    """Both ways to write a file beside another: systems have the second at least."""
    if not request.param:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)


@pytest.mark.usefixtures("_way")
def test_a_new_file_takes_the_place_of_the_earlier_one_and_has_its_mode(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"earlier")
    path.chmod(0o640)
    write_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("_way")
def test_a_first_file_has_the_mode_of_any_other(tmp_path):
    (tmp_path / "other").touch()
    write_file(tmp_path / "file", b"new")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_earlier_file_and_no_other(function, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"earlier")

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    owner = os if function == "fsync" else Path
    monkeypatch.setattr(owner, function, fail)
    with pytest.raises(OSError, match="No space left"):
        write_file(path, b"new")
    assert path.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("_way")
def test_links_are_followed_or_replaced(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to(path)
    write_file(link, b"one")
    assert link.is_symlink()
    assert path.read_bytes() == b"one"
    replace_file(link, b"two")
    assert not link.is_symlink()
    assert (path.read_bytes(), link.read_bytes()) == (b"one", b"two")


@pytest.mark.usefixtures("_way")
def test_the_id_is_that_of_the_file_and_of_no_other(tmp_path):
    path = tmp_path / "file"
    assert file_id(path) is None
    first = replace_file(path, b"same")
    assert file_id(path) == first
    assert replace_file(path, b"same") == file_id(path) != first


def test_a_name_as_long_as_names_may_be(tmp_path):
    path = tmp_path / ("n" * 255)
    write_file(path, b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("name", ["nowhere/file", "file/inside"])
def test_a_place_where_no_file_can_be_is_told_with_its_path(name, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=name):
        check_writable(tmp_path / name)
    check_writable(tmp_path / "file")
    check_writable(tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_or_device_that_nobody_may_write_to_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", Path(os.devnull)):
        with pytest.raises(PermissionError, match=str(path)):
            check_writable(path)


def test_a_disk_that_takes_no_more_is_told(tmp_path, monkeypatch):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    full = partial(Path.open, Path("/dev/full"), "wb")
    monkeypatch.setattr(_files, "TemporaryFile", lambda **_: full())
    with pytest.raises(OSError, match=r"No space left on device: .*file"):
        check_writable(tmp_path / "file")


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path):
    left, other, link = (tmp_path / f".relvec-{name}.part" for name in ("left", "other", "link"))
    left.write_bytes(b"whole")
    link.symlink_to(tmp_path / "own")
    os.mkfifo(tmp_path / ".relvec-pipe.part")
    (tmp_path / "own").write_bytes(b"the user's own")
    with other.open("wb") as file:  # of a writer that goes on
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(b"half")
        file.flush()
        write_file(tmp_path / "file", b"new")
        assert not left.exists()
        assert other.read_bytes() == b"half"
    assert (tmp_path / "own").read_bytes() == b"the user's own"


@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_processes_that_are_killed_leave_one_whole_file(kills, tmp_path):
    command = [sys.executable, "-m", "tests.support.kills", str(kills), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # A name that a killed writer had given its whole file goes with the next write.
    assert json.loads(done.stdout) == []
