"""Shapley values of sums of products of functions of one input each, in closed form.

In the game of a product Π_d p_d, in which an input d that is absent has the factor q_d of a
reference row, the Shapley value of input d is

    (p_d − q_d) ∫₀¹ Π_{e≠d} (t p_e + (1 − t) q_e) dt,

as the beta function has the weights of the coalitions. The integrand is a polynomial, which few
nodes of Gauss and Legendre integrate exactly, so that K products of d inputs take O(K d²).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from relvec._numerics.typing import Array
from relvec.basis.products import Products

#: Numbers of a batch of rows beside rows of the background, few enough for a cache.
BATCH = 1 << 16


class ShapleyValues(NamedTuple):
    """Contributions of the inputs to the function at some rows, and what they add to.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_targets)
    base_values : float or ndarray of shape (n_targets,)
        Mean of the function over the background.
    """

    values: Array
    base_values: float | Array


def shapley_values(parts: Sequence[Products], X: Array, background: Array, weights: Array) -> Array:
    """Return the Shapley values of functions with `weights` (n_functions, n_outputs).

    The value of a coalition is the mean over the rows of the background of the function with the
    other inputs taken from them; rows have the shapes (n_samples, n_features) and (n_background,
    n_features), and the result (n_samples, n_features, n_outputs).
    """
    found = np.zeros((*X.shape, weights.shape[1]))
    for part in parts:
        P, Q = part.values(X), part.values(background)
        matter = np.flatnonzero((P != 1).any(axis=(0, 2)) | (Q != 1).any(axis=(0, 2)))
        if len(matter):
            games = _product_games(P[:, matter], Q[:, matter])
            found[:, part.features[matter]] += games @ (part.mix @ weights)
    return found


def _product_games(P: Array, Q: Array) -> Array:
    """Shapley values of every product, the mean over references Q, of the shape of P.

    P has the shape (n_samples, n_inputs, n_products), Q (n_background, n_inputs, n_products).
    """
    games, p, q = np.zeros_like(P), P.swapaxes(0, 1), Q.swapaxes(0, 1)
    nodes, shares = np.polynomial.legendre.leggauss((len(p) + 1) // 2)
    rule = [*zip((1 + nodes) / 2, shares / 2, strict=True)]
    for rows, references in _batches(P, Q):
        absent = q[:, None, references]
        apart = p[:, rows, None] - absent
        games[rows] += (apart * _integrals(absent, apart, rule)).sum(axis=2).swapaxes(0, 1)
    return games / len(Q)


def _integrals(q: Array, apart: Array, rule: Sequence[tuple[float, float]]) -> Array:
    """∫ Π_{e≠d} (q_e + t apart_e) dt from 0 to 1 for each d along the first axis.

    The `rule` has the nodes t and their shares in the integral.
    """
    total, factors, before = np.zeros_like(apart), np.empty_like(apart), np.empty_like(apart)
    after = np.empty_like(apart[0])
    for node, share in rule:
        np.multiply(apart, node, out=factors)
        factors += q
        before[0], after[...] = share, 1
        for d in range(1, len(apart)):
            np.multiply(before[d - 1], factors[d - 1], out=before[d])
        for d in range(len(apart) - 1, 0, -1):
            before[d] *= after
            after *= factors[d]
        before[0] *= after
        total += before
    return total


def _batches(P: Array, Q: Array) -> Iterator[tuple[slice, slice]]:
    """Yield rows of P and of Q that are looked at together."""
    references = max(1, min(len(Q), BATCH // P[0].size))
    rows = max(1, BATCH // (P[0].size * references))
    for first in range(0, len(P), rows):
        for begin in range(0, len(Q), references):
            yield slice(first, first + rows), slice(begin, begin + references)
