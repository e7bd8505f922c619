"""Predictive distributions of models that hold an estimator of this package."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from relvec._assess.pipelines import unwrap_fitted
from relvec._numerics.typing import Array

#: Kind of estimator that an error says was expected.
REGRESSOR = "a regressor of relvec"


def predict(
    model: Any, X: ArrayLike, return_std: bool = False, exposure: ArrayLike | None = None
) -> Array | tuple[Array, Array]:
    """Predict new observations, with standard deviations in the units of y.

    Parameters
    ----------
    model : estimator
        A fitted regressor of this package, or a pipeline, a search or a
        ``TransformedTargetRegressor`` that holds one, in any order.
    X : array-like of shape (n_samples, n_features)
        Inputs, as ``model.predict`` takes them.
    return_std : bool, default=False
        Return the standard deviation of a new observation too, noise included.
    exposure : array-like of shape (n_samples,), default=None
        Exposure of each count; see `RVR.predict`.

    Returns
    -------
    mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
        That of ``model.predict``.
    std : ndarray of shape (n_samples,) or (n_samples, n_targets)
        If `return_std`, in units of y.

    Raises
    ------
    ValueError
        `return_std` where the target is transformed by anything but scaling and shifting.

    Examples
    --------
    >>> import relvec
    >>> from sklearn.compose import TransformedTargetRegressor
    >>> from sklearn.preprocessing import StandardScaler
    >>> from relvec.datasets import make_sinc
    >>> X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    >>> model = TransformedTargetRegressor(relvec.RVR(gamma=0.1), transformer=StandardScaler())
    >>> mean, std = relvec.predict(model.fit(X, 1000 * y), [[0.0]], return_std=True)
    >>> print(mean.round(), std.round())
    [965.] [98.]
    """
    parts = unwrap_fitted(model, "predict_interval", REGRESSOR)
    rows = parts.inputs(X)
    if not return_std:
        return parts.change.back(parts.estimator.predict(rows, exposure=exposure))
    mean, std = parts.estimator.predict(rows, return_std=True, exposure=exposure)
    return parts.change.back(mean), parts.change.scale(mean, std)


def predict_interval(
    model: Any, X: ArrayLike, coverage: float = 0.95, exposure: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Predict central intervals for new observations, noise included.

    They are quantiles of the predictive distribution, and hold their share of new observations as
    far as the model is right: uncertainty about functions that were left out is not in them.
    `calibrate` gives intervals that need no model.

    Parameters
    ----------
    model : estimator
        A fitted regressor of this package, or a pipeline, a search or a
        ``TransformedTargetRegressor`` that holds one, in any order.
    X : array-like of shape (n_samples, n_features)
        Inputs, as ``model.predict`` takes them.
    coverage : float, default=0.95
        Probability that an observation lies in its interval, ends included. Counts have whole
        numbers as ends, which hold at least that much.
    exposure : array-like of shape (n_samples,), default=None
        Exposure of each count; see `RVR.predict`.

    Returns
    -------
    lower, upper : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Ends, in units of y; of a transformed target those of the regressor, transformed back.

    Raises
    ------
    ValueError
        The target is transformed by a function that is not monotone.
    OverflowError
        Counts exceed the integers that double precision holds.

    Examples
    --------
    >>> import relvec
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from relvec.datasets import make_sinc
    >>> X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    >>> model = make_pipeline(StandardScaler(), relvec.RVR()).fit(X, y)
    >>> lower, upper = relvec.predict_interval(model, X)
    >>> print(((lower <= y) & (y <= upper)).mean())
    0.96
    """
    parts = unwrap_fitted(model, "predict_interval", REGRESSOR)
    estimator, rows = parts.estimator, parts.inputs(X)
    return parts.change.ends(*estimator.predict_interval(rows, coverage, exposure=exposure))


def predict_log_density(
    model: Any, X: ArrayLike, y: ArrayLike, exposure: ArrayLike | None = None
) -> Array:
    """Logarithm of the density that was predicted for each observation, noise included.

    Its mean over new rows, `relvec.log_density`, judges mean and error bars together.

    Parameters
    ----------
    model : estimator
        A fitted regressor of this package, or a pipeline, a search or a
        ``TransformedTargetRegressor`` that holds one, in any order.
    X : array-like of shape (n_samples, n_features)
        Inputs, as ``model.predict`` takes them.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        What was observed there, in the units that the model was fitted to.
    exposure : array-like of shape (n_samples,), default=None
        Exposure of each count; see `RVR.predict`.

    Returns
    -------
    log_density : ndarray of shape (n_samples,) or (n_samples, n_targets)
        In nats, of densities in units of 1/y, also where the model transforms y: with y in
        thousandths it is log 1000 less. Of counts the log probability.

    Raises
    ------
    ValueError
        X or y are not what is expected, or the target is transformed by a function without a
        derivative.

    Examples
    --------
    >>> import numpy as np, relvec
    >>> from sklearn.compose import TransformedTargetRegressor
    >>> from relvec.datasets import make_sinc
    >>> X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    >>> model = TransformedTargetRegressor(relvec.RVR(), func=np.log, inverse_func=np.exp)
    >>> print(relvec.predict_log_density(model.fit(X, np.exp(y)), X, np.exp(y)).mean().round(1))
    0.8
    """
    parts = unwrap_fitted(model, "predict_log_density", REGRESSOR)
    target = parts.change.forward(y)
    rows = parts.inputs(X)
    log_density: Array = parts.estimator.predict_log_density(rows, target, exposure=exposure)
    integer = parts.estimator.fit_result_.outputs[0].likelihood.support.integer
    if integer or not parts.change:
        return log_density
    return log_density + parts.change.log_slope(target.reshape(log_density.shape))
