"""Gains of candidates by Laplace's method, from one pass over their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from relvec._design.base import EVERY, Design
from relvec._evidence.base import CandidateScores
from relvec._evidence.curvature import as_matrices, by_weighting, weightings
from relvec._evidence.gains import Block, best_addition, greedy_additions
from relvec._numerics.groups import Groups
from relvec._numerics.typing import Array, Index, RowVector

if TYPE_CHECKING:
    from relvec._evidence.laplace import LaplaceState

#: Where a look costs a pass, candidates are looked at together, at most, that were worth most when
#: all were, if so many times that is enough.
SHORTLIST, RISE = 256, 2.0

Sums = tuple[Array, ...]

#: Share of a candidate's φᵀBφ that S, a difference, must keep to have digits.
RESOLUTION = 1e-10
#: Products of candidates with active functions held at a time.
PRODUCTS = 8_000_000


class LaplaceScores(CandidateScores):
    """Factors of candidates at the mode: Q exactly, S for fixed B, with the gain they promise.

    Whether the evidence itself rises is told by its slope in 1/α at α = ∞, ½(‖Q‖² − tr S) − ½ Qᵀu
    with u = (φ − ΦΣΦᵀBφ)ᵀ(h∘d). A candidate that fixed B promises to rise from there, and does not,
    is worth nothing. (With several outputs ℓ may fall at first and rise to a maximum after.)

    Parameters
    ----------
    design : Design
        Candidates.
    point : LaplaceState
        The model beside which they are looked at.
    index : ndarray of int or slice
        Which of them; others are taken for worth nothing.
    """

    def __init__(self, design: Design, point: LaplaceState, index: Index | slice = EVERY) -> None:
        self._design, self._point, self.groups = design, point, design.groups
        self.gain = np.zeros(self.groups.count)
        for some in self._blocks(index):
            self.gain[some] = self._gain(some)
        self.gain[self.groups.label[point.hyper.active]] = 0.0

    def _blocks(self, index: Index | slice) -> Iterator[Index | slice]:
        """Candidates, as many at a time as have room for their products; groups one by one."""
        if not self.groups.single:
            yield from np.arange(self.groups.count)[index][:, None]
            return
        count = len(self.gain[index])
        size = max(1, PRODUCTS // max(1, self._point.mean.size * self._point.mean.shape[1]))
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
        point = self._point
        vectors = point.mode.gradient, point.log_det_residual
        if not self.groups.single:
            members, _ = self.groups.members(np.arange(self.groups.count)[index])
            S, floor, Q, u = self._block(members, *vectors)
            return S, Q, u, floor.max(initial=0.0, keepdims=True)
        squares, *beside, Q, u = self._sums(_squares, index, *vectors)
        norm2 = as_matrices(squares)
        white = point.curvature.whitened(*map(as_matrices, beside))
        S = norm2 - np.einsum("wbr,wbs->brs", white, white, optimize=Q.shape[0] > 1)
        return S, Q.T, u.T, RESOLUTION * np.einsum("brr->b", norm2)

    def additions(self, batch: Index, threshold: float) -> tuple[Index, Array]:
        """See `CandidateScores.additions`."""
        index, group = self.groups.members(batch)
        S, floors, Q = self._block(index, self._point.mode.gradient)
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
        white = self._point.curvature.whitened(as_matrices(first), as_matrices(second))
        block = np.moveaxis(products, 2, 1) - np.tensordot(white, white, axes=(0, 0))
        floor = RESOLUTION * np.einsum("brr->b", products.diagonal().transpose(2, 0, 1))
        size = block.shape[0] * block.shape[1]
        by_weight = (part.T.reshape(1, -1) for part in seen)
        return block.reshape(1, size, size), floor, *by_weight

    def _sums(
        self, function: Callable[..., Sums], index: Index | slice, *vectors: RowVector
    ) -> Sums:
        here = self._point.mode
        function = partial(function, here.information.mean_function)
        return self._design.sum_rows(function, here.Phi, here.B, *vectors, index=index)


def screened(
    design: Design, point: LaplaceState, worth: float, known: Array | None
) -> LaplaceScores:
    """Look at the candidates that were worth most when last looked at; at all if that is no use.

    What was known is no bound: the gain of a candidate changes with every function that comes or
    goes, and may rise. It only says where to look first. Whoever is told that nothing is worth
    `worth` nats is told so after a look at all.
    """
    if known is not None:
        promising = np.flatnonzero(RISE * known >= worth)
        few = np.sort(promising[np.argsort(-known[promising], kind="stable")[:SHORTLIST]])
        if 0 < 2 * len(few) <= len(known):
            scores = LaplaceScores(design, point, few)
            if scores.gain.max() >= worth:
                scores.known = known.copy()
                scores.known[few] = scores.gain[few]
                return scores
    scores = LaplaceScores(design, point)
    scores.known = scores.gain
    return scores


def _squares(
    mean: Array, columns: Array, Phi: Array, B: Array, slope: Array, outside: Array
) -> Sums:
    """Sums for candidates: φᵀB_rs φ, (Φ − mean)ᵀB_rs φ, 1ᵀB_rs φ, slopeᵀφ and outsideᵀφ."""
    weights = weightings(B)
    seen = _beside(mean, weights, columns, Phi)
    rest = np.vstack([weights, slope.T, outside.T]) @ columns
    by_row = np.split(rest, [len(weights), len(weights) + slope.shape[1]])
    return weights @ np.square(columns), seen, *by_row


def _pairs(mean: Array, columns: Array, Phi: Array, B: Array, *vectors: Array) -> Sums:
    """Sums for candidates: φᵀB_rs φ of pairs, (Φ − mean)ᵀB_rs φ, 1ᵀB_rs φ, and with vectors."""
    weights = weightings(B)
    pairs = by_weighting(weights, lambda weight: (columns * weight[:, None]).T @ columns)
    seen = (vector.T @ columns for vector in vectors)
    return pairs, _beside(mean, weights, columns, Phi), weights @ columns, *seen


def _beside(mean: Array, weights: Array, columns: Array, Phi: Array) -> Array:
    centred = Phi - mean
    return by_weighting(weights, lambda weight: (centred * weight[:, None]).T @ columns)
