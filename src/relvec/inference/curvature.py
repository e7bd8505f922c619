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


class Information:
    """XᵀBX for weights and intercept of a model, with X the rows φ ⊗ I and the constants.

    The intercept is eliminated by the Schur complement: φ̄ = (1ᵀB1)⁻¹ 1ᵀB(Φ ⊗ I), first by centring
    the functions at their mean under tr B, which is all of it with one output, then by a matrix
    for what remains.

    Parameters
    ----------
    Phi : ndarray of shape (n_samples, n_active)
        Active functions.
    B : ndarray of shape (n_samples, n_outputs, n_outputs)
        −∂² log p/∂y² of every row.
    has_intercept : bool
        Whether there is a flat-prior intercept.

    Attributes
    ----------
    n_outputs : int
    centred : ndarray of shape (n_samples, n_active)
        Functions less `mean_function`.
    mean_function : ndarray of shape (n_active,)
        Mean of each function under tr B; zeros without an intercept.
    remainder : ndarray of shape (n_outputs, n_active · n_outputs)
        φ̄ less that mean.
    level_factor : ndarray of shape (n_outputs, n_outputs)
        Lower factor of 1ᵀB1, with an intercept.
    """

    level_factor: Array

    def __init__(self, Phi: Array, B: Array, has_intercept: bool) -> None:
        self.Phi, self.B, self.has_intercept, self.n_outputs = Phi, B, has_intercept, B.shape[1]
        self.mean_function: Array = np.zeros(Phi.shape[1])
        self.remainder = np.zeros((self.n_outputs, Phi.shape[1] * self.n_outputs))
        if has_intercept:
            self.level_factor = cholesky(B.sum(axis=0))  # a flat likelihood has no curvature
            weight: Array = np.einsum("nrr->n", B)
            self.mean_function = weight @ Phi / float(weight.sum())
        self.centred = Phi - self.mean_function
        if has_intercept and self.n_outputs > 1:
            cross = np.einsum("nk,nrs->krs", self.centred, B, optimize=True)
            self.remainder = self.solve_level(_side_by_side(cross))

    @property
    def middle(self) -> Array:
        """φ̄ of every output, shape (n_outputs, n_active · n_outputs)."""
        middle = self.remainder.copy()
        for output, row in enumerate(middle):
            row[output :: self.n_outputs] += self.mean_function
        return middle

    def solve_level(self, values: Array) -> Array:
        """(1ᵀB1)⁻¹ times something with one row an output."""
        inverse = inverse_lower(self.level_factor)
        solved: Array = inverse.T @ (inverse @ values)
        return solved

    @cached_property
    def gram(self) -> Array:
        """What the rows say of the weights once the intercept is eliminated."""
        centred, size = self.centred, self.remainder.shape[1]
        blocks = pairwise(self.B, lambda weight: (centred * weight[:, None]).T @ centred)
        gram: Array = blocks.transpose(0, 2, 1, 3).reshape(size, size)
        if self.remainder.any():
            gram -= self.remainder.T @ self.B.sum(axis=0) @ self.remainder
        return gram

    def root(self) -> Array:
        """R with RᵀR = `gram`, its rows those of B^(1/2)."""
        values, axes = np.linalg.eigh(self.B)
        half = np.sqrt(np.maximum(values, 0.0))[:, :, None] * np.swapaxes(axes, 1, 2)
        rows = np.einsum("nqr,nk->nqkr", half, self.centred)
        root: Array = rows.reshape(-1, self.remainder.shape[1])
        root -= half.reshape(-1, self.n_outputs) @ self.remainder
        return root

    def gradient(self, slope: Array) -> tuple[Array, Array]:
        """Xᵀ times something with one value a row and output: by weight, and by level."""
        by_level = slope.sum(axis=0) if self.has_intercept else np.zeros(self.n_outputs)
        return self.Phi.T @ slope, by_level

    def outputs(self, weights: Array, level: Array) -> Array:
        """X times weights and level, shape (n_samples, n_outputs)."""
        outputs: Array = self.Phi @ weights + level
        return outputs


