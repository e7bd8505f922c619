"""Posterior of the weights under a lower bound of the likelihood that is quadratic in every row.

Posterior and evidence that follow from the bound are exact, and the evidence is a lower bound
wherever the bounds of the rows touch. They touch best where the posterior of the linear predictor
says (see `Likelihood.bound`), and do so at the state before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from relvec._evidence.base import SparseModel, WarmStart
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.laplace import LaplaceEvidence, LaplaceState
from relvec._numerics.typing import Array, RowVector
from relvec.likelihoods.base import Likelihood


@dataclass(frozen=True)
class SurrogateRows:
    """Surrogates of the rows, `packed` in the place of their targets, as a likelihood."""

    n_outputs: int
    quadratic = True

    def log_prob(self, t: Array, y: Array) -> Array:
        """Value of the surrogate."""
        mean, gradient, weight, value = self._unpacked(t)
        error = y - mean
        slope = gradient - 0.5 * np.einsum("nrs,ns->nr", weight, error)
        log_prob: Array = value + np.einsum("nr,nr->n", slope, error)
        return log_prob

    def gradient(self, t: Array, y: Array) -> Array:
        """Its gradient."""
        mean, gradient, weight, _ = self._unpacked(t)
        slope: Array = gradient - np.einsum("nrs,ns->nr", weight, y - mean)
        return slope

    def neg_hessian(self, t: Array, y: Array) -> Array:
        """Its weight."""
        return self._unpacked(t)[2]

    def neg_hessian_gradient(self, t: Array, y: Array, variance: Array) -> Array:
        """Zero: the weight is the same everywhere."""
        return np.zeros_like(y)

    def expected(self, t: Array, mean: Array, variance: Array) -> Array:
        """Expectation for linear predictors N(mean, variance)."""
        spread = np.einsum("nrs,nrs->n", self.neg_hessian(t, mean), variance)
        expected: Array = self.log_prob(t, mean) - 0.5 * spread
        return expected

    def _unpacked(self, t: Array) -> tuple[Array, Array, Array, Array]:
        R = self.n_outputs
        return t[:, :R], t[:, R : 2 * R], t[:, 2 * R : -1].reshape(-1, R, R), t[:, -1]


def packed(likelihood: Likelihood, t: Array, mean: Array, variance: Array) -> Array:
    """Surrogate of every row, and the mean that it is expanded about, side by side."""
    value, gradient, weight = likelihood.surrogate(t, mean, variance)
    return np.hstack([mean, gradient, weight.reshape(len(mean), -1), value[:, None]])


@dataclass(frozen=True)
class BoundWarmStart(WarmStart):
    """See `WarmStart`; with mean and variance of the linear predictor, where bounds touch best.

    They are row vectors of shapes (n_samples, n_outputs) and (n_samples, n_outputs, n_outputs).
    """

    mean: RowVector
    variance: RowVector


class BoundState(LaplaceState):
    """Gaussian posterior of the weights under the bounds of the rows."""

    allowed_decrease = 0.0

    def warm_start(self) -> BoundWarmStart:
        here, covariance = self.mode, self.curvature.predictor_covariance
        variance = here.design.map_rows(covariance.variance, here.Phi)
        return BoundWarmStart(
            self.hyper, self.weights, self.intercept, here.linear_predictor, variance
        )


class BoundEvidence(LaplaceEvidence):
    """Posterior of the weights, and a lower bound of the evidence.

    Parameters are those of `LaplaceEvidence`; the likelihood has a `bound`.
    """

    def at(self, hyper: Hyperparameters, warm: WarmStart | None = None) -> BoundState:
        """See `EvidenceModel.at`; the bounds touch where they are best at `warm`, or at zero."""
        outputs = self.likelihood.n_outputs
        if isinstance(warm, BoundWarmStart):
            at = warm.mean, warm.variance
        else:
            shapes = (outputs,), (outputs, outputs)
            zeros = [self.design.map_rows(partial(_zeros, shape), self.t) for shape in shapes]
            at = zeros[0], zeros[1]
        bounds = self.design.map_rows(partial(packed, self.likelihood.bound()), self.t, *at)
        return BoundState(hyper, self._start(hyper, warm, SurrogateRows(outputs), bounds))

    def finalize(self, hyper: Hyperparameters) -> SparseModel:
        """See `EvidenceModel.finalize`; by Laplace's method, so that solvers compare."""
        return LaplaceEvidence(self.design, self.t, self.likelihood).finalize(hyper)


def _zeros(shape: tuple[int, ...], t: Array) -> Array:
    return np.zeros((len(t), *shape))
