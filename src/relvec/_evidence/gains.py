"""Gain in log evidence of one function, or group of functions, more, and cost of one less.

The part of the evidence that depends on the precision α that R weights share, those of a function
for several outputs or of several functions, is ℓ(α) = ½[R log α − log|αI + S| + Qᵀ(αI + S)⁻¹Q]
(Tipping & Faul 2003, eq. 18, for R = 1), with their sparsity S (R, R) and quality Q (R,). It is
zero at α = ∞.
"""

from __future__ import annotations

import numpy as np

from relvec._numerics.groups import Groups
from relvec._numerics.linalg import solve_square
from relvec._numerics.typing import Array, Index

#: The precisions of a shared function are looked for at this many places, then between two of them.
PLACES, BISECTIONS = 64, 30
#: Factor beyond the largest sparsity at which a precision is as good as infinite.
FAR = 1e4


def best_addition(S: Array, Q: Array, floor: Array) -> tuple[Array, Array]:
    """Gain of each candidate at its best precision, and that precision.

    Parameters
    ----------
    S : ndarray of shape (m, R, R)
        Sparsity of the candidates.
    Q : ndarray of shape (m, R)
        Their quality.
    floor : ndarray of shape (m,)
        Sparsity below which no digits are left: that direction counts for nothing.

    Returns
    -------
    gain : ndarray of shape (m,)
        Nats, zero where the best precision is infinite.
    alpha : ndarray of shape (m,)
        The best precision, infinite where the gain is zero.
    """
    return best_of_groups(S[None], Q[None], floor[None])


def best_of_groups(S: Array, Q: Array, floor: Array) -> tuple[Array, Array]:
    """The same for groups of m functions, and sets of outputs that share but the precision.

    Takes S (n_sets, n_groups, m, m), Q (n_sets, n_groups, m) and the floor (n_sets, n_groups).
    """
    if S.shape[-1] == 1:
        return best_independent(S[:, :, 0, 0].T, Q[:, :, 0].T, floor.T)
    s, axes = np.linalg.eigh(S)
    q = np.einsum("tgrs,tgr->tgs", axes, Q)
    s, q = (np.moveaxis(part, 0, 1).reshape(part.shape[1], -1) for part in (s, q))
    return best_independent(s, q, np.repeat(floor.T, S.shape[-1], axis=1))


def best_independent(s: Array, q: Array, floor: Array) -> tuple[Array, Array]:
    """The same where S is diagonal, given its diagonal (m, R); the floor may be one an output."""
    seen = s > floor
    if s.shape[1] == 1:
        one, q2 = np.where(seen, s, 1.0)[:, 0], np.where(seen, q**2, 0.0)[:, 0]
        return _best_of_one(one, q2)
    s, q2, some = np.where(seen, s, 0.0), np.where(seen, q**2, 0.0), seen.any(axis=1)
    gain, alpha = np.zeros(len(s)), np.full(len(s), np.inf)
    gain[some], alpha[some] = _best_of_shared(s[some], q2[some])
    return gain, alpha


def _best_of_one(s: Array, q2: Array) -> tuple[Array, Array]:
    """One output: α = s²/(q² − s) where q² > s (Tipping & Faul 2003, eq. 20 and 27)."""
    ratio = np.maximum(q2 / s, 1.0)
    with np.errstate(divide="ignore"):
        return _gain_of_one(ratio), s / (ratio - 1)


def gain_of_one(s: Array, q: Array, floor: Array) -> Array:
    """Gain of single candidates with one output each, at any places; shapes that broadcast."""
    return _gain_of_one(np.maximum(q * q / np.where(s > floor, s, np.inf), 1.0))


def _gain_of_one(ratio: Array) -> Array:
    """Gain by q²/s, which is 1 at least."""
    gain: Array = 0.5 * (ratio - 1 - np.log(ratio))
    return gain


