"""Comparison of models of the same data by their log evidence."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.parallel import Parallel, delayed

from relvec._assess.model_names import names_by_difference
from relvec._assess.pipelines import prefix_of, unwrap
from relvec._assess.summary import table
from relvec._fitting.residuals import learnt_variances, left_out
from relvec._numerics.checks import in_memory, of_rows
from relvec._numerics.typing import Array
from relvec.likelihoods import Gaussian
from relvec.likelihoods.gaussian import normal_log_density

#: Share of the log evidence, and nats, by which the same evidence computed twice may differ:
#: roundings, and where the iteration for the mode of a likelihood stops.
SAME_SHARE, SAME_NATS = 1e-6, 1e-3
#: Parameters on which it depends of which random quantity an evidence is the density.
TERMS = (
    *("fit_intercept", "likelihood", "multi_class", "approximation", "class_weight"),
    *("alpha_prior", "beta_prior"),
)


def compare(
    models: Mapping[str, Any] | Sequence[Any],
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    noise_variance_per_row: ArrayLike | None = None,
    n_jobs: int | None = None,
    exposure: ArrayLike | None = None,
) -> Any:
    """Rank models of the same data by their log evidence.

    Log evidence is comparable across kernels, bases and scales of X, and between learnt and given
    noise. It is not between models with and without an intercept, of different likelihoods or
    priors, or of a target on another scale; these are refused.

    Parameters
    ----------
    models : dict of str to estimator, or list of estimators
        Estimators of this package, or pipelines or fitted searches that hold one; in a list they
        are named by the parameters that differ among those of a class. One that is not fitted is
        cloned and fitted; one that is fitted has to have seen these very data.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    sample_weight : array-like of shape (n_samples,), default=None
        Copies of each row.
    noise_variance_per_row : array-like of shape (n_samples,), default=None
        Variance of the Gaussian noise of each row where it is known; regression only.
    n_jobs : int or None, default=None
        Processes among which the models are shared out, -1 for all cores; None is 1, or what
        ``joblib.parallel_config`` says. Fits side by side take longer each.
    exposure : array-like of shape (n_samples,), default=None
        Exposure of each count, of a likelihood of counts; regression only.

    Returns
    -------
    table : pandas.DataFrame or Summary
        A row for each model, best first, with the same table as `summary` gives without pandas.

        log_evidence
            In nats, as ``log_evidence_``.
        less_best
            The same less that of the best model: the log of how much less probable it makes y.
        schwarz
            Schwarz's criterion: log_evidence less the BIC penalty, ½ log N nats for every function
            that was kept and every scale that was learnt, as N rows chose them among many.
        loo_log_density
            Σ log p(t_n | t_−n), in closed form at the precisions and functions of the fit, which
            have seen t_n; NaN without Gaussian noise.
        n_functions
            Functions kept.
        seconds
            Duration of the fit; NaN for a model that came fitted.

    Raises
    ------
    ValueError
        Evidences that do not compare, or a fitted model of other data.
    TypeError
        A model is none of this package.

    Examples
    --------
    >>> from relvec import RVR, compare
    >>> from relvec.datasets import make_sinc
    >>> X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    >>> models = {"wide": RVR(gamma=0.01), "middle": RVR(gamma=0.1), "spline": RVR("linear_spline")}
    >>> table = compare(models, X, y)
    >>> list(table.index)
    ['middle', 'spline', 'wide']
    >>> list(compare([RVR(gamma=0.01), RVR(gamma=0.1)], X, y).index)
    ['RVR(gamma=0.1)', 'RVR(gamma=0.01)']
    """
    X, y, named = in_memory(X), in_memory(y), _named(models)
    _check_comparable(named)
    numbers = {"noise_variance_per_row": noise_variance_per_row, "exposure": exposure}
    optional = {"sample_weight": sample_weight} | numbers
    given = {key: in_memory(value) for key, value in optional.items() if value is not None}
    if is_classifier(next(iter(named.values()))):
        for key in given.keys() & numbers:
            raise ValueError(f"{key} is given, expected None for classifiers")
    rows = Parallel(n_jobs)(delayed(_row)(*item, X, y, given) for item in named.items())
    order = np.argsort([-row["log_evidence"] for row in rows], kind="stable")
    columns = {key: np.array([rows[place][key] for place in order]) for key in rows[0]}
    columns["less_best"] = columns["log_evidence"] - columns["log_evidence"][0]
    names = list(named)
    return table([names[place] for place in order], columns, name="model")


def _named(models: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Return the models by name; those of a list are named by what tells them apart."""
    if not isinstance(models, Mapping):
        names = names_by_difference(models)
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(
                f"models holds {repeated[0]} more than once, expected a dict that names them"
            )
        models = dict(zip(names, models, strict=True))
    if not models:
        raise ValueError(f"models={models!r} is empty, expected one model or more")
    for name, model in models.items():
        parts = unwrap(model)
        if parts.change or not hasattr(parts.estimator, "log_evidence"):
            raise TypeError(
                f"model {name!r} is a {type(parts.estimator).__name__} with "
                f"{parts.change or 'no'} change of the target, expected an estimator of relvec, or "
                "a pipeline or fitted search that holds one, of y as it is"
            )
    return dict(models)


