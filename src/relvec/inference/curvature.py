"""The curvature of a log posterior of weights and intercept, and what follows from its inverse."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from relvec.design.base import Array
from relvec.linalg import checked_cholesky, cholesky, inverse_lower, solve_lower


def pairwise(B: Array, product: Callable[[Array], Array]) -> Array:
    """A product with each weighting B_rs of the rows, shape (…, n_outputs, n_outputs)."""
    outputs = B.shape[1]
    upper = {(r, s): product(B[:, r, s]) for r in range(outputs) for s in range(r, outputs)}
    first = upper[0, 0]
    if outputs == 1:
        return first[..., None, None]
    full = np.empty((*first.shape, outputs, outputs))
    for (r, s), value in upper.items():
        full[..., r, s] = value
        # A product of two different factors is symmetric in the outputs only, not in the functions.
        full[..., s, r] = value
    return full


class Curvature:
    """H = XᵀBX + A for weights and intercept of a model, X the rows φ ⊗ I and the constants.

    The intercept is eliminated by the Schur complement: φ̄ = (1ᵀB1)⁻¹ 1ᵀB(Φ ⊗ I), first by centring
    the functions at their mean under tr B, which is all of it with one output, then by a matrix
    for what remains.

    Parameters
    ----------
    Phi : ndarray of shape (n_samples, n_active)
        Active functions.
    B : ndarray of shape (n_samples, n_outputs, n_outputs)
        −∂² log p/∂y² of every row.
    alpha : ndarray of shape (n_active,)
        Prior precisions.
    has_intercept : bool
        Whether there is a flat-prior intercept.

    Attributes
    ----------
    mean_function : ndarray of shape (n_active,)
        Mean of each function under tr B; zeros without an intercept.
    remainder : ndarray of shape (n_outputs, n_active · n_outputs)
        φ̄ less that mean.
    """

    def __init__(self, Phi: Array, B: Array, alpha: Array, has_intercept: bool) -> None:
        self.B, self.has_intercept, self._outputs = B, has_intercept, B.shape[1]
        self._Phi, self._root_alpha = Phi, np.repeat(np.sqrt(alpha), self._outputs)
        self.mean_function = np.zeros(Phi.shape[1])
        if has_intercept:
            weight = np.einsum("nrr->n", B)
            self.mean_function = (weight / weight.sum()) @ Phi
            self._level_factor = cholesky(B.sum(axis=0))
        self._centred = Phi - self.mean_function
        self.remainder = np.zeros((self._outputs, len(self._root_alpha)))
        if has_intercept and self._outputs > 1:
            self.remainder = self._solve_level(
                _side_by_side(np.einsum("nk,nrs->krs", self._centred, B, optimize=True))
            )
        self._factor = checked_cholesky(self._dimensionless(), self._stacked)

    def _solve_level(self, values: Array) -> Array:
        """(1ᵀB1)⁻¹ times something with one row an output."""
        inverse = inverse_lower(self._level_factor)
        solved: Array = inverse.T @ (inverse @ values)
        return solved

    def _dimensionless(self) -> Array:
        """A^(-1/2) H A^(-1/2) without the intercept, I + DᵀD."""
        centred = self._centred
        blocks = pairwise(self.B, lambda weight: (centred * weight[:, None]).T @ centred)
        size = len(self._root_alpha)
        gram: Array = blocks.transpose(0, 2, 1, 3).reshape(size, size)
        if self.remainder.any():
            gram -= self.remainder.T @ self.B.sum(axis=0) @ self.remainder
        gram /= np.multiply.outer(self._root_alpha, self._root_alpha)
        gram.flat[:: size + 1] += 1.0
        return gram

    def _stacked(self) -> Array:
        """D itself, whose rows are those of B^(1/2)."""
        values, axes = np.linalg.eigh(self.B)
        root = np.sqrt(np.maximum(values, 0.0))[:, :, None] * np.swapaxes(axes, 1, 2)
        rows = np.einsum("nqr,nk->nqkr", root, self._centred)
        centred = rows.reshape(-1, len(self._root_alpha))
        centred -= root.reshape(-1, self._outputs) @ self.remainder
        stacked: Array = centred / self._root_alpha
        return stacked

    @property
    def half_log_det(self) -> float:
        """½ log|A⁻¹H|, the intercept's part of H as it is."""
        half = float(np.log(self._factor.diagonal()).sum())
        if self.has_intercept:
            half += float(np.log(self._level_factor.diagonal()).sum())
        return half

    @cached_property
    def root(self) -> Array:
        """Upper triangular F with Σ̂ = F Fᵀ."""
        return inverse_lower(self._factor).T

    @cached_property
    def variance(self) -> Array:
        """Σ̂ = A^(1/2) Σ A^(1/2) of the weights."""
        return self.root @ self.root.T

    @cached_property
    def level_covariance(self) -> Array:
        """Covariance of the outputs at φ̄; zeros without an intercept."""
        if not self.has_intercept:
            return np.zeros((self._outputs, self._outputs))
        return self._solve_level(np.eye(self._outputs))

    def gradient(self, slope: Array) -> tuple[Array, Array]:
        """Xᵀ times something with one value a row and output: by weight, and by level."""
        return self._Phi.T @ slope, slope.sum(axis=0) if self.has_intercept else np.zeros(
            self._outputs
        )

    def solve(self, by_weight: Array, by_level: Array) -> tuple[Array, Array]:
        """H⁻¹ times a vector of that kind: steps of the weights and of the level."""
        reduced = by_weight - np.multiply.outer(self.mean_function, by_level)
        right = (reduced.ravel() - by_level @ self.remainder) / self._root_alpha
        step = (self.root @ (right @ self.root)) / self._root_alpha
        weights = step.reshape(-1, self._outputs)
        if not self.has_intercept:
            return weights, np.zeros(self._outputs)
        level = self._solve_level(by_level) - self.remainder @ step - self.mean_function @ weights
        return weights, level

    def outputs(self, weights: Array, level: Array) -> Array:
        """X times weights and level, shape (n_samples, n_outputs)."""
        outputs: Array = self._Phi @ weights + level
        return outputs

    def spread(self) -> Array:
        """X H⁻¹ Xᵀ of every row with itself, shape (n_samples, n_outputs, n_outputs)."""
        each, outputs = self._Phi.shape[1], self._outputs
        covariance = self.variance / np.multiply.outer(self._root_alpha, self._root_alpha)
        apart = covariance.reshape(each, outputs, each, outputs)
        spread = np.empty((len(self._Phi), outputs, outputs))
        for r in range(outputs):
            for s in range(r, outputs):
                half = self._centred @ apart[:, r, :, s]
                spread[:, r, s] = spread[:, s, r] = np.einsum("nk,nk->n", half, self._centred)
        spread += self.level_covariance
        if self.remainder.any():
            away = covariance @ self.remainder.T
            mixed = np.einsum("nk,krs->nrs", self._centred, away.reshape(each, outputs, outputs))
            spread += self.remainder @ away - mixed - np.swapaxes(mixed, 1, 2)
        return spread

    def whitened(self, dot: Callable[[Array], Array]) -> Array:
        """H^(-1/2) XᵀB(φ ⊗ I) for some candidates φ, shape (n_weights + n_levels, b, n_outputs).

        The sum of its squares is what the active functions and the intercept explain. `dot` gives
        the products (b, k) of the candidates with vectors over the rows (n_samples, k).
        """
        outputs = self._outputs
        cross = pairwise(self.B, lambda weight: dot(self._centred * weight[:, None]))
        b = len(cross)
        seen = cross.transpose(1, 2, 0, 3).reshape(len(self._root_alpha), b * outputs)
        levels = np.empty((0, b * outputs))
        if self.has_intercept:
            at_level = dot(self.B.reshape(len(self.B), -1)).reshape(-1, outputs, outputs)
            beside = _side_by_side(at_level)
            seen = seen - self.remainder.T @ beside
            levels = inverse_lower(self._level_factor) @ beside
        scaled = np.ascontiguousarray(seen / self._root_alpha[:, None])
        white = np.vstack([levels, solve_lower(self._factor, scaled)])
        return white.reshape(len(white), b, outputs)


def _side_by_side(values: Array) -> Array:
    """(m, r, s) as r rows, the s of one function side by side."""
    return values.transpose(1, 0, 2).reshape(values.shape[1], -1)
