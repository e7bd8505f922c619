"""Split-conformal intervals and sets of classes, which hold their coverage whatever the model.

Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, 2005; Lei, G'Sell, Rinaldo,
Tibshirani and Wasserman, Distribution-free predictive inference for regression, JASA 113, 2018.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags

from relvec._assess.pipelines import prefix_of, unwrap, unwrap_fitted
from relvec._numerics.checks import check_coverage, in_memory, named_errors
from relvec._numerics.typing import Array

__all__ = ["CalibratedClassifier", "CalibratedRegressor"]

#: A fitted model, inputs and targets of rows that it was not fitted to, and their exposure if any.
HeldOut = tuple[BaseEstimator, ArrayLike, NDArray[Any], Array | None]

#: Scores of classes that differ by less are equal: roundings of one row predicted among others.
SAME_SCORE = 1e-8


@dataclass(frozen=True)
class CalibratedRegressor:
    """Intervals of a fitted regressor that are as wide as its errors on other rows ask for.

    Made by ``calibrate(X, y)``, and by `relvec.calibrate` of a model that holds a regressor: then
    means, scales and targets are in the units of the regressor, and what is predicted in those of
    the model. The score of a row is its error in units of its predictive standard
    deviation (of Student-t noise, its scale), and an interval is the mean plus and minus that
    deviation times the quantile of the scores: wide where the model is unsure, and as a whole as
    wide as it has to be.

    Parameters
    ----------
    model : estimator
        The fitted regressor, or a model that holds it.
    predicted : ndarray of shape (n_targets, n_samples, 2)
        Its means and scales of the calibration rows.
    y : ndarray of shape (n_targets, n_samples)
        Their targets.
    """

    model: BaseEstimator
    predicted: Array
    y: Array

    def __post_init__(self) -> None:
        scale = self.predicted[:, :, 1]
        if not (np.isfinite(scale) & (scale > 0)).all():
            raise ValueError(
                f"predictions of the calibration rows spread by {scale.min():.3g} to "
                f"{scale.max():.3g}, expected finite numbers > 0 to measure their errors by"
            )

    @classmethod
    def of(cls, model: BaseEstimator, held_out: Iterable[HeldOut]) -> Self:
        """Calibrate a model by the errors in rows that were held out."""
        predicted, targets = [], []
        for fitted, X, y, exposure in held_out:
            moments = np.stack(_mean_and_scale(fitted, X, exposure), axis=-1)
            z = _targets(fitted, y)
            predicted.append(moments.reshape(len(z), -1, 2).swapaxes(0, 1))
            targets.append(z.T)
        return cls(_kept(model), np.concatenate(predicted, axis=1), np.concatenate(targets, axis=1))

    @property
    def _scores(self) -> Array:
        """Errors of the calibration rows over their scales, shape (n_targets, n_samples)."""
        return (self.y - self.predicted[:, :, 0]) / self.predicted[:, :, 1]

    def predict(
        self, X: ArrayLike, return_std: bool = False, exposure: ArrayLike | None = None
    ) -> Array | tuple[Array, Array]:
        """Predict new observations, with errors of the size that calibration rows had.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.
        return_std : bool, default=False
            Return the standard deviation of a new observation too.
        exposure : array-like of shape (n_samples,), default=None
            Exposure of each count; None is 1 for all.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
            That of the model.
        std : ndarray of shape (n_samples,) or (n_samples, n_targets)
            If `return_std`, that of the model times the root mean square of the scores.
        """
        mean, scale = _mean_and_scale(self.model, X, exposure)
        change = unwrap(self.model).change
        if not return_std:
            return change.back(mean)
        std = scale * np.sqrt(np.mean(self._scores**2, axis=1))
        return change.back(mean), change.scale(mean, std)

    def predict_interval(
        self, X: ArrayLike, coverage: float = 0.95, exposure: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Predict intervals for new observations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.
        coverage : float, default=0.95
            Probability, at least, that an observation lies in its interval: on average over new
            rows and over calibration rows, all drawn alike. It is at most 1/(n + 1) higher with n
            calibration rows whose scores are distinct.
        exposure : array-like of shape (n_samples,), default=None
            Exposure of each count; None is 1 for all.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Ends, in units of y.

        Raises
        ------
        ValueError
            `coverage` is not a probability, or there are too few calibration rows for it.
        """
        factor = conformal_quantile(np.abs(self._scores), coverage)
        mean, scale = _mean_and_scale(self.model, X, exposure)
        parts = unwrap(self.model)
        support = parts.estimator.fit_result_.outputs[0].likelihood.support
        lower, upper = np.clip(
            [mean - factor * scale, mean + factor * scale], support.low, support.high
        )
        return parts.change.ends(lower, upper)


