"""Start of the search under Laplace's method, where few directions span the dictionary.

With all functions in the model and one precision for all, the evidence is that of a process: it is
not stuck where no single function says anything of the classes, as with labels of stripes. From
its maxima MacKay's updates (eq. 16) lead to a sparse model, all functions at once, the mode found
anew before each. In an orthonormal frame of j directions that costs j²M + j²N operations for M
functions and N rows instead of M³.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import starmap

import numpy as np

from relvec._design.base import Design, TargetFrame
from relvec._evidence.curvature import Information
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.low_rank_start import (
    MIN_SWEEPS,
    WELL_DETERMINED,
    independent,
    spanned_functions,
)
from relvec._evidence.mode import CLOSELY, LogLikelihood, NewtonIterate, find_mode
from relvec._numerics.linalg import NotPositiveDefiniteError, pivoted_qr, triangle, whitened
from relvec._numerics.typing import Array, Index, RowVector
from relvec.likelihoods.base import Likelihood

#: Prior variances of the output at which the shared precision is tried: from next to no function
#: to one that decides every row.
OUTPUT_VARIANCES = tuple(10.0**power for power in range(7))


@dataclass(frozen=True)
class FrameModel:
    """Posterior mode and evidence of weights whose functions lie in a frame."""

    design: Design
    t: RowVector  # (n_samples, d), target
    likelihood: Likelihood  # log-concave in its one output
    coords: Array  # (j, n_candidates), candidates in the frame
    directions: RowVector  # (n_samples, j), directions of the frame

    @classmethod
    def of(
        cls, design: Design, t: RowVector, likelihood: Likelihood, frame: TargetFrame
    ) -> FrameModel:
        """Take the directions from the candidates that span them best."""
        _, order = pivoted_qr(frame.coords)
        best = order[: len(frame.coords)]
        inverse = np.asarray(np.linalg.inv(frame.coords[:, best]), dtype=np.float64)
        directions = design.map_rows(partial(_times, inverse), design.columns(best))
        return cls(design, t, likelihood, frame.coords, directions)

    def seen(self, mode: NewtonIterate, active: Index) -> Array:
        """Functions in coordinates in which the data determine every direction alike.

        What C⁻¹ makes of them is (I + DDᵀ)⁻¹ there, with D the functions times α^(-1/2).
        """
        gram = Information(self.design, self.directions, mode.B).gram
        values, axes = np.linalg.eigh(gram)
        seen: Array = (axes * np.sqrt(np.maximum(values, 0.0))).T @ self.coords[:, active]
        return seen

    def mode(self, root: Array, weights: Array, intercept: Array) -> NewtonIterate | None:
        """Mode under the prior covariance root rootᵀ in the frame; None where it is out of reach.

        `root` (j, k) has a column for each function, where these are fewer than the directions. The
        search begins at weights (k, 1), in units of the prior, and intercept (1,).
        """
        Phi = self.design.map_rows(partial(_times, root), self.directions)
        at = LogLikelihood(self.likelihood, weights, intercept)
        start = NewtonIterate(at, self.design, self.t, Phi, np.ones(root.shape[1]))
        try:
            mode, reached = find_mode(start, CLOSELY)
        except NotPositiveDefiniteError:
            return None
        return mode if reached else None


def shared_precision_start(model: FrameModel, beta: Array) -> Hyperparameters | None:
    """Return a sparse model that MacKay's updates lead to from all functions of one precision.

    They begin at each local maximum of the evidence over that precision; what has most of it in the
    end is returned, or None where no mode is within reach. The model has `beta` (1,).
    """
    hyper = spanned_functions(model.coords, model.design.groups, 1.0, beta)
    found = list(starmap(partial(_updated, model, hyper), _maxima(model, hyper)))
    return max(found, key=lambda each: each[0])[1] if found else None


def _maxima(model: FrameModel, hyper: Hyperparameters) -> list[tuple[float, NewtonIterate]]:
    """Shared precisions where the evidence has local maxima, and the modes there."""
    coords = model.coords[:, hyper.active]
    values, axes = np.linalg.eigh(coords @ coords.T)
    root = axes * np.sqrt(np.maximum(values, 0.0))
    per_row = float(values.sum()) / model.design.total_weight
    tried: list[tuple[float, NewtonIterate]] = []
    weights, intercept = np.zeros((len(root), 1)), np.zeros(1)
    for variance in OUTPUT_VARIANCES:
        alpha = per_row / variance
        mode = model.mode(root / np.sqrt(alpha), weights, intercept)
        if mode is None:
            break
        weights, intercept = mode.weights, mode.intercept
        tried.append((alpha, mode))
    levels = [-np.inf, *(mode.log_evidence for _, mode in tried), -np.inf]
    slopes = np.diff(levels) > 0
    return [tried[k] for k in np.flatnonzero(slopes[:-1] & ~slopes[1:])]


def _updated(
    model: FrameModel, hyper: Hyperparameters, alpha: float, mode: NewtonIterate
) -> tuple[float, Hyperparameters]:
    """Evidence and model after updates from a shared precision, given the mode there."""
    hyper = hyper.at(np.full(len(hyper.alpha), alpha), hyper.beta)
    for _ in range(MIN_SWEEPS):
        (by_direction,) = mode.design.sum_rows(_products, model.directions, mode.gradient)
        quality = by_direction @ model.coords[:, hyper.active]
        updated = _update(model.seen(mode, hyper.active), quality, hyper)
        if not updated.all() or np.isinf(updated).all():
            break  # weights are out of range, or none is left
        fewer = hyper.at(updated, hyper.beta).keep(np.flatnonzero(np.isfinite(updated)))
        coords = model.coords[:, fewer.active] / np.sqrt(fewer.each)
        root = triangle(coords.T).T
        there = model.mode(root, (by_direction @ root)[:, None], mode.intercept)
        if there is None:
            break
        mode, hyper = there, fewer
    # Functions that the data hardly determine beside those of others are left out.
    seen = model.seen(mode, hyper.active) / np.sqrt(hyper.each)
    return mode.log_evidence, independent(seen, hyper, WELL_DETERMINED, np.ones(seen.shape[1]))


def _update(seen: Array, quality: Array, hyper: Hyperparameters) -> Array:
    """Eq. 16 for each group, infinite for those without weight.

    `seen` (j, n_active) are functions in coordinates in which the data determine every direction
    alike, and `quality` (n_active,) is Φᵀ ∂log p/∂y at the mode, which is αμ.
    """
    root_alpha = np.sqrt(hyper.each)
    scaled = seen / root_alpha
    _, white, _ = whitened(scaled.T, scaled, np.zeros(len(seen)))
    determined = hyper.total(np.einsum("ij,ij->j", white, white))
    updated = np.full(len(hyper.alpha), np.inf)
    with np.errstate(over="ignore"):  # a weight of next to nothing is none
        square = hyper.total((quality / root_alpha) ** 2)  # αμ²
        np.divide(determined * hyper.alpha, square, out=updated, where=square > 0)
    return updated


def _times(matrix: Array, values: Array) -> Array:
    return values @ matrix


def _products(directions: Array, values: Array) -> tuple[Array, ...]:
    return (values[:, 0] @ directions,)
