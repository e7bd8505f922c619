"""Scores of predictions with their error bars, for the choice of a model."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from relvec._assess.pipelines import unwrap_fitted
from relvec._assess.predictions import predict_log_density
from relvec._numerics.checks import in_memory


def log_density(
    estimator: Any, X: ArrayLike, y: ArrayLike, exposure: ArrayLike | None = None
) -> float:
    """Mean log density of observations under a fitted regressor: a scorer for scikit-learn.

    Squared errors ask the mean alone; this asks the error bars as well, and no distribution has a
    higher expectation of it than the true one. So ``GridSearchCV(RVR(), grid,
    scoring=relvec.log_density)`` chooses kernels, widths and kinds of noise whose error bars held
    on rows left out. For classes scikit-learn has ``"neg_log_loss"``.

    Parameters
    ----------
    estimator : estimator
        A fitted regressor of this package, or a pipeline, a search or a
        ``TransformedTargetRegressor`` that holds one, in any order.
    X : array-like of shape (n_samples, n_features)
        Inputs of rows that it was not fitted to.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Their targets, in the units that it was fitted to.
    exposure : array-like of shape (n_samples,), default=None
        Exposure of each count; see `predict`.

    Returns
    -------
    log_density : float
        In nats a row, higher is better: the mean of `predict_log_density`, summed over the targets.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from relvec import RVR, log_density
    >>> from relvec.datasets import make_sinc
    >>> X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    >>> grid = {"gamma": [0.001, 0.1, 10.0]}
    >>> GridSearchCV(RVR(), grid, scoring=log_density).fit(X, y).best_params_
    {'gamma': 0.1}
    """
    unwrap_fitted(
        estimator,
        "predict_log_density",
        "a regressor of relvec (classifiers: scoring='neg_log_loss')",
    )
    log_densities = in_memory(predict_log_density(estimator, X, y, exposure))
    return float(log_densities.sum() / len(log_densities))
