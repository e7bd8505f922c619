"""Sufficient statistics of any number of rows under Gaussian noise, in candidate space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import blas, lapack

from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.linalg import inverse_lower, solve_lower_vector, triangle
from relvec._numerics.typing import Array

#: Share of a column's square that products of columns still tell from rounding: what is left of a
#: column beside others, and is no more, is taken for nothing.
RESOLVED = 1e-13
#: Rows times the square of the candidates from which products of columns are worth their speed.
MANY_PRODUCTS = 2e10
#: Share of the observations that has to be left for telling the noise when all candidates explain.
LEAST_FREEDOM = 0.5
#: How many times as much of each of some columns products have to tell for making them orthonormal.
UNRESOLVED = 100


@dataclass(frozen=True)
class Counts:
    """Sums of frequency weights; those of different rows add up."""

    copies: float  # copies of all rows
    #: sum of their copies times the precision of their noise, where that differs from row to row
    weight: float
    log_precision: float = 0.0  # sum over the copies of the logarithms of these precisions

    @classmethod
    def of(cls, n_rows: int, copies: Array | None, precision: Array | None) -> Self:
        """Count rows; without copies each counts once."""
        if precision is None:
            total = float(n_rows if copies is None else copies.sum())
            return cls(total, total)
        copies = np.ones(n_rows) if copies is None else copies
        logs = float(copies @ np.log(precision))
        return cls(float(copies.sum()), float(copies @ precision), logs)

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.copies + other.copies,
            self.weight + other.weight,
            self.log_precision + other.log_precision,
        )

    def precision_evidence(self, *, center: bool) -> float:
        """Return what row precisions add to the log evidence, with an intercept of contrasts."""
        contrasts = float(np.log(self.weight / self.copies)) if center else 0.0
        return 0.5 * (self.log_precision - contrasts)


@dataclass(frozen=True)
class RFactor:
    """Rows that have the means and the centred products of many others."""

    weight: float  # what the rows that it stands for count for
    mean: Array  # (n_columns,), weighted mean of each column
    rows: Array  # (n_rows, n_columns), R, with RᵀR = Σ w (x − x̄)(x − x̄)ᵀ

    @classmethod
    def of(cls, columns: Array, beside: Array, weights: Array | None) -> Self:
        """Triangular root of some rows, by QR: no product of columns is formed, no digit is lost.

        Without weights every row counts once.
        """
        every = np.hstack([columns, beside])
        return cls(*_centred(every, weights), triangle(every))

    def __add__(self, other: RFactor) -> RFactor:
        """Root of the rows of both."""
        mean, between = _merged_means(self, other)
        stacked = np.vstack([self.rows, other.rows, between])
        return RFactor(self.weight + other.weight, mean, triangle(stacked))

    @property
    def squares(self) -> Array:
        """Centred square of each column."""
        squares: Array = np.einsum("ij,ij->j", self.rows, self.rows)
        return squares

    def about_zero(self) -> Array:
        """Rows with the products of the columns as they are, not centred."""
        return np.vstack([np.sqrt(self.weight) * self.mean, self.rows])


@dataclass(frozen=True)
class Squares:
    """Weighted means and centred squares of columns; those of different rows add up.

    They are merged in centred form (Chan, Golub and LeVeque 1983), because Σφ² − Nφ̄² cancels.
    """

    weight: float  # what the rows count for
    mean: Array  # (n_columns,), weighted mean of each column
    squares: Array  # (n_columns,), Σ w (x − x̄)² of each

    @classmethod
    def of(cls, columns: Array, beside: Array, weights: Array | None) -> Self:
        """Take some rows; without weights each counts once."""
        every = np.hstack([columns, beside])
        return cls(*_centred(every, weights), np.einsum("ij,ij->j", every, every))

    def __add__(self, other: Squares) -> Squares:
        mean, between = _merged_means(self, other)
        squares = self.squares + other.squares + np.square(between)
        return Squares(self.weight + other.weight, mean, squares)


@dataclass(frozen=True)
class Moments:
    """Weighted means and centred products of columns; merged like `Squares`."""

    weight: float  # what the rows count for
    mean: Array  # (n_columns,), weighted mean of each column
    products: Array  # (n_columns, n_columns), Σ w (x − x̄)(x − x̄)ᵀ

    @classmethod
    def of(cls, columns: Array, beside: Array, weights: Array | None) -> Self:
        """Take some rows, whose arrays are centred in place; without weights each counts once.

        The few columns `beside` the many are not copied to them, which would cost more than what
        they add to the products.
        """
        m = columns.shape[1]
        weight, mean = _centred(columns, weights)
        _, mean_beside = _centred(beside, weights)
        products = np.empty((m + beside.shape[1],) * 2)
        products[:m, :m] = columns.T @ columns
        products[:m, m:] = columns.T @ beside
        products[m:, :m] = products[:m, m:].T
        products[m:, m:] = beside.T @ beside
        return cls(weight, np.append(mean, mean_beside), products)

    def __add__(self, other: Moments) -> Moments:
        return self._plus(other, self.products.copy())

    def __iadd__(self, other: Moments) -> Moments:
        """Add in the memory of this one's products, which are large and many."""
        return self._plus(other, self.products)

    def _plus(self, other: Moments, products: Array) -> Moments:
        mean, between = _merged_means(self, other)
        products += other.products
        blas.dger(1.0, between, between, a=products.T, overwrite_a=1)
        return Moments(self.weight + other.weight, mean, products)

    @property
    def squares(self) -> Array:
        """Centred square of each column."""
        return self.products.diagonal()

    def root(self, n_candidates: int) -> RFactor:
        """Root by a pivoted Cholesky factor, which tells what of each column the others leave.

        The columns behind the candidates are targets. What the candidates leave of each is in a
        last row, so that the products of two targets are lost.
        """
        norm = np.sqrt(self.products.diagonal())
        norm = np.where(norm > 0, norm, 1.0)
        unit = self.products / np.multiply.outer(norm, norm)
        packed, pivots, rank, _ = lapack.dpstrf(
            unit[:n_candidates, :n_candidates], tol=RESOLVED, lower=1
        )
        order, lower = pivots - 1, np.tril(packed)[:, :rank]
        rows = np.zeros((rank + 1, len(unit)))
        rows[:rank, order] = lower.T
        square = np.asfortranarray(lower[:rank])
        for target in range(n_candidates, len(unit)):
            known = solve_lower_vector(square, unit[order[:rank], target])
            left = unit[target, target] - float(known @ known)
            rows[:rank, target], rows[rank, target] = known, np.sqrt(max(left, 0.0))
        return RFactor(self.weight, self.mean, rows * norm)


