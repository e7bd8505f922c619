"""The design matrix as one array in memory."""

from __future__ import annotations

from typing import cast

import numpy as np

from relvec.design.base import Array, Design, Frame, Index
from relvec.linalg import orthonormal

#: A column or residual whose norm is under this many roundings of what it was computed from is zero.
ROUNDINGS = 8 * np.finfo(np.float64).eps
#: The smallest number whose square is a normal number.
SMALLEST = float(np.sqrt(np.finfo(np.float64).tiny))


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

    def __init__(
        self, Phi: Array, t: Array, *, center: bool, weights: Array | None = None
    ) -> None:
        self.shape = cast(tuple[int, int], Phi.shape)
        total = float(len(t) if weights is None else weights.sum())
        self.n_effective = total - center
        self.level_share = center / total
        self.center = np.zeros(Phi.shape[1])
        self.target_center = 0.0
        if center:
            share = np.full(len(t), 1 / total) if weights is None else weights / total
            self.center = share @ Phi
            self.target_center = float(share @ t)
            Phi -= self.center
            t = t - self.target_center
        if weights is not None:
            Phi *= np.sqrt(weights)[:, None]
            t = t * np.sqrt(weights)
        self._Phi = Phi
        norm2 = np.einsum("ij,ij->j", Phi, Phi)
        dust = norm2 <= total * (ROUNDINGS * self.center) ** 2
        # A column of rounding errors is no function: an infinite scale makes it zero in every product.
        self.scale = np.where(dust, np.inf, np.sqrt(norm2))
        # Targets that differ by no more than their rounding are constant.
        dust_t = max(abs(self.target_center) * np.sqrt(total) * ROUNDINGS, SMALLEST)
        self.target_scale = max(float(np.linalg.norm(t)), dust_t)
        self._t = t / self.target_scale

    def columns(self, index: Index) -> Array:
        return cast(Array, self._Phi[:, index] / self.scale[index])

    def target(self) -> Array:
        return self._t

    def frame(self) -> Frame:
        return DenseFrame(self._Phi, self.scale, self._t)


class DenseFrame(Frame):
    """Orthonormal frame grown by block Gram-Schmidt, orthogonalised twice."""

    def __init__(self, Phi: Array, scale: Array, t: Array) -> None:
        self._Phi, self._scale = Phi, scale
        self._Q = np.empty((len(t), 0))
        self._rest_t = t
        self.coords = np.empty((0, Phi.shape[1]))
        self.target = np.empty(0)
        self.rest_norm2 = np.isfinite(scale).astype(np.float64)
        self.rest_dot = (t @ Phi) / scale
        self.rest_target = float(t @ t)

    def rest(self, index: Index) -> Array:
        rest = self._Phi[:, index] / self._scale[index]
        if len(self.target):
            for _ in range(2):  # once leaves rounding errors along Q that a second pass removes
                rest -= self._Q @ (self._Q.T @ rest)
        return cast(Array, rest)

    def extend(self, index: Index, rest: Array) -> None:
        new = orthonormal(rest, ROUNDINGS)
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