@dataclass(frozen=True)
class CalibratedClassifier:
    """Sets of classes as large as a fitted classifier's mistakes on other rows ask for.

    Made by ``calibrate(X, y)``. The score of a row is one less the probability of its class, and a
    set holds the classes whose score is at most the quantile of those (least ambiguous sets,
    Sadinle et al., 2019).

    Parameters
    ----------
    model : estimator
        The fitted classifier, or a model that holds it.
    predicted : ndarray of shape (n_samples, n_classes)
        Its probabilities for the calibration rows.
    codes : ndarray of shape (n_samples,)
        The position of their labels in its ``classes_``.
    """

    model: BaseEstimator
    predicted: Array
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, model: BaseEstimator, held_out: Iterable[HeldOut]) -> Self:
        """Calibrate a model by the probabilities of labels that were held out."""
        predicted, codes = [], []
        for fitted, X, labels, _ in held_out:
            missing = np.setdiff1d(model.classes_, fitted.classes_)
            if len(missing):
                raise ValueError(
                    f"cv leaves a refit no row of class {missing.tolist()[0]!r}, expected rows of "
                    "every class for each"
                )
            predicted.append(fitted.predict_proba(X))
            codes.append(np.searchsorted(model.classes_, labels))
        return cls(_kept(model), np.concatenate(predicted), np.concatenate(codes))

    def predict_set(self, X: ArrayLike, coverage: float = 0.95) -> NDArray[np.bool_]:
        """Predict sets of classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.
        coverage : float, default=0.95
            Probability, at least, that a set holds the class of its row: on average over new rows
            and over calibration rows, all drawn alike.

        Returns
        -------
        sets : ndarray of bool, of shape (n_samples, n_classes)
            Membership of each of ``classes_``. A set may hold all of them, and none where every
            class is less probable than `coverage` asks for.

        Raises
        ------
        ValueError
            `coverage` is not a probability, or there are too few calibration rows for it.
        """
        scores = 1 - self.predicted[np.arange(len(self.codes)), self.codes]
        threshold = conformal_quantile(scores, coverage)
        sets: NDArray[np.bool_] = (1 - self.model.predict_proba(X)) - threshold <= SAME_SCORE
        return sets


def conformal_quantile(scores: Array, coverage: float) -> Array:
    """Return the ⌈(n + 1)·coverage⌉-th smallest of the n scores along the last axis.

    The score of another row drawn alike is at most that with a probability of `coverage` or more.
    """
    check_coverage(coverage)
    share = Fraction(f"{coverage:.15g}")  # the decimal that was meant: 0.95 · 20 is 19
    n, needed = scores.shape[-1], math.ceil(share / (1 - share))
    if n < needed:
        raise ValueError(
            f"coverage={coverage!r} with {n} calibration rows, expected at least {needed}"
        )
    rank = math.ceil((n + 1) * share)
    return np.partition(scores, rank - 1, axis=-1)[..., rank - 1]


