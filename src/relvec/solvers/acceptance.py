"""The last word on a model: everything recomputed from its own functions, in the users' units."""

from __future__ import annotations

from dataclasses import dataclass

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


def model_from_user_units(design: Design, alpha: Array, noise_variance: float) -> Model:
    """All candidates of a design as a model, with precisions given in the users' units."""
    # A function that is constant on these data was scaled to zero, and its α no longer matters.
    unit = np.where(np.isfinite(design.scale), design.target_scale / design.scale, 1.0)
    beta = design.target_scale**2 / noise_variance
    return Model(np.arange(len(alpha)), alpha * unit**2, beta)


def accept(design: Design, model: Model) -> Accepted:
    """Recompute evidence and posterior of the kept functions from their columns alone.

    A fresh orthonormal frame of the kept functions keeps the digits that the search may have lost,
    so what is reported never rests on the search.
    """
    order = np.argsort(model.active)
    active, alpha, beta = model.active[order], model.alpha[order], model.beta
    kept = design.restrict(active)
    frame, every = kept.frame(), np.arange(len(active))
    frame.extend(every, frame.rest(every))
    data = ActiveSet.from_frame(frame, every, design.n_effective)
    found = WeightPosterior.at(data, alpha, beta)

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
