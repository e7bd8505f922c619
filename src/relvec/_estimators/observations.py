"""Numbers of observations to come, made of linear predictors and of what is known of their rows.

The mean (n_queries, 1) and covariance (n_queries, 1, 1) of the linear predictor are those of one
output. Known of a row may be the variance of its noise or the logarithm of its exposure.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relvec._estimators.out_of_core import numbers_of
from relvec._estimators.targets import check_row_variances, log_exposure
from relvec._fitting.batches import Beside
from relvec._numerics.typing import Array
from relvec.likelihoods import Interval, RegressionLikelihood
from relvec.likelihoods.gaussian import normal_interval, normal_log_density


def row_noise(variances: ArrayLike) -> Beside:
    """Return variances of Gaussian noise, checked beside the rows that have them."""
    return Beside("noise_variance_per_row", variances, check_row_variances)


def row_exposure(exposure: ArrayLike, likelihood: RegressionLikelihood) -> Beside:
    """Return exposures of counts as logarithms, checked beside the rows that have them."""
    return Beside("exposure", exposure, partial(_log_exposure, likelihood))


def observed_targets(y: ArrayLike, likelihoods: Sequence[RegressionLikelihood]) -> Beside:
    """Return observed targets, checked beside the rows that they were observed at."""
    return Beside("y", y, partial(_targets, [likelihood.support for likelihood in likelihoods]))


def moments(
    noise_known: bool, of: RegressionLikelihood, mean: Array, cov: Array, *known: Array
) -> tuple[Array, Array]:
    """Return mean and variance of an observation."""
    if noise_known:
        (variances,) = known
        return mean, cov[:, 0] + variances[:, None]
    return of.moments(_shifted(mean, *known), cov)


def interval(
    coverage: float,
    noise_known: bool,
    of: RegressionLikelihood,
    mean: Array,
    cov: Array,
    *known: Array,
) -> tuple[Array, Array]:
    """Return the ends of the interval of an observation."""
    if noise_known:
        mean, variance = moments(noise_known, of, mean, cov, *known)
        return normal_interval(mean, np.sqrt(variance), coverage)
    return of.interval(_shifted(mean, *known), cov, coverage)


def log_density(
    noise_known: bool, of: RegressionLikelihood, t: Array, mean: Array, cov: Array, *known: Array
) -> Array:
    """Return the log density of targets t (n_queries, 1), of shape (n_queries,)."""
    if noise_known:
        mean, variance = moments(noise_known, of, mean, cov, *known)
        return normal_log_density(t - mean, variance)[:, 0]
    return of.predictive_log_density(t, _shifted(mean, *known), cov)


def _shifted(mean: Array, *log_exposures: Array) -> Array:
    """Mean of the linear predictor, with the logarithm of the exposure if that is known."""
    return mean + log_exposures[0][:, None] if log_exposures else mean


def _log_exposure(likelihood: RegressionLikelihood, values: Any, n_rows: int) -> Array:
    return log_exposure(values, n_rows, likelihood)


def _targets(supports: Sequence[Interval], values: Any, _: int) -> Array:
    """Targets of some rows (n_rows, n_targets), each of which a likelihood allows for."""
    targets = numbers_of(values, "y")
    if targets.shape[1] != len(supports):
        raise ValueError(f"y has {targets.shape[1]} columns, expected {len(supports)}")
    for support, target in zip(supports, targets.T, strict=True):
        support.check(target)
    return targets
