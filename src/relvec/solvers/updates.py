"""The updates of the paper: MacKay's, expectation-maximisation's and those of a lower bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from relvec._design.base import Design
from relvec._evidence import EvidenceModel, EvidenceState, evidence_model
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.variational import BoundEvidence
from relvec._numerics.typing import Array
from relvec.likelihoods.base import Likelihood
from relvec.solvers.backward import BackwardSolver
from relvec.solvers.base import LocalOptimum


@dataclass(frozen=True)
class FixedPoint(BackwardSolver):
    """MacKay's updates, eq. 16 to 18: a weight counts as far as the data determine it.

    α = (γ + 2a)/(μ² + 2b) and σ² = (‖t − Φμ‖² + 2d)/(N − Σγ + 2c), eq. 44 and 46. They need few
    passes, and the evidence may fall in some of them. Several outputs share α: their γ and μ² add.
    """

    def of_weights(self, here: EvidenceState) -> tuple[Array, Array]:
        """γ and αμ²."""
        total = here.hyper.total
        return total(here.determined().sum(axis=1)), total((here.mean**2).sum(axis=1))

    def of_noise(self, here: EvidenceState, n: float) -> tuple[Array, Array]:
        """N − Σγ and the misfit of the mean."""
        return n - here.determined().sum(axis=0), here.misfit()


@dataclass(frozen=True)
class EM(BackwardSolver):
    """Expectation-maximisation, eq. 48 and 50: every weight counts, with its expected square.

    α = (1 + 2a)/(⟨w²⟩ + 2b) and σ² = ⟨‖t − Φw‖²⟩ + 2d over N + 2c. Under Gaussian noise no pass
    lowers the evidence, and there are many: what the data determine little moves little, and an
    infinite precision is only approached. Several outputs share α: their ⟨w²⟩ add.
    """

    def of_weights(self, here: EvidenceState) -> tuple[Array, Array]:
        """Weights of a group and α⟨w²⟩."""
        square = here.mean**2 + 1 - here.determined()
        weights = np.full(len(square), float(square.shape[1]))
        return here.hyper.total(weights), here.hyper.total(square.sum(axis=1))

    def of_noise(self, here: EvidenceState, n: float) -> tuple[Array, Array]:
        """N and the expected misfit."""
        uncertain = here.determined().sum(axis=0) / here.hyper.beta
        return np.full(len(uncertain), n), here.misfit() + uncertain


@dataclass(frozen=True)
class Variational(EM):
    """Ascent of a lower bound, with q(w, α, β) = q(w) Π q(α_m) q(β) (Tipping 2001, footnote 6).

    With q(w) normal, q(α) and q(β) are Gamma and their means are the updates of `EM`. So is the
    bound its objective: with q(w) the best for the means ᾱ and β̄, the bound is eq. 36 there, plus
    κ(a + ½) for each α and κ(c + N/2) for β, κ(x) = x + log Γ(x) − x log x (Bishop & Tipping 2000).
    Two classes have Jaakkola and Jordan's bound in the place of the evidence.

    `history` holds the bound. Under the uniform prior of α it is the bound less κ(½) for each
    function, which is what one adds at α = ∞, so that it compares with that after one left. What is
    returned are evidence and posterior at ᾱ and β̄, Laplace's for classes, so that solvers compare.
    """

    def evidence_model(self, likelihood: Likelihood, design: Design, t: Array) -> EvidenceModel:
        """See `Solver.evidence_model`; a lower bound where the evidence has no closed form."""
        return evidence_model(likelihood.bound(), design, t)

    def added_constant(self, model: EvidenceModel, everything: Hyperparameters) -> float:
        """The κ that do not depend on the means; one α is that of the weights of all outputs."""
        noise, prior, constant = model.noise, self.alpha_prior, 0.0
        if not noise.held:
            constant += len(noise.beta_max) * _kappa(noise.prior.shape + model.n / 2)
        if not prior.uniform:
            n_outputs = len(everything.beta)  # without noise there is one, and β is 1
            constant += len(everything.active) * _kappa(prior.shape + n_outputs / 2)
        return constant

    def believed(self, model: EvidenceModel, best: LocalOptimum) -> float:
        """See `BackwardSolver.believed`; a bound is no belief in evidence."""
        return -np.inf if isinstance(model, BoundEvidence) else super().believed(model, best)


def _kappa(x: float) -> float:
    """Entropy and mean of a Gamma's logarithm, less what its mean alone would give."""
    return float(x + gammaln(x) - x * np.log(x))
