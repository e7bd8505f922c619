"""Among how many columns, or groups of them, a search chooses."""

from __future__ import annotations

import numpy as np

from relvec._design import Design
from relvec._design.base import EVERY
from relvec._numerics.typing import Index


def independent_groups(design: Design) -> float:
    """Number of independent columns, or groups of them, from 1 to all, that a design is worth.

    The best of M independent columns of noise seems to be worth about log M nats, so that an
    evidence maximised over which of them to keep has to be charged as much for each. Columns that
    say the same are one column: with ρ² the mean square of their correlations, less what it is by
    chance, M columns count as M / (1 + (M − 1)ρ²). Of groups with Φ_g and Φ_h the square of the
    correlation is ‖Φ_gᵀΦ_h‖² / ‖Φ_gᵀΦ_g‖‖Φ_hᵀΦ_h‖ (Robert & Escoufier 1976).
    """
    size = len(varying_groups(design))
    if size < 2 or design.n_effective <= 1:
        return 1.0
    total, by_chance = _squared_correlations(design)
    by_chance /= design.n_effective
    mean_square = (total - size) / (size * (size - 1))
    if by_chance >= 1:
        return float(size)
    shared = min(max((mean_square - by_chance) / (1 - by_chance), 0.0), 1.0)
    return float(size / (1 + (size - 1) * shared))


def varying_groups(design: Design) -> Index:
    """Groups of columns that are not all constant."""
    varies = np.isfinite(design.scale).astype(np.float64)
    return np.flatnonzero(design.groups.largest(varies))


def _squared_correlations(design: Design) -> tuple[float, float]:
    """Sum over all pairs of groups, each with itself too, and mean by chance, times the rows."""
    if design.groups.single:
        return design.squared_products(), 1.0
    gram, groups, varying = design.gram(EVERY), design.groups, varying_groups(design)
    squares = groups.total(groups.total(gram**2).T)[np.ix_(varying, varying)]
    own = np.sqrt(squares.diagonal())
    spread = groups.total(gram.diagonal())[varying] / own
    pairs = len(varying) * (len(varying) - 1)
    by_chance = (spread.sum() ** 2 - (spread**2).sum()) / pairs
    return float((squares / np.outer(own, own)).sum()), float(by_chance)
