"""Whitening: linear maps W of rows, with WᵀW = R⁻¹ for a correlation R between the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky_banded, solve_banded, solve_triangular
from scipy.sparse.csgraph import reverse_cuthill_mckee

from relvec._numerics.linalg import NotPositiveDefiniteError, cholesky
from relvec._numerics.typing import Array, Index


class Whitener(ABC):
    """A map W of rows, W(order) in another order of them.

    Attributes
    ----------
    order : ndarray of int, shape (n_rows,)
        Rows in the order in which W is a triangle.
    log_det : float
        log|W|.
    """

    order: Index
    log_det: float

    def whitened(self, columns: Array) -> Array:
        """Return W times columns, shape (n_rows, …)."""
        found = np.empty_like(columns)
        found[self.order] = self._whitened(columns[self.order])
        return found

    def transposed(self, columns: Array) -> Array:
        """Return Wᵀ times columns, shape (n_rows, …)."""
        found = np.empty_like(columns)
        found[self.order] = self._transposed(columns[self.order])
        return found

    @abstractmethod
    def _whitened(self, columns: Array) -> Array:
        """W times columns, both in the order."""

    @abstractmethod
    def _transposed(self, columns: Array) -> Array:
        """Wᵀ times columns, both in the order."""


class Differences(Whitener):
    """Each row less its correlation with the one before: of a Markov process.

    Parameters
    ----------
    order : ndarray of int, shape (n_rows,)
        Rows one after the other.
    correlation : ndarray of shape (n_rows,)
        Correlation r of each with the one before, zero where a series begins.
    unexplained : ndarray of shape (n_rows,)
        1 − r², which r near one has no digits of.
    """

    def __init__(self, order: Index, correlation: Array, unexplained: Array) -> None:
        self.order, scale = order, np.sqrt(unexplained)
        self._own, self._before = 1 / scale, (-correlation / scale)[1:]
        self.log_det = -float(np.log(scale).sum())

    def _whitened(self, columns: Array) -> Array:
        found = _times(self._own, columns)
        found[1:] += _times(self._before, columns[:-1])
        return found

    def _transposed(self, columns: Array) -> Array:
        found = _times(self._own, columns)
        found[:-1] += _times(self._before, columns[1:])
        return found


class Factor(Whitener):
    """The inverse of the Cholesky factor of a known matrix.

    Parameters
    ----------
    matrix : ndarray or sparse array of shape (n_rows, n_rows)
        Positive definite R. The rows of a sparse one are ordered so that its band is narrow.
    """

    def __init__(self, matrix: Array | sparse.sparray) -> None:
        n = matrix.shape[0]
        if not sparse.issparse(matrix):
            self.order = np.arange(n)
            self._banded, self._factor = False, cholesky(matrix.copy())
            self.log_det = -float(np.log(self._factor.diagonal()).sum())
            return
        self.order = reverse_cuthill_mckee(sparse.csr_array(matrix), symmetric_mode=True)
        ordered = sparse.coo_array(sparse.csr_array(matrix)[self.order][:, self.order])
        below = ordered.row - ordered.col
        width = int(below.max(initial=0))
        bands = np.zeros((width + 1, n))
        lower = below >= 0
        bands[below[lower], ordered.col[lower]] = ordered.data[lower]
        try:
            self._factor = cholesky_banded(bands, lower=True)
        except LinAlgError as error:
            raise NotPositiveDefiniteError from error
        self._banded, self.log_det = True, -float(np.log(self._factor[0]).sum())

    def _whitened(self, columns: Array) -> Array:
        if self._banded:
            found: Array = solve_banded((len(self._factor) - 1, 0), self._factor, columns)
            return found
        solved: Array = solve_triangular(self._factor, columns, lower=True)
        return solved

    def _transposed(self, columns: Array) -> Array:
        if not self._banded:
            back: Array = solve_triangular(self._factor, columns, lower=True, trans="T")
            return back
        width, n = len(self._factor) - 1, self._factor.shape[1]
        upper = np.zeros_like(self._factor)
        for offset in range(width + 1):  # the upper band of Lᵀ
            upper[width - offset, offset:] = self._factor[offset, : n - offset]
        found: Array = solve_banded((0, width), upper, columns)
        return found


def _times(factor: Array, columns: Array) -> Array:
    """Rows of columns (n_rows, …) times a factor (n_rows,) each."""
    return (factor * columns.T).T
