"""One fitted set of weights, and its linear predictor at new rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from relvec._evidence.posterior import Posterior
from relvec._fitting.augmentation import Extra, Residuals, TrainingRows
from relvec._fitting.data import TrainingData
from relvec._numerics.compact import Compact
from relvec._numerics.typing import Array, Index
from relvec.basis import Basis
from relvec.likelihoods import Gaussian, Likelihood
from relvec.solvers import Solution


@dataclass(frozen=True)
class Queries:
    """Kept functions at rows to predict.

    Attributes
    ----------
    Phi : ndarray of shape (n_queries, n_active)
        Kept functions of the estimator.
    extra : Extra or None
        Functions centred on the rows themselves, if the estimator adds any.
    """

    Phi: Array
    extra: Extra | None

    @classmethod
    def of(cls, X: Array, basis: Basis, rows: TrainingRows | None) -> Self:
        """Evaluate the kept functions, and those added beside the training rows, at the rows X."""
        return cls(basis.values(X), None if rows is None else rows.extra(X))


@dataclass(frozen=True)
class FittedOutput(Compact):
    """Posterior of one set of weights; several share the kept functions of an estimator.

    Attributes
    ----------
    columns : ndarray of int, shape (n_columns,)
        Those of the estimator's kept functions that it uses.
    posterior : Posterior
        Its weights.
    likelihood : Likelihood
        Distribution of the target given its linear predictor.
    alpha : ndarray of shape (n_columns,)
        Prior precision of its weights.
    well_determined : ndarray of shape (n_columns,)
        γ of eq. 17.
    residuals : Residuals or None
        Its residuals at the training rows, where functions are added at the queries.
    """

    columns: Index
    posterior: Posterior
    likelihood: Likelihood
    alpha: Array
    well_determined: Array
    residuals: Residuals | None = None

    @classmethod
    def of(cls, solution: Solution, columns: Index) -> list[Self]:
        """Return the outputs of a solution: one, or one a target where several share functions."""
        posterior, likelihood = solution.posterior, solution.likelihood
        if isinstance(posterior, Posterior):
            return [cls(columns, posterior, likelihood, solution.alpha, solution.well_determined)]
        assert isinstance(likelihood, Gaussian)
        parts = zip(posterior.parts, solution.alpha, solution.well_determined, strict=True)
        return [
            cls(columns, part, likelihood.of_target(target), alpha, well_determined)
            for target, (part, alpha, well_determined) in enumerate(parts)
        ]

    def with_residuals(self, rows: TrainingRows, t: Array, data: TrainingData) -> Self:
        """Return the output with the residuals of its target t (n_samples, d)."""
        weights = np.ones(len(t)) if data.weights is None else data.weights
        counts = weights if data.row_precision is None else weights * data.row_precision
        share = weights / weights.sum()
        sizes = rows.sizes(self.columns, self.posterior, share, center=data.intercept)
        own = rows.Phi[:, self.columns]
        mean, covariance = self.posterior.latent_mean(own), self.posterior.latent_covariance(own)
        slope, curvature = self.likelihood.surrogate(t, mean, covariance)
        residuals = Residuals(counts[:, None] * slope, counts[:, None, None] * curvature, sizes)
        return replace(self, residuals=residuals)

    def latent(self, at: Queries, *, spread: bool) -> tuple[Array, Array]:
        """Mean and covariance of the linear predictor at some rows, zero without `spread`.

        Shapes (n_queries, n_outputs) and (n_queries, n_outputs, n_outputs). What leaves the
        range of float64 is an error.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            mean, covariance = self._latent(at, spread=spread)
        check_range(mean, covariance)
        return mean, covariance

    def _latent(self, at: Queries, *, spread: bool) -> tuple[Array, Array]:
        every = len(self.columns) == at.Phi.shape[1]
        own = at.Phi if every else at.Phi[:, self.columns]
        mean = self.posterior.latent_mean(own)
        covariance = (
            self.posterior.latent_covariance(own)
            if spread
            else np.zeros((*mean.shape, mean.shape[1]))
        )
        if self.residuals is None or at.extra is None:
            return mean, covariance
        beside = at.extra.of(self.columns)
        shift, more = self.residuals.correction(self.posterior, self.alpha, beside, own)
        return mean + shift, covariance + more if spread else covariance


def check_range(*predicted: Array) -> None:
    """Refuse predictions that exceed the range of float64."""
    if not all(np.isfinite(values).all() for values in predicted):
        raise OverflowError(
            "predictions at these rows of X, or their variances, exceed the range of float64; "
            "rescale X or y"
        )
