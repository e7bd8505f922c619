"""Split-conformal intervals and class sets, which cover what they say without a model being right.

MAPIE turns scores of calibration rows into intervals and sets. What it is given in place of inputs
are predictions of a fitted model, so that the model is asked once for each row, and rows of
calibration are not kept.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from relvec._numerics.checks import check_coverage
from relvec._numerics.typing import Array

try:
    from mapie.classification import SplitConformalClassifier
    from mapie.conformity_scores import BaseRegressionScore
    from mapie.regression import SplitConformalRegressor
except ModuleNotFoundError as error:
    if error.name is None or not error.name.startswith("mapie"):
        raise
    raise ModuleNotFoundError(
        "calibrate needs MAPIE: install mapie, or relvec with its extra relvec[conformal]",
        name=error.name,
    ) from error

if TYPE_CHECKING:
    from relvec._estimators.classifier import Classifier
    from relvec._estimators.regressor import Regressor

__all__ = ["CalibratedClassifier", "CalibratedRegressor"]


@dataclass(frozen=True)
class CalibratedRegressor:
    """Intervals of a fitted regressor that are as wide as its errors on other rows ask for.

    Made by ``calibrate(X, y)``. The score of a row is its error in units of its predictive standard
    deviation, and an interval is the mean plus and minus that deviation times the quantile of the
    scores: wide where the model is unsure, and as a whole as wide as it has to be.

    Parameters
    ----------
    model : estimator
        The fitted regressor.
    predicted : ndarray of shape (n_targets, n_samples, 2)
        Its means and scales of the calibration rows.
    y : ndarray of shape (n_targets, n_samples)
        Their targets.
    """

    model: Regressor
    predicted: Array
    y: Array

    def __post_init__(self) -> None:
        spread = self.predicted[:, :, 1]
        if not (np.isfinite(spread) & (spread > 0)).all():
            raise ValueError(
                f"predictions of the calibration rows spread by {spread.min():.3g} to "
                f"{spread.max():.3g}, expected finite numbers > 0 to measure their errors by"
            )

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
        mean, spread = np.moveaxis(self.model._located(X), -1, 0)
        scores = (self.y - self.predicted[:, :, 0]) / self.predicted[:, :, 1]
        std = spread * np.sqrt(np.mean(scores**2, axis=1, keepdims=True))
        found = (mean[0], std[0]) if self.model._single else (mean.T, std.T)
        return found if return_std else found[0]

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
        check_enough(coverage, self.y.shape[1])
        queries = self.model._located(X)
        ends = [
            self._of_target(*of, coverage)
            for of in zip(self.predicted, self.y, queries, strict=True)
        ]
        lower, upper = np.stack(ends, axis=-1)
        if self.model.machines_[0].likelihood.positive_only:
            lower = np.maximum(lower, 0.0)
        return (lower[:, 0], upper[:, 0]) if self.model._single else (lower, upper)

    def _of_target(self, known: Array, y: Array, queries: Array, coverage: float) -> Array:
        """Ends for one target, of shape (2, n_queries)."""
        conformal = SplitConformalRegressor(
            PredictedMean(), confidence_level=coverage, conformity_score=ScaledError()
        )
        _, bounds = conformal.conformalize(known, y).predict_interval(queries)
        ends: Array = bounds[:, :, 0].T
        return ends


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
        Which of its classes they are.
    """

    model: Classifier
    predicted: Array
    codes: NDArray[np.intp]

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
            Which of ``classes_`` a set holds. It may be all of them, and none where every class is
            less probable than `coverage` asks for.

        Raises
        ------
        ValueError
            `coverage` is not a probability, or there are too few calibration rows for it.
        """
        check_enough(coverage, len(self.codes))
        conformal = SplitConformalClassifier(
            PredictedProbabilities(self.predicted.shape[1]), confidence_level=coverage
        )
        with warnings.catch_warnings():  # a class without calibration rows changes no guarantee
            warnings.filterwarnings("ignore", ".*conformalization dataset has less labels")
            conformal.conformalize(self.predicted, self.codes)
        _, sets = conformal.predict_set(self.model.predict_proba(X))
        held: NDArray[np.bool_] = sets[:, :, 0]
        return held


def check_enough(coverage: float, n_samples: int) -> None:
    """Raise unless `coverage` is a probability that so many calibration rows can tell."""
    check_coverage(coverage)
    share = Fraction(repr(float(coverage)))
    needed = math.ceil(1 / min(share, 1 - share))
    if n_samples < needed:
        raise ValueError(
            f"coverage={coverage!r} with {n_samples} calibration rows, expected at least {needed}"
        )


class ScaledError(BaseRegressionScore):  # type: ignore[misc]
    """|y − mean| in units of the predicted scale, the second column of what MAPIE takes for inputs.

    MAPIE's own score of this kind puts a floor under the scale, in units of y, and sorts the scores
    again for every query.
    """

    def __init__(self) -> None:
        super().__init__(sym=True, consistency_check=False)

    def get_signed_conformity_scores(self, y: Array, y_pred: Array, **given: Any) -> Array:
        """Errors over scales."""
        scores: Array = (y - y_pred) / given["X"][:, 1]
        return scores

    def get_estimation_distribution(
        self, y_pred: Array, conformity_scores: Array, **given: Any
    ) -> Array:
        """Observations with these scores, one row a query."""
        observations: Array = y_pred + given["X"][:, 1:] * conformity_scores
        return observations


class PredictedMean(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The first column of what MAPIE takes for inputs."""

    n_features_in_ = 2

    def fit(self, X: Array, y: Array) -> Self:
        """Nothing is left to learn."""
        return self

    def predict(self, X: Array) -> Array:
        """Means."""
        return X[:, 0]


class PredictedProbabilities(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What MAPIE takes for inputs, as the probabilities that they are.

    Parameters
    ----------
    n_classes : int
        Columns.
    """

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.classes_ = np.arange(n_classes)

    def fit(self, X: Array, y: Array) -> Self:
        """Nothing is left to learn."""
        return self

    def predict(self, X: Array) -> NDArray[np.intp]:
        """The most probable classes."""
        likely: NDArray[np.intp] = X.argmax(axis=1)
        return likely

    def predict_proba(self, X: Array) -> Array:
        """The probabilities."""
        return X
