"""Candidates and targets of rows that are gone, of which sums are left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from relvec._design.base import Target, as_groups, shared_scales, standard_units
from relvec._design.dense import DenseDesign
from relvec._design.moments import (
    MANY_PRODUCTS,
    Counts,
    Moments,
    RFactor,
    nonconstant_norms,
    unexplained,
)
from relvec._numerics.typing import Array, Index, RowVector

#: Candidates up to which parts of the rows are summed by QR, which keeps all digits.
FEW = 500


@dataclass(frozen=True)
class RowSums:
    """Sufficient statistics of rows for Gaussian noise; those of different rows add up."""

    counts: Counts  # what the rows count for
    moments: Moments | RFactor  # of the candidates, and of the targets behind them
    n_candidates: int

    @classmethod
    def of(cls, Phi: Array, targets: Array, weights: Array | None) -> Self:
        """Sum rows of candidates and targets."""
        kind = RFactor if Phi.shape[1] <= FEW else Moments
        counts = Counts.of(len(Phi), weights, None)
        return cls(counts, kind.of(Phi, targets.copy(), weights), Phi.shape[1])

    def __add__(self, other: RowSums) -> RowSums:
        counts = self.counts + other.counts
        return RowSums(counts, self.moments + other.moments, self.n_candidates)  # type: ignore[operator]

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.moments.mean) - self.n_candidates

    @property
    def squares(self) -> Array:
        """Centred square of each candidate and target."""
        return self.moments.squares

    @property
    def root(self) -> RFactor:
        """Few rows with their products."""
        if isinstance(self.moments, RFactor):
            return self.moments
        return self.moments.root(self.n_candidates)


class SummedDesign(DenseDesign):
    """Few rows that have the means and products of many which are gone.

    The vectors over the rows that it knows are the numbers of targets; a function of its rows sees
    those few. Nothing can be looked at again. Parameters beside `sums` are those of `DenseDesign`.
    """

    def __init__(
        self,
        sums: RowSums,
        *,
        center: bool,
        groups: Index | None = None,
        nothing: float | Array = 0.0,
    ) -> None:
        self._nothing = nothing
        root, m = sums.root, sums.n_candidates
        rows = root.rows if center else root.about_zero()
        self.shape = len(rows), m
        self.has_intercept, self._weights, self._root = center, None, None
        self.row_weights = np.ones(len(rows))
        self.n_copies, self.total_weight = sums.counts.copies, sums.counts.weight
        self.precision_evidence = 0.0
        self._Phi, self._targets = (np.ascontiguousarray(p) for p in np.split(rows, [m], axis=1))
        self.center = root.mean[:m] if center else np.zeros(m)
        norms = np.sqrt(np.einsum("ij,ij->j", self._Phi, self._Phi))
        norms = nonconstant_norms(norms, self.center, self.total_weight, nothing)
        self.groups = as_groups(groups, m)
        self.scale, self.norm2 = shared_scales(norms, self.groups)
        self._many = isinstance(sums.moments, Moments) and self.n_copies * m**2 > MANY_PRODUCTS
        self._target_mean, self._target_squares = root.mean[m:], root.squares[m:]

    def target(self, t: RowVector) -> Target:
        """See `Design.target`, of the targets with the numbers t."""
        mean, square = self._target_mean[t], self._target_squares[t] / self.total_weight
        varies, nonzero = self.varies()[t], (mean != 0) | (square > 0)
        center, scale, variance = standard_units(mean, square, nonzero, varies, self)
        return Target(self._targets[:, t] / scale, center, scale, variance)

    def unexplained(self, target: Target) -> Array | None:
        """See `Design.unexplained`; as for rows that are passed over."""
        return unexplained(target.values.T, self.n_effective) if self._many else None

    def varies(self) -> NDArray[np.bool_]:
        """Return whether each target varies by more than rounding."""
        norms = np.sqrt(self._target_squares)
        return np.isfinite(nonconstant_norms(norms, self._target_mean, self.total_weight))
