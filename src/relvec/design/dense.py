"""The design matrix as one array in memory."""

from __future__ import annotations

import copy
from typing import cast

import numpy as np

from relvec.design.base import Array, Design, Frame, Index
from relvec.linalg import orthonormal

#: A column or residual is zero whose norm is under this many roundings of what it came from.
ROUNDINGS = 8 * np.finfo(np.float64).eps
#: The smallest normal number: least variance of a target, and least square of a norm.
SMALLEST = float(np.finfo(np.float64).tiny)


class DenseDesign(Design):
    """Design matrix held in memory.

    Parameters
    ----------
    Phi : ndarray of shape (n_samples, n_candidates)
        Raw candidate columns. The array is taken over and centred in place.
    t : ndarray of shape (n_samples,)
        Target.
    center : bool
        Eliminate a flat-prior intercept by (weighted) centring of the columns and the target.
    weights : ndarray of shape (n_samples,), optional
        How many copies of each row there are; positive.
    """

    def __init__(self, Phi: Array, t: Array, *, center: bool, weights: Array | None = None) -> None:
        self.shape = cast(tuple[int, int], Phi.shape)
        total = float(len(t) if weights is None else weights.sum())
        share = np.full(len(t), 1 / total) if weights is None else weights / total
        self.n_effective, self.level_share = total - center, center / total
        mean = float(share @ t)
        self.target_center = mean if center else 0.0
        with np.errstate(over="ignore", invalid="ignore"):  # `_norms` refuses what is infinite
            self.center = share @ Phi if center else np.zeros(Phi.shape[1])
            if center:
                Phi -= self.center
            if weights is not None:
                Phi *= np.sqrt(weights)[:, None]
        self._Phi = Phi
        self.scale = _norms(Phi, np.sqrt(total) * ROUNDINGS * np.abs(self.center))
        # Targets that differ by no more than their rounding are constant.
        floor = max((ROUNDINGS * mean) ** 2, SMALLEST)
        variance = max(float(share @ (t - mean) ** 2), floor)
        size2 = variance + (0 if center else mean**2)
        self.target_scale = float(np.sqrt(total * size2))
        self.target_variance = variance / self.target_scale**2
        t = (t - self.target_center) / self.target_scale
        self._t = t if weights is None else t * np.sqrt(weights)
        self._dot = (self._t @ Phi) / self.scale

    def restrict(self, index: Index) -> Design:
        """See `Design.restrict`."""
        restricted = copy.copy(self)
        restricted.shape = (self.shape[0], len(index))
        restricted.center, restricted.scale = self.center[index], self.scale[index]
        restricted._Phi, restricted._dot = self._Phi[:, index], self._dot[index]
        return restricted

    def frame(self) -> Frame:
        """See `Design.frame`."""
        return DenseFrame(self._Phi, self.scale, self._t, self._dot)


def _norms(Phi: Array, dust: Array) -> Array:
    """Norm of each column, infinite where it is no more than `dust`.

    A column of rounding errors is no function: an infinite scale makes it zero in every product.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        norm2 = np.einsum("ij,ij->j", Phi, Phi)
    if np.isfinite(norm2).all() and (norm2 > SMALLEST).all():
        norms = np.sqrt(norm2)
    else:  # zeros, or squares that leave the range of float64
        size = np.abs(Phi).max(axis=0)
        if not np.isfinite(size).all():
            raise OverflowError("basis functions exceed the range of float64; rescale X")
        unit = Phi / np.where(size > 0, size, 1.0)
        norms = size * np.sqrt(np.einsum("ij,ij->j", unit, unit))
    return np.where(norms <= dust, np.inf, norms)


class DenseFrame(Frame):
    """Orthonormal frame grown by block Gram-Schmidt, orthogonalised twice."""

    def __init__(self, Phi: Array, scale: Array, t: Array, dot: Array) -> None:
        self._Phi, self._scale = Phi, scale
        self._Q = np.empty((len(t), 0))
        self._rest_t = t
        self.coords = np.empty((0, Phi.shape[1]))
        self.target = np.empty(0)
        self.rest_norm2 = np.isfinite(scale).astype(np.float64)
        self.rest_dot = dot.copy()
        self.rest_target = float(t @ t)

    def rest(self, index: Index) -> Array:
        """See `Frame.rest`."""
        rest: Array = self._Phi[:, index] / self._scale[index]
        return self._orthogonalised(rest)

    def _orthogonalised(self, block: Array) -> Array:
        return block - self._Q @ (self._Q.T @ block) if len(self.target) else block

    def extend(self, index: Index, rest: Array) -> None:
        """See `Frame.extend`."""
        # Rounding errors along Q, grown by the normalisation, are removed by a second pass. What it
        # shrinks by half was nothing but such errors.
        new = orthonormal(self._orthogonalised(orthonormal(rest, ROUNDINGS)), 0.5)
        coords = (new.T @ self._Phi) / self._scale
        target = new.T @ self._rest_t
        self._rest_t = self._rest_t - new @ target
        self._Q = np.hstack([self._Q, new])
        self.coords = np.vstack([self.coords, coords])
        self.target = np.append(self.target, target)
        self.rest_norm2 -= np.einsum("ij,ij->j", coords, coords)
        np.maximum(self.rest_norm2, 0.0, out=self.rest_norm2)
        self.rest_norm2[index] = 0.0
        self.rest_dot -= target @ coords
        self.rest_target = float(self._rest_t @ self._rest_t)
