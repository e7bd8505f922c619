"""Kernels of inputs that are alike or not: categories, texts, and the bits of a fingerprint."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from relvec._numerics.typing import Array, Index
from relvec.basis.base import Centers
from relvec.basis.kernel import Kernel, ScaledKernel
from relvec.basis.products import Products
from relvec.basis.scale import LEARNT, resolve_gamma


def codes(*columns: NDArray[Any]) -> list[Index]:
    """Numbers of the values of one input in several arrays, the same for the same value."""
    if all(column.dtype != object for column in columns):
        numbers = np.unique(np.concatenate(columns), return_inverse=True)[1]
    else:
        known = dict[Any, int]()
        each = (known.setdefault(value, len(known)) for column in columns for value in column)
        numbers = np.fromiter(each, np.intp)
    return np.split(numbers, np.cumsum([len(column) for column in columns])[:-1])


def differing(x: NDArray[Any], z: NDArray[Any]) -> Array:
    """One where values of an input differ and zero where they do not, shape (n, m)."""
    of_x, of_z = codes(x, z)
    differ: Array = (of_x[:, None] != of_z).astype(np.float64)
    return differ


class Hamming(Kernel):
    """Share of the inputs that are the same, `k(x, z) = 1/d Σ_d [x_d = z_d]`.

    Inputs are categories: numbers, texts or any objects that can be keys of a dictionary.

    Examples
    --------
    >>> from relvec.basis import Hamming
    >>> Hamming().fit([["red", "big"]]).transform([["red", "small"]])
    array([[0.5]])
    """

    any_rows = True

    def k(self, X: NDArray[Any], Z: NDArray[Any]) -> Array:
        """`1/d Σ_d [x_d = z_d]`."""
        differ = sum((differing(x, z) for x, z in zip(X.T, Z.T, strict=True)), 0.0)
        return np.asarray(1 - differ / X.shape[1])

    def products(self) -> list[Products]:
        """`[x_d = z_d]/d` of every input; see `Basis.products`."""
        one = np.eye(len(self.centers_)) / self.centers_.shape[1]
        return [
            Products.of_input(d, partial(_same, d, z), one) for d, z in enumerate(self.centers_.T)
        ]


def _same(d: int, z: NDArray[Any], X: NDArray[Any]) -> Array:
    return 1 - differing(X[:, d], z)


class CategoricalKernel(ScaledKernel):
    """Kernel of categories, `k(x, z) = exp(−Σ_d γ_d [x_d ≠ z_d])`.

    Inputs are categories: numbers, texts or any objects that can be keys of a dictionary. A
    category that no centre has is unlike all of them.

    Parameters
    ----------
    gamma : {"scale", "auto", "evidence", "ard"}, float or array-like, default="scale"
        How unlike two categories of an input are, without a unit. "scale" is 2 over the number of
        inputs in which two rows differ on average, "auto" is 1 / n_features; "evidence" and "ard"
        are learnt, of all inputs together or of each.

    Examples
    --------
    >>> from relvec.basis import CategoricalKernel
    >>> CategoricalKernel(gamma=0.5).fit([["red", "big"]]).transform([["red", "small"]]).round(3)
    array([[0.607]])
    """

    any_rows = True
    follows_rows = True
    peak = 1.0

    def place(self, X: NDArray[Any], centers: Centers, weights: Array | None) -> Self:
        super(ScaledKernel, self).place(X, centers, weights)
        self.gamma_ = self._resolved(X, weights)
        return self

    def _resolved(self, X: NDArray[Any], weights: Array | None) -> float | Array:
        """γ as a number, or as one for each input."""
        named = isinstance(self.gamma, str) and self.gamma in ("scale", *LEARNT)
        if not named:
            return resolve_gamma(self.gamma, X)
        differ = np.array([_diversity(column, weights) for column in X.T])
        if self.gamma == "ard":
            gamma: Array = np.zeros(len(differ))
            np.divide(2 / len(differ), differ, out=gamma, where=differ > 0)
            return gamma
        return float(2 / differ.sum()) if differ.any() else 1.0

    def relevance(self, deviations: Array) -> None:
        """Categories have no deviation; see `Basis.relevance`."""

    def k(self, X: NDArray[Any], Z: NDArray[Any]) -> Array:
        """`exp(−Σ_d γ_d [x_d ≠ z_d])`."""
        K = np.zeros((len(X), len(Z)))
        for exponent in self._exponents(X, Z):
            K += exponent
        return np.exp(K, out=K)

    def factors(self, X: NDArray[Any], Z: NDArray[Any]) -> Iterator[Array]:
        """`exp(−γ_d [x_d ≠ z_d])`; see `Kernel.factors`."""
        return map(np.exp, self._exponents(X, Z))

    def _exponents(self, X: NDArray[Any], Z: NDArray[Any]) -> Iterator[Array]:
        """Yield `−γ_d [x_d ≠ z_d]`, of shape (n, m), for one input after the other."""
        for gamma, x, z in zip(np.broadcast_to(self.gamma_, X.shape[1]), X.T, Z.T, strict=True):
            yield -gamma * differing(x, z)

    def gamma_slope(self, X: NDArray[Any], Z: NDArray[Any], D: Array) -> Array:
        """`−γ_d Σ_nm D_nm k(x_n, z_m) [x_nd ≠ z_md]`."""
        P = D * self.k(X, Z)
        differ = [np.vdot(P, differing(x, z)) for x, z in zip(X.T, Z.T, strict=True)]
        return -self.gamma_ * np.array(differ)


def _diversity(column: NDArray[Any], weights: Array | None) -> float:
    """Share of pairs of rows, drawn with their frequencies, that differ in an input."""
    counts = np.bincount(codes(column)[0], weights)
    shares = counts / counts.sum()
    return float(1 - shares @ shares)


class Tanimoto(Kernel):
    """Tanimoto's similarity of fingerprints, `k(x, z) = xᵀz / (xᵀx + zᵀz − xᵀz)`.

    Of bits it is the number that both have over the number that either has, and of two fingerprints
    without any bit 1, as of all that are the same. Counts and other numbers go by the same formula.

    Examples
    --------
    >>> from relvec.basis import Tanimoto
    >>> Tanimoto().fit([[1, 1, 0], [0, 0, 0]]).transform([[1, 0, 1], [0, 0, 0]]).round(3)
    array([[0.333, 0.   ],
           [0.   , 1.   ]])
    """

    def k(self, X: Array, Z: Array) -> Array:
        """`xᵀz / (xᵀx + zᵀz − xᵀz)`, 1 where both are zero."""
        both = X @ Z.T
        squares = [np.einsum("ij,ij->i", rows, rows) for rows in (X, Z)]
        either = np.add.outer(*squares) - both
        K: Array = np.ones_like(both)
        np.divide(both, either, out=K, where=either > 0)
        return K
