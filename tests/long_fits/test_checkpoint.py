"""A fit that was killed goes on from its last pass, and is the fit that nobody disturbed."""

import json
import os
import re
import subprocess
import sys
from itertools import count

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from relvec import RVC, RVR
from relvec._runner import Checkpoint, Runner, checkpoint
from relvec.basis import RBF
from relvec.exceptions import CheckpointWarning
from relvec.solvers import Sequential
from tests.long_fits.fits import ELSEWHERE, FITS, NAMES, assert_same_fit, curve, ending, moons


class Killed(BaseException):
    """No code of the package looks after this one."""


@pytest.fixture(autouse=True)
def every_result_is_written(monkeypatch):
    monkeypatch.setattr(checkpoint, "SHARE", np.inf)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.checkpoint"


def killed(model, X, y, at, monkeypatch):
    with ending(monkeypatch, Killed(), at), pytest.raises(Killed):
        clone(model).fit(X, y)


def results(model, X, y, monkeypatch):
    """How many results a fit keeps."""
    with ending(monkeypatch, None, 0) as found:
        clone(model).fit(X, y)
    return len(found)


# Killed and resumed


SLOWLY = pytest.param("rows in Dask", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [*NAMES, "sparse rows", SLOWLY])
def test_a_killed_and_resumed_fit_equals_an_undisturbed_one(name, path, monkeypatch):
    model, data = (FITS | ELSEWHERE)[name]
    X, y = data()
    undisturbed, n = clone(model).fit(X, y), results(model, X, y, monkeypatch)
    model = clone(model).set_params(checkpoint=path)
    for at in {max(1, n // 3), n - 1}:
        killed(model, X, y, at, monkeypatch)
        assert path.exists()
        assert_same_fit(clone(model).fit(X, y), undisturbed)
        assert not path.exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FITS, *ELSEWHERE])
def test_it_may_be_killed_anywhere(name, path, monkeypatch):
    model, data = (FITS | ELSEWHERE)[name]
    X, y = data()
    undisturbed, n = clone(model).fit(X, y), results(model, X, y, monkeypatch)
    model = clone(model).set_params(checkpoint=path)
    for at in range(1, n):
        killed(model, X, y, at, monkeypatch)
        assert_same_fit(clone(model).fit(X, y), undisturbed)


def test_a_fit_may_be_killed_again_and_again(path, monkeypatch):
    X, y = curve()
    undisturbed = RVR(gamma=0.1, n_starts=3).fit(X, y)
    model, times = RVR(gamma=0.1, n_starts=3, checkpoint=path), 0
    while True:
        try:
            with ending(monkeypatch, Killed(), 3):
                resumed = clone(model).fit(X, y)
            break
        except Killed:
            times += 1
    assert times > 3
    assert_same_fit(resumed, undisturbed)
    seconds = [row.seconds for row in resumed.history_]
    assert seconds == sorted(seconds)


def test_no_pass_is_made_twice(path, monkeypatch):
    X, y = curve()
    made, step = [], Sequential.step

    def counted(self, model, state):
        made.append(state.n_iter)
        return step(self, model, state)

    monkeypatch.setattr(Sequential, "step", counted)
    model = RVR(gamma=0.1, n_starts=2, checkpoint=path)
    n = results(model, X, y, monkeypatch)
    undisturbed, made[:] = list(made), []
    killed(model, X, y, n // 2, monkeypatch)
    assert 0 < len(made) < len(undisturbed)
    clone(model).fit(X, y)
    assert made == undisturbed


def test_rows_drawn_at_random_are_those_of_the_killed_fit(path, monkeypatch):
    X, y = curve()
    drawn = []
    model = RVR(gamma=0.1, centers=30, checkpoint=path)
    put = Checkpoint.put

    def seen(self, at, result):
        put(self, at, result)
        if at == 0:
            drawn.append(result)

    monkeypatch.setattr(Checkpoint, "put", seen)
    killed(model, X, y, 3, monkeypatch)
    resumed = clone(model).fit(X, y)
    assert len(drawn) == 1
    assert set(resumed.relevance_rows_) <= set(drawn[0])


SCRIPT = """
import sys
import numpy as np
from relvec._runner import checkpoint
from tests.long_fits.fits import FITS

checkpoint.SHARE = np.inf
model, data = FITS[sys.argv[1]]
model.set_params(checkpoint=sys.argv[2], verbose=1).fit(*data())
"""


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("ard", "em", "two classes")]