class Curvature:
    """H = XᵀBX + A of weights and intercept (eq. 26), and what follows from its inverse.

    Parameters
    ----------
    information : Information
        XᵀBX.
    alpha : ndarray of shape (n_active,)
        Prior precisions of the functions' weights.
    """

    def __init__(self, information: Information, alpha: Array) -> None:
        self.information = information
        self._root_alpha = np.repeat(np.sqrt(alpha), information.n_outputs)
        # A^(-1/2) H A^(-1/2) without the intercept, I + DᵀD
        scaled = information.gram / np.multiply.outer(self._root_alpha, self._root_alpha)
        scaled.flat[:: len(scaled) + 1] += 1.0
        self._factor = checked_cholesky(scaled, lambda: information.root() / self._root_alpha)

    @property
    def half_log_det(self) -> float:
        """½ log|A⁻¹H|, the intercept's part of H as it is."""
        half = float(np.log(self._factor.diagonal()).sum())
        if self.information.has_intercept:
            half += float(np.log(self.information.level_factor.diagonal()).sum())
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
        eye = np.eye(self.information.n_outputs)
        return self.information.solve_level(eye) if self.information.has_intercept else 0 * eye

    def solve(self, by_weight: Array, by_level: Array) -> tuple[Array, Array]:
        """H⁻¹ times a vector of that kind: steps of the weights and of the level."""
        rows = self.information
        reduced = by_weight - np.multiply.outer(rows.mean_function, by_level)
        right = (reduced.ravel() - by_level @ rows.remainder) / self._root_alpha
        step = (self.root @ (right @ self.root)) / self._root_alpha
        weights = step.reshape(-1, rows.n_outputs)
        if not rows.has_intercept:
            return weights, np.zeros(rows.n_outputs)
        moved = rows.mean_function @ weights + rows.remainder @ step
        return weights, rows.solve_level(by_level) - moved

    def spread(self) -> Array:
        """X H⁻¹ Xᵀ of every row with itself, shape (n_samples, n_outputs, n_outputs)."""
        centred, remainder = self.information.centred, self.information.remainder
        each, outputs = centred.shape[1], self.information.n_outputs
        covariance = self.variance / np.multiply.outer(self._root_alpha, self._root_alpha)
        apart = covariance.reshape(each, outputs, each, outputs)
        spread = np.empty((len(centred), outputs, outputs))
        for r in range(outputs):
            for s in range(r, outputs):
                half = centred @ apart[:, r, :, s]
                spread[:, r, s] = spread[:, s, r] = np.einsum("nk,nk->n", half, centred)
        spread += self.level_covariance
        if remainder.any():
            away = covariance @ remainder.T
            mixed = np.einsum("nk,krs->nrs", centred, away.reshape(each, outputs, outputs))
            spread += remainder @ away - mixed - np.swapaxes(mixed, 1, 2)
        return spread

    def explained(self) -> Array:
        """Σ_rs B_rs (X H⁻¹)_s,mr of every row and function m: ½ ∂log|H|/∂φ_m, (n_samples, m)."""
        rows, outputs = self.information, self.information.n_outputs
        covariance = self.variance / np.multiply.outer(self._root_alpha, self._root_alpha)
        # X H⁻¹ for the weights: (φ ⊗ I − φ̄)ᵀΣ, the outputs s of the row, r of the function
        reach = np.stack([rows.centred @ covariance[s::outputs] for s in range(outputs)], axis=1)
        reach -= rows.remainder @ covariance
        by_output = reach.reshape(*reach.shape[:2], -1, outputs)
        explained: Array = np.einsum("nrs,nsmr->nm", rows.B, by_output)
        return explained

    def whitened(self, dot: Callable[[Array], Array]) -> Array:
        """H^(-1/2) XᵀB(φ ⊗ I) for some candidates φ, shape (n_weights + n_levels, b, n_outputs).

        The sum of its squares is what the active functions and the intercept explain. `dot` gives
        the products (b, k) of the candidates with vectors over the rows (n_samples, k).
        """
        rows, outputs = self.information, self.information.n_outputs
        cross = pairwise(rows.B, lambda weight: dot(rows.centred * weight[:, None]))
        b = len(cross)
        seen = cross.transpose(1, 2, 0, 3).reshape(len(self._root_alpha), b * outputs)
        levels = np.empty((0, b * outputs))
        if rows.has_intercept:
            at_level = dot(rows.B.reshape(len(rows.B), -1)).reshape(b, outputs, outputs)
            beside = _side_by_side(at_level)
            seen = seen - rows.remainder.T @ beside
            levels = inverse_lower(rows.level_factor) @ beside
        scaled = np.ascontiguousarray(seen / self._root_alpha[:, None])
        white = np.vstack([levels, solve_lower(self._factor, scaled)])
        return white.reshape(len(white), b, outputs)


def _side_by_side(values: Array) -> Array:
    """(m, r, s) as r rows, the s of one function side by side."""
    return values.transpose(1, 0, 2).reshape(values.shape[1], -1)
