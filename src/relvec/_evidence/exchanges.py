"""Exchanges of functions under Gaussian noise: one or two come for one or two that go.

With V = Σ̂ and m = μ̂ of the active functions and u_i = φ_iᵀC⁻¹φ/√α_i for a candidate φ, its factors
beside what is left when a set D of functions goes are

    S + u_Dᵀ V_DD⁻¹ u_D,   Q + u_Dᵀ V_DD⁻¹ m_D,

and that costs ½[log|V_DD| + m_Dᵀ V_DD⁻¹ m_D] (eq. R6). So the best precision of the candidate and
the rise of the evidence are exact, all other precisions as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from relvec._design.base import TargetFrame
from relvec._evidence.gains import best_independent, deletion_cost, gain_of_one
from relvec._evidence.gaussian import CandidateFactors, ExactState
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._numerics.linalg import solve_lower
from relvec._numerics.typing import Array, Index

#: Candidates, the best by an upper bound, of which a second function to go is looked for and the
#: rise of the evidence is computed.
SHORTLIST = 64
#: Numbers of candidates times active functions that are held at a time.
ENTRIES = 1 << 18
#: Times the sparsity that additions ask of a candidate: exchange after exchange of functions that
#: are hardly told apart would lead to weights whose rounding the evidence feels.
ABOVE_FLOOR = 1e2
#: Share of V_ii V_jj under which |V_DD| of two functions has lost too many digits.
LEAST_DETERMINANT = 1e-6


@dataclass(frozen=True)
class Exchange:
    """Candidates that come in the place of active functions."""

    worth: float  # rise of the evidence, all other precisions as they are, less penalties
    gone: Index  # positions of the functions that go, −1 for none
    come: Index  # candidates
    alpha: Array  # their precisions

    def of(self, hyper: Hyperparameters) -> Hyperparameters:
        """Hyperparameters after the exchange."""
        stays = np.ones(len(hyper.alpha), dtype=np.bool_)
        stays[self.gone[self.gone >= 0]] = False
        return hyper.keep(np.flatnonzero(stays)).add(self.come, self.alpha)


@dataclass(frozen=True)
class Gone:
    """Functions that go in each of e exchanges, two at most."""

    which: Index  # (e, 2), their positions, −1 for none
    there: Array  # (e, 2), 1 where there is one and 0 where there is none
    inverse: Array  # (n_targets, e, 2, 2), V_DD⁻¹, with a row of the identity for none
    white: Array  # (n_targets, e, 2), V_DD⁻¹m_D
    cost: Array  # (e,), nats that it costs

    @classmethod
    def of(cls, which: Index, V: Array, m: Array) -> Gone:
        """Take Σ̂ and μ̂ of all active functions."""
        one, two = which.T
        there = (which >= 0).astype(np.float64)
        own_1, own_2 = (np.where(part >= 0, V[:, part, part], 1.0) for part in (one, two))
        beside = V[:, one, two] * there[:, 1]
        determinant = own_1 * own_2 - beside**2
        inverse = np.stack([own_2, -beside, -beside, own_1], axis=-1) / determinant[..., None]
        inverse = inverse.reshape(*determinant.shape, 2, 2)
        m = m[:, which] * there
        white = (inverse * m[:, :, None]).sum(axis=3)
        cost = 0.5 * (np.log(determinant) + (m * white).sum(axis=2)).sum(axis=0)
        return cls(which, there, inverse, white, cost)

    def some(self, e: Index) -> Gone:
        """Return the same of some of the exchanges."""
        inverse, white = self.inverse[:, e], self.white[:, e]
        return Gone(self.which[e], self.there[e], inverse, white, self.cost[e])


@dataclass(frozen=True)
class Beside:
    """Candidates beside the active functions.

    Sets of weights that are independent of each other, those of the targets, share the precisions.
    """

    S: Array  # (n_targets, b), sparsity
    Q: Array  # (n_targets, b), quality
    u: Array  # (n_targets, n_active, b), φ_iᵀC⁻¹φ/√α_i
    V: Array  # (n_targets, n_active, n_active), Σ̂
    m: Array  # (n_targets, n_active), μ̂
    floor: Array  # (n_targets,), sparsity below which a candidate is left out

    @classmethod
    def of_state(cls, frame: TargetFrame, state: ExactState, factors: CandidateFactors) -> Beside:
        """All candidates."""
        # A^(-1/2) ΦᵀC⁻¹ = β Σ̂ A^(-1/2) Φᵀ
        products = (state.data.R / np.sqrt(state.hyper.each)).T @ frame.coords
        u = state.hyper.beta[:, None, None] * (state.variances @ products)
        V, m = state.variances, state.means[:, :, 0]
        return cls(factors.S, factors.Q, u, V, m, ABOVE_FLOOR * factors.floor)

    def some(self, which: slice | Index) -> Beside:
        """Some of the candidates."""
        return replace(self, S=self.S[:, which], Q=self.Q[:, which], u=self.u[:, :, which])

    def best_single(self, penalty: float) -> tuple[Array, Index]:
        """Upper bound of the worth of each candidate alone or for one function, and that function.

        Of one target it is the exact worth. Shapes (b,), with −1 where none goes.
        """
        own = self.V.diagonal(axis1=1, axis2=2)
        S = self.S[:, None] + self.u**2 / own[:, :, None]
        Q = self.Q[:, None] + self.u * (self.m / own)[:, :, None]
        cost = deletion_cost(own[:, :, None, None], self.m[:, :, None]).sum(axis=0)
        gone, worth = _best(self.gain_bound(S, Q) - cost[:, None])
        alone = self.gain_bound(self.S, self.Q) - penalty
        return np.maximum(alone, worth), np.where(alone > worth, -1, gone)

    def best_second(self, first: Index) -> tuple[Array, Index]:
        """The same for two functions, of which the first is given; both cost a penalty less."""
        each = np.arange(len(first))
        own = self.V.diagonal(axis1=1, axis2=2)[:, :, None]
        beside, own_1 = self.V[:, :, first], own[:, first, 0][:, None]
        m, m_1 = self.m[:, :, None], self.m[:, first][:, None]
        u, u_1 = self.u, self.u[:, first, each][:, None]
        determinant = own * own_1 - beside**2
        lost = (determinant < LEAST_DETERMINANT * own * own_1).any(axis=0) | (first < 0)
        determinant[:, lost] = 1.0
        S = self.S[:, None] + (u**2 * own_1 - 2 * u * u_1 * beside + u_1**2 * own) / determinant
        white, white_1 = m * own_1 - beside * m_1, m_1 * own - beside * m
        Q = self.Q[:, None] + (u * white + u_1 * white_1) / determinant
        cost = 0.5 * (np.log(determinant) + (m * white + m_1 * white_1) / determinant).sum(axis=0)
        second, worth = _best(np.where(lost, -np.inf, self.gain_bound(S, Q) - cost))
        return worth, second

    def gain_bound(self, S: Array, Q: Array) -> Array:
        """Sum over the targets, the first axis, of the gain that each has at its own precision.

        It is −∞ where no precision is better than an infinite one.
        """
        floor = self.floor.reshape(-1, *[1] * (S.ndim - 1))
        bound = gain_of_one(S, Q, floor).sum(axis=0)
        return np.where(bound > 0, bound, -np.inf)

    def exchanged(self, come: Index, gone: Gone) -> tuple[Array, Array]:
        """Worth of exchanges for one candidate each, and its best precision; shapes (e,)."""
        u = self.u[:, gone.which, come[:, None]] * gone.there
        S = self.S[:, come] + (u * (gone.inverse * u[:, :, None]).sum(axis=3)).sum(axis=2)
        Q = self.Q[:, come] + (u * gone.white).sum(axis=2)
        gain, alpha = best_independent(S.T, Q.T, self.floor[None])
        return gain - gone.cost, alpha

    def after(self, come: Index, alpha: Array, gone: Gone, products: Array) -> tuple[Array, Array]:
        """S and Q of all candidates after each exchange, (n_targets, e, b).

        Takes φᵀC⁻¹Φ of the candidates that come, shape (n_targets, e, b).
        """
        u = self.u[:, gone.which] * gone.there[:, :, None]
        white, each = gone.inverse @ u, np.arange(len(come))
        S = self.S[:, None] + (u * white).sum(axis=2)
        Q = self.Q[:, None] + (u * gone.white[..., None]).sum(axis=2)
        own = self.u[:, gone.which, come[:, None]] * gone.there
        products = products + (own[..., None] * white).sum(axis=2)
        shrunk = products / (alpha + S[:, each, come])[:, :, None]
        return S - shrunk * products, Q - shrunk * Q[:, each, come][:, :, None]


def _best(worth: Array) -> tuple[Index, Array]:
    """Position and value of the largest in each column."""
    which = worth.argmax(axis=0)
    return which, worth[which, np.arange(worth.shape[1])]


class Exchanges:
    """Exchanges beside an evidence state: for one candidate each, then for two.

    The frame spans the active functions, each of a precision of its own; any costs a `penalty` in
    nats.
    """

    def __init__(self, frame: TargetFrame, state: ExactState, penalty: float) -> None:
        self._frame, self._active, self._penalty = frame, state.hyper.active, penalty
        self._factors = CandidateFactors.at(frame, state.data, state.hyper)
        self._beside = Beside.of_state(frame, state, self._factors)
        self._come, which = self._shortlist()
        self._gone = Gone.of(which, self._beside.V, self._beside.m)
        self._worth, self._alpha = self._beside.exchanged(self._come, self._gone)
        self._worth += penalty * (self._gone.there.sum(axis=1) - 1)
        self._worth[~np.isfinite(self._alpha)] = -np.inf
        self._order = np.argsort(-self._worth, kind="stable")

    def _shortlist(self) -> tuple[Index, Index]:
        """Candidates that are worth most by their bounds, and functions that go for them (e, 2)."""
        beside = self._beside
        count, size = beside.S.shape[1], max(1, ENTRIES // beside.m.size)
        blocks = [slice(begin, begin + size) for begin in range(0, count, size)]
        found = [beside.some(block).best_single(self._penalty) for block in blocks]
        bound, first = (np.concatenate(part) for part in zip(*found, strict=True))
        bound[self._active] = -np.inf
        come = np.argsort(-bound, kind="stable")[:SHORTLIST]
        come = come[np.isfinite(bound[come])]
        two, second = beside.some(come).best_second(first[come])
        better = two + self._penalty > bound[come]
        return come, np.stack([first[come], np.where(better, second, -1)], axis=1)

    def singles(self, count: int) -> list[Exchange]:
        """Return the best exchanges of different functions for one candidate, the best first."""
        different: dict[tuple[int, ...], int] = {}
        for e in self._order.tolist():
            if len(different) == count or not np.isfinite(self._worth[e]):
                break
            different.setdefault(tuple(self._gone.which[e].tolist()), e)
        return [
            Exchange(self._worth[e], self._gone.which[e], self._come[[e]], self._alpha[[e]])
            for e in different.values()
        ]

    def best_double(self, count: int) -> Exchange | None:
        """The best of so many exchanges for one candidate with the best addition after each."""
        which = self._order[:count]
        which = which[np.isfinite(self._worth[which])]
        if not len(which):
            return None
        beside, come, alpha = self._beside, self._come[which], self._alpha[which]
        gone, worth = self._gone.some(which), self._worth[which] - self._penalty
        S, Q = beside.after(come, alpha, gone, self._products(come))
        bound = worth[:, None] + beside.gain_bound(S, Q)
        bound[:, self._active] = -np.inf
        bound[np.arange(len(come)), come] = -np.inf
        e, second = np.unravel_index(bound.argmax(), bound.shape)
        own = S[:, e, second][None], Q[:, e, second][None]
        gain, own_alpha = best_independent(*own, beside.floor[None])
        if not np.isfinite(own_alpha[0]):
            return None
        pair, alphas = np.array([come[e], second]), np.append(alpha[e], own_alpha)
        return Exchange(worth[e] + gain[0], gone.which[e], pair, alphas)

    def _products(self, index: Index) -> Array:
        """φᵀC⁻¹Φ of some candidates with all, shape (n_targets, e, n_candidates)."""
        coords, outside = self._frame.coords, self._frame.residual_products(index)
        parts = (solve_lower(T, coords) for T in self._factors.whiteners)
        products: Array = np.array([outside + W[:, index].T @ W for W in parts])
        return self._factors.beta[:, None, None] * products
