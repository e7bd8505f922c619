"""The updates of the paper: MacKay's and expectation-maximisation's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relvec._evidence import EvidenceState
from relvec._numerics.typing import Array
from relvec.solvers.backward import BackwardSolver


@dataclass(frozen=True)
class FixedPoint(BackwardSolver):
    """MacKay's updates, eq. 16 to 18: a weight counts as far as the data determine it.

    α = (γ + 2a)/(μ² + 2b) and σ² = (‖t − Φμ‖² + 2d)/(N − Σγ + 2c), eq. 44 and 46. They need few
    passes, and the evidence may fall in some of them. Several outputs share α: their γ and μ² add.
    """

    def of_weights(self, point: EvidenceState) -> tuple[Array, Array]:
        """γ and αμ²."""
        total = point.hyper.total
        return total(point.determined().sum(axis=1)), total((point.mean**2).sum(axis=1))

    def of_noise(self, point: EvidenceState, n: float) -> tuple[Array, Array]:
        """N − Σγ and the misfit of the mean."""
        return n - point.determined().sum(axis=0), point.misfit()


@dataclass(frozen=True)
class EM(BackwardSolver):
    """Expectation-maximisation, eq. 48 and 50: every weight counts, with its expected square.

    α = (1 + 2a)/(⟨w²⟩ + 2b) and σ² = ⟨‖t − Φw‖²⟩ + 2d over N + 2c. Under Gaussian noise no pass
    lowers the evidence, and there are many: what the data determine little moves little, and an
    infinite precision is only approached. Several outputs share α: their ⟨w²⟩ add.
    """

    def of_weights(self, point: EvidenceState) -> tuple[Array, Array]:
        """Weights of a group and α⟨w²⟩."""
        square = point.mean**2 + 1 - point.determined()
        weights = np.full(len(square), float(square.shape[1]))
        return point.hyper.total(weights), point.hyper.total(square.sum(axis=1))

    def of_noise(self, point: EvidenceState, n: float) -> tuple[Array, Array]:
        """N and the expected misfit."""
        uncertain = point.determined().sum(axis=0) / point.hyper.beta
        return np.full(len(uncertain), n), point.misfit() + uncertain
