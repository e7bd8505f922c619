"""The design matrix as one array in memory."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import cached_property, reduce
from itertools import repeat, starmap
from operator import add
from typing import Any, cast

import numpy as np
from sklearn.utils import gen_batches

from relvec._design.base import (
    EVERY,
    ClosedFrame,
    Design,
    Target,
    TargetFrame,
    as_groups,
    shared_scales,
)
from relvec._design.moments import Counts, nonconstant_norms
from relvec._numerics.floats import ROUNDINGS, SMALLEST
from relvec._numerics.linalg import orthonormal
from relvec._numerics.typing import Array, Index, RowVector

#: Numbers of the candidates, and rows without them, that a function is given at a time.
ENTRIES, ROWS = 1 << 15, 1 << 11
#: Numbers of the candidates that one product is formed of.
PRODUCT_ENTRIES = 1 << 23


class DenseDesign(Design):
    """Design matrix held in memory.

    Parameters
    ----------
    Phi : ndarray of shape (n_samples, n_candidates)
        Raw candidate columns. The array is taken over and centred in place.
    center : bool
        There is a flat-prior intercept: centre the columns (by the weighted mean).
    weights : ndarray of shape (n_samples,), optional
        How many copies of each row there are; positive.
    precision : ndarray of shape (n_samples,), optional
        Precision of each row's noise, relative to a common one.
    groups : ndarray of int, shape (n_candidates,), optional
        Labels of candidates, those with one label share a precision.
    nothing : float or ndarray of shape (n_candidates,), optional
        Size below which values of a candidate are rounding: see `Basis.nothing`.
    """

    def __init__(
        self,
        Phi: Array,
        *,
        center: bool,
        weights: Array | None = None,
        precision: Array | None = None,
        groups: Index | None = None,
        nothing: float | Array = 0.0,
    ) -> None:
        self._nothing = nothing
        self.shape = cast(tuple[int, int], Phi.shape)
        self.groups = as_groups(groups, self.shape[1])
        self.has_intercept = center
        self._weights = weights
        copies = np.ones(self.shape[0]) if weights is None else weights
        self.row_weights = copies if precision is None else copies * precision
        counts = Counts.of(self.shape[0], weights, precision)
        self.n_copies, self.total_weight = counts.copies, counts.weight
        self.precision_evidence = counts.precision_evidence(center=center)
        counted_once = weights is None and precision is None
        self._root = None if counted_once else np.sqrt(self.row_weights)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):  # `_norms` refuses what is infinite
            self.center = np.zeros(Phi.shape[1])
            if center:
                self.center = (self.row_weights / self.total_weight) @ Phi
            self._Phi = self._centred(Phi)
        self._standardise()

    def _standardise(self) -> None:
        """Set the scales of the centred columns."""
        norms = nonconstant_norms(self._norms(), self.center, self.total_weight, self._nothing)
        self.scale, self.norm2 = shared_scales(norms, self.groups)

    def _centred(self, Phi: Array) -> Array:
        """Take raw columns over and centre them in place."""
        if self.has_intercept:
            Phi -= self.center
        return Phi

    def _norms(self) -> Array:
        """Norm of each centred column over all copies of the rows, (n_candidates,)."""
        return _norms(self._copied(self._Phi))

    def _some(self, index: Index) -> Array:
        """Some of the centred columns, a new array."""
        some: Array = self._Phi[:, index]
        return some

    def _copied(self, rows: Array) -> Array:
        """Rows times the root of their weights, so that a product of two counts each copy."""
        return rows if self._root is None else rows * self._root

    def restrict(self, index: Index) -> Design:
        restricted = copy.copy(self)
        restricted.shape = (self.shape[0], len(index))
        restricted.center, restricted.scale = self.center[index], self.scale[index]
        restricted.norm2, restricted.groups = self.norm2[index], self.groups.restrict(index)
        restricted._Phi = self._some(index)
        restricted._nothing = np.broadcast_to(self._nothing, len(self.center))[index]
        return restricted

    def with_precision(self, precision: Array) -> Design:
        """See `Design.with_precision`; the columns are copied."""
        return DenseDesign(self._Phi + self.center, precision=precision, **self._options())

    def _options(self) -> dict[str, Any]:
        """Arguments of a design of the same copies of rows and groups, but for precisions."""
        return {
            "center": self.has_intercept,
            "weights": self._weights,
            "groups": self.groups.label,
            "nothing": self._nothing,
        }

    def columns(self, index: Index | slice) -> Array:
        return self._Phi[:, index] / self.scale[index]

    def map_rows(
        self,
        function: Callable[..., Array],
        *vectors: RowVector,
        index: Index | slice | None = None,
    ) -> RowVector:
        parts = list(starmap(function, self._blocks(vectors, index)))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def sum_rows(
        self,
        function: Callable[..., tuple[Array, ...]],
        *vectors: RowVector,
        index: Index | slice | None = None,
    ) -> tuple[Array, ...]:
        parts = starmap(function, self._blocks(vectors, index))
        return reduce(lambda sums, part: tuple(map(add, sums, part)), parts)

    def gram(self, index: Index | slice, weights: RowVector | None = None) -> Array:
        """See `Design.gram`: few products of large blocks."""
        scale = self.scale[index]
        gram = np.zeros((len(scale), len(scale)))
        for rows in gen_batches(self.shape[0], max(1, PRODUCT_ENTRIES // max(1, len(scale)))):
            columns = self._Phi[rows, index] / scale
            if weights is not None:
                gram += columns.T @ (weights[rows, None] * columns)
                continue
            if self._root is not None:
                columns *= self._root[rows]
            gram += columns.T @ columns  # half the work where both factors are one
        return gram

    def _blocks(
        self, vectors: tuple[RowVector, ...], index: Index | slice | None
    ) -> Iterator[list[Array]]:
        """Yield arguments of a function for blocks of rows that fit in a processor's cache."""
        n_samples, size = self.shape[0], ROWS
        if index is not None:
            size = max(1, ENTRIES // max(1, len(self.scale[index])))
        if n_samples <= size:
            yield [*([] if index is None else [self.columns(index)]), *vectors]
            return
        blocks = repeat([]) if index is None else self._by_rows(index, size)
        for rows, columns in zip(gen_batches(n_samples, size), blocks, strict=False):
            yield [*columns, *(vector[rows] for vector in vectors)]

    def _by_rows(self, index: Index | slice, size: int) -> Iterator[list[Array]]:
        """Yield the only array of some standardised columns at so many rows at a time."""
        for rows in gen_batches(self.shape[0], size):
            yield [self._Phi[rows, index] / self.scale[index]]

    def squared_products(self) -> float:
        """See `Design.squared_products`: of the rows, where they are fewer."""
        if self.shape[0] >= self.shape[1]:
            return super().squared_products()
        columns = self._copied(self.columns(EVERY))
        products = columns @ columns.T
        return float(np.vdot(products, products))

    def closed_frame(self, target: Target) -> ClosedFrame:
        """See `Design.closed_frame`: the rows themselves, each times the root of its copies."""
        root = np.sqrt(self.row_weights)
        nothing = np.zeros(target.scale.shape)
        coords, t = root[:, None] * self.columns(EVERY), root * target.values.T
        return ClosedFrame(coords, t, nothing, self.groups)

    def frame(self, target: Target) -> TargetFrame:
        t = np.ascontiguousarray(target.values.T)
        return DenseFrame(self._Phi, self, t, self._root)


def _norms(Phi: Array) -> Array:
    """Norm of each column, in the whole range of float64."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        norm2 = np.einsum("ij,ij->j", Phi, Phi)
    if np.isfinite(norm2).all() and (norm2 > SMALLEST).all():
        norms: Array = np.sqrt(norm2)
        return norms
    # zeros, or squares that leave the range
    size = in_range(np.abs(Phi).max(axis=0))
    unit = Phi / np.where(size > 0, size, 1.0)
    with np.errstate(over="ignore"):
        scaled: Array = size * np.sqrt(np.einsum("ij,ij->j", unit, unit))
    return in_range(scaled)


def in_range(found: Array) -> Array:
    """Refuse sizes of basis functions that are not finite."""
    if not np.isfinite(found).all():
        raise OverflowError("basis functions exceed the range of float64; rescale X")
    return found


class DenseFrame(TargetFrame):
    """Orthonormal frame grown by block Gram-Schmidt, orthogonalised twice.

    Its rows are those of the data times the root of their weights.
    """

    def __init__(self, Phi: Array, design: Design, t: Array, root: Array | None) -> None:
        self._Phi, self._scale, self._root = Phi, design.scale, root
        self.groups = design.groups
        self._residual_t = t if root is None else t * root[:, 0]
        self._Q = np.empty((len(Phi), 0))
        self.coords = np.empty((0, Phi.shape[1]))
        self.target = np.empty((*t.shape[:-1], 0))
        self.residual_norm2 = design.norm2.copy()
        self.residual_dot = self._dot(self._residual_t)
        self.residual_target = np.einsum("...n,...n->...", self._residual_t, self._residual_t)

    def _dot(self, vectors: Array) -> Array:
        """Product of vectors over the rows, one or several along the first axis, with Φ."""
        if self._root is not None:
            vectors = vectors * self._root[:, 0]
        return (vectors @ self._Phi) / self._scale

    def residual(self, index: Index) -> Array:
        return self._orthogonalised(self._standardised(index))

    def residual_products(self, index: Index) -> Array:
        return self._dot(self.residual(index).T)

    def residual_grams(self) -> list[Array]:
        within = (np.moveaxis(self.coords[:, members], 0, 1) for _, members in self.groups.by_size)
        inside = (np.swapaxes(coords, 1, 2) @ coords for coords in within)
        return [gram - part for gram, part in zip(self._grams, inside, strict=True)]

    @cached_property
    def _grams(self) -> list[Array]:
        """Products of the candidates within all groups of each size."""
        return [
            np.stack([self._gram(group) for group in members]) for _, members in self.groups.by_size
        ]

    def _gram(self, index: Index) -> Array:
        columns = self._standardised(index)
        return columns.T @ columns

    def _standardised(self, index: Index) -> Array:
        columns: Array = self._Phi[:, index] / self._scale[index]
        return columns if self._root is None else columns * self._root

    def _orthogonalised(self, block: Array) -> Array:
        return block - self._Q @ (self._Q.T @ block) if len(self.coords) else block

    def extend(self, index: Index, residual: Array) -> None:
        new = orthonormal(residual, ROUNDINGS)
        if len(self.coords):
            # Rounding errors along Q, grown by the normalisation, are removed by a second pass.
            # What it shrinks by half was nothing but such errors.
            new = orthonormal(self._orthogonalised(new), 0.5)
        coords = self._dot(new.T)
        target = self._residual_t @ new
        self._residual_t = self._residual_t - target @ new.T
        self._Q = np.hstack([self._Q, new])
        self.coords = np.vstack([self.coords, coords])
        self.target = np.concatenate([self.target, target], axis=-1)
        self.residual_norm2 -= np.einsum("ij,ij->j", coords, coords)
        np.maximum(self.residual_norm2, 0.0, out=self.residual_norm2)
        self.residual_norm2[index] = 0.0
        self.residual_dot -= target @ coords
        self.residual_target = np.einsum("...n,...n->...", self._residual_t, self._residual_t)
