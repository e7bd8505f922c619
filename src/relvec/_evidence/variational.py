"""Two classes by Jaakkola and Jordan's bound, under which the posterior of the weights is Gaussian.

log σ(z) ≥ log σ(ξ) + (z − ξ)/2 − λ(ξ)(z² − ξ²) with λ(ξ) = tanh(ξ/2)/4ξ, for z = y where t = 1 and
−y where t = 0. It is quadratic in y, so a posterior and an evidence that follow from it are exact,
and the evidence is a lower bound whatever the ξ of each row. The best of them is ξ² = ⟨y²⟩.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, singledispatch

import numpy as np
from scipy.special import log_expit

from relvec._design.base import Design
from relvec._evidence.base import EvidenceModel, WarmStart
from relvec._evidence.choice import evidence_model
from relvec._evidence.curvature import PredictorCovariance
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.laplace import LaplaceEvidence, LaplaceState
from relvec._evidence.rows import Rows, Terms
from relvec._numerics.typing import Array, RowVector
from relvec.likelihoods.base import Likelihood
from relvec.likelihoods.bernoulli import Bernoulli
from relvec.likelihoods.gaussian import Gaussian


class BoundTerms(Terms):
    """What the bound makes of the outputs of some rows, given where it touches: ξ, and λ(ξ)."""

    def log_prob(self, y: Array, t: Array, weights: Array, *touching: Array) -> float:
        """Lower bound of the log-likelihood."""
        xi, bend = touching
        bound = log_expit(xi) - xi / 2 + (t - 0.5) * y - bend * (y**2 - xi**2)
        return float(weights @ bound[:, 0])

    def slope(self, y: Array, t: Array, weights: Array, *touching: Array) -> Array:
        """Its derivative, t − ½ − 2λy."""
        slope: Array = weights[:, None] * (t - 0.5 - 2 * touching[1] * y)
        return slope

    def curvature(self, y: Array, t: Array, weights: Array, *touching: Array) -> Array:
        """B = 2λ."""
        curvature: Array = (weights[:, None] * 2 * touching[1])[:, :, None]
        return curvature

    def curvature_slope(
        self, y: Array, spread: Array, t: Array, weights: Array, *touching: Array
    ) -> Array:
        """Zero: the curvature is the same for all outputs."""
        return np.zeros_like(y)


def bounded(rows: Rows, xi: RowVector) -> Rows:
    """The rows of a likelihood with its bounds, which touch at ξ (n_samples, 1)."""
    given = (*rows.given[:2], xi, rows.design.map_rows(_bend, xi))
    return replace(rows, terms=BoundTerms(rows.likelihood), given=given)


def _bend(xi: Array) -> Array:
    """λ(ξ)."""
    bend = np.full(xi.shape, 0.125)
    np.divide(np.tanh(xi / 2), 4 * xi, out=bend, where=xi > 0)
    return bend


def _root_mean_square(reach: PredictorCovariance, Phi: Array, y: Array) -> Array:
    root: Array = np.sqrt(y**2 + reach.spread(Phi)[:, :, 0])
    return root


@dataclass(frozen=True)
class BoundWarmStart(WarmStart):
    """See `WarmStart`; where the bounds touch that are best there, too: `xi` (n_samples, 1)."""

    xi: RowVector


class BoundState(LaplaceState):
    """A model with the Gaussian posterior of the weights that the bound gives."""

    allowed_decrease = 0.0

    def warm_start(self) -> BoundWarmStart:
        """See `EvidenceState.warm_start`; the best bounds touch at ξ² = ⟨y²⟩ of this posterior."""
        here = self.outputs
        function = partial(_root_mean_square, self.bend.reach)
        xi = here.rows.design.map_rows(function, here.Phi, here.y)
        return BoundWarmStart(self.hyper, self.weights, self.level, xi)


class BoundEvidence(LaplaceEvidence):
    """Posterior of the weights, and a lower bound of the evidence, for two classes.

    Parameters are those of `LaplaceEvidence`.
    """

    def at(self, hyper: Hyperparameters, warm: WarmStart | None = None) -> BoundState:
        """See `EvidenceModel.at`; the bounds touch where they are best at `warm`, or at zero."""
        if isinstance(warm, BoundWarmStart):
            xi = warm.xi
        else:
            xi = self.design.map_rows(np.zeros_like, self.rows.given[0])
        return BoundState(hyper, self._place(hyper, warm, bounded(self.rows, xi)))


@singledispatch
def bound(likelihood: Likelihood, design: Design, t: RowVector) -> EvidenceModel:
    """Inference whose evidence is, at fixed precisions, a lower bound of the log evidence.

    Raises
    ------
    ValueError
        There is none for the likelihood.
    """
    del design, t
    raise ValueError(
        f"solver='variational' has no lower bound under {type(likelihood).__name__}, expected "
        "Gaussian noise or two classes; use multi_class='ovr' for several classes, or "
        "solver='sequential', 'fixed_point' or 'em'"
    )


@bound.register
def _(likelihood: Gaussian, design: Design, t: RowVector) -> EvidenceModel:
    """The evidence itself."""
    return evidence_model(likelihood, design, t)


@bound.register
def _(likelihood: Bernoulli, design: Design, t: RowVector) -> EvidenceModel:
    """Jaakkola and Jordan's bound."""
    return BoundEvidence(design, t, likelihood)
