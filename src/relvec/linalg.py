"""Small dense algebra on raw LAPACK: Cholesky with a named failure, triangular inverses and solves.

The solver calls these thousands of times on matrices of a few dozen rows, where NumPy's and SciPy's
argument checks cost more than the algebra, so LAPACK is called directly. Every function treats a
failed factorisation as what it is: :class:`NotPositiveDefiniteError`, never a rescued matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack
from threadpoolctl import ThreadpoolController

Array = NDArray[np.float64]

#: Where a Cholesky pivot is smaller than this share of its diagonal entry, cancellation has taken
#: over seven of the sixteen digits, and the square root is factorised instead (`stacked_qr`).
PIVOT_DIGITS = 1e-7


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()


def single_threaded() -> AbstractContextManager[object]:
    """Keep NumPy's and SciPy's thread pools from fighting over matrices of a few dozen rows."""
    limited: AbstractContextManager[object] = _threadpools().limit(limits=1, user_api="blas")
    return limited


class NotPositiveDefiniteError(np.linalg.LinAlgError):
    """A matrix that should be positive definite is not, in the digits that float64 has."""


def cholesky(matrix: Array) -> Array:
    """Lower Cholesky factor of a symmetric matrix, whose memory may be reused for the result."""
    if not len(matrix):
        return matrix
    factor, info = lapack.dpotrf(matrix.T, lower=1, clean=1, overwrite_a=1)
    if info:
        raise NotPositiveDefiniteError(
            f"leading minor {info} of a {len(matrix)} x {len(matrix)} matrix is not positive"
        )
    return cast(Array, factor)


def cholesky_of_gram(root: Array) -> Array:
    """Lower Cholesky factor of I + DᵀD from D (j, k)."""
    gram = root.T @ root
    gram.flat[:: len(gram) + 1] += 1.0
    return checked_cholesky(gram, lambda: root)


def checked_cholesky(gram: Array, root: Callable[[], Array]) -> Array:
    """Lower Cholesky factor of gram = I + DᵀD, through QR of [D; I] when digits are short.

    It is positive definite, but forming it squares the condition number. Where a pivot shows
    that too few digits are left, the factor comes from the stacked square root, which keeps them.
    """
    diagonal = gram.diagonal().copy()
    try:
        factor = cholesky(gram)
    except NotPositiveDefiniteError:
        return stacked_qr(root())
    if (factor.diagonal() ** 2 < PIVOT_DIGITS * diagonal).any():
        return stacked_qr(root())
    return factor


def stacked_qr(root: Array) -> Array:
    """Lower factor of I + DᵀD from the QR decomposition of [D; I], never forming the product."""
    j, k = root.shape
    stacked = np.empty((j + k, k), order="F")
    stacked[:j] = root
    stacked[j:] = np.eye(k)
    packed, _, _, _ = lapack.dgeqrf(stacked, overwrite_a=1)
    upper = np.triu(packed[:k])
    return cast(Array, (upper * np.sign(upper.diagonal())[:, None]).T)


def pivoted_qr(block: Array) -> tuple[Array, NDArray[np.intp]]:
    """Norms of what is left of each column after the earlier ones, and the order, largest first."""
    packed, pivots, _, _, _ = lapack.dgeqp3(block)
    return np.abs(packed.diagonal()), pivots[: min(block.shape)].astype(np.intp) - 1


def orthonormal(block: Array, floor: float) -> Array:
    """Orthonormal columns that span a block, but for what is left of it smaller than `floor`."""
    packed, _, tau, _, _ = lapack.dgeqp3(block)
    size = np.abs(packed.diagonal())  # falling, because the columns are pivoted
    rank = int((size > floor).sum())
    Q, _, _ = lapack.dorgqr(packed[:, :rank], tau[:rank])
    return cast(Array, Q)


def inverse_lower(factor: Array) -> Array:
    """Inverse of a lower triangular matrix with a non-zero diagonal."""
    if not len(factor):
        return factor
    inverse, info = lapack.dtrtri(factor, lower=1)
    if info:
        raise NotPositiveDefiniteError(f"triangular factor has a zero at diagonal entry {info}")
    return cast(Array, inverse)


def solve_lower(factor: Array, rows: Array) -> Array:
    """Return X with L X = rows, for a lower factor L (j, j) and C-ordered rows (j, m)."""
    if not len(factor):
        return rows
    # The C-ordered (j, m) is Fortran's (m, j): solve Xᵀ Lᵀ = rowsᵀ, which copies nothing.
    return cast(Array, blas.dtrsm(1.0, factor, rows.T, side=1, lower=1, trans_a=1).T)


def solve_lower_vector(factor: Array, vector: Array) -> Array:
    """Return x with L x = vector, for a lower factor L."""
    if not len(factor):
        return vector
    return cast(Array, blas.dtrsv(factor, vector, lower=1))


def solve_positive(factor: Array, vector: Array) -> Array:
    """Return x with L Lᵀ x = vector."""
    solution, _ = lapack.dpotrs(factor, vector, lower=1)
    return cast(Array, solution)