def _check_comparable(models: Mapping[str, Any]) -> None:
    """Raise unless all evidences are densities of the same quantity, under the same priors."""
    (first, a), *others = ((name, unwrap(model).estimator) for name, model in models.items())
    for other, b in others:
        if is_classifier(a) != is_classifier(b):
            raise ValueError(
                f"{first!r} is a {type(a).__name__} and {other!r} a {type(b).__name__}, expected "
                "models of one kind of target: their evidences do not compare"
            )
        for term in TERMS:
            of_a, of_b = _term(a, term), _term(b, term)
            if of_a != of_b:
                raise ValueError(
                    f"{term} is {of_a!r} in {first!r} and {of_b!r} in {other!r}, expected the same "
                    "in all models: their evidences do not compare"
                )


def _term(estimator: BaseEstimator, name: str) -> Any:
    """Return a parameter of an estimator, that of the fit if there is one; None without it."""
    if hasattr(estimator, "fit_result_"):
        return estimator.fit_result_.parameters.get(name)
    return getattr(estimator, name, None)


def _row(
    name: str, model: BaseEstimator, X: ArrayLike, y: ArrayLike, given: Mapping[str, ArrayLike]
) -> dict[str, float]:
    """Return the row of one model, by column, but for the difference to the best."""
    seconds = float("nan")
    fitted = hasattr(unwrap(model).estimator, "log_evidence_")
    if not fitted:
        began, model = time.perf_counter(), clone(model)
        model.fit(X, y, **{prefix_of(model) + key: value for key, value in given.items()})
        seconds = time.perf_counter() - began
    parts = unwrap(model)
    estimator, inputs = parts.estimator, parts.inputs(X)
    if fitted:
        _check_seen(name, estimator, inputs, y, given)
    evidence, kept = estimator.log_evidence_, len(estimator.relevance_)
    noises = [output.noise for output in estimator.fit_result_.outputs]
    of_noise = sum(len(noise.alpha) for noise in noises if noise is not None)
    penalty = 0.5 * np.log(_copies(given.get("sample_weight"), np.shape(y)[0]).sum())
    return {
        "log_evidence": evidence,
        "less_best": 0.0,
        "schwarz": evidence - penalty * (kept + of_noise + estimator.basis_.n_hyper),
        "loo_log_density": _loo_log_density(estimator, inputs, y, **given),
        "n_functions": kept,
        "seconds": seconds,
    }


def _loo_log_density(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    noise_variance_per_row: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> float:
    """Return Σ log p(t_n | t_−n) over copies and targets.

    NaN without Gaussian noise that is independent from row to row.
    """
    del exposure  # of counts, which have none
    result = estimator.fit_result_
    gaussian = (isinstance(output.likelihood, Gaussian) for output in result.outputs)
    if not all(gaussian) or any(output.correlation is not None for output in result.outputs):
        return float("nan")
    rows, t = estimator._like_fitted(X, y)
    Phi, known = of_rows(estimator.basis_.values, rows), noise_variance_per_row
    noise = learnt_variances(result, rows) if known is None else np.asarray(known, dtype=float)
    weights = _copies(sample_weight, len(Phi))
    density = normal_log_density(*left_out(result, Phi, t, noise, weights)).sum(axis=1)
    return float(weights[weights > 0] @ density[weights > 0])


def _copies(sample_weight: ArrayLike | None, n: int) -> Array:
    """Copies of each of n rows, shape (n,)."""
    return np.broadcast_to(np.asarray(1 if sample_weight is None else sample_weight, float), n)


def _check_seen(
    name: str,
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    given: Mapping[str, ArrayLike],
) -> None:
    """Raise unless a fitted model finds its evidence again in these data."""
    rows, fitted, evidence = np.shape(y)[0], estimator.n_samples_fit_, estimator.log_evidence_
    if rows != fitted:
        raise ValueError(
            f"model {name!r} was fitted to {fitted} rows and y has {rows}, expected the data that "
            "it was fitted to"
        )
    again = estimator.log_evidence(X, y, **given)
    if not np.isclose(again, evidence, rtol=SAME_SHARE, atol=SAME_NATS):
        raise ValueError(
            f"model {name!r} has a log evidence of {evidence:.6g} but finds {again:.6g} in X and "
            "y, expected the data, weights and scale of y that it was fitted to"
        )
    if not estimator._finds_weights_again(X, y, given):
        raise ValueError(
            f"model {name!r} predicts otherwise than a fit to X and y at its precisions, with the "
            "same log evidence, expected the data that it was fitted to and not others of another "
            "level or sign"
        )