@pytest.mark.parametrize("name", ["starts", *SLOW])
def test_a_process_that_the_system_kills_leaves_a_fit_to_resume(name, path):
    model, data = FITS[name]
    rows = 0
    command = [sys.executable, "-u", "-W", "ignore", "-c", SCRIPT, name, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        for _ in process.stdout:
            rows += 1
            if rows == 5:
                process.kill()
                break
    assert process.returncode == -9
    assert path.exists()
    resumed = clone(model).set_params(checkpoint=path).fit(*data())
    assert_same_fit(resumed, clone(model).fit(*data()))


# Other fits


@pytest.fixture
def left(path, monkeypatch):
    """What a killed fit left."""
    X, y = curve()
    model = RVR(kernel=[RBF(0.1), "linear"], checkpoint=path)
    killed(model, X, y, 4, monkeypatch)
    return model, X, y


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda model, X, y: (model, X + 1e-9 * np.eye(60)[:, :1], y), "X"),
        (lambda model, X, y: (model, X, np.append(y[:-1], 0.0)), "y"),
        (lambda model, X, y: (model.set_params(tol=0.1), X, y), "tol"),
        (lambda model, X, y: (model.set_params(kernel=[RBF(0.2), "linear"]), X, y), "kernel"),
        (lambda model, X, y: (model.set_params(tol=0.1), X, y + 1), "tol, y"),
    ],
)
def test_another_fit_is_refused_by_the_name_of_what_differs(change, named, left, path):
    model, X, y = change(*left)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=rf"fit.checkpoint.* differs in {named};"):
        model.fit(X, y)
    assert path.read_bytes() == before


def test_rows_elsewhere_are_told_apart_in_any_order_and_blocks(path, monkeypatch, rng):
    X, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    model = RVR(centers=X[:5], checkpoint=path)
    killed(model, csr_array(X), y, 1, monkeypatch)
    with pytest.raises(ValueError, match="differs in rows;"):
        clone(model).fit(csr_array(X), y + 1e-9 * (np.arange(40) == 3))
    order = rng.permutation(40)
    monkeypatch.setattr("relvec._design.sparse.BLOCK_ENTRIES", 14)
    assert clone(model).fit(csr_array(X[order]), y[order]).n_samples_fit_ == 40
    assert not path.exists()


def test_other_weights_are_another_fit(left):
    model, X, y = left
    with pytest.raises(ValueError, match="differs in sample_weight;"):
        model.fit(X, y, sample_weight=np.arange(1.0, 61.0))


def test_known_noise_is_another_fit(left):
    model, X, y = left
    with pytest.raises(ValueError, match="differs in noise_variance_per_row;"):
        model.fit(X, y, noise_variance_per_row=np.full(60, 0.01))


def test_another_estimator_is_another_fit(path, monkeypatch):
    X, y = moons()
    killed(RVC(gamma=1.0, checkpoint=path), X, y, 1, monkeypatch)
    with pytest.raises(ValueError, match=r"of another fit, which differs in .*the estimator"):
        RVR(gamma=1.0, checkpoint=path).fit(X, y)


def test_what_says_nothing_of_the_result_may_change(left, capsys):
    model, X, y = left
    undisturbed = clone(model).set_params(checkpoint=None).fit(X, y)
    assert_same_fit(model.set_params(verbose=1, n_jobs=1).fit(X, y), undisturbed)


