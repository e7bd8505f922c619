"""Summary of a fitted model: facts of the fit, and the functions that it kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from relvec._assess.facts import facts, numbers
from relvec._assess.pipelines import Unwrapped, unwrap_fitted
from relvec._assess.predictions import predict
from relvec._assess.summary import table


def summary(
    model: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> Any:
    """Table of the functions that a model kept, under facts of its fit.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a pipeline, a search or a
        ``TransformedTargetRegressor`` that holds one, in any order.
    X : array-like of shape (n_samples, n_features), default=None
        Rows to tell the error on, as ``model.predict`` takes them.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
        Their targets.
    exposure : array-like of shape (n_samples,), default=None
        Exposure of each count, where the model was fitted with one.

    Returns
    -------
    summary : pandas.DataFrame or Summary
        The table of ``summary`` of the estimator, with inputs by the names that the steps of the
        model give them; of a transformed target as the estimator has it. It prints its ``facts``
        above: rows, log evidence, noise, intercept, and the error if there are X and y.

    Examples
    --------
    >>> import relvec
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), relvec.SparseBayesianRegressor()).fit(X, y)
    >>> summary = relvec.summary(model, X, y)
    >>> print(*summary.index, summary.facts["error"], sep="; ")
    sex; bmi; bp; s3; s5; root mean square 53.99 on 442 rows
    """
    parts = unwrap_fitted(model)
    if (X is None) != (y is None):
        raise ValueError("one of X and y is given, expected both or none")
    found = facts(parts.estimator) | {"intercept": numbers(parts.estimator.intercept_)}
    if parts.change:
        found["units"] = f"those of y after {parts.change}"
    if X is not None:
        found["error"] = _error(parts, X, y, exposure)
    names, columns = parts.named._function_columns()
    return table(names, columns, facts=found)


def _error(parts: Unwrapped, X: Any, y: Any, exposure: ArrayLike | None) -> str:
    """Error at rows: the share of wrong labels, or the root mean square for each target."""
    known, rows = parts.estimator._known_exposure(exposure, len(y)), f"on {len(y)} rows"
    predicted = predict(parts.model, X, **known) if known else parts.model.predict(X)
    if is_classifier(parts.estimator):
        return f"{100 * np.mean(np.asarray(predicted) != np.asarray(y)):.4g} % of labels {rows}"
    misses = np.asarray(y, dtype=np.float64) - np.reshape(predicted, np.shape(y))
    return f"root mean square {numbers(np.sqrt(np.mean(misses**2, axis=0)))} {rows}"
