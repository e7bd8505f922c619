"""The design matrix as one array in memory."""

from __future__ import annotations

import copy
from typing import cast

import numpy as np

from relvec.design.base import Array, Design, Frame, Index
from relvec.linalg import orthonormal

#: A column or residual is zero whose norm is under this many roundings of what it came from.
ROUNDINGS = 8 * np.finfo(np.float64).eps
#: Least variance of a target: the smallest normal number.
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
        self.center = share @ Phi if center else np.zeros(Phi.shape[1])
        if center:
            Phi -= self.center
        if weights is not None:
            Phi *= np.sqrt(weights)[:, None]
        self._Phi = Phi
        self.scale = _norms(Phi, total * (ROUNDINGS * self.center) ** 2)
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
    """Norm of each column, infinite where its square is no more than `dust`.

    A column of rounding errors is no function: an infinite scale makes it zero in every product.
    """
    norm2 = np.einsum("ij,ij->j", Phi, Phi)
    if not np.isfinite(norm2).all():
        raise OverflowError(
            "squared values of the basis functions exceed the range of float64; rescale X"
        )
    return np.where(norm2 <= dust, np.inf, np.sqrt(norm2))


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
        # Once leaves rounding errors along Q, which a second time removes.
        new = orthonormal(self._orthogonalised(rest), ROUNDINGS)
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
