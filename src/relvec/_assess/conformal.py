"""Split-conformal intervals and sets of classes, which hold their coverage whatever the model.

Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, 2005; Lei, G'Sell, Rinaldo,
Tibshirani and Wasserman, Distribution-free predictive inference for regression, JASA 113, 2018.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags

from relvec._numerics.checks import check_coverage, named_errors
from relvec._numerics.typing import Array

__all__ = ["CalibratedClassifier", "CalibratedRegressor"]

#: A fitted model, and inputs and targets of rows that it was not fitted to.
HeldOut = tuple[BaseEstimator, ArrayLike, NDArray[Any]]

#: Scores of classes that differ by less are equal: roundings of one row predicted among others.
SAME_SCORE = 1e-8


@dataclass(frozen=True)
class CalibratedRegressor:
    """Intervals of a fitted regressor that are as wide as its errors on other rows ask for.

    Made by ``calibrate(X, y)``. The score of a row is its error in units of its predictive standard
    deviation (of Student-t noise, its scale), and an interval is the mean plus and minus that
    deviation times the quantile of the scores: wide where the model is unsure, and as a whole as
    wide as it has to be.

    Parameters
    ----------
    model : estimator
        The fitted regressor.
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
        for fitted, X, y in held_out:
            moments = np.stack(_mean_and_scale(fitted, X), axis=-1)
            predicted.append(moments.reshape(len(y), -1, 2).swapaxes(0, 1))
            targets.append(y.reshape(len(y), -1).T)
        return cls(copy(model), np.concatenate(predicted, axis=1), np.concatenate(targets, axis=1))

    @property
    def _scores(self) -> Array:
        """Errors of the calibration rows over their scales, shape (n_targets, n_samples)."""
        scores: Array = (self.y - self.predicted[:, :, 0]) / self.predicted[:, :, 1]
        return scores

    def predict(self, X: ArrayLike, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Predict new observations, with errors of the size that calibration rows had.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.
        return_std : bool, default=False
            Return the standard deviation of a new observation too.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
            That of the model.
        std : ndarray of shape (n_samples,) or (n_samples, n_targets)
            If `return_std`, that of the model times the root mean square of the scores.
        """
        mean, scale = _mean_and_scale(self.model, X)
        std = scale * np.sqrt(np.mean(self._scores**2, axis=1))
        return (mean, std) if return_std else mean

    def predict_interval(self, X: ArrayLike, coverage: float = 0.95) -> tuple[Array, Array]:
        """Predict intervals for new observations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Queries; with a precomputed kernel its values against the training rows.
        coverage : float, default=0.95
            Probability, at least, that an observation lies in its interval: on average over new
            rows and over calibration rows, all drawn alike. It is at most 1/(n + 1) higher with n
            calibration rows whose scores are distinct.

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
        mean, scale = _mean_and_scale(self.model, X)
        support = self.model.fit_result_.outputs[0].likelihood.support
        lower, upper = np.clip(
            [mean - factor * scale, mean + factor * scale], support.low, support.high
        )
        return lower, upper


@dataclass(frozen=True)
class CalibratedClassifier:
    """Sets of classes as large as a fitted classifier's mistakes on other rows ask for.

    Made by ``calibrate(X, y)``. The score of a row is one less the probability of its class, and a
    set holds the classes whose score is at most the quantile of those (least ambiguous sets,
    Sadinle et al., 2019).

    Parameters
    ----------
    model : estimator
        The fitted classifier.
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
        for fitted, X, labels in held_out:
            missing = np.setdiff1d(model.classes_, fitted.classes_)
            if len(missing):
                raise ValueError(
                    f"cv leaves a refit no row of class {missing.tolist()[0]!r}, expected rows of "
                    "every class for each"
                )
            predicted.append(fitted.predict_proba(X))
            codes.append(np.searchsorted(model.classes_, labels))
        return cls(copy(model), np.concatenate(predicted), np.concatenate(codes))

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
    quantile: Array = np.partition(scores, rank - 1, axis=-1)[..., rank - 1]
    return quantile


def held_out(
    model: BaseEstimator,
    X: ArrayLike,
    rows: Array,
    y: NDArray[Any],
    cv: Any,
    groups: ArrayLike | None,
) -> Iterator[HeldOut]:
    """Yield models with the rows that they were not fitted to, and their targets.

    Without `cv` that is the model itself with X; else refits without each fold of the `rows`, X
    validated, which are those of the fit. Of a precomputed kernel a refit has the columns of its
    own rows.
    """
    if cv is None:
        if groups is not None:
            raise ValueError("groups is given, expected None without cv")
        yield model, X, y
        return
    if len(rows) != model.n_samples_fit_:
        raise ValueError(
            f"X has {len(rows)} rows, expected the {model.n_samples_fit_} of the fit with cv={cv!r}"
        )
    with named_errors("cv", "groups"):
        folds = list(check_cv(cv, y, classifier=is_classifier(model)).split(rows, y, groups))
    pairwise = get_tags(model).input_tags.pairwise
    for kept, left in folds:
        inputs = rows[:, kept] if pairwise else rows
        yield clone(model).fit(inputs[kept], y[kept]), inputs[left], y[left]


def _mean_and_scale(model: BaseEstimator, X: ArrayLike) -> tuple[Array, Array]:
    """Mean of new observations and scale of their errors, shaped as `predict` returns them."""
    latent, std = map(np.asarray, model.predict_latent(X, return_std=True))
    means, scales = [], []
    for output, column in enumerate(latent.reshape(len(latent), -1).T):
        likelihood, mean = model.fit_result_.outputs[output].likelihood, column[:, None]
        covariance = std.reshape(len(std), -1)[:, output, None, None] ** 2
        means.append(likelihood.moments(mean, covariance)[0])
        scales.append(likelihood.error_scale(mean, covariance))
    return np.hstack(means).reshape(latent.shape), np.hstack(scales).reshape(latent.shape)
