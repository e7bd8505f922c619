"""Curvature of a log posterior of weights and intercept, and its inverse."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np

from relvec._design.base import Design
from relvec._numerics.groups import columns_of
from relvec._numerics.linalg import cholesky_by_products, inverse_cholesky, solve_lower
from relvec._numerics.typing import Array, Index, RowVector


class Information:
    """XᵀBX for weights and intercept of a model, with X the rows φ ⊗ I and the constants.

    The intercept is eliminated by the Schur complement: φ̄ = (1ᵀB1)⁻¹ 1ᵀB(Φ ⊗ I), first by centring
    the functions at their mean under tr B, which is all of it with one output, then by a matrix
    for what remains. Φ (n_samples, n_active) are the active functions, and B (n_samples, n_outputs,
    n_outputs) is −∂² log p/∂y² of every row.

    Attributes
    ----------
    at_intercept : ndarray of shape (n_outputs, n_outputs)
        1ᵀB1.
    mean_function : ndarray of shape (n_active,)
        Mean of each function under tr B; zeros without an intercept.
    remainder : ndarray of shape (n_outputs, n_active · n_outputs)
        φ̄ less that mean.
    intercept_root : ndarray of shape (n_outputs, n_outputs)
        Inverse of the lower factor of 1ᵀB1, with an intercept.
    gram : ndarray of shape (n_active · n_outputs, n_active · n_outputs)
        XᵀBX of the weights, with the intercept eliminated.
    """

    intercept_root: Array

    def __init__(self, design: Design, Phi: RowVector, B: RowVector) -> None:
        self.design, self.Phi, self.B, self.has_intercept = design, Phi, B, design.has_intercept
        self.at_intercept, weighted = design.sum_rows(_intercept_sums, Phi, B)
        at_intercept, self.n_outputs = self.at_intercept, len(self.at_intercept)
        size = len(weighted) * self.n_outputs
        self.mean_function: Array = np.zeros(len(weighted))
        self.remainder = np.zeros((self.n_outputs, size))
        if self.has_intercept:
            self.intercept_root = inverse_cholesky(at_intercept.copy())  # fails if B is zero
            self.mean_function = weighted / float(at_intercept.trace())
        gram, cross = design.sum_rows(partial(_gram, self.mean_function), Phi, B)
        self.gram: Array = as_matrices(gram).transpose(0, 2, 1, 3).reshape(size, size)
        if self.has_intercept and self.n_outputs > 1:
            self.remainder = self.solve_intercept(_side_by_side(as_matrices(cross)))
            self.gram -= self.remainder.T @ at_intercept @ self.remainder

    @property
    def mean_functions(self) -> Array:
        """φ̄ of every output, shape (n_outputs, n_active · n_outputs)."""
        mean = self.remainder.copy()
        for output, row in enumerate(mean):
            row[output :: self.n_outputs] += self.mean_function
        return mean

    def keep(self, which: Index, Phi: RowVector) -> Information:
        """The same of the functions at some positions only, whose values are `Phi`."""
        kept, weights = copy.copy(self), columns_of(which, self.n_outputs)
        kept.Phi, kept.mean_function = Phi, self.mean_function[which]
        kept.remainder = self.remainder[:, weights]
        kept.gram = self.gram[np.ix_(weights, weights)]
        return kept

    def solve_intercept(self, values: Array) -> Array:
        """(1ᵀB1)⁻¹ times a matrix with one row an output."""
        return self.intercept_root.T @ (self.intercept_root @ values)

    def gram_of(self, transform: Array) -> Array:
        """The gram of transformed weights, TᵀGT, whose digits are not those of G."""
        function = partial(_transformed, self.mean_function, self.remainder, transform)
        (gram,) = self.design.sum_rows(function, self.Phi, self.B)
        return gram

    def gradient(self, slope: RowVector) -> tuple[Array, Array]:
        """Xᵀ times a vector with one value a row and output: by weight, and by intercept."""
        by_weight, by_intercept = self.design.sum_rows(_products, self.Phi, slope)
        return by_weight, by_intercept if self.has_intercept else np.zeros(self.n_outputs)


def _intercept_sums(Phi: Array, B: Array) -> tuple[Array, Array]:
    """1ᵀB1, and the functions under tr B."""
    trace = B[:, 0, 0] if B.shape[1] == 1 else np.trace(B, axis1=1, axis2=2)
    return B.sum(axis=0), trace @ Phi


def _gram(mean: Array, Phi: Array, B: Array) -> tuple[Array, Array]:
    """Products of the functions less their mean, and their sums, under each B_rs."""
    centred, weights = Phi - mean, weightings(B)
    return weighted_products(weights, centred, centred), weights @ centred


def _transformed(
    mean: Array, remainder: Array, transform: Array, Phi: Array, B: Array
) -> tuple[Array, ...]:
    """Products of the rows B^(1/2) (φ ⊗ I − φ̄) T."""
    values, axes = np.linalg.eigh(B)
    half = np.sqrt(np.maximum(values, 0.0))[:, :, None] * np.swapaxes(axes, 1, 2)
    rows = np.einsum("nqr,nk->nqkr", half, Phi - mean).reshape(-1, remainder.shape[1])
    rows = (rows - half.reshape(-1, len(remainder)) @ remainder) @ transform
    return (rows.T @ rows,)


def _products(Phi: Array, values: Array) -> tuple[Array, Array]:
    return Phi.T @ values, values.sum(axis=0)


class Curvature:
    """H = XᵀBX + A of weights and intercept (eq. 26), its factor and inverse; α is (n_active,).

    Attributes
    ----------
    root : ndarray of shape (n_active · n_outputs, n_active · n_outputs)
        Upper triangular F with Σ̂ = F Fᵀ.
    half_log_det : float
        ½ log|A⁻¹H|, the intercept's part of H as it is.
    """

    def __init__(self, information: Information, alpha: Array) -> None:
        self.information = information
        self._root_alpha = np.repeat(np.sqrt(alpha), information.n_outputs)
        # A^(-1/2) H A^(-1/2) without the intercept, I + DᵀD
        scaled = information.gram / np.multiply.outer(self._root_alpha, self._root_alpha)
        self._factor, inverse = cholesky_by_products(
            scaled, lambda transform: information.gram_of(transform / self._root_alpha[:, None])
        )
        self.root: Array = inverse.T
        self.half_log_det = float(np.log(self._factor.diagonal()).sum())
        if information.has_intercept:
            # An intercept that no row tells has no precision.
            diagonal = information.intercept_root.diagonal()
            self.half_log_det -= float(np.log(diagonal).sum()) if diagonal.all() else -np.inf

    @cached_property
    def variance(self) -> Array:
        """Σ̂ = A^(1/2) Σ A^(1/2) of the weights."""
        return self.root @ self.root.T

    @cached_property
    def intercept_covariance(self) -> Array:
        """Covariance of the intercept at φ̄; zeros where there is none."""
        eye = np.eye(self.information.n_outputs)
        return self.information.solve_intercept(eye) if self.information.has_intercept else 0 * eye

    def solve(self, by_weight: Array, by_intercept: Array) -> tuple[Array, Array]:
        """H⁻¹ times a gradient: steps of the weights and of the intercept."""
        rows = self.information
        reduced = by_weight - np.multiply.outer(rows.mean_function, by_intercept)
        right = (reduced.ravel() - by_intercept @ rows.remainder) / self._root_alpha
        step = (self.root @ (right @ self.root)) / self._root_alpha
        weights = step.reshape(-1, rows.n_outputs)
        if not rows.has_intercept:
            return weights, np.zeros(rows.n_outputs)
        moved = rows.mean_function @ weights + rows.remainder @ step
        return weights, rows.solve_intercept(by_intercept) - moved

    @cached_property
    def predictor_covariance(self) -> PredictorCovariance:
        """Covariance of the linear predictor with the weights, XH⁻¹."""
        rows = self.information
        covariance = self.variance / np.multiply.outer(self._root_alpha, self._root_alpha)
        return PredictorCovariance(
            rows.mean_function, rows.remainder, covariance, self.intercept_covariance
        )

    def whitened(self, products: Array, at_intercept: Array) -> Array:
        """H^(-1/2) XᵀB(φ ⊗ I) for candidates φ, shape (n_weights + n_intercepts, b, n_outputs).

        The sum of its squares is what the active functions and the intercept explain. The
        `products` (n_active, b, n_outputs, n_outputs) are (Φ − mean)ᵀB_rs φ, and those
        `at_intercept` (b, n_outputs, n_outputs) 1ᵀB_rs φ.
        """
        rows, outputs, b = self.information, self.information.n_outputs, len(at_intercept)
        across = products.transpose(0, 2, 1, 3).reshape(len(self._root_alpha), b * outputs)
        levels = np.empty((0, b * outputs))
        if rows.has_intercept:
            beside = _side_by_side(at_intercept)
            across = across - rows.remainder.T @ beside
            levels = rows.intercept_root @ beside
        scaled = np.ascontiguousarray(across / self._root_alpha[:, None])
        white = np.vstack([levels, solve_lower(self._factor, scaled)])
        return white.reshape(len(white), b, outputs)


@dataclass(frozen=True)
class PredictorCovariance:
    """Covariance of the linear predictor with the weights, XH⁻¹, of rows with given functions."""

    mean_function: Array  # (n_active,)
    remainder: Array  # (n_outputs, n_active · n_outputs), see `Information`
    covariance: Array  # (n_active · n_outputs, n_active · n_outputs), Σ
    intercept_covariance: Array  # (n_outputs, n_outputs)

    def variance(self, Phi: Array) -> Array:
        """Predictor variance h = XH⁻¹Xᵀ of every row, shape (n_rows, n_outputs, n_outputs)."""
        centred, outputs = Phi - self.mean_function, len(self.remainder)
        each = centred.shape[1]
        apart = self.covariance.reshape(each, outputs, each, outputs)
        variance = np.empty((len(centred), outputs, outputs))
        for r in range(outputs):
            for s in range(r, outputs):
                half = centred @ apart[:, r, :, s]
                variance[:, r, s] = variance[:, s, r] = np.einsum("nk,nk->n", half, centred)
        variance += self.intercept_covariance
        if self.remainder.any():
            moved = self.covariance @ self.remainder.T
            mixed = np.einsum("nk,krs->nrs", centred, moved.reshape(each, outputs, outputs))
            variance += self.remainder @ moved - mixed - np.swapaxes(mixed, 1, 2)
        return variance

    def half_log_det_gradient(self, B: Array, Phi: Array) -> Array:
        """Σ_rs B_rs (X H⁻¹)_s,mr of every row and function m: ½ ∂log|H|/∂φ_m, (n_rows, m)."""
        centred, outputs = Phi - self.mean_function, len(self.remainder)
        # X H⁻¹ for the weights: (φ ⊗ I − φ̄)ᵀΣ, the outputs s of the row, r of the function
        by_row = [centred @ self.covariance[s::outputs] for s in range(outputs)]
        weighted = np.stack(by_row, axis=1) - self.remainder @ self.covariance
        by_output = weighted.reshape(*weighted.shape[:2], -1, outputs)
        gradient: Array = np.einsum("nrs,nsmr->nm", B, by_output)
        return gradient


def _side_by_side(values: Array) -> Array:
    """(m, r, s) as r rows, the s of one function side by side."""
    return values.transpose(1, 0, 2).reshape(values.shape[1], -1)


def weightings(B: Array) -> Array:
    """B_rs of the rows for r ≤ s, shape (n_pairs, n_rows)."""
    if B.shape[1] == 1:
        return B[:, :, 0].T
    rows, columns = np.triu_indices(B.shape[1])
    return B[:, rows, columns].T


def weighted_products(weights: Array, left: Array, right: Array) -> Array:
    """Products leftᵀ diag(weight) right, one for each weighting of the rows, shape (n_pairs, …)."""
    if len(weights) == 1:
        only: Array = (left * weights[0][:, None]).T @ right
        return only[None]
    return np.stack([(left * weight[:, None]).T @ right for weight in weights])


def as_matrices(stacked: Array) -> Array:
    """Matrices from a stack for B_rs with r ≤ s, shape (…, n_outputs, n_outputs)."""
    if len(stacked) == 1:
        only: Array = stacked[0][..., None, None]
        return only
    pairs = _places(len(stacked))
    # A product of two different factors is symmetric in the outputs only, not in the functions.
    return np.moveaxis(stacked, 0, -1)[..., pairs]


@cache
def _places(n_pairs: int) -> Index:
    """Position of each B_rs in a stack."""
    outputs = int(np.sqrt(2 * n_pairs))
    places = np.empty((outputs, outputs), dtype=np.intp)
    rows, columns = np.triu_indices(outputs)
    places[rows, columns] = places[columns, rows] = np.arange(n_pairs)
    return places
