"""Containers that rows come in, each a function from an array to the same rows elsewhere."""

import numpy as np
from scipy.sparse import csc_matrix, csr_array

from tests.support import needs

#: Names of the inputs in tables.
NAMES = ["size", "age"]


def _table(X):
    return needs.library("pandas").DataFrame(X, columns=NAMES)


def _series(values):
    return needs.library("pandas").Series(values)


def _pandas(of_table=lambda table: table, of_series=None):
    """Rows in pandas, of the types that two functions say."""
    of_series = of_series or (lambda series: series)

    def converted(values, folder):
        if values.shape[1:] == (len(NAMES),):
            return of_table(_table(values))
        return of_series(_series(values)) if values.ndim == 1 else values

    return converted


def nullable(values, folder):
    """Rows in columns of types with missing values."""
    return _pandas(*[lambda values: values.convert_dtypes()] * 2)(values, folder)


def arrow(values, folder):
    """Rows in columns of PyArrow."""
    needs.library("pyarrow")
    return _pandas(*[lambda values: values.convert_dtypes(dtype_backend="pyarrow")] * 2)(
        values, folder
    )


def polars(values, folder):
    """Rows in Polars."""
    pl = needs.library("polars")
    if values.shape[1:] == (len(NAMES),):
        return pl.DataFrame(values, schema=NAMES)
    return pl.Series(values) if values.ndim == 1 else values


def mapped(values, folder):
    """Rows in a file that is mapped; texts cannot be."""
    if values.dtype.kind not in "fi":
        return values
    path = folder / f"{len(list(folder.iterdir()))}.npy"
    np.save(path, values)
    return np.load(path, mmap_mode="r")


def parquet(size):
    """Inputs in a Parquet file whose groups, and the blocks that are read, have `size` rows."""

    def written(values, folder):
        if values.shape[1:] != (len(NAMES),):
            return values
        from relvec.rows import ParquetRows

        pa, path = needs.library("pyarrow"), folder / f"{len(list(folder.iterdir()))}.parquet"
        table = pa.table(dict(zip(NAMES, values.T, strict=True)))
        needs.library("pyarrow.parquet").write_table(table, path, row_group_size=size)
        return ParquetRows(path, NAMES).sized(size)

    return written


def dask(size):
    """Rows in a Dask array of chunks of `size` rows, with a column a chunk."""
    return lambda values, folder: needs.library("dask.array").from_array(
        values, chunks=(size, *[1] * (values.ndim - 1))
    )


def dask_with_empty_chunks(values, folder):
    """Rows in a Dask array of which some chunks have none."""
    da = needs.library("dask.array")
    parts = [values[:0], values[:8], values[8:8], values[8:20], values[20:], values[:0]]
    return da.concatenate([da.from_array(p, chunks=p.shape) for p in parts])


def dask_of_unknown_chunks(values, folder):
    """Rows in a Dask array of which nobody knows how many they are."""
    frame = dask_frame(values, folder)
    return frame.values


def dask_frame(values, folder):
    """Rows in a Dask table, of partitions that a condition has left one empty of."""
    dd, n = needs.library("dask.dataframe"), len(values)
    columns = values.reshape(n, -1)
    names = NAMES if values.ndim == 2 and values.shape[1] == len(NAMES) else None
    table = needs.library("pandas").DataFrame(columns, columns=names)
    table = table.rename(columns=str).assign(kept=1.0)
    more = needs.library("pandas").concat([table, table.assign(kept=0.0)], ignore_index=True)
    there = dd.from_pandas(more, npartitions=6, sort=False)
    kept = there[there.kept > 0].drop(columns="kept")
    return kept if values.ndim > 1 else kept["0"]


def dask_frame_of_nullable(values, folder):
    """Rows in a Dask table, in columns of types with missing values."""
    dd = needs.library("dask.dataframe")
    here = _table(values) if values.shape[1:] == (len(NAMES),) else _series(values)
    return dd.from_pandas(here.convert_dtypes(), npartitions=3)


def sparse(form):
    """Inputs in a sparse array of SciPy."""
    return lambda values, folder: form(values)


def sparse_table(values, folder):
    """Inputs in a pandas table of sparse columns."""
    return _table(values).astype(needs.library("pandas").SparseDtype(float, 0.0))


#: Containers whose rows are in memory.
IN_MEMORY = {
    "pandas": _pandas(),
    "nullable": nullable,
    "arrow": arrow,
    "polars": polars,
    "mapped": mapped,
}
#: Containers whose rows are not, or lack their zeros: blocks of one row, blocks that lack classes,
#: and empty ones.
OUT_OF_MEMORY = {
    "sparse rows": sparse(csr_array),
    "sparse columns": sparse(csc_matrix),
    "sparse table": sparse_table,
    "parquet, one row a block": parquet(1),
    "parquet": parquet(7),
    "dask, one row a chunk": dask(1),
    "dask": dask(8),
    "dask, empty chunks": dask_with_empty_chunks,
    "dask, unknown chunks": dask_of_unknown_chunks,
    "dask table": dask_frame,
    "dask table, nullable": dask_frame_of_nullable,
}
#: Those of inputs, which targets and weights never come in.
OF_INPUTS = {"sparse rows", "sparse columns", "sparse table"}
CONTAINERS = IN_MEMORY | OUT_OF_MEMORY