def test_a_kernel_that_cannot_be_pickled_counts_by_its_name(path, monkeypatch):
    X, y = curve()

    def kernel(X, Z):
        return np.exp(-0.1 * (X - Z.T) ** 2)

    model = RVR(kernel=kernel, checkpoint=path)
    killed(model, X, y, 4, monkeypatch)
    assert_same_fit(model.fit(X, y), RVR(kernel=kernel).fit(X, y))
    killed(model, X, y, 4, monkeypatch)
    with pytest.raises(ValueError, match="differs in kernel;"):
        RVR(kernel=lambda X, Z: kernel(X, Z), checkpoint=path).fit(X, y)


# Files


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"start,log_evidence\n0,-12\n",
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b"relvec checkpoint 2", b"relvec checkpoint 9"),
    ],
    ids=["empty", "a table", "cut", "of a later format"],
)
def test_a_file_that_is_no_checkpoint_is_refused_by_name(damage, left, path):
    model, X, y = left
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=rf"checkpoint={re.escape(repr(str(path)))} is not a"):
        model.fit(X, y)
    assert path.exists()


def crafted(path, change):
    """Write a checkpoint anew with a header that was changed."""
    with np.load(path, allow_pickle=False) as parts:
        header, numbers = json.loads(parts["header"].tobytes()), parts["numbers"]
    change(header)
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, header=text, numbers=numbers)


def places(node, at=()):
    """Where the values of a header are, each as the keys that lead there."""
    if isinstance(node, dict | list):
        for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
            yield (*at, key)
            yield from places(inner, (*at, key))


STRANGE = [
    None,
    -1,
    "text",
    float("nan"),
    {"list": []},
    {"tuple": [None]},
    {"array": "<f8", "shape": [0], "at": 0},
    {"array": "|O", "shape": [1], "at": 0},
    {"array": "<f8", "shape": [10**15], "at": 0},
    {"class": "relvec.exceptions:Advice", "fields": {"text": "text"}},
    {"class": "os:system", "fields": ["text"]},
]


@pytest.mark.filterwarnings("ignore::Warning")
@pytest.mark.parametrize("rounds", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_whatever_a_file_holds_is_told_in_one_sentence_or_fitted(rounds, left, path, rng):
    model, X, y = left
    content = path.read_bytes()
    for _ in range(10 * rounds):
        path.write_bytes(content)
        crafted(path, lambda header: _changed(header, rng))
        assert _refusal(model, X, y).startswith(f"checkpoint={str(path)!r}")


def _refusal(model, X, y):
    """Message of a fit that refuses its file, or what it begins with if it does not."""
    try:
        clone(model).fit(X, y)
    except ValueError as error:
        return str(error)
    return f"checkpoint={str(model.checkpoint)!r}"


def _changed(header, rng):
    """Put something strange in a place of a header."""
    found = [place for place in places(header) if place[0] in ("parts", "state", "seconds")]
    *outer, last = found[rng.integers(len(found))]
    node = header
    for key in outer:
        node = node[key]
    node[last] = STRANGE[rng.integers(len(STRANGE))]


def test_an_error_of_a_fit_from_its_front_is_not_laid_to_a_file(path):
    def kernel(X, Z):
        raise KeyError("of the kernel")

    with pytest.raises(KeyError, match="of the kernel"):
        RVR(kernel=kernel, checkpoint=path).fit(*curve())


def no_space(descriptor):
    raise OSError(28, "No space left on device")


def test_a_full_disk_warns_once_leaves_the_old_file_whole_and_the_fit_goes_on(
    left, path, monkeypatch
):
    model, X, y = left
    undisturbed = clone(model).set_params(checkpoint=None).fit(X, y)
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        with pytest.warns(
            CheckpointWarning, match=r"written \(No space left on device\)"
        ) as caught:
            killed(model, X, y, 2, monkeypatch)
        assert path.read_bytes() == before
        assert list(path.parent.iterdir()) == [path]
        with pytest.warns(CheckpointWarning) as caught:
            assert_same_fit(clone(model).fit(X, y), undisturbed)
    assert [warning.message.code for warning in caught] == ["checkpoint_failed"]
    assert not path.exists()


def test_a_disk_with_room_again_is_written_to_again(path, monkeypatch):
    X, y = curve()
    model, fails = RVR(gamma=0.1, n_starts=3, checkpoint=path), iter([no_space])
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: next(fails, sync)(descriptor))
    with pytest.warns(CheckpointWarning, match="No space left"):
        killed(model, X, y, 6, monkeypatch)
    assert path.exists()
    assert_same_fit(model.fit(X, y), RVR(gamma=0.1, n_starts=3).fit(X, y))


