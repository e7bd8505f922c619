"""Two classes by Jaakkola and Jordan's bound, under which the posterior of the weights is Gaussian.

log σ(z) ≥ log σ(ξ) + (z − ξ)/2 − λ(ξ)(z² − ξ²) with λ(ξ) = tanh(ξ/2)/4ξ, for z = y where t = 1 and
−y where t = 0. It is quadratic in y, so a posterior and an evidence that follow from it are exact,
and the evidence is a lower bound whatever the ξ of each row. The best of them is ξ² = ⟨y²⟩.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from scipy.special import log_expit

from relvec.design.base import Array, Design
from relvec.inference.base import Inference, Model, Near
from relvec.inference.choice import infer
from relvec.inference.laplace import Laplace, LaplacePoint
from relvec.inference.mode import Rows
from relvec.likelihoods.base import Likelihood
from relvec.likelihoods.bernoulli import Bernoulli
from relvec.likelihoods.gaussian import Gaussian


class BoundRows(Rows):
    """What the bound makes of the outputs of all rows.

    Parameters
    ----------
    rows : Rows
        Of the likelihood itself.
    xi : ndarray of shape (n_samples, 1)
        Where the bound of each row touches.
    """

    def __init__(self, rows: Rows, xi: Array) -> None:
        super().__init__(rows.likelihood, rows.t, rows.weights, rows.has_intercept)
        self.xi, self._lambda = xi, np.full(xi.shape, 0.125)
        np.divide(np.tanh(xi / 2), 4 * xi, out=self._lambda, where=xi > 0)

    def log_prob(self, y: Array) -> float:
        """Lower bound of the log-likelihood."""
        touching = log_expit(self.xi) - self.xi / 2
        bound = touching + (self.t - 0.5) * y - self._lambda * (y**2 - self.xi**2)
        return float(self.weights @ bound[:, 0])

    def slope(self, y: Array) -> Array:
        """Its derivative, t − ½ − 2λy."""
        slope: Array = self.weights[:, None] * (self.t - 0.5 - 2 * self._lambda * y)
        return slope

    def curvature(self, y: Array) -> Array:
        """B = 2λ."""
        curvature: Array = (self.weights[:, None] * 2 * self._lambda)[:, :, None]
        return curvature

    def curvature_slope(self, y: Array, spread: Array) -> Array:
        """Zero: the curvature is the same for all outputs."""
        return np.zeros_like(y)


@dataclass(frozen=True)
class BoundNear(Near):
    """See `Near`; where the bounds touch that are best there, too: `xi` (n_samples, 1)."""

    xi: Array


class BoundPoint(LaplacePoint):
    """A model with the Gaussian posterior of the weights that the bound gives."""

    fall = 0.0

    def near(self) -> BoundNear:
        """See `Point.near`."""
        return BoundNear(self.model, self.weights, self.level, self.tightened().xi)

    def tightened(self) -> BoundRows:
        """The bounds that touch at ξ² = ⟨y²⟩ of this posterior."""
        spread = self.bend.spread()[:, :, 0]
        return BoundRows(self.outputs.rows, np.sqrt(self.outputs.y**2 + spread))


class Bound(Laplace):
    """Posterior of the weights, and a lower bound of the evidence, for two classes.

    Parameters are those of `Laplace`.
    """

    def point(self, model: Model, near: Near | None = None) -> BoundPoint:
        """See `Inference.point`; the bounds touch where they are best at `near`, or at zero."""
        xi = near.xi if isinstance(near, BoundNear) else np.zeros_like(self.rows.t)
        return BoundPoint(model, self._place(model, near, BoundRows(self.rows, xi)))


@singledispatch
def bound(likelihood: Likelihood, design: Design, t: Array) -> Inference:
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
def _(likelihood: Gaussian, design: Design, t: Array) -> Inference:
    """The evidence itself."""
    return infer(likelihood, design, t)


@bound.register
def _(likelihood: Bernoulli, design: Design, t: Array) -> Inference:
    """Jaakkola and Jordan's bound."""
    return Bound(design, t, likelihood)
