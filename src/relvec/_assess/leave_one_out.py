"""Leave-one-out predictions in closed form, from a fit that has seen all rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec._fitting.result import FitResult
from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.typing import Array
from relvec.likelihoods import Gaussian


def left_out(
    result: FitResult,
    Phi: Array,
    y: Array,
    noise_variance: Array | None = None,
    weights: Array | None = None,
) -> tuple[Array, Array]:
    """Return residual and variance of every target predicted without it, at fixed precisions.

    Taking the Gaussian factor of one observation out of the posterior of y_n, which is N(m, v),
    leaves a Gaussian. With its leverage h = v/σ_n² the predictive distribution of t_n without it is
    N(t_n − (t_n − m)/(1 − h), σ_n²/(1 − h)): the exact refit at the same α and β, a flat intercept
    included.

    Phi, the kept functions at the rows of the fit, has the shape (n_samples, n_active), y and both
    results (n_samples, n_targets), noise variances σ_n², by default that of the fit, (n_samples,)
    or (n_samples, n_targets), and weights (n_samples,). Of the copies of a row one is left out, and
    of less than one all there is. Where nothing else determines the linear predictor, residual and
    variance are zero and infinite.
    """
    share = np.ones(len(y)) if weights is None else np.minimum(weights, 1.0)
    residuals, variances = np.zeros(y.shape), np.full(y.shape, np.inf)
    for target, output in enumerate(result.outputs):
        assert isinstance(output.likelihood, Gaussian)
        own, posterior = Phi[:, output.columns], output.posterior
        noise: Any = output.likelihood.noise_variance if noise_variance is None else noise_variance
        noise = noise[:, target] if np.ndim(noise) == 2 else noise
        leverage = posterior.latent_covariance(own)[:, 0, 0] / noise
        rest = 1 - share * leverage
        known = rest > ROUNDINGS * len(y)
        rest = np.where(known, rest, 1.0)
        residual = (y[:, target] - posterior.latent_mean(own)[:, 0]) / rest
        residuals[known, target] = residual[known]
        variances[known, target] = (noise * (1 + leverage / rest))[known]
    return residuals, variances


def learnt_variances(result: FitResult, X: Array) -> Array | None:
    """Noise variances (n_samples, n_targets) of the rows X of the fit; None if none was learnt.

    What a row counts is its expected precision.
    """
    if all(output.noise is None for output in result.outputs):
        return None
    variances = np.empty((len(X), len(result.outputs)))
    for target, output in enumerate(result.outputs):
        assert isinstance(output.likelihood, Gaussian)
        variance: Any = output.likelihood.noise_variance
        relative = 1.0 if output.noise is None else output.noise.relative_precision(X)
        variances[:, target] = variance / relative
    return variances
