"""Display of the reliability of a classifier's probabilities."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from relvec._numerics.checks import check_count
from relvec._numerics.typing import Array
from relvec.display.base import (
    BLUE,
    MIST,
    Mask,
    SharesDisplay,
    escaped,
    hide_frame,
    likely_shares,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BINS, LEAST_ROWS = 10, 10


@dataclass(frozen=True)
class Bins:
    """Bins of equal mass: how many probabilities, their mean, and the share that came true.

    Arrays are of shape (n_bins,), empty bins left out.
    """

    count: NDArray[np.intp]
    predicted: Array
    observed: Array

    @classmethod
    def of(cls, probability: Array, outcome: Mask, n_bins: int) -> Self:
        """Cut probabilities, shape (n,), at their quantiles; equal ones stay together."""
        cuts = np.quantile(probability, np.linspace(0, 1, n_bins + 1)[1:-1])
        index = np.searchsorted(cuts, probability)
        count = np.bincount(index)
        predicted, observed = np.bincount(index, probability), np.bincount(index, outcome)
        filled = count > 0
        count = count[filled]
        return cls(count, predicted[filled] / count, observed[filled] / count)

    def spread(self, level: float) -> tuple[Array, Array]:
        """Central interval of the share of each bin, where the probabilities are reliable.

        Those of a bin differ, so its share scatters a little less than this.
        """
        return likely_shares(self.predicted, self.count, level)


@dataclass(kw_only=True, eq=False, repr=False)
class CalibrationDisplay(SharesDisplay):
    """Probabilities of a fitted classifier against how often they came true.

    Above, a point a bin of equal mass: the mean of its probabilities, and the share of them that
    came true. On the diagonal they agree; the bars span what the share of a bin of that size
    would be if they did. Below, how the probabilities are distributed, and which came true. With
    two classes they are those of the second, with more the probabilities of every class of every
    row. :meth:`from_estimator` and :meth:`from_predictions` make one.

    Parameters
    ----------
    probability : ndarray of shape (n,)
        Probabilities.
    outcome : ndarray of bool of shape (n,)
        Whether each came true.
    n_bins : int, default=None
        Bins of equal mass; None takes 10, or fewer where they would hold under 10 probabilities.
    name : str, default="a class"
        What the probabilities are of.

    Attributes
    ----------
    bins : Bins
        Size of each bin, mean of its probabilities and share of them that came true.
    ax_, distribution_ax_ : matplotlib Axes
        The axes of the curve, and those of the distribution, under them.
    figure_ : matplotlib Figure
        The figure they belong to.
    """

    probability: Array
    outcome: Mask
    n_bins: InitVar[int | None] = None
    name: str = "a class"
    bins: Bins = field(init=False)

    def __post_init__(self, n_bins: int | None) -> None:
        if n_bins is None:
            n_bins = int(np.clip(len(self.probability) // LEAST_ROWS, 1, MOST_BINS))
        check_count(n_bins, "n_bins")
        self.bins = Bins.of(self.probability, self.outcome, n_bins)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int | None = None,
        level: float = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Predict the probabilities of the rows of `X` and draw them.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with `predict_proba`: an `RVC`, a pipeline that ends in one, or
            any of scikit-learn's.
        X : array-like of shape (n_samples, n_features)
            Rows that the classifier has not seen.
        y : array-like of shape (n_samples,)
            Their classes.
        n_bins : int, default=None
            Bins of equal mass; None takes 10, or fewer where they would hold under 10
            probabilities.
        level : float, default=0.95
            Probability inside the bars.
        ax : matplotlib Axes, default=None
            Axes to draw on, which give up a strip for the distribution; None makes a new figure.

        Returns
        -------
        CalibrationDisplay
            The picture, drawn, with the numbers behind it.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.model_selection import train_test_split
        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.preprocessing import StandardScaler
        >>> from relvec import RVC
        >>> from relvec.display import CalibrationDisplay
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
        >>> model = make_pipeline(StandardScaler(), RVC()).fit(X_train, y_train)
        >>> display = CalibrationDisplay.from_estimator(model, X_test, y_test)
        >>> bool(display.bins.count.sum() == len(y_test))
        True
        """
        check_is_fitted(estimator)
        probability, classes = estimator.predict_proba(X), estimator.classes_
        return cls.from_predictions(
            y, probability, classes=classes, n_bins=n_bins, level=level, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_proba: Any,
        *,
        classes: Any = None,
        n_bins: int | None = None,
        level: float = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Draw probabilities that are known already.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Classes of the rows.
        y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
            Probability of the second of two classes, or of every class.
        classes : array-like of shape (n_classes,), default=None
            Classes in the order of the probabilities; None takes those in `y_true`, sorted.
        n_bins, level, ax
            As in `from_estimator`.

        Returns
        -------
        CalibrationDisplay
            The picture, drawn, with the numbers behind it.

        Examples
        --------
        >>> from relvec.display import CalibrationDisplay
        >>> display = CalibrationDisplay.from_predictions(["no", "yes", "yes"], [0.2, 0.4, 0.9])
        >>> display.name
        'yes'
        """
        check_consistent_length(y_true, y_proba)
        truth, probability = np.asarray(y_true), np.asarray(y_proba, dtype=np.float64)
        kinds = np.unique(truth) if classes is None else np.asarray(classes)
        if probability.ndim == 1:
            probability = np.column_stack([1 - probability, probability])
        if probability.shape != (len(truth), len(kinds)):
            raise ValueError(
                f"y_proba has shape {np.shape(y_proba)}, expected a probability for each of the "
                f"{len(kinds)} classes in every row, or of the second of two"
            )
        outcome, name = truth[:, None] == kinds, "a class"
        if len(kinds) == 2:
            probability, outcome, name = probability[:, 1], outcome[:, 1], str(kinds[1])
        display = cls(
            probability=probability.ravel(), outcome=outcome.ravel(), n_bins=n_bins, name=name
        )
        return display.plot(level=level, ax=ax)

    def _draw(self, level: float = 0.95) -> None:
        self.distribution_ax_ = self._split_below((4, 1))
        self._plot_shares(
            self.bins.predicted,
            self.bins.observed,
            self.bins.spread(level),
            bars=f"{100 * level:g} % if reliable",
            diagonal="reliable",
            points="bins of equal mass",
        )
        self.ax_.set_ylabel("share that came true")
        self._plot_distribution()

    def _plot_distribution(self) -> None:
        ax = self.distribution_ax_
        ax.hist(
            [self.probability[self.outcome], self.probability[~self.outcome]],
            bins=20,
            range=(0, 1),
            stacked=True,
            color=[BLUE, MIST],
            edgecolor="white",
            linewidth=0.5,
            label=["came true", "did not"],
        )
        ax.set(xlabel=f"probability of {escaped(self.name)}", ylabel="number")
        hide_frame(ax)
        # In the corner under the diagonal, where the axes above are empty.
        legend = ax.legend(
            edgecolor="none",
            fontsize="small",
            loc="lower right",
            bbox_to_anchor=(1, 0),
            bbox_transform=self.ax_.transAxes,
        )
        legend.set_in_layout(False)