def calibrate(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    cv: Any = None,
    groups: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> CalibratedRegressor | CalibratedClassifier:
    """Make intervals, or sets of classes, that hold what they say without the model being right.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a pipeline, a search or a
        ``TransformedTargetRegressor`` that holds one, in any order.
    X : array-like of shape (n_samples, n_features)
        Without `cv`, rows that the model was not fitted to, drawn like those to come; with a
        precomputed kernel its values against the training rows. 95 % needs 19 of them at least.
        With `cv`, the rows that it was fitted to.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Their targets, or labels out of ``classes_``.
    cv : int, cross-validation splitter or iterable of splits, default=None
        Measure errors in the rows of the fit, by a refit of the whole model without each fold,
        with each row counting once. A number is that of folds in the order of the rows, stratified
        ones of labels. The splitter says how new rows come: ``KFold(5, shuffle=True)`` for more of
        the same, ``GroupKFold`` for new groups, ``TimeSeriesSplit`` for what follows in time.
    groups : array-like of shape (n_samples,), default=None
        What `cv` keeps together.
    exposure : array-like of shape (n_samples,), default=None
        Exposure of each count, where the model was fitted with one.

    Returns
    -------
    calibrated : CalibratedRegressor or CalibratedClassifier
        Split-conformal, for X as the model takes it; it keeps the model as it is now. Of regression
        its ``predict_interval(X, coverage)`` is as wide as the errors in y are in units of the
        predicted standard deviation; of classification there is ``predict_set(X, coverage)``.

    Raises
    ------
    ValueError
        X, y or `exposure` are not what is expected, a refit misses a class, or there are `groups`
        without `cv`.

    Examples
    --------
    >>> import relvec
    >>> from sklearn.datasets import load_diabetes, load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = relvec.SparseBayesianRegressor().fit(X[:300], y[:300])
    >>> calibrated = relvec.calibrate(model, X[:300], y[:300], cv=5)
    >>> lower, upper = calibrated.predict_interval(X[300:], coverage=0.9)
    >>> print(((lower <= y[300:]) & (y[300:] <= upper)).mean().round(2))
    0.92
    >>> X, X_new, y, y_new = train_test_split(*load_iris(return_X_y=True), random_state=0)
    >>> sets = relvec.calibrate(relvec.RVC().fit(X[:70], y[:70]), X[70:], y[70:]).predict_set(X_new)
    >>> print(sets[range(len(y_new)), y_new].mean().round(2), sets.sum(axis=1).max())
    0.97 1
    """
    parts = unwrap_fitted(model)
    X, y = in_memory(X), in_memory(y)
    rows, targets = parts.estimator._like_fitted(parts.inputs(X), parts.change.forward(y))
    inputs = X if parts.steps or cv is None else rows
    known = parts.estimator._known_exposure(exposure, len(rows))
    if is_classifier(parts.estimator):
        labels = parts.estimator.classes_[targets]
        folds = held_out(model, inputs, labels, known, cv, groups)
        return CalibratedClassifier.of(model, folds)
    numbers = targets[:, 0] if targets.shape[1] == 1 else targets
    numbers = np.asarray(y) if parts.change else numbers
    return CalibratedRegressor.of(model, held_out(model, inputs, numbers, known, cv, groups))


def held_out(
    model: Any,
    X: Any,
    y: NDArray[Any],
    known: Mapping[str, Array],
    cv: Any,
    groups: ArrayLike | None,
) -> Iterator[HeldOut]:
    """Yield models with the rows that they were not fitted to, and their targets.

    Without `cv` that is the model itself with X; else refits without each fold of the rows, which
    are those of the fit. Of a precomputed kernel a refit has the columns of its own rows. Exposures
    are `known` by name, if there are any.
    """
    fitted = unwrap_fitted(model).estimator
    if cv is not None and getattr(fitted, "noise_correlation", None) is not None:
        raise ValueError(
            f"cv={cv!r}, expected None with noise_correlation: refits without a fold have no rows "
            "beside it; give rows that follow those of the fit"
        )
    if cv is None:
        if groups is not None:
            raise ValueError("groups is given, expected None without cv")
        yield model, X, y, known.get("exposure")
        return
    if len(y) != fitted.n_samples_fit_:
        raise ValueError(
            f"X has {len(y)} rows, expected the {fitted.n_samples_fit_} of the fit with cv={cv!r}"
        )
    with named_errors("cv", "groups"):
        folds = list(check_cv(cv, y, classifier=is_classifier(model)).split(X, y, groups))
    pairwise = get_tags(model).input_tags.pairwise
    for kept, left in folds:
        inputs = np.asarray(X)[:, kept] if pairwise else X
        given = {prefix_of(model) + name: own[kept] for name, own in known.items()}
        refit = clone(model).fit(_taken(inputs, kept), y[kept], **given)
        own = known["exposure"][left] if known else None
        yield refit, _taken(inputs, left), y[left], own


def _kept(model: Any) -> Any:
    """Return a model that stays as it is when the one given is fitted again."""
    return copy(model) if unwrap(model).estimator is model else deepcopy(model)


def _taken(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of a table, a sparse matrix, or what else is an array."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return (X if hasattr(X, "shape") else np.asarray(X))[rows]


def _targets(model: Any, y: NDArray[Any]) -> Array:
    """Targets as the estimator in a model is fitted to them, (n_samples, n_targets)."""
    z = np.asarray(unwrap(model).change.forward(y), dtype=np.float64)
    return z.reshape(len(z), -1)


def _mean_and_scale(model: Any, X: ArrayLike, exposure: ArrayLike | None) -> tuple[Array, Array]:
    """Mean of new observations and scale of their errors, shaped as `predict` returns them.

    Of the estimator in a model, in the units that it was fitted to.
    """
    parts = unwrap(model)
    estimator = parts.estimator
    inputs, outputs = parts.inputs(X), estimator.fit_result_.outputs
    latent, std = map(np.asarray, estimator.predict_latent(inputs, return_std=True))
    varies = any(output.noise is not None for output in outputs)
    rows = estimator._queries(inputs) if varies else inputs
    means, scales = [], []
    latent = (latent.T + estimator._log_exposure(exposure, len(latent))).T
    for output, column in enumerate(latent.reshape(len(latent), -1).T):
        likelihood, mean = outputs[output].likelihood_at(rows), column[:, None]
        covariance = std.reshape(len(std), -1)[:, output, None, None] ** 2
        means.append(likelihood.moments(mean, covariance)[0])
        scales.append(likelihood.error_scale(mean, covariance))
    return np.hstack(means).reshape(latent.shape), np.hstack(scales).reshape(latent.shape)
