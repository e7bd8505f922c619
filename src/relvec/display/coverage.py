"""The picture of how far the error bars of a regressor can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.utils.validation import check_consistent_length

from relvec._estimators.regressor import Regressor
from relvec._numerics.checks import check_coverage
from relvec._numerics.typing import Array
from relvec.display.parts import against_diagonal, likely_shares, new_axes, steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from sklearn.pipeline import Pipeline

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


class CoverageDisplay:
    """How many rows lie in their intervals, against how many should.

    A point a coverage: the share of the rows whose interval holds their true value. On the diagonal
    the intervals hold what they say; above it they are too wide, below it too narrow. The bars span
    what the share of as many rows would be if they held what they say. The points are of the same
    rows, so neighbours stray together. :meth:`from_estimator` and :meth:`from_predictions` make
    one; :class:`CalibrationDisplay` draws the probabilities of a classifier.

    Parameters
    ----------
    coverage : ndarray of shape (n_coverages,)
        Probability that each kind of interval is said to hold.
    held : ndarray of shape (n_coverages,)
        Share of the rows that it held.
    n_samples : int
        Number of rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure they belong to.
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, *, coverage: Array, held: Array, n_samples: int) -> None:
        self.coverage = coverage
        self.held = held
        self.n_samples = n_samples

    @classmethod
    def from_estimator(
        cls,
        estimator: Regressor | Pipeline,
        X: Any,
        y: Any,
        *,
        coverages: Sequence[float] = COVERAGES,
        level: float = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Predict intervals for the rows of `X` and draw how many of them hold.

        Parameters
        ----------
        estimator : RVR, SparseBayesianRegressor or Pipeline
            A fitted regressor, or a fitted pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Rows that the regressor has not seen.
        y : array-like of shape (n_samples,)
            Their true values.
        coverages : sequence of float
            Probabilities inside the intervals.
        level : float, default=0.95
            Probability inside the bars.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        CoverageDisplay
            The picture, drawn, with the numbers behind it.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from relvec import RVR
        >>> from relvec.display import CoverageDisplay
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = RVR().fit(X[:300], y[:300])
        >>> display = CoverageDisplay.from_estimator(model, X[300:], y[300:], coverages=[0.5, 0.9])
        >>> print(display.coverage, display.held.shape)
        [0.5 0.9] (2,)
        """
        transform, regressor = steps(estimator, Regressor, "a regressor")
        check_consistent_length(X, y)
        inputs = transform(X)
        intervals = {
            coverage: regressor.predict_interval(inputs, coverage=coverage)
            for coverage in coverages
        }
        return cls.from_predictions(y, intervals, level=level, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        intervals: Mapping[float, tuple[Any, Any]],
        *,
        level: float = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Draw how many intervals, known already, hold.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True values.
        intervals : mapping of float to tuple of two array-like of shape (n_samples,)
            Lower and upper ends of the intervals, by the probability inside them.
        level : float, default=0.95
            Probability inside the bars.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        CoverageDisplay
            The picture, drawn, with the numbers behind it.

        Examples
        --------
        >>> from relvec.display import CoverageDisplay
        >>> display = CoverageDisplay.from_predictions([1, 2, 3, 4], {0.7: ([0] * 4, [3] * 4)})
        >>> print(display.held)
        [0.75]
        """
        truth, shares = np.asarray(y_true, dtype=np.float64), []
        if truth.ndim != 1:
            raise ValueError(f"y_true has shape {truth.shape}, expected one target: (n_samples,)")
        for coverage, (lower, upper) in intervals.items():
            check_coverage(coverage, "coverage of intervals")
            check_consistent_length(truth, lower, upper)
            shares.append(np.mean((np.asarray(lower) <= truth) & (truth <= np.asarray(upper))))
        display = cls(
            coverage=np.array(list(intervals), dtype=np.float64),
            held=np.array(shares),
            n_samples=len(truth),
        )
        return display.plot(level=level, ax=ax)

    def plot(self, *, level: float = 0.95, ax: Axes | None = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        level : float, default=0.95
            Probability inside the bars.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        CoverageDisplay
            Itself, with `ax_` and `figure_` set.
        """
        check_coverage(level, "level")
        self.ax_ = new_axes() if ax is None else ax
        self.figure_ = cast("Figure", self.ax_.figure)
        order = np.argsort(self.coverage)
        said, found = self.coverage[order], self.held[order]
        against_diagonal(
            self.ax_,
            said,
            found,
            likely_shares(said, self.n_samples, level),
            (f"{100 * level:g} % if they hold what they say", "as they say", "intervals"),
        )
        self.ax_.set(xlabel="share that intervals should hold", ylabel="share that they hold")
        return self
