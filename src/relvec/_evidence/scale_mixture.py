"""Student-t noise, which is Gaussian given a scale of its precision in every row.

With q(w) Π q(u_n) the weights have the posterior of Gaussian noise whose precision in row n is
⟨u_n⟩/σ², and q(u_n) follows from the expected squared residual of the row. Each is the best beside
the other, so that a lower bound of the log evidence rises as they alternate (see `StudentT`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from relvec._design.base import Design
from relvec._evidence.base import SparseModel
from relvec._evidence.exact import ExactEvidence
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.posterior import Posterior
from relvec._numerics.typing import Array, Index
from relvec.likelihoods.gaussian import Gaussian
from relvec.likelihoods.student_t import StudentT

#: Alternation of weights and scales ends where a turn gains less than so many nats, and after so
#: many.
GAIN, MAX_TURNS = 1e-9, 10_000


def predictor_moments(design: Design, posterior: Posterior, active: Index) -> tuple[Array, Array]:
    """Mean (n_samples, R) and covariance (n_samples, R, R) of the linear predictor at the rows.

    The posterior, in the users' units, is that of the weights of the `active` candidates.
    """
    # The mean that the posterior subtracts from the columns is that under its own row weights.
    outputs = len(posterior.level)
    center = posterior.center - np.kron(design.center[active], np.eye(outputs))
    function = partial(_moments, replace(posterior, center=center), design.weight_unit[active])
    both = design.map_rows(function, index=active)
    return both[:, :outputs], both[:, outputs:].reshape(-1, outputs, outputs)


def _moments(posterior: Posterior, unit: Array, columns: Array) -> Array:
    """Mean and covariance side by side, shape (n_rows, R + R²)."""
    Phi = columns / unit
    covariance = posterior.latent_covariance(Phi).reshape(len(Phi), -1)
    return np.hstack([posterior.latent_mean(Phi), covariance])


class ScaleMixtureEvidence(ExactEvidence):
    """Posterior of the weights, and a lower bound of the evidence, under Student-t noise.

    It is exact but for the scales of the rows, all of one precision in the design, which are held:
    those that are best for the expected squares z² = ⟨(t − y)²⟩/σ² (n_samples,), ones without. The
    raw target t is (n_samples, 1).
    """

    def __init__(
        self, design: Design, t: Array, likelihood: StudentT, square: Array | None = None
    ) -> None:
        square = np.ones(len(t)) if square is None else square
        precision = likelihood.row_precision(square)
        super().__init__(design.with_precision(precision), t, Gaussian(likelihood.scale2))
        self._unweighted, self._t, self._noise = design, t, likelihood
        self._above = float(design.row_weights @ likelihood.above_gaussian(square, precision))

    def user_evidence(self, log_evidence: float) -> float:
        """See `EvidenceModel.user_evidence`: the bound."""
        return super().user_evidence(log_evidence) + self._above

    def finalize(self, hyper: Hyperparameters) -> SparseModel:
        return replace(super().finalize(hyper), likelihood=self._noise)

    def at_precisions(self, alpha: Array) -> SparseModel:
        """See `EvidenceModel.at_precisions`: with the scales that are best for it."""
        found = self.finalize(self.hyper_of(alpha))
        for _ in range(MAX_TURNS):
            assert isinstance(found.posterior, Posterior)
            moments = predictor_moments(self._unweighted, found.posterior, found.active)
            square = self._noise.expected_square(self._t, *moments)
            turned = ScaleMixtureEvidence(self._unweighted, self._t, self._noise, square)
            earlier, found = found, turned.finalize(turned.hyper_of(alpha))
            if found.log_evidence - earlier.log_evidence < GAIN:
                break
        return found

    def log_evidence(self, alpha: Array) -> float:
        return self.at_precisions(alpha).log_evidence
