"""Readers of data beside the checkout find their folder, or say where they looked."""

import numpy as np
import pytest

from benchmarks.staged import find_staged, load_raetsch, load_staged, load_usps
from tests.support import needs


def test_reader_takes_the_configured_folder_first(tmp_path, monkeypatch):
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "data.csv").write_text("a,b,target\n1,2,3\n4,5,6.5\n")
    monkeypatch.setenv("RELVEC_DATA", str(tmp_path))
    table = load_staged("toy")
    np.testing.assert_array_equal(table.X, [[1, 2], [4, 5]])
    np.testing.assert_array_equal(table.y, [3, 6.5])
    assert table.feature_names == ("a", "b")


def test_reader_finds_a_folder_beside_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "shared" / "data" / "toy").mkdir(parents=True)
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    monkeypatch.delenv("RELVEC_DATA", raising=False)
    monkeypatch.chdir(checkout)
    assert find_staged("toy") == tmp_path / "shared" / "data" / "toy"


def test_reader_says_what_is_missing_and_where_it_looked(tmp_path, monkeypatch):
    monkeypatch.setenv("RELVEC_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(FileNotFoundError, match=r"'no_such_set' not found in .*elsewhere"):
        find_staged("no_such_set")


def test_boston_housing_has_the_paper_s_shape():
    table = needs.staged(load_staged, "boston_housing")
    assert table.X.shape == (506, 13)
    assert len(table.feature_names) == 13
    assert np.isfinite(table.X).all()


def test_raetsch_reader_gives_the_rows_of_each_split(tmp_path, monkeypatch):
    folder = tmp_path / "raetsch_toy"
    folder.mkdir()
    X, y = np.arange(8.0).reshape(4, 2), np.array([-1, 1, 1, -1], dtype=np.int8)
    np.savez(folder / "toy.npz", X=X, y=y, train_idx=[[2, 0], [1, 3]], test_idx=[[1, 3], [0, 2]])
    monkeypatch.setenv("RELVEC_DATA", str(tmp_path))
    first, second = load_raetsch("toy")
    np.testing.assert_array_equal(first.X_train, [[4, 5], [0, 1]])
    np.testing.assert_array_equal(first.y_train, [1, -1])
    np.testing.assert_array_equal(first.X_test, [[2, 3], [6, 7]])
    np.testing.assert_array_equal(second.y_test, [-1, 1])


@pytest.mark.parametrize(
    ("name", "n_inputs", "n_train", "n_rows"),
    [
        ("banana", 2, 400, 5300),
        ("breast_cancer", 9, 200, 277),
        ("titanic", 3, 150, 2201),
        ("waveform", 21, 400, 5000),
        ("german", 20, 700, 1000),
        ("image", 18, 1300, 2310),
    ],
)
def test_raetsch_problems_have_the_paper_s_shapes(name, n_inputs, n_train, n_rows):
    splits = needs.staged(load_raetsch, name)
    assert len(splits) == 10
    for split in splits:
        assert split.X_train.shape == (n_train, n_inputs)
        assert split.X_test.shape == (n_rows - n_train, n_inputs)
        labels = np.concatenate([split.y_train, split.y_test])
        assert labels.shape == (n_rows,)
        assert set(labels) == {-1, 1}


def test_usps_has_the_paper_s_split_and_pixels_in_units():
    usps = needs.staged(lambda _: load_usps(), "usps")
    assert usps.X_train.shape == (7291, 256)
    assert usps.X_test.shape == (2007, 256)
    assert set(usps.y_train) == set(usps.y_test) == set(range(10))
    assert (usps.X_train.min(), usps.X_train.max()) == (-1, 1)
    # A written one has ink in the middle of the image and none at its left and right edges.
    one = usps.X_train[usps.y_train == 1].mean(axis=0).reshape(16, 16)
    assert one[:, 7:9].mean() > 0
    assert one[:, [0, 15]].mean() < -0.9


@pytest.mark.parametrize(("name", "n_train", "n_test"), [("pima", 200, 332), ("ripley", 250, 1000)])
def test_two_file_problems_have_the_paper_s_split(name, n_train, n_test):
    train, test = (needs.staged(load_staged, name, file) for file in ("train.csv", "test.csv"))
    assert train.feature_names == test.feature_names
    assert (len(train.y), len(test.y)) == (n_train, n_test)
    assert set(train.y) == set(test.y) == {0, 1}
