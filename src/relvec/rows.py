"""Rows that are read from a file block by block, as ``X`` for `fit` and `predict`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from relvec._design.blocks import LocalBlocks
from relvec._numerics.optional import need
from relvec._numerics.typing import Array, Index, RowVector

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

__all__ = ["ParquetRows"]

#: Rows in a block, where nothing is known of the candidates.
DEFAULT_SIZE = 1 << 16


class ParquetRows(LocalBlocks):
    """Columns of a Parquet file, of which a block of rows is in memory at a time.

    The file is read once for every pass that a fit makes, so it has to stay as it is. Needs
    PyArrow, which comes with the extra ``relvec[parquet]``.

    Parameters
    ----------
    path : str or path-like
        The file.
    columns : sequence of str
        Names of the inputs, columns of numbers.

    Attributes
    ----------
    n_rows, n_features : int
        Size of the table of inputs.
    names : list of str
        Of the inputs.

    Raises
    ------
    ValueError
        A column is not there, or not one of numbers, or there is no row.
    ModuleNotFoundError
        PyArrow is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> import pyarrow, pyarrow.parquet
    >>> from relvec import RVR
    >>> from relvec.datasets import make_sinc
    >>> from relvec.rows import ParquetRows
    >>> X, y = make_sinc(500, noise_scale=0.1, random_state=0)
    >>> path = os.path.join(tempfile.mkdtemp(), "sinc.parquet")
    >>> pyarrow.parquet.write_table(pyarrow.table({"x": X[:, 0], "y": y}), path)
    >>> rows = ParquetRows(path, ["x"])
    >>> model = RVR(gamma=0.1, centers=50, random_state=0).fit(rows, rows.column("y"))
    >>> model.n_samples_fit_, model.predict(rows).shape
    (500, (500,))
    """

    names: Sequence[str]

    def __init__(self, path: str | PathLike[str], columns: Sequence[str]) -> None:
        self.path, self.names, self.size = path, list(columns), DEFAULT_SIZE
        self._check_columns()
        self.n_features = len(self.names)
        self.n_rows = int(self._file.metadata.num_rows)
        if not self.n_rows:
            raise ValueError(f"{path} has no rows, expected one at least")

    def _check_columns(self) -> None:
        """Refuse columns of which there are no numbers."""
        if not self.names:
            raise ValueError(f"columns={self.names!r}, expected one name at least")
        schema = self._file.schema_arrow
        for name in self.names:
            self._check_there(name)
            if np.dtype(schema.field(name).type.to_pandas_dtype()).kind not in "biuf":
                raise ValueError(
                    f"columns: {name!r} of {self.path} is of type {schema.field(name).type}, "
                    "expected numbers"
                )

    def _check_there(self, name: str) -> None:
        known = self._file.schema_arrow.names
        if known.count(name) != 1:
            raise ValueError(f"columns: {name!r} is not in {self.path}, expected one of {known}")

    @cached_property
    def _file(self) -> ParquetFile:
        return need("pyarrow.parquet", "ParquetRows", "parquet").ParquetFile(self.path)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the open file out."""
        return {name: value for name, value in vars(self).items() if name != "_file"}

    def sized(self, size: int) -> ParquetRows:
        other = ParquetRows(self.path, self.names)
        other.size = size
        return other

    def inputs(self) -> Iterator[Array]:
        yield from self._blocks(range(self._file.num_row_groups))

    def _blocks(self, groups: Sequence[int]) -> Iterator[Array]:
        """Inputs of some groups of rows."""
        found = self._file.iter_batches(
            self.size, row_groups=list(groups), columns=self.names, use_threads=False
        )
        for batch in found:
            # a file has its own order of columns, and no numbers where there are nulls
            columns = [batch.column(name).to_numpy(zero_copy_only=False) for name in self.names]
            yield np.stack(columns, axis=1).astype(np.float64, copy=False)

    def take(self, rows: Index, *vectors: RowVector) -> list[Array]:
        """See `RowBlocks.take`; groups that have none of the rows are not read."""
        metadata, order = self._file.metadata, np.argsort(rows, kind="stable")
        lengths = [metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)]
        begins = np.cumsum([0, *lengths])
        wanted = np.unique(np.searchsorted(begins, rows, side="right") - 1)
        found = np.empty((len(rows), self.n_features))
        ahead = rows[order]
        for group in wanted.tolist():
            begin = int(begins[group])
            for block in self._blocks([group]):
                here = slice(*np.searchsorted(ahead, [begin, begin + len(block)]))
                found[order[here]] = block[ahead[here] - begin]
                begin += len(block)
        return [found, *(np.asarray(values[rows]) for values in vectors)]

    def column(self, name: str) -> NDArray[Any]:
        """Read a column, of any type, into memory: a target, or weights.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        values : ndarray of shape (n_rows,)
        """
        self._check_there(name)
        values: NDArray[Any] = self._file.read([name]).column(name).to_numpy()
        return values
