"""Fits of rows that are read from files, against those of the same rows in memory."""

import pickle
import tracemalloc
from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relvec import RVC, RVR
from relvec.exceptions import CentersWarning
from relvec.rows import ParquetRows
from tests.support import needs

pa = needs.library("pyarrow")
parquet = needs.library("pyarrow.parquet")

N = 400


@pytest.fixture
def table(rng):
    X = rng.standard_normal((N, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(N)
    return {"y": y, "size": X[:, 0], "age": X[:, 1], "kind": np.where(y > 0.3, "high", "low")}


@pytest.fixture
def inputs(table):
    return np.column_stack([table["age"], table["size"]])


@pytest.fixture
def path(table, tmp_path):
    """A file of several groups of rows, whose columns are in another order than the inputs."""
    path = tmp_path / "table.parquet"
    parquet.write_table(pa.table(table), path, row_group_size=130)
    return path


@pytest.fixture
def rows(path):
    return ParquetRows(path, ["age", "size"]).sized(50)


def test_a_fit_is_that_in_memory(rows, table, inputs):
    X = inputs
    y = table["y"]
    for parameters in ({}, {"solver": "em"}, {"likelihood": "poisson"}):
        t = np.abs(y).round() if parameters.get("likelihood") else y
        model = {"centers": X[::20], "tol": 0.5} | parameters
        one, other = RVR(**model).fit(X, t), RVR(**model).fit(rows, t)
        assert_array_equal(other.relevance_, one.relevance_)
        assert_allclose(other.log_evidence_, one.log_evidence_, rtol=1e-9)
        assert_array_equal(other.feature_names_in_, ["age", "size"])
        for here, there in zip(
            one.predict(X, return_std=True), other.predict(rows, return_std=True), strict=True
        ):
            assert_allclose(there, here, rtol=1e-8, atol=1e-8)


def test_columns_are_targets_of_any_type(rows, table, inputs):
    X = inputs
    labels = rows.column("kind")
    assert_array_equal(labels, table["kind"])
    one, other = RVC(centers=X[::20]).fit(X, labels), RVC(centers=X[::20]).fit(rows, labels)
    assert_array_equal(other.predict(rows), one.predict(X))
    assert_allclose(other.predict_proba(rows), one.predict_proba(X), atol=1e-8)


def test_rows_are_taken_in_the_order_asked_for(rows, table, inputs):
    X = inputs
    some = np.array([399, 3, 130, 129, 0, 3])
    found, y = rows.take(some, table["y"])
    assert_array_equal(found, X[some])
    assert_array_equal(y, table["y"][some])
    read = []
    rows._blocks, blocks = lambda groups: read.extend(groups) or blocks(groups), rows._blocks
    rows.take(np.array([5, 399]))
    assert read == [0, 3]


def test_blocks_have_the_size_asked_for(rows, inputs):
    blocks = list(rows.sized(64).inputs())
    assert max(map(len, blocks)) <= 64
    assert_array_equal(np.concatenate(blocks), inputs)
    assert {block.dtype for block in blocks} == {np.dtype(np.float64)}


def test_rows_go_to_other_processes(rows, inputs):
    again = pickle.loads(pickle.dumps(rows))
    assert_array_equal(np.concatenate(list(again.inputs())), inputs)


def test_columns_without_numbers_are_refused_by_name(path):
    with pytest.raises(ValueError, match=r"'kind' of .* is of type .*string, expected numbers"):
        ParquetRows(path, ["age", "kind"])
    with pytest.raises(ValueError, match=r"'weight' is not in .*, expected one of"):
        ParquetRows(path, ["weight"])
    with pytest.raises(ValueError, match=r"'weight' is not in .*, expected one of"):
        ParquetRows(path, ["age"]).column("weight")
    with pytest.raises(ValueError, match=r"columns=.., expected one name at least"):
        ParquetRows(path, [])


def test_missing_numbers_are_refused(tmp_path):
    path = tmp_path / "missing.parquet"
    parquet.write_table(pa.table({"x": [1, None, 3], "truth": [True, None, False]}), path)
    for name in ("x", "truth"):
        with pytest.raises(ValueError, match="X contains NaN"):
            RVR().fit(ParquetRows(path, [name]), np.arange(3.0))
    parquet.write_table(pa.table({"x": pa.array([], pa.float64())}), path)
    with pytest.raises(ValueError, match="no rows"):
        ParquetRows(path, ["x"])


@pytest.fixture
def large(tmp_path, rng):
    """A file of numbers that are mapped, 20 MB of them."""
    X = np.memmap(tmp_path / "large", np.float64, "w+", shape=(312_500, 8))
    X[:] = rng.standard_normal(X.shape)
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(len(X))


@pytest.mark.parametrize("centers", [12, "points", None], ids=str)
def test_a_mapped_file_is_not_copied(large, centers, monkeypatch):
    X, y = large
    for name, value in {"LEAST_CENTERS": 12, "MAX_ENTRIES": 1, "LOOKED_AT": 10_000}.items():
        monkeypatch.setattr(f"relvec._fitting.centers.{name}", value)
    monkeypatch.setattr("relvec._fitting.pipeline.LOOKED_AT", 10_000)
    monkeypatch.setattr("relvec._fitting.data.BLOCK_ENTRIES", 1 << 16)
    points = np.array(X[:12]) if centers == "points" else centers
    model = RVR(centers=points, memory_limit=1e6, random_state=0, max_iter=1000)
    told = (
        pytest.warns(CentersWarning, match=f"^{len(X)} rows") if centers is None else nullcontext()
    )
    tracemalloc.start()
    with told:
        model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(model.relevance_) > 0
    assert peak < X.nbytes
