"""The last word on a model: everything recomputed from its own functions, in the users' units."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from relvec.design.base import Array, Design, Index
from relvec.evidence import ActiveSet, WeightPosterior, posterior_root
from relvec.posterior import Posterior
from relvec.solvers.newton import Model


@dataclass(frozen=True)
class Accepted:
    """A model in the users' units; see `Solution` for the attributes."""

    active: Index
    alpha: Array
    noise_variance: float
    posterior: Posterior
    well_determined: Array
    log_evidence: float


def log_evidence(design: Design, alpha: Array, noise_variance: float) -> float:
    """Log evidence of all candidates of a design, for precisions in the users' units."""
    # A function that is constant on these data was scaled to zero, and its α no longer matters.
    unit = np.where(np.isfinite(design.scale), design.target_scale / design.scale, 1.0)
    beta = design.target_scale**2 / noise_variance
    model = Model(np.arange(len(alpha)), alpha * unit**2, beta)
    _, posterior = _recomputed(design, model)
    return design.to_user_evidence(posterior.log_evidence)


def accept(design: Design, model: Model) -> Accepted:
    """Recompute evidence and posterior of the kept functions from their columns alone.

    What is reported never rests on the digits that the search may have lost.
    """
    model = model.keep(np.argsort(model.active))
    active, alpha, beta = model.active, model.alpha, model.beta
    kept = design.restrict(active)
    data, found = _recomputed(kept, replace(model, active=np.arange(len(active))))
    t_unit, phi_unit = kept.target_scale, kept.scale
    noise_variance = t_unit**2 / beta
    with np.errstate(over="ignore", under="ignore"):
        user_alpha = alpha * (phi_unit / t_unit) ** 2
    if not (np.isfinite(user_alpha) & (user_alpha > 0)).all():
        raise OverflowError(
            "weight precisions in the units of X and y exceed the range of float64; rescale them"
        )
    to_weight = t_unit / (phi_unit * np.sqrt(alpha))
    posterior = Posterior(
        mean=to_weight * found.mean,
        root=to_weight[:, None] * posterior_root(data.weighted(alpha, beta)),
        center=kept.center,
        level=design.target_center,
        level_variance=noise_variance * design.level_share,
    )
    return Accepted(
        active=active,
        alpha=user_alpha,
        noise_variance=noise_variance,
        posterior=posterior,
        well_determined=found.well_determined(),
        log_evidence=design.to_user_evidence(found.log_evidence),
    )


def _recomputed(design: Design, model: Model) -> tuple[ActiveSet, WeightPosterior]:
    """Posterior of a model in a fresh orthonormal frame of its own functions."""
    frame = design.frame()
    frame.extend(model.active, frame.rest(model.active))
    data = ActiveSet.from_frame(frame, model.active, design.n_effective)
    return data, WeightPosterior.at(data, model.alpha, model.beta)
