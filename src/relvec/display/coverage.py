"""Display of the reliability of a regressor's intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length

from relvec._numerics.checks import check_coverage
from relvec._numerics.typing import Array
from relvec.display.base import SharesDisplay, fitted_steps, likely_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(kw_only=True, eq=False, repr=False)
class CoverageDisplay(SharesDisplay):
    """Shares of rows inside their intervals against the shares that should be.

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
    ax_, figure_ : matplotlib Axes and Figure
        The axes drawn on, and their figure.
    """

    coverage: Array
    held: Array
    n_samples: int

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        coverages: Sequence[float] = COVERAGES,
        level: float = 0.95,
        exposure: Any = None,
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
        exposure : array-like of shape (n_samples,), default=None
            Exposure of each count, where the regressor was fitted with one.
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
        transform, regressor = fitted_steps(estimator, "a regressor")
        check_consistent_length(X, y)
        inputs, known = transform(X), regressor._known_exposure(exposure, len(y))
        intervals = {
            share: regressor.predict_interval(inputs, coverage=share, **known)
            for share in coverages
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
        level, ax
            As in `from_estimator`.

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
        coverages = np.array(list(intervals), dtype=np.float64)
        display = cls(coverage=coverages, held=np.array(shares), n_samples=len(truth))
        return display.plot(level=level, ax=ax)

    def _draw(self, level: float = 0.95) -> None:
        order = np.argsort(self.coverage)
        coverage = self.coverage[order]
        self._plot_shares(
            coverage,
            self.held[order],
            likely_shares(coverage, self.n_samples, level),
            bars=f"{100 * level:g} % if they hold what they say",
            diagonal="as they say",
            points="intervals",
        )
        self.ax_.set(xlabel="share that intervals should hold", ylabel="share that they hold")
