"""Gains of candidates by Laplace's method, from one pass over their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from relvec._design.base import EVERY
from relvec._evidence.base import CandidateScores
from relvec._evidence.curvature import as_matrices, weighted_products, weightings
from relvec._evidence.gains import Block, best_addition, greedy_additions
from relvec._evidence.mode import NewtonIterate
from relvec._numerics.groups import Groups
from relvec._numerics.typing import Array, Index, RowVector

#: Where an evaluation is a pass, so many candidates at most are evaluated together, whose known
#: gain times this factor reaches the threshold.
SHORTLIST, RISE = 256, 2.0

Sums = tuple[Array, ...]

#: Share of a candidate's φᵀBφ that S, a difference, must keep to have digits.
RESOLUTION = 1e-10
#: Products of candidates with active functions held at a time.
PRODUCTS = 8_000_000


class LaplaceScores(CandidateScores):
    """Factors of candidates at the mode: Q exactly, S for fixed B, with the gain they promise.

    The evidence itself has the slope ½(‖Q‖² − tr S) − ½Qᵀu in 1/α at α = ∞, with u the product of
    the candidate and ∂log|H|/∂y less BX times the shift of the mode. A candidate whose slope for
    fixed B is positive there, and this one is not, has no gain. (With several outputs ℓ may fall at
    first and rise to a maximum after.)

    Parameters
    ----------
    mode : NewtonIterate
        Mode of the weights, on the design of the candidates.
    active : ndarray of int
        Functions in the model.
    residual : RowVector, of shape (n_samples, n_outputs)
        ∂log|H|/∂y less BX times the shift of the mode.
    index : ndarray of int or slice
        Candidates, or groups of them, to evaluate; others have no gain.
    """

    def __init__(
        self,
        mode: NewtonIterate,
        active: Index,
        residual: RowVector,
        index: Index | slice = EVERY,
    ) -> None:
        self._mode, self._residual, self.groups = mode, residual, mode.design.groups
        self.gain = np.zeros(self.groups.count)
        for some in self._blocks(index):
            self.gain[some] = self._gain(some)
        self.gain[self.groups.label[active]] = 0.0

    def _blocks(self, index: Index | slice) -> Iterator[Index | slice]:
        """Candidates, as many at a time as have room for their products; groups one by one."""
        if not self.groups.single:
            yield from np.arange(self.groups.count)[index][:, None]
            return
        count = len(self.gain[index])
        size = max(1, PRODUCTS // max(1, self._mode.weights.size * self._mode.weights.shape[1]))
        for begin in range(0, count, size):
            some = slice(begin, begin + size)
            yield some if isinstance(index, slice) else index[some]

    def _gain(self, index: Index | slice) -> Array:
        S, Q, u, floor = self.factors(index)
        gain, _ = best_addition(S, Q, floor)
        trace = np.einsum("brr->b", S)
        promised = np.einsum("br,br->b", Q, Q) - trace
        slope = np.einsum("br,br->b", Q, Q - u) - trace
        return np.where((promised > 0) & (slope <= 0), 0.0, gain)

    def factors(self, index: Index | slice = EVERY) -> tuple[Array, Array, Array, Array]:
        """S (b, R, R), Q and u (b, R), and the least S that has digits (b,).

        Of a group of m functions, m · R in the place of R.
        """
        vectors = self._mode.gradient, self._residual
        if not self.groups.single:
            members, _ = self.groups.members(np.arange(self.groups.count)[index])
            S, floor, Q, u = self._block(members, *vectors)
            return S, Q, u, floor.max(initial=0.0, keepdims=True)
        squares, *beside, Q, u = self._squares(index, *vectors)
        norm2 = as_matrices(squares)
        white = self._mode.curvature.whitened(*map(as_matrices, beside))
        S = norm2 - np.einsum("wbr,wbs->brs", white, white, optimize=Q.shape[0] > 1)
        return S, Q.T, u.T, RESOLUTION * np.einsum("brr->b", norm2)

    def additions(self, batch: Index, threshold: float) -> tuple[Index, Array]:
        index, group = self.groups.members(batch)
        S, floors, Q = self._block(index, self._mode.gradient)
        floor = np.zeros(len(batch))
        np.maximum.at(floor, group, floors)
        groups = Groups(np.repeat(group, Q.shape[1] // len(index)))
        chosen, alpha = greedy_additions(Block(S, Q, floor, groups), threshold)
        return batch[chosen], alpha

    def _block(self, index: Index, *vectors: RowVector) -> tuple[Array, ...]:
        """S between the weights of candidates (1, b · R, b · R), and the least with digits (b,).

        Then the products of vectors over the rows with the candidates, shape (1, b · R) each.
        """
        pairs, first, second, *seen = self._sums(_pairs, index, *vectors)
        products = as_matrices(pairs)
        white = self._mode.curvature.whitened(as_matrices(first), as_matrices(second))
        block = np.moveaxis(products, 2, 1) - np.tensordot(white, white, axes=(0, 0))
        floor = RESOLUTION * np.einsum("brr->b", products.diagonal().transpose(2, 0, 1))
        size = block.shape[0] * block.shape[1]
        by_weight = (part.T.reshape(1, -1) for part in seen)
        return block.reshape(1, size, size), floor, *by_weight

    def _squares(self, index: Index | slice, slope: RowVector, outside: RowVector) -> list[Array]:
        """Sums for candidates: φᵀB_rs φ, (Φ − mean)ᵀB_rs φ, 1ᵀB_rs φ, slopeᵀφ and outsideᵀφ."""
        here = self._mode
        function = partial(_factors, here.curvature.information.mean_function)
        rows = here.Phi, here.B, slope, outside
        squares, sums = here.design.weighted_sums(function, *rows, index=index)
        pairs, active, outputs = len(squares), len(here.weights), here.weights.shape[1]
        sizes = pairs * active, pairs, outputs
        beside, *rest = np.split(sums, np.cumsum(sizes))
        return [squares, beside.reshape(pairs, active, sums.shape[1]), *rest]

    def _sums(
        self, function: Callable[..., Sums], index: Index | slice, *vectors: RowVector
    ) -> Sums:
        here = self._mode
        function = partial(function, here.curvature.information.mean_function)
        return here.design.sum_rows(function, here.Phi, here.B, *vectors, index=index)


def screened(
    mode: NewtonIterate,
    active: Index,
    residual: RowVector,
    threshold: float,
    known: Array | None,
) -> LaplaceScores:
    """Scores of those with the largest `known` gains, or of all if none reaches the threshold.

    Known gains are no bounds: they change with every function that comes or goes, and may rise. No
    gain reaches the threshold only if none of all candidates does.
    """
    if known is not None:
        promising = np.flatnonzero(RISE * known >= threshold)
        few = np.sort(promising[np.argsort(-known[promising], kind="stable")[:SHORTLIST]])
        if 0 < 2 * len(few) <= len(known):
            scores = LaplaceScores(mode, active, residual, few)
            if scores.gain.max() >= threshold:
                scores.known = known.copy()
                scores.known[few] = scores.gain[few]
                return scores
    scores = LaplaceScores(mode, active, residual)
    scores.known = scores.gain
    return scores


def _factors(
    mean: Array, Phi: Array, B: Array, slope: Array, outside: Array
) -> tuple[Array, Array]:
    """Factors of candidates in a block of rows: B_rs of their squares, and others of themselves.

    These are B_rs(Φ − mean), B_rs, slope and outside, below each other.
    """
    weights = weightings(B)
    beside = weights[:, None] * (Phi - mean).T
    return weights, np.vstack([beside.reshape(-1, len(Phi)), weights, slope.T, outside.T])


def _pairs(mean: Array, columns: Array, Phi: Array, B: Array, *vectors: Array) -> Sums:
    """Sums for candidates: φᵀB_rs φ of pairs, (Φ − mean)ᵀB_rs φ, 1ᵀB_rs φ, and with vectors."""
    weights = weightings(B)
    pairs = weighted_products(weights, columns, columns)
    seen = (vector.T @ columns for vector in vectors)
    return pairs, _beside(mean, weights, columns, Phi), weights @ columns, *seen


def _beside(mean: Array, weights: Array, columns: Array, Phi: Array) -> Array:
    centred = Phi - mean
    return weighted_products(weights, centred, columns)
