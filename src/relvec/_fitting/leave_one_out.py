"""Leave-one-out predictions in closed form, from the posterior that has seen all rows."""

from __future__ import annotations

import numpy as np

from relvec._evidence.posterior import Posterior
from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.typing import Array
from relvec.likelihoods.gaussian import normal_log_density


def left_out(
    posterior: Posterior,
    Phi: Array,
    t: Array,
    noise_variance: Array,
    weights: Array | None = None,
) -> tuple[Array, Array]:
    """Return residual and variance of every target predicted without it, at fixed precisions.

    Taking the Gaussian factor of one observation out of the posterior of y_n, which is N(m, v),
    leaves a Gaussian. With its leverage h = v/σ_n² the predictive distribution of t_n without it is
    N(t_n − (t_n − m)/(1 − h), σ_n²/(1 − h)): the exact refit at the same α and β, a flat intercept
    included.

    Parameters
    ----------
    posterior : Posterior
        Of one output.
    Phi : ndarray of shape (n_samples, n_active)
        Its functions at the rows that it has seen.
    t : ndarray of shape (n_samples,)
        Targets.
    noise_variance : ndarray of shape (n_samples,)
        σ_n².
    weights : ndarray of shape (n_samples,), optional
        Copies of each row, of which one is left out; all there is of a row that has less than one.

    Returns
    -------
    residual, variance : ndarray of shape (n_samples,)
        Zero and infinite where nothing else determines the output.
    """
    share = np.ones(len(t)) if weights is None else np.minimum(weights, 1.0)
    residual = t - posterior.latent_mean(Phi)[:, 0]
    leverage = posterior.latent_covariance(Phi)[:, 0, 0] / noise_variance
    rest = 1 - share * leverage
    known = rest > ROUNDINGS * len(t)
    rest = np.where(known, rest, 1.0)
    variance = np.where(known, noise_variance * (1 + leverage / rest), np.inf)
    return np.where(known, residual / rest, 0.0), variance


def log_density_left_out(
    posterior: Posterior,
    Phi: Array,
    t: Array,
    noise_variance: Array,
    weights: Array | None = None,
) -> Array:
    """Return log p(t_n | t_−n) of a copy of every row, shape (n_samples,); −∞ if nothing is known.

    The parameters are those of `left_out`.
    """
    return normal_log_density(*left_out(posterior, Phi, t, noise_variance, weights))