def _best_of_shared(s: Array, q2: Array) -> tuple[Array, Array]:
    """Several outputs, in the eigenvectors of S: the highest of the maxima of ℓ in log α.

    ‖Q‖² ≤ tr S does not mean that the best α is infinite, and there may be several maxima, each as
    wide as a logistic function in log α or wider.
    """
    one = np.where(s > 0, s, 1.0)
    # Below all s²/q² the slope is positive.
    least = np.where(s > 0, one * (one / np.maximum(one, q2)), np.inf).min(axis=1)
    low, high = np.log(least), np.log(FAR * s.max(axis=1))
    x = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, PLACES)
    value = np.stack([_shared_part(column, s, q2) for column in x.T], axis=1)
    place = np.clip(value.argmax(axis=1), 1, PLACES - 2)[:, None]
    left, right = (np.take_along_axis(x, place + d, 1)[:, 0] for d in (-1, 1))
    for _ in range(BISECTIONS):
        middle = 0.5 * (left + right)
        rising = _shared_slope(middle, s, q2) > 0
        left, right = np.where(rising, middle, left), np.where(rising, right, middle)
    gain = np.maximum(_shared_part(left, s, q2), 0.0)
    return gain, np.where(gain > 0, np.exp(left), np.inf)


def _shared_part(log_alpha: Array, s: Array, q2: Array) -> Array:
    """ℓ at one log α a candidate."""
    alpha = np.exp(log_alpha)[:, None]
    part: Array = 0.5 * (q2 / (alpha + s) - np.log1p(s / alpha)).sum(axis=1)
    return part


def _shared_slope(log_alpha: Array, s: Array, q2: Array) -> Array:
    """∂ℓ/∂log α at one log α a candidate."""
    alpha = np.exp(log_alpha)[:, None]
    slope: Array = 0.5 * (s / (alpha + s) - alpha * q2 / (alpha + s) ** 2).sum(axis=1)
    return slope


class Block:
    """Candidates, with their sparsity and quality beside those that were already chosen.

    Parameters
    ----------
    S : ndarray of shape (n_sets, c, c)
        Sparsity between the columns of the candidates, for each set of outputs that is independent
        of the others; overwritten.
    Q : ndarray of shape (n_sets, c)
        Their quality.
    floor : ndarray of shape (n_sets or 1, n_groups or 1)
        Sparsity below which no digits are left.
    groups : Groups
        Columns that share a precision: those of a group of functions and of outputs that depend
        on each other.
    """

    def __init__(self, S: Array, Q: Array, floor: Array, groups: Groups) -> None:
        self.S, self.Q, self.groups = S, Q.copy(), groups
        self.floor = np.broadcast_to(floor, (len(S), groups.count))

    def best(self) -> tuple[Array, Array]:
        """Gain of each group, and its best precision, shape (n_groups,)."""
        if self.groups.single:
            own = self.S.diagonal(axis1=1, axis2=2)
            return best_independent(own.T, self.Q.T, self.floor.T)
        gain, alpha = np.empty(self.groups.count), np.empty(self.groups.count)
        for which, columns in self.groups.by_size:
            own = self.S[:, columns[:, :, None], columns[:, None, :]]
            best = best_of_groups(own, self.Q[:, columns], self.floor[:, which])
            gain[which], alpha[which] = best
        return gain, alpha

    def choose(self, k: int, alpha: float) -> None:
        """Put group k into the model: what is left of the others."""
        columns, _ = self.groups.members(np.array([k]))
        beside = self.S[:, columns].copy()
        own = beside[:, :, columns] + alpha * np.eye(len(columns))
        one = len(columns) == 1
        shrunk = np.swapaxes(beside / own if one else solve_square(own, beside), 1, 2)
        self.Q -= (shrunk @ self.Q[:, columns, None])[:, :, 0]
        self.S -= shrunk @ beside


def greedy_additions(block: Block, threshold: float) -> tuple[Index, Array]:
    """Choose groups of a block one after the other, each the exact best given the earlier ones.

    Parameters
    ----------
    block : Block
        The candidates; overwritten.
    threshold : float
        Stop when the best gain falls under this many nats.

    Returns
    -------
    chosen : ndarray of int, shape (k,)
        Positions in the block, in the order of choice.
    alpha : ndarray of shape (k,)
        Their best precisions.
    """
    chosen: list[int] = []
    alphas: list[float] = []
    while len(chosen) < block.groups.count:
        gain, alpha = block.best()
        gain[chosen] = 0.0
        k = int(gain.argmax())
        if gain[k] < threshold:
            break
        chosen.append(k)
        alphas.append(float(alpha[k]))
        block.choose(k, alphas[-1])
    return np.array(chosen, dtype=np.intp), np.array(alphas)
