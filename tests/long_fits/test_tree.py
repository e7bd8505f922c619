"""What a checkpoint keeps comes back as it was, and nothing else comes out of a file."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from relvec import RVR
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._runner import fingerprints
from relvec._runner.tree import Tree
from relvec.exceptions import Advice, NoiseFloorWarning, NotConvergedWarning
from relvec.solvers import Pass


def copied(value):
    writer = Tree()
    node = json.loads(json.dumps(writer.write(value)))
    return Tree(bytes(writer.numbers)).read(node)


PLAIN = [None, True, 3, 0.1, -np.inf, 2.0**-1074, "σ²", [1, [2.5]], (1, "a")]


@pytest.mark.parametrize("value", PLAIN)
def test_plain_values_come_back(value):
    assert copied(value) == value
    assert type(copied(value)) is type(value)


def test_nan_comes_back():
    assert np.isnan(copied(float("nan")))


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.1, -0.0, np.nan, np.inf]),
        np.arange(6).reshape(2, 3)[:, ::-1],
        np.empty((0, 3)),
        np.array(2.5),
        np.array([True, False]),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    ],
)
def test_arrays_come_back_to_the_bit(array):
    found = copied([array, np.ones(3)])[0]
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == np.ascontiguousarray(array).tobytes()


def test_records_of_the_package_come_back():
    model = copied(Hyperparameters(np.array([3, 1]), np.array([0.5, 2.0]), np.array([7.0])))
    assert isinstance(model, Hyperparameters)
    np.testing.assert_array_equal(model.active, [3, 1])
    row = Pass(0, -1.5, 2, float("inf"), 0.25)
    assert copied([row]) == [row]
    assert type(copied(row)) is Pass


@pytest.mark.parametrize(
    "note", [NotConvergedWarning("a"), NoiseFloorWarning("b", Advice("use {}", "gamma", "ard"))]
)
def test_warnings_come_back(note):
    assert type(copied(note)) is type(note)
    assert str(copied(note)) == str(note)
    assert copied(note).advice == note.advice


def test_other_warnings_do_not():
    with pytest.raises(ValueError, match="builtins:UserWarning"):
        Tree().read({"warning": "builtins:UserWarning", "fields": ["c"]})


def test_records_of_other_packages_are_not_written():
    @dataclass
    class Record:
        number: int

    for value in (Record(1), UserWarning("c")):
        with pytest.raises(TypeError, match=f"cannot hold a .*{type(value).__name__} of "):
            copied([value])


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "subprocess:Popen",
        "relvec._fitting.alternating:Alternation",
        "relvec._fitting.alternating:fit",
        "relvec._estimators.regression:RVR",
        "relvecs.solvers.base:Pass",
        "relvec.solvers.base:nothing",
    ],
)
def test_a_file_makes_nothing_but_records(name):
    with pytest.raises(ValueError, match=name):
        Tree().read({"class": name, "fields": ["echo"]})


@pytest.mark.parametrize(
    "value",
    [{"a": 1}, RVR(), np.array([object()]), 1j],
    ids=["dict", "estimator", "objects", "complex"],
)
def test_what_is_no_record_cannot_be_kept(value):
    with pytest.raises(TypeError, match="a checkpoint cannot hold"):
        Tree().write(value)


# Digests


def test_rows_have_one_digest_wherever_they_lie(tmp_path, rng, monkeypatch):
    X = rng.standard_normal((300, 7))
    mapped = np.memmap(tmp_path / "X", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    monkeypatch.setattr("relvec._runner.fingerprint.BLOCK_ENTRIES", 100)
    plain = fingerprints({"X": X}, {})
    assert fingerprints({"X": mapped}, {}) == fingerprints({"X": np.asfortranarray(X)}, {}) == plain
    for place in (0, 150, 299):
        other = X.copy()
        other[place, 3] = np.nextafter(other[place, 3], 9)
        assert fingerprints({"X": other}, {}) != plain


def test_rows_that_are_cut_elsewhere_have_another_digest(rng):
    X = rng.standard_normal((6, 4))
    assert fingerprints({"X": X}, {}) != fingerprints({"X": X.reshape(4, 6)}, {})
    assert fingerprints({"X": None}, {}) != fingerprints({"X": X}, {})
