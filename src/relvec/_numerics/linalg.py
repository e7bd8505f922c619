"""Small dense algebra on raw LAPACK: Cholesky with a named failure, triangular inverses and solves.

The solver calls these thousands of times on matrices of a few dozen rows, where NumPy's and SciPy's
argument checks cost more than the algebra, so LAPACK is called directly. Every function treats a
failed factorisation as what it is: :class:`NotPositiveDefiniteError`, never a rescued matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property, wraps
from threading import Lock
from typing import ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack
from threadpoolctl import ThreadpoolController

from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.typing import Array

P = ParamSpec("P")
R = TypeVar("R")

#: Where a Cholesky pivot is smaller than this share of its diagonal entry, cancellation has taken
#: over seven of the sixteen digits, and the square root is factorised instead (`stacked_qr`).
PIVOT_DIGITS = 1e-7
#: Times that a factor is refined at most: each multiplies the digits that it has.
MAX_REFINEMENTS = 5
#: Share of the largest eigenvalue of a covariance under which one is lost to rounding.
LOST = 1e-12


class _BlasThreads:
    """The thread pools of BLAS, which belong to the process and not to one of its fits.

    A fit that finds them as they are limits them, and restores them when it leaves; one that finds
    them limited leaves them alone. No other thread than the one that limited could restore them.
    """

    def __init__(self) -> None:
        self._lock, self._limited, self._allowed = Lock(), False, 1

    @cached_property
    def _pools(self) -> ThreadpoolController:
        return ThreadpoolController().select(user_api="blas")

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Limit the pools to one thread each."""
        with self._lock:
            limits, self._limited = not self._limited, True
            if limits:
                self._allowed = self._running()
        if not limits:
            yield
            return
        try:
            with self._pools.limit(limits=1):
                yield
        finally:
            self._limited = False

    def allowed(self) -> int:
        """Threads that the pools have, or had before they were limited."""
        with self._lock:
            return self._allowed if self._limited else self._running()

    def _running(self) -> int:
        return max((int(pool["num_threads"]) for pool in self._pools.info()), default=1)


_BLAS = _BlasThreads()


def single_threaded() -> AbstractContextManager[None]:
    """Keep NumPy's and SciPy's thread pools from fighting over matrices of a few dozen rows."""
    return _BLAS.limited()


def default_float_errors() -> np.errstate:
    """Treat floating-point errors as NumPy does by default, whatever the caller has set.

    Exponentials of large negative numbers underflow to zero all the time, which is right, and is
    an error for a caller under ``np.errstate(all="raise")``.
    """
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")


def with_default_float_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function under `default_float_errors`."""

    @wraps(function)
    def computed(*args: P.args, **kwargs: P.kwargs) -> R:
        with default_float_errors():
            return function(*args, **kwargs)

    return computed


def blas_threads() -> int:
    """Threads that work on large blocks may take: as many as BLAS was given.

    In the workers of joblib and Dask these are fewer than the machine has.
    """
    return _BLAS.allowed()


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


def inverse_root_of_gram(root: Array) -> Array:
    """Upper triangular F with (I + DᵀD)⁻¹ = F Fᵀ, shape (k, k), from D (j, k)."""
    return inverse_lower(cholesky_of_gram(root)).T


def whitened(root: Array, rows: Array, vector: Array) -> tuple[Array, Array, Array]:
    """Return the lower factor T of I + DᵀD, T⁻¹ rows and T⁻¹ vector, from D (j, k)."""
    factor = cholesky_of_gram(root)
    return factor, solve_lower(factor, rows), solve_lower_vector(factor, vector)


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


def cholesky_by_products(gram: Array, transformed: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Lower Cholesky factor of I + G with G = DᵀD, D never at hand as a whole, and its inverse.

    Where a pivot shows that too few digits are left, the factor L found so far, with a share of the
    diagonal added if there is none else, makes the columns of D nearly orthonormal: the factor of
    L⁻¹(I + G)L⁻ᵀ, formed of the columns of DL⁻ᵀ themselves, has the digits that are missing
    (Cholesky QR; Fukaya et al. 2020). G (k, k) is overwritten; `transformed` takes T (k, k) to the
    product TᵀDᵀDT, formed of the rows of DT.
    """
    gram.flat[:: len(gram) + 1] += 1.0
    whole, found = _factor_with_digits(gram)
    for _ in range(MAX_REFINEMENTS):
        inverse = inverse_lower(whole)
        if found:
            return whole, inverse
        transform = inverse.T
        lower, found = _factor_with_digits(transformed(transform) + transform.T @ transform)
        whole = whole @ lower
    raise NotPositiveDefiniteError(f"no digits are left of a {len(gram)} x {len(gram)} matrix")


def _factor_with_digits(gram: Array) -> tuple[Array, bool]:
    """Lower factor of a matrix, or of one near it, and whether it has the digits of the matrix."""
    diagonal = gram.diagonal().copy()
    try:
        factor = cholesky(gram.copy())
        return factor, bool((factor.diagonal() ** 2 >= PIVOT_DIGITS * diagonal).all())
    except NotPositiveDefiniteError:
        gram.flat[:: len(gram) + 1] += ROUNDINGS * len(gram) * diagonal
        return cholesky(gram), False


def stacked_qr(root: Array) -> Array:
    """Lower factor of I + DᵀD from the QR decomposition of [D; I], never forming the product."""
    j, k = root.shape
    stacked = np.empty((j + k, k), order="F")
    stacked[:j] = root
    stacked[j:] = np.eye(k)
    packed, _, _, _ = lapack.dgeqrf(stacked, overwrite_a=1)
    upper = np.triu(packed[:k])
    return cast(Array, (upper * np.sign(upper.diagonal())[:, None]).T)


def triangle(rows: Array) -> Array:
    """Upper triangular R with RᵀR = XᵀX, from rows X (n, k), whose memory is reused."""
    packed, _, _, _ = lapack.dgeqrf(np.asfortranarray(rows), overwrite_a=1)
    return cast(Array, np.triu(packed[: rows.shape[1]]))


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


def inverse_root_of_covariance(matrix: Array) -> Array:
    """R (k, m) with RRᵀ the inverse of a covariance (k, k), in the directions that have digits."""
    values, vectors = np.linalg.eigh(matrix)
    known = values > LOST * values[-1]
    root: Array = vectors[:, known] / np.sqrt(values[known])
    return root


def inverse_cholesky(matrix: Array) -> Array:
    """Inverse of the lower Cholesky factor of a symmetric matrix, whose memory may be reused."""
    return inverse_lower(cholesky(matrix))


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


def solve_square(matrices: Array, columns: Array) -> Array:
    """Return X with A X = columns (..., k, b), for symmetric A (..., k, k) of full rank."""
    try:
        return cast(Array, np.linalg.solve(matrices, columns))
    except np.linalg.LinAlgError as error:
        raise NotPositiveDefiniteError("a matrix that should be invertible is singular") from error


def solve_positive(matrix: Array, vector: Array) -> Array:
    """Return x with A x = vector, for a positive definite A, whose memory may be reused."""
    solution, _ = lapack.dpotrs(cholesky(matrix), vector, lower=1)
    return cast(Array, solution)
