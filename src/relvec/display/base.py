"""Base of the displays, with the tones, marks and grids that they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.utils.validation import check_is_fitted

from relvec import (
    RVC,
    RVR,
    EffectsClassifier,
    EffectsRegressor,
    SparseBayesianClassifier,
    SparseBayesianRegressor,
)
from relvec._assess.pipelines import unwrap
from relvec._numerics.checks import check_coverage
from relvec._numerics.optional import need
from relvec._numerics.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Mask = NDArray[np.bool_]

# Tones far enough apart to survive a greyscale print, darkest first.
INK, BLUE, STEEL, MIST = "#111111", "#1d4e79", "#8fb3d1", "#dbe7f1"

# Estimators that a display takes, by what an error calls them.
REGRESSORS = (RVR, EffectsRegressor, SparseBayesianRegressor)
CLASSIFIERS = (RVC, EffectsClassifier, SparseBayesianClassifier)
KINDS: dict[str, tuple[type, ...]] = {
    "a regressor": REGRESSORS,
    "a classifier": CLASSIFIERS,
    "an estimator": REGRESSORS + CLASSIFIERS,
    "an estimator of effects": (EffectsRegressor, EffectsClassifier),
}


class Display(ABC):
    """A picture on matplotlib axes, which are made where none are given."""

    ax_: Axes
    figure_: Figure

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure. A picture of two parts, one above the other,
            divides them.

        Returns
        -------
        display
            Itself, with the axes and the figure as attributes.
        """
        self._set_axes(ax)
        self._draw()
        return self

    @abstractmethod
    def _draw(self) -> None:
        """Draw on `ax_`."""

    def _set_axes(self, ax: Axes | None) -> None:
        self.ax_ = _new_axes() if ax is None else ax
        self.figure_ = cast("Figure", self.ax_.figure)

    def _circle(self, x: Array, y: Array) -> None:
        """Circle the relevance vectors, if there are any."""
        if len(x):
            from matplotlib.patheffects import withStroke

            self.ax_.scatter(
                x,
                y,
                s=90,
                facecolor="none",
                edgecolor=INK,
                linewidth=1.4,
                label="relevance vectors",
                zorder=3,
                path_effects=[withStroke(linewidth=3, foreground="white")],
            )

    def _legend(self, **settings: Any) -> None:
        self.ax_.legend(edgecolor="none", framealpha=0.85, fontsize="small", **settings)

    def _split_below(self, heights: tuple[int, int]) -> Axes:
        """Divide the axes at these proportions; return the lower ones, which share their x axis."""
        place = self.ax_.get_subplotspec()
        if place is None:
            raise ValueError(
                "ax must be one of a figure's subplots, so that its place can be split"
            )
        halves = place.subgridspec(2, 1, height_ratios=heights)
        self.ax_.set_subplotspec(halves[0])
        self.ax_.tick_params(labelbottom=False)
        return self.figure_.add_subplot(halves[1], sharex=self.ax_)


class SharesDisplay(Display):
    """Base of displays of observed shares of rows against those that were predicted."""

    def plot(self, *, level: float = 0.95, ax: Axes | None = None) -> Self:
        check_coverage(level, "level")
        self._set_axes(ax)
        self._draw(level)
        return self

    @abstractmethod
    def _draw(self, level: float = 0.95) -> None:
        """Draw on `ax_`, with bars of this level."""

    def _plot_shares(
        self,
        predicted: Array,
        observed: Array,
        likely: tuple[Array, Array],
        *,
        bars: str,
        diagonal: str,
        points: str,
    ) -> None:
        """Draw shares, bars of the likely ones and the diagonal, by these names in the legend."""
        ax = self.ax_
        ax.vlines(predicted, *likely, color=STEEL, linewidth=5, alpha=0.6, label=bars, zorder=0)
        ax.plot([0, 1], [0, 1], color=BLUE, linewidth=1.5, label=diagonal, zorder=1)
        ax.plot(predicted, observed, "o-", color=INK, linewidth=1, markersize=5, label=points)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        hide_frame(ax)
        self._legend(loc="upper left")


def _new_axes() -> Axes:
    """Make a figure with one pair of axes."""
    need("matplotlib", "drawing", "plot")
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def hide_frame(ax: Axes) -> None:
    """Leave only the lines of the two axes of the frame."""
    ax.spines[["top", "right"]].set_visible(False)


def escaped(name: object) -> str:
    """Text of a name with its dollar signs escaped, between which matplotlib sets formulas."""
    return str(name).replace("$", r"\$")


def likely_shares(probability: Array, count: Any, level: float) -> tuple[Array, Array]:
    """Central interval of shares of `count` rows in which events happen, each (n_shares,)."""
    low, high = binom.interval(level, count, probability)
    return low / count, high / count


def fitted_steps(estimator: Any, kind: str) -> tuple[Callable[[Any], Any], Any]:
    """Split a fitted model into the preparation of X and the estimator itself."""
    check_is_fitted(estimator)
    parts = unwrap(estimator)
    if not isinstance(parts.estimator, KINDS[kind]):
        raise TypeError(
            f"estimator must be {kind} of relvec or a Pipeline that ends in one; got "
            f"{type(parts.estimator)!r}"
        )
    if parts.change:
        raise TypeError(
            f"estimator transforms its target by {parts.change}, expected one that draws y as it is"
        )
    return parts.inputs, parts.estimator


def rows_among(rows: Any, vectors: Array) -> Mask:
    """Mark one row for each relevance vector that is, number for number, among the rows.

    Returns a mask of shape (n_rows,).
    """
    index = {tuple(row): i for i, row in enumerate(np.asarray(rows))}
    marked = np.zeros(len(rows), dtype=np.bool_)
    marked[[index[vector] for vector in map(tuple, vectors) if vector in index]] = True
    return marked


def padded_grid(values: Array, n_points: int) -> Array:
    """Even grid, shape (n_points,), over the range of values and five per cent more at either end.

    Equal values are taken for a range as wide as they are from zero.
    """
    margin = 0.05 * (np.ptp(values) or abs(values[0]) or 1.0)
    return np.linspace(values.min() - margin, values.max() + margin, n_points)


def table_like(X: Any, columns: list[Array]) -> Any:
    """Columns in the form of `X`: a frame stays a frame, so that a model sees its feature names."""
    if hasattr(X, "columns"):
        return type(X)(dict(zip(X.columns, columns, strict=True)))
    return np.column_stack(columns)