def test_a_file_that_cannot_be_removed_warns(left, path, monkeypatch):
    model, X, y = left

    def denied(path, missing_ok):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Checkpoint, "_write", lambda self: None)
    monkeypatch.setattr(type(path), "unlink", denied)
    with pytest.warns(CheckpointWarning, match=r"removed \(Permission denied\)"):
        clone(model).fit(X, y)


@pytest.mark.parametrize("same", [True, False], ids=["the same fit", "another fit"])
def test_fits_that_share_a_file_leave_each_other_what_is_theirs(same, path, monkeypatch):
    X, y = curve()
    inner, outer = (RVR(gamma=0.1, n_starts=3, checkpoint=path, tol=tol) for tol in (1e-3, 1e-6))
    outer = clone(inner) if same else outer
    undisturbed = clone(outer).set_params(checkpoint=None).fit(X, y)
    keep, turns = Runner._keep, count()

    def interfere(self, state):
        if next(turns) == 2:  # another process begins, and is killed, while the outer fit runs
            path.unlink()
            killed(inner, X, y, 3, monkeypatch)
        return keep(self, state)

    monkeypatch.setattr(Runner, "_keep", interfere)
    with pytest.warns(CheckpointWarning, match="another fit writes there") as caught:
        assert_same_fit(outer.fit(X, y), undisturbed)
    assert len(caught) == 1
    resumed = clone(inner).fit(X, y)  # from what it left
    assert_same_fit(resumed, clone(inner).set_params(checkpoint=None).fit(X, y))


def test_a_link_is_replaced_and_what_it_leads_to_stays(left, path, tmp_path):
    model, X, y = left
    own = tmp_path / "own"
    own.write_bytes(b"the user's own")
    path.unlink()
    path.symlink_to(own)
    with pytest.raises(ValueError, match="is not a checkpoint"):
        clone(model).fit(X, y)
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    clone(model).fit(X, y)
    assert own.read_bytes() == b"the user's own"
    assert list(tmp_path.iterdir()) == [own]


@pytest.mark.parametrize("wrong", [3, True, b"file"])
def test_a_checkpoint_that_is_no_path_is_refused(wrong):
    with pytest.raises(TypeError, match=rf"checkpoint={re.escape(repr(wrong))}, expected None or"):
        RVR(checkpoint=wrong).fit(*curve())


def test_a_folder_that_nobody_may_write_to_is_refused(path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda folder, mode: False)
    with pytest.raises(ValueError, match="that you may write to"):
        RVR(checkpoint=path).fit(*curve())


@pytest.mark.parametrize("name", [".", "nowhere/fit.checkpoint"])
def test_a_place_where_no_file_can_be_is_refused(name, tmp_path):
    with pytest.raises(ValueError, match="expected a file in a folder that exists"):
        RVR(checkpoint=tmp_path / name).fit(*curve())


def test_the_file_is_plain_numbers_and_text(left, path):
    with np.load(path, allow_pickle=False) as parts:
        header = json.loads(parts["header"].tobytes())
    assert header["made_of"].keys() >= {"X", "y", "kernel", "tol"}
