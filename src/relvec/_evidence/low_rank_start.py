"""Starts of the search by MacKay iterations where the dictionary is numerically of low rank.

Smooth kernels give hundreds of functions that span a few dozen directions. Adding them one by one
gets stuck there, because the first few stand in the way of better ones that lie almost in their
span. Going top-down from all functions at once does not, and in an orthonormal frame of j
directions a sweep over all M of them costs j²M operations instead of N³.

A sweep begins where all functions share one precision. The evidence of that model is a function of
one number, whose maxima tell how much of the target may be noise.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from relvec._design.base import Design, Target, TargetFrame
from relvec._evidence.gaussian import RESOLUTION, CandidateFactors, ReducedData
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.noise import NO_MISFIT, Noise
from relvec._numerics.floats import EPSILON
from relvec._numerics.groups import Groups
from relvec._numerics.linalg import pivoted_qr
from relvec._numerics.typing import Array

#: Share of a unit-norm function's square that may stay outside the frame: up to this many
#: directions the first, beyond them the second. What is fast beside the width of a smooth kernel
#: lies in directions of as little as the first.
FEW, NEGLECTED = 64, (1e-14, 1e-5)
#: Directions at most, for how many candidates there may be one, and how many are looked for at a
#: time.
MAX_RANK, CANDIDATES_A_DIRECTION, BLOCK = 800, 2, 16
#: Directions explain less and less of the candidates. Where so many times the pace of the last
#: ones does not reach the end, the dictionary is not of low rank.
SPEED_UP = 2.0
#: MacKay iterations at least.
MIN_SWEEPS = 10
#: Ratios β/α at which the evidence of one precision for all functions is computed, and the share
#: of a unit variance that the largest and the smallest direction have at the ends.
RATIOS, LEAST_SIGNAL, MOST_SIGNAL = 60, 1e-2, 1e3
#: Functions leave that the data determine less than this (γ_i), a tenth more every sweep.
WELL_DETERMINED, GROWTH = 0.003, 1.1


def low_rank_frame(
    design: Design,
    target: Target,
    *,
    neglected: tuple[float, float] = NEGLECTED,
    candidates_a_direction: int = CANDIDATES_A_DIRECTION,
) -> TargetFrame | None:
    """Frame that spans every candidate nearly, or None where the dictionary is not of low rank.

    Low are `MAX_RANK` directions, and one in so many candidates.
    """
    frame = design.frame(target)
    limit = min(MAX_RANK, int((frame.residual_norm2 > 0).sum()) // candidates_a_direction)
    rank, left = 0, np.inf
    while len(frame.coords) <= limit:
        spanned = neglected[len(frame.coords) >= FEW]
        outside = np.flatnonzero(frame.residual_norm2 > spanned)
        if not len(outside):
            return frame
        before, left = left, float(frame.residual_norm2[outside].sum())
        pace, rank = (before - left) / max(1, len(frame.coords) - rank), len(frame.coords)
        if left > SPEED_UP * pace * (limit - rank):
            return None
        # Evenly spaced in their correlation with a target, whatever its sign and the order of the
        # rows.
        closeness = np.abs(np.atleast_2d(frame.residual_dot)).max(axis=0)
        ordered = outside[np.argsort(closeness[outside], kind="stable")]
        places = np.linspace(0, len(ordered) - 1, min(BLOCK, len(ordered)))
        index = ordered[np.unique(places.round().astype(np.intp))]
        residual = frame.residual(index)
        # Norms that are all one would leave the first pivot to the last digit.
        favour = 1 + closeness[index]
        norms, order = pivoted_qr(residual * favour)
        new = order[: max(1, int(((norms / favour[order]) ** 2 > spanned).sum()))]
        frame.extend(index[new], residual[:, new])
    return None


def low_rank_starts(frame: TargetFrame, n: float, noise: Noise) -> tuple[Hyperparameters, ...]:
    """Models that MacKay's updates lead to, the one of the highest shared-precision evidence first.

    From each local maximum of the evidence in which all functions share a precision: from that of
    much noise the updates may lose what those of little keep. Where directions are many, and
    updates dear, from the highest alone.
    """
    found: dict[tuple[int, ...], Hyperparameters] = {}
    maxima = shared_precision_maxima(frame, n, noise)
    for start in maxima if len(frame.coords) <= FEW else maxima[:1]:
        ended = mackay_iterations(frame, start, n, noise)
        found.setdefault(tuple(ended.active), ended)
    return tuple(found.values())


def spanned_functions(coords: Array, groups: Groups, alpha: float, beta: Array) -> Hyperparameters:
    """All groups of functions that a frame spans in part, each with the same precision.

    Takes the coordinates of the functions in the frame, (j, n_candidates), and the noise precision
    of each target, (n_targets,).
    """
    spanned = np.einsum("ij,ij->j", coords, coords)
    active, group = groups.members(np.flatnonzero(groups.total(spanned) > 0))
    return Hyperparameters(active, np.full(group.max(initial=-1) + 1, alpha), beta, group)


def shared_precision_maxima(
    frame: TargetFrame, n: float, noise: Noise
) -> tuple[Hyperparameters, ...]:
    """Local maxima of the evidence where all functions share α, the highest first.

    With the eigenvalues s_i of ΦΦᵀ and the parts c_i of the target along its eigenvectors,
    C = β⁻¹(I + ρΦΦᵀ) for ρ = β/α, so that β⁻¹ = (Σ c_i²/(1 + ρs_i) + r)/N is best at each ρ, with
    the square r that the frame leaves of the target, and one dimension is left to be searched.
    Several targets share ρ here, and α is the geometric mean of what theirs would be.
    """
    coords, outside = frame.coords, np.atleast_1d(frame.residual_target)
    s, axes = np.linalg.eigh(coords @ coords.T)
    if not s.max(initial=0.0) > 0:
        return ()
    squares = (np.atleast_2d(frame.target) @ axes) ** 2
    s = np.maximum(s, EPSILON * s.max())
    ratio = np.geomspace(LEAST_SIGNAL / s.max(), MOST_SIGNAL / s.min(), RATIOS)
    variance = 1 + np.multiply.outer(ratio, s)  # of each part beside β⁻¹
    misfit = squares @ (1 / variance).T + outside[:, None]
    beta = n / np.maximum(misfit, NO_MISFIT)
    beta = np.where(noise.held, noise.beta_max[:, None], np.minimum(beta, noise.beta_max[:, None]))
    log_det = len(outside) * np.log(variance).sum(axis=1)
    evidence = 0.5 * ((n * np.log(beta) - beta * misfit).sum(axis=0) - log_det)  # eq. 15
    padded = np.pad(evidence, 1, constant_values=-np.inf)
    maxima = np.flatnonzero((evidence >= padded[:-2]) & (evidence > padded[2:]))
    maxima = maxima[np.argsort(-evidence[maxima], kind="stable")]
    alpha = np.exp(np.log(beta).mean(axis=0)) / ratio
    return tuple(
        spanned_functions(coords, frame.groups, float(alpha[k]), beta[:, k]) for k in maxima
    )


def mackay_iterations(
    frame: TargetFrame, hyper: Hyperparameters, n: float, noise: Noise
) -> Hyperparameters:
    """MacKay's updates (eq. 16 to 18) of all groups, until no more are left than directions.

    The frame spans most functions nearly, so this is a start and no result: functions
    must be spanned exactly before the evidence means anything. With S and Q of every function,
    γ_i = S_i/α_i and μ_i = Q_i/α_i. Several targets and the functions of a group share α, so that
    eq. 16 has their sums: α_g = Σγ_i / Σμ_i².
    """
    limit, threshold = len(frame.coords), WELL_DETERMINED
    data = ReducedData.from_frame(frame, hyper.active, n)
    for sweeps in count(1):
        gamma, square, beta = _updates(data, hyper, n, noise)
        updated = np.full(len(gamma), np.inf)
        np.divide(gamma, square, out=updated, where=square > 0)  # eq. 16
        least = threshold * len(beta)
        keep = np.flatnonzero((gamma > least) | ((updated < hyper.alpha) & (threshold < 1)))
        if len(keep) < limit < len(gamma):  # equal functions fall under the threshold together
            keep = np.sort(np.argsort(-gamma, kind="stable")[:limit])
        hyper = hyper.at(updated, beta)
        if len(keep) < len(gamma):
            data = data.keep(hyper.functions(keep))
            hyper = hyper.keep(keep)
        if sweeps >= MIN_SWEEPS and len(hyper.alpha) <= limit:
            break
        threshold *= GROWTH
    return _independent(frame, hyper)


def _updates(
    data: ReducedData, hyper: Hyperparameters, n: float, noise: Noise
) -> tuple[Array, Array, Array]:
    """Σγ and Σμ² of each group, and β after its update (eq. 18) unless it is held."""
    factors = CandidateFactors.inside(data.R, data, hyper)
    gamma, mean = factors.S / hyper.each, factors.Q / hyper.each
    beta = hyper.beta
    if not noise.held:
        beta = noise.precision(n - gamma.sum(axis=1), data.misfit(mean))
    both = np.stack([gamma.sum(axis=0), (mean * mean).sum(axis=0)], axis=1)
    return *hyper.total(both).T, beta


def _independent(frame: TargetFrame, hyper: Hyperparameters) -> Hyperparameters:
    """Leave out groups without weight, and those that lie in the span of the others."""
    hyper = hyper.keep(np.flatnonzero(np.isfinite(hyper.alpha)))
    coords = frame.coords[:, hyper.active]
    favour = 1 + np.abs(np.atleast_2d(frame.target) @ coords).max(axis=0)
    return independent(coords, hyper, RESOLUTION, favour)


def independent(
    columns: Array, hyper: Hyperparameters, least: float, favour: Array
) -> Hyperparameters:
    """Leave out groups of whose columns no square above the `least` is left beside the others'.

    Takes a column of each function, (j, n_active), and by what some are favoured, (n_active,).
    """
    if not columns.size:
        return hyper
    norms, order = pivoted_qr(columns * favour)
    return hyper.keep(np.unique(hyper.group[order[(norms / favour[order]) ** 2 > least]]))
