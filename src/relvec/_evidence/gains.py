"""Gain in log evidence of one function, or group of functions, more, and cost of one less.

The part of the evidence that depends on the precision α that R weights share, those of a function
for several outputs or of several functions, is ℓ(α) = ½[R log α − log|αI + S| + Qᵀ(αI + S)⁻¹Q]
(Tipping & Faul 2003, eq. 18, for R = 1), with their sparsity S (R, R) and quality Q (R,). It is
zero at α = ∞.
"""

from __future__ import annotations

import numpy as np

from relvec._evidence.hyperparameters import Hyperparameters
from relvec._numerics.groups import Groups, columns_of
from relvec._numerics.linalg import solve_square
from relvec._numerics.typing import Array, Index

#: The precisions of a shared function are looked for at this many places, then between two of them.
PLACES, BISECTIONS = 64, 30
#: Numbers of candidates and outputs, times places, that are looked at together.
TOGETHER = 1 << 12
#: Factor beyond the largest sparsity at which a precision is as good as infinite.
FAR = 1e4
#: Eigenvalue of a posterior covariance Σ̂, and variance, under which what follows from it would
#: lose too many digits.
SAFE_EIGENVALUE, SAFE_VARIANCE = 1e-6, 1e-8


def best_addition(S: Array, Q: Array, floor: Array) -> tuple[Array, Array]:
    """Gain of each candidate at its best precision, and that precision, each (m,).

    Where the gain is zero the precision is infinite. S (m, R, R) is the sparsity of the candidates,
    Q (m, R) their quality, and `floor` (m,) the sparsity below which no digits are left: that
    direction counts for nothing.
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
    return 0.5 * (ratio - 1 - np.log(ratio))


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
    step = max(1, TOGETHER // max(1, s.size))  # of no candidate, too
    parts = [_shared_part(x[:, k : k + step], s, q2) for k in range(0, PLACES, step)]
    value = np.concatenate(parts, axis=1)
    place = np.clip(value.argmax(axis=1), 1, PLACES - 2)[:, None]
    left, right = (np.take_along_axis(x, place + d, 1)[:, 0] for d in (-1, 1))
    for _ in range(BISECTIONS):
        middle = 0.5 * (left + right)
        rising = _shared_slope(middle, s, q2) > 0
        left, right = np.where(rising, middle, left), np.where(rising, right, middle)
    gain = np.maximum(_shared_part(left[:, None], s, q2)[:, 0], 0.0)
    return gain, np.where(gain > 0, np.exp(left), np.inf)


def _shared_part(log_alpha: Array, s: Array, q2: Array) -> Array:
    """ℓ at some log α a candidate, (m, n_places)."""
    alpha, s, q2 = np.exp(log_alpha)[:, :, None], s[:, None], q2[:, None]
    part: Array = 0.5 * (q2 / (alpha + s) - np.log1p(s / alpha)).sum(axis=2)
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
        Of columns: those of a group of functions and of outputs that depend on each other.
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

    Returned are positions in the block (k,), in the order of choice, until the best gain falls
    under `threshold` nats, and their best precisions (k,). The block is overwritten.
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


def deletion_cost(variance: Array, mean: Array) -> Array:
    """Exact fall of the evidence when one function is deleted, all else as it is.

    With the posterior covariance V = α(αI + S)⁻¹ of each function's weights times α, `variance`
    (..., k, R, R), and the `mean` m (..., k, R) of the weights times √α, ℓ = ½[log|V| + mᵀV⁻¹m].
    """
    if mean.shape[-1] == 1:
        v, m = variance[..., 0, 0], mean[..., 0]
        log_det, explained = np.log(v), m**2 / v
    else:
        white = solve_square(variance, mean[..., None])[..., 0]
        log_det = np.linalg.slogdet(variance)[1]
        explained = np.einsum("...r,...r->...", mean, white)
    cost: Array = 0.5 * (log_det + explained)
    return cost


class Deletions:
    """Deletions of groups one after the other, of which only what they leave is computed.

    Deleted weights are zero for certain. With RRᵀ the inverse of what earlier deletions leave of
    V_gg, that of group g leaves V − WWᵀ with W = V_:gR: one more block of columns for each, where
    of V itself only the blocks within groups are needed.

    Parameters
    ----------
    variances : ndarray of shape (n_sets, n_active · R, n_active · R)
        Σ̂ of each set of R outputs.
    means : ndarray of shape (n_sets, n_active, R)
        μ̂.
    groups : Groups
        Of the active functions.

    Attributes
    ----------
    cost : ndarray of shape (n_groups,)
        Nats that the next deletion would cost, as `deletion_cost` has it; infinite for groups that
        are gone.
    number : int
        Deletions so far.
    known : bool
        Whether what they leave has digits enough.
    """

    def __init__(self, variances: Array, means: Array, groups: Groups) -> None:
        self._V, self._mean = variances, means.reshape(len(means), -1).copy()
        self._W = np.empty((*self._mean.shape, 0))
        outputs = means.shape[-1]
        self._by_size = [(which, columns_of(own, outputs)) for which, own in groups.by_size]
        blocks = [(columns[:, :, None], columns[:, None, :]) for _, columns in self._by_size]
        self._own = [variances[:, rows, columns] for rows, columns in blocks]
        self.cost, self.number, self.known = np.zeros(groups.count), 0, True
        self._evaluate()

    def _evaluate(self) -> None:
        """Compute what the next deletion costs."""
        gone = np.isinf(self.cost)
        self.cost[:] = 0
        for (which, columns), own in zip(self._by_size, self._own, strict=True):
            self.cost[which] = deletion_cost(own, self._mean[:, columns]).sum(axis=0)
        self.cost[gone] = np.inf

    def delete(self, group: int) -> None:
        """Delete a group."""
        self.number, self.cost[group] = self.number + 1, np.inf
        for (which, columns), blocks in zip(self._by_size, self._own, strict=True):
            place = np.flatnonzero(which == group)
            if len(place):
                mine, own = columns[place[0]], blocks[:, place[0]].copy()
        values, axes = np.linalg.eigh(own)
        if values.min() < SAFE_EIGENVALUE:
            self.known = False
            return
        root = axes / np.sqrt(values)[:, None, :]
        W = (self._V[:, :, mine] - self._W @ np.swapaxes(self._W[:, mine], 1, 2)) @ root
        self._mean -= (W @ (np.swapaxes(root, 1, 2) @ self._mean[:, mine, None]))[:, :, 0]
        self._W = np.concatenate([self._W, W], axis=2)
        self._take_away(W, group)

    def _take_away(self, W: Array, group: int) -> None:
        """Take WWᵀ from the blocks within groups; those of groups that are gone stand for none."""
        for (which, columns), own in zip(self._by_size, self._own, strict=True):
            part = W[:, columns]
            own -= part @ np.swapaxes(part, 2, 3)
            own[:, np.isinf(self.cost[which])] = np.eye(columns.shape[1])
            least = own.diagonal(axis1=2, axis2=3).min(initial=1.0)
            self.known &= bool(least >= SAFE_VARIANCE)
        if self.known:
            self._evaluate()


def deletion_costs(variances: Array, means: Array, hyper: Hyperparameters) -> Array:
    """Cost of deleting each group, given Σ̂ and μ̂ of each set; shape (n_groups,)."""
    if hyper.single and means.shape[-1] == 1:
        own = variances.diagonal(axis1=1, axis2=2)[..., None, None]
        cost: Array = deletion_cost(own, means).sum(axis=0)
        return cost
    return Deletions(variances, means, hyper.groups).cost


def kept_after_deletions(
    variances: Array, means: Array, hyper: Hyperparameters, tol: float, most: float = np.inf
) -> Index:
    """Positions that are left when groups that cost less than `tol` go one after the other.

    A group whose best α is infinite (of one function, q² < s) costs less than nothing. The others
    that go are near copies of their neighbours, which take over. So many go at `most`.
    """
    if deletion_costs(variances, means, hyper).min(initial=np.inf) >= tol:
        return np.arange(len(hyper.alpha))
    deletions = Deletions(variances, means, hyper.groups)
    while deletions.known and deletions.number < most and deletions.cost.min() < tol:
        deletions.delete(int(deletions.cost.argmin()))
    return np.flatnonzero(np.isfinite(deletions.cost))
