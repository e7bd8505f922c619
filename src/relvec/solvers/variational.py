"""A factorised posterior over weights and precisions, Bishop and Tipping (2000)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from relvec._design.base import Design
from relvec._evidence import (
    EvidenceModel,
    EvidenceState,
    Hyperparameters,
    SparseModel,
    evidence_model,
)
from relvec._evidence.variational import BoundEvidence
from relvec._numerics.typing import Array
from relvec.likelihoods.base import Likelihood
from relvec.solvers.fixed_point import EM


@dataclass(frozen=True)
class Variational(EM):
    """Ascent of a lower bound, with q(w, α, β) = q(w) Π q(α_m) q(β) (Tipping 2001, footnote 6).

    With q(w) normal, q(α) and q(β) are Gamma and their means are the updates of `EM`. So is the
    bound its objective: with q(w) the best for the means ᾱ and β̄, the bound is eq. 36 there, plus
    κ(a + ½) for each α and κ(c + N/2) for β, κ(x) = x + log Γ(x) − x log x. Two classes have
    Jaakkola and Jordan's bound in the place of the evidence.

    `history` holds the bound. Under the uniform prior of α it is the bound less κ(½) for each
    function, which is what one adds at α = ∞, so that it compares with that after one left. What is
    returned are evidence and posterior at ᾱ and β̄, Laplace's for classes, so that solvers compare.
    """

    def inference(self, likelihood: Likelihood, design: Design, t: Array) -> EvidenceModel:
        """See `BackwardSolver.inference`."""
        return evidence_model(likelihood.bound(), design, t)

    def above_evidence(self, inference: EvidenceModel, everything: Hyperparameters) -> float:
        """The κ that do not depend on the means; one α is that of the weights of all outputs."""
        noise, prior, constant = inference.noise, self.alpha_prior, 0.0
        if not noise.held:
            constant += len(noise.beta_max) * _kappa(noise.prior.shape + inference.n / 2)
        if not prior.uniform:
            n_outputs = len(everything.beta)  # without noise there is one, and β is 1
            constant += len(everything.active) * _kappa(prior.shape + n_outputs / 2)
        return constant

    def accepted(
        self, inference: EvidenceModel, point: EvidenceState, t: Array
    ) -> tuple[SparseModel, float]:
        """See `BackwardSolver.accepted`."""
        found, believed = super().accepted(inference, point, t)
        return found, found.log_evidence if isinstance(inference, BoundEvidence) else believed


def _kappa(x: float) -> float:
    """Entropy and mean of a Gamma's logarithm, less what its mean alone would give."""
    return float(x + gammaln(x) - x * np.log(x))
