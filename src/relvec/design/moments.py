"""What Gaussian noise needs to know of any number of rows, in candidate space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import lapack

from relvec.design.base import Array
from relvec.linalg import solve_lower_vector

#: Share of a column's square that products of columns still tell from rounding: what is left of a
#: column beside others, and is no more, is taken for nothing.
RESOLVED = 1e-12


@dataclass(frozen=True)
class Counts:
    """How much some rows count for; counts of different rows add up.

    Attributes
    ----------
    copies : float
        Copies of all rows.
    weight : float
        Sum of their copies times the precision of their noise, where that differs from row to row.
    log_precision : float
        Sum over the copies of the logarithms of these precisions.
    """

    copies: float
    weight: float
    log_precision: float = 0.0

    @classmethod
    def of(cls, n_rows: int, copies: Array | None, precision: Array | None) -> Self:
        """Count rows; without copies each counts once."""
        if precision is None:
            total = float(n_rows if copies is None else copies.sum())
            return cls(total, total)
        copies = np.ones(n_rows) if copies is None else copies
        return cls(
            float(copies.sum()), float(copies @ precision), float(copies @ np.log(precision))
        )

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.copies + other.copies,
            self.weight + other.weight,
            self.log_precision + other.log_precision,
        )

    def precision_evidence(self, *, center: bool) -> float:
        """What the precisions add to the log evidence; with an intercept, to that of contrasts."""
        contrasts = float(np.log(self.weight / self.copies)) if center else 0.0
        return 0.5 * (self.log_precision - contrasts)


@dataclass(frozen=True)
class Root:
    """Rows that have the means and the centred products of many others.

    Attributes
    ----------
    counts : Counts
        Of the rows that it stands for.
    mean : ndarray of shape (n_columns,)
        Weighted mean of each column.
    rows : ndarray of shape (n_rows, n_columns)
        R, with RᵀR = Σ w (x − x̄)(x − x̄)ᵀ.
    """

    counts: Counts
    mean: Array
    rows: Array

    @classmethod
    def of(cls, columns: Array, counts: Counts, weight: Array | None) -> Self:
        """Triangular root of some rows, by QR: no product of columns is formed, no digit is lost.

        `weight` is what each row counts for; None where that is one.
        """
        share = None if weight is None else weight / counts.weight
        mean: Array = columns.mean(axis=0) if share is None else share @ columns
        centred = columns - mean
        if weight is not None:
            centred *= np.sqrt(weight)[:, None]
        return cls(counts, mean, np.linalg.qr(centred, mode="r"))

    def __add__(self, other: Root) -> Root:
        """Root of the rows of both."""
        counts = self.counts + other.counts
        mean, between = _merged_means(self, other)
        stacked = np.vstack([self.rows, other.rows, between])
        return Root(counts, mean, np.linalg.qr(stacked, mode="r"))

    def about_zero(self) -> Array:
        """Rows with the products of the columns as they are, not centred."""
        return np.vstack([np.sqrt(self.counts.weight) * self.mean, self.rows])


@dataclass(frozen=True)
class Moments:
    """Weighted means and centred cross-products of columns; those of different rows add up.

    They are merged in centred form, because ΦᵀΦ − Nφ̄φ̄ᵀ cancels.

    Attributes
    ----------
    counts : Counts
        Of the rows.
    mean : ndarray of shape (n_columns,)
        Weighted mean of each column.
    products : ndarray of shape (n_columns, n_columns) or (n_columns,)
        Σ w (x − x̄)(x − x̄)ᵀ, or its diagonal alone.
    """

    counts: Counts
    mean: Array
    products: Array

    @classmethod
    def of(
        cls, columns: Array, counts: Counts, weight: Array | None, *, squares_only: bool = False
    ) -> Self:
        """Moments of some rows, whose array is centred in place.

        `weight` is what each row counts for; None where that is one.
        """
        share = None if weight is None else weight / counts.weight
        mean: Array = columns.mean(axis=0) if share is None else share @ columns
        columns -= mean
        if weight is not None:
            columns *= np.sqrt(weight)[:, None]
        if squares_only:
            return cls(counts, mean, np.einsum("ij,ij->j", columns, columns))
        return cls(counts, mean, columns.T @ columns)

    def __add__(self, other: Moments) -> Moments:
        """Moments of the rows of both (Chan, Golub and LeVeque 1983)."""
        mean, between = _merged_means(self, other)
        products = self.products + other.products
        products += np.square(between) if products.ndim == 1 else np.outer(between, between)
        return Moments(self.counts + other.counts, mean, products)

    @property
    def squares(self) -> Array:
        """Centred square of each column."""
        return self.products if self.products.ndim == 1 else self.products.diagonal()

    def root(self, n_given: int) -> Root:
        """Root by a pivoted Cholesky factor, which tells what of each column beside the others is.

        The last columns but the first `n_given` are targets: each has what the others leave of it,
        in a last row, and nothing is known of the products of two of them.
        """
        scale = np.sqrt(self.products.diagonal())
        scale = np.where(scale > 0, scale, 1.0)
        unit = self.products / np.multiply.outer(scale, scale)
        given, aims = unit[:n_given, :n_given], unit[:n_given, n_given:]
        factor, pivots, rank, _ = lapack.dpstrf(given.T, tol=RESOLVED, lower=1)
        order = pivots - 1
        lower = np.tril(factor)[:, :rank]
        rows = np.zeros((rank + 1, len(unit)))
        rows[:rank, order] = lower.T
        for aim, column in enumerate(aims.T, start=n_given):
            known = solve_lower_vector(np.asfortranarray(lower[:rank]), column[order[:rank]])
            rows[:rank, aim] = known
            rows[rank, aim] = np.sqrt(max(unit[aim, aim] - float(known @ known), 0.0))
        return Root(self.counts, self.mean, rows * scale)


def _merged_means(one: Root | Moments, other: Root | Moments) -> tuple[Array, Array]:
    """Mean of the rows of both, and the root of what lies between their means."""
    total = one.counts.weight + other.counts.weight
    share, apart = other.counts.weight / total, other.mean - one.mean
    between: Array = np.sqrt(one.counts.weight * share) * apart
    return one.mean + share * apart, between
