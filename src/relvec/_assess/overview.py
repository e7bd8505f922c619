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
    """Table of the functions that a model kept, one row each, under facts of its fit.

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
        Indexed by the names that the steps of the model give the inputs; a plain table that prints
        the same where pandas is not installed. With several outputs or classes there are columns
        for each, with its name behind. A transformed target is in the units that the estimator has
        it in. Its ``facts``, texts by name, are printed above: rows, log evidence, noise,
        intercept, and the error if there are X and y.

        weight, std
            Mean and standard deviation of the weight under its posterior.
        weight_precision
            α, the precision of its prior; infinite where an output does not use the function.
        well_determined
            γ of eq. 17: how far the data, rather than the prior, determine it.
        group
            Where functions share precisions, the name of the function's group in
            ``group_relevance_``.
        at
            Where all functions are centred on points, the inputs there, the first few of many.

    Examples
    --------
    >>> import relvec
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), relvec.SparseBayesianRegressor()).fit(X, y)
    >>> summary = relvec.summary(model, X, y)
    >>> print(summary[["weight", "std"]].round().to_string(index_names=False))
         weight  std
    sex   -10.0  3.0
    bmi    25.0  3.0
    bp     15.0  3.0
    s3    -13.0  3.0
    s5     23.0  3.0
    >>> print(summary.facts["functions kept"], summary.facts["error"], sep="; ")
    5, fitted to 442 rows; root mean square 53.99 on 442 rows
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
