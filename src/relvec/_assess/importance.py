"""Tables of the inputs that matter to a model: its effects, or what permuting a column costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.inspection import permutation_importance

from relvec._assess.pipelines import unwrap_fitted
from relvec._assess.summary import table


def effects(model: Any) -> Any:
    """Table of the effects that a model kept, those with the largest shares first.

    Parameters
    ----------
    model : estimator
        A fitted `EffectsRegressor` or `EffectsClassifier`, or a pipeline, a search or a
        ``TransformedTargetRegressor`` that holds one, in any order.

    Returns
    -------
    effects : pandas.DataFrame or Summary
        ``effects_`` of the estimator, with inputs by the names that the steps of the model give
        them; of a transformed target as the estimator has it.

    Examples
    --------
    >>> import relvec
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), relvec.EffectsRegressor(interactions=None))
    >>> list(relvec.effects(model.fit(X, y)).index[:2])
    ['bmi', 's5']
    """
    expected = "an EffectsRegressor or EffectsClassifier (importance takes any model)"
    return unwrap_fitted(model, "effects_", expected).named.effects_


def importance(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    scoring: Any = None,
    n_repeats: int = 5,
    random_state: Any = None,
) -> Any:
    """Table of what permuting each column of X costs a model, the largest cost first.

    It asks what the predictions lose without a column, of any fitted model; `effects` tells what
    each input does, of models of effects.

    Parameters
    ----------
    model : estimator
        A fitted model.
    X : array-like of shape (n_samples, n_features)
        Rows as ``model.predict`` takes them, better those that it was not fitted to.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Their targets.
    scoring : str or callable, default=None
        Score of scikit-learn that is lost, such as `relvec.log_density`; None is ``model.score``.
    n_repeats : int, default=5
        Permutations of each column.
    random_state : int, RandomState instance or None, default=None
        Of the permutations.

    Returns
    -------
    importance : pandas.DataFrame or Summary
        A row for each column, with the mean loss of the score, ``importance``, and its standard
        deviation over the permutations, ``std``.

    Examples
    --------
    >>> import relvec
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = relvec.SparseBayesianRegressor().fit(X[:300], y[:300])
    >>> found = relvec.importance(model, X[300:], y[300:], random_state=0)
    >>> sorted(found.index[:2])
    ['bmi', 's5']
    """
    found = permutation_importance(
        model, X, y, scoring=scoring, n_repeats=n_repeats, random_state=random_state
    )
    order = np.argsort(-found.importances_mean, kind="stable")
    names = [str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(len(order))])]
    columns = {"importance": found.importances_mean[order], "std": found.importances_std[order]}
    return table([names[place] for place in order], columns, "input")
