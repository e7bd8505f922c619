"""Noise that is Gaussian given a scale of its precision in every row: exact but for the scales.

With q(w) Π q(u_n) the weights have the posterior of Gaussian noise whose precision in row n is
⟨u_n⟩/σ², and q(u_n) follows from the expected squared residual of the row. Each is the best beside
the other, so that a lower bound of the log evidence rises as they take turns (see `StudentT`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Self

import numpy as np

from relvec._design.base import Design
from relvec._evidence.base import SparseModel
from relvec._evidence.exact import ExactEvidence
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.posterior import Posterior
from relvec._numerics.typing import Array, Index
from relvec.likelihoods.gaussian import Gaussian
from relvec.likelihoods.student_t import StudentT

#: Largest square that a residual in units of σ is taken to have: beyond, products overflow.
LARGEST_SQUARE = 1e200
#: Turns of weights and scales end where one gains less than so many nats, and after so many.
SETTLED, MAX_TURNS = 1e-9, 10_000


@dataclass(frozen=True)
class Scales:
    """The scales of all rows that are best for some expected squares: the state of the bound.

    Attributes
    ----------
    noise : StudentT
    square : ndarray of shape (n_samples,)
        Expected squares z² = ⟨(t − y)²⟩/σ².
    """

    noise: StudentT
    square: Array

    @classmethod
    def of(
        cls, noise: StudentT, design: Design, t: Array, posterior: Posterior, active: Index
    ) -> Self:
        """Scales that are best for the weights of the candidates that are `active`."""
        # The mean that the posterior subtracts from the columns is that under its own row weights.
        posterior = replace(posterior, center=posterior.center - design.center[active])
        function = partial(_expected_square, noise, posterior, design.weight_unit[active])
        return cls(noise, design.map_rows(function, t, index=active))

    @cached_property
    def precision(self) -> Array:
        """⟨u⟩ of every row."""
        return self.noise.row_precision(self.square)

    def above(self, precision: Array, copies: Array) -> float:
        """How far the bound is above the evidence of Gaussian noise with these row precisions."""
        return float(copies @ self.noise.above_gaussian(self.square, precision))

    def learnt(self, copies: Array, least: float) -> Self:
        """The same squares in units of the σ² ≥ `least` that is best for them, with the best ν."""
        noise = self.noise.learnt(self.square, copies, least)
        return type(self)(noise, self.square * (self.noise.scale2 / noise.scale2))

    def log_prob(self, copies: Array) -> float:
        """Σ log p of all copies at their expected squares."""
        return float(copies @ self.noise.log_prob_at(self.square))


def _expected_square(
    noise: StudentT, posterior: Posterior, unit: Array, columns: Array, t: Array
) -> Array:
    Phi = columns / unit
    residual = np.abs(t - posterior.latent_mean(Phi))[:, 0] / np.sqrt(noise.scale2)
    variance = posterior.latent_covariance(Phi)[:, 0, 0] / noise.scale2
    square: Array = np.minimum(residual, np.sqrt(LARGEST_SQUARE)) ** 2 + variance
    return square


class ScaleMixtureEvidence(ExactEvidence):
    """Posterior of the weights, and a lower bound of the evidence, under Student-t noise.

    It is exact but for the scales of the rows, which are held.

    Parameters
    ----------
    design : Design
        Candidates, all rows of one precision.
    t : ndarray of shape (n_samples, 1)
        Raw target.
    scales : Scales
        With the noise.
    """

    def __init__(self, design: Design, t: Array, scales: Scales) -> None:
        rows = design.with_precision(scales.precision)
        super().__init__(rows, t, Gaussian(scales.noise.scale2))
        self._unweighted, self._t, self._scales = design, t, scales

    def user_evidence(self, log_evidence: float) -> float:
        """See `EvidenceModel.user_evidence`: the bound."""
        above = self._scales.above(self._scales.precision, self._unweighted.row_weights)
        return super().user_evidence(log_evidence) + above

    def finalize(self, hyper: Hyperparameters) -> SparseModel:
        """See `EvidenceModel.finalize`."""
        return replace(super().finalize(hyper), likelihood=self._scales.noise)

    def settled(self, alpha: Array) -> SparseModel:
        """All candidates at some precisions in the users' units, with the scales best for them."""
        found = self.finalize(self.hyper_of(alpha))
        for _ in range(MAX_TURNS):
            assert isinstance(found.posterior, Posterior)
            scales = Scales.of(
                self._scales.noise, self._unweighted, self._t, found.posterior, found.active
            )
            turned = ScaleMixtureEvidence(self._unweighted, self._t, scales)
            earlier, found = found, turned.finalize(turned.hyper_of(alpha))
            if found.log_evidence - earlier.log_evidence < SETTLED:
                break
        return found

    def log_evidence(self, alpha: Array) -> float:
        """See `EvidenceModel.log_evidence`."""
        return self.settled(alpha).log_evidence