def unexplained(rows: Array, n: float) -> Array | None:
    """Noise variance of targets that all candidates explain, if enough of n observations are left.

    Takes the targets (…, n_rows) in the rows of `Moments.root`, of which one has what is left.
    """
    freedom = n - (rows.shape[-1] - 1)
    if freedom < LEAST_FREEDOM * n:
        return None
    left: Array = rows[..., -1] ** 2 / freedom
    return left


@dataclass(frozen=True)
class CholeskyQR:
    """Combinations of columns that their products say are nearly orthonormal.

    Products of columns hold half their digits; those of these combinations hold nearly all, so that
    a second pass makes up for what the first one lost, at the speed of products (Cholesky QR).
    """

    #: (n_columns, n_columns), R, upper triangular: the combinations are the columns times R⁻¹
    upper: Array

    @classmethod
    def of(cls, rows: Array) -> Self | None:
        """Take rows with the products of the columns; None if these cannot tell the columns."""
        norms = np.sqrt(np.einsum("ij,ij->j", rows, rows))
        if len(rows) < rows.shape[1] or not norms.all():
            return None
        unit = triangle(rows / norms)
        if not (np.abs(unit.diagonal()) ** 2 > UNRESOLVED * RESOLVED).all():
            return None
        return cls(unit * norms)

    @property
    def combine(self) -> Array:
        """R⁻¹."""
        return inverse_lower(np.asfortranarray(self.upper.T)).T

    def root(self, found: Moments) -> RFactor:
        """Root of the columns, given the moments of the combinations and of what is beside them."""
        k = len(self.upper)
        root = found.root(k)
        rows, mean = root.rows.copy(), root.mean.copy()
        rows[:, :k], mean[:k] = rows[:, :k] @ self.upper, mean[:k] @ self.upper
        return RFactor(root.weight, mean, rows)


def _centred(columns: Array, weights: Array | None) -> tuple[float, Array]:
    """Centre columns and multiply their rows by the roots of the weights, all in place.

    Returns the sum of the weights and the mean of each column.
    """
    if weights is None:
        total, mean = float(len(columns)), columns.mean(axis=0)
        columns -= mean
        return total, mean
    total = float(weights.sum())
    mean = (weights / (total or 1.0)) @ columns  # of a block none of whose rows counts, zero
    columns -= mean
    columns *= np.sqrt(weights)[:, None]
    return total, mean


def _merged_means(
    one: RFactor | Squares | Moments, other: RFactor | Squares | Moments
) -> tuple[Array, Array]:
    """Mean of the rows of both, and a row that stands for what lies between their means."""
    total = one.weight + other.weight
    share, apart = other.weight / total if total else 0.0, other.mean - one.mean
    between: Array = np.sqrt(one.weight * share) * apart
    return one.mean + share * apart, between


def nonconstant_norms(
    norms: Array, center: Array, weight: float, nothing: float | Array = 0.0
) -> Array:
    """Norm of each centred column, infinite where it is no more than rounding.

    That is so of its mean, or of `nothing`, a size of its values that is next to none. A column of
    rounding errors is no function: an infinite scale makes it zero in every product.
    """
    least = np.maximum(ROUNDINGS * np.abs(center), nothing)
    return np.where(norms <= np.sqrt(weight) * least, np.inf, norms)
