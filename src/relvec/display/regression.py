"""The picture of a fitted regressor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length

from relvec.display.parts import (
    BLUE,
    INK,
    MIST,
    STEEL,
    Array,
    Mask,
    circle,
    new_axes,
    rows_among,
    steps,
    table_like,
    widened,
)
from relvec.regression import RVR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GRID_POINTS = 400


@dataclass(frozen=True)
class Curve:
    """The prediction along one input: mean, and std of the function and of an observation."""

    x: Array
    mean: Array
    latent_std: Array
    std: Array


class RegressionDisplay:
    """Predictions of a fitted :class:`~relvec.RVR` beside the data.

    One input that is a number: the mean as a curve inside two bands, the dark one for the function
    itself and the light one for a new observation. Other inputs: predicted against true values
    with error bars. Rows that are relevance vectors are circled in both. :meth:`from_estimator`
    makes one.

    Parameters
    ----------
    y, mean, std : ndarray of shape (n_samples,)
        True value, predicted mean and predictive standard deviation (noise included) of each row.
    is_relevance_vector : ndarray of bool of shape (n_samples,)
        Rows that a function of the model is centred on.
    x : ndarray of shape (n_samples,), default=None
        The input, where there is one number only.
    curve : Curve, default=None
        The prediction over the range of `x`.
    x_name, y_name : str
        Names of input and target, written on the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure they belong to.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        *,
        y: Array,
        mean: Array,
        std: Array,
        is_relevance_vector: Mask,
        x: Array | None = None,
        curve: Curve | None = None,
        x_name: str = "x",
        y_name: str = "y",
    ) -> None:
        self.y = y
        self.mean = mean
        self.std = std
        self.is_relevance_vector = is_relevance_vector
        self.x = x
        self.curve = curve
        self.x_name = x_name
        self.y_name = y_name

    @classmethod
    def from_estimator(
        cls,
        estimator: RVR | Pipeline,
        X: Any,
        y: Any,
        *,
        level: float = 0.95,
        x_name: str | None = None,
        y_name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Predict the rows of `X` and draw them.

        Parameters
        ----------
        estimator : RVR or Pipeline
            A fitted regressor, or a fitted pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Rows to show.
        y : array-like of shape (n_samples,)
            Their true values.
        level : float, default=0.95
            Probability inside the bands and error bars.
        x_name, y_name : str, default=None
            Names for the axes; None takes the names that `X` and `y` carry, else "x" and "y".
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        RegressionDisplay
            The picture, drawn, with the numbers behind it.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVR
        >>> from relvec.display import RegressionDisplay
        >>> X = np.linspace(-10, 10, 50)[:, None]
        >>> y = np.sinc(X[:, 0] / np.pi) + np.random.default_rng(0).normal(scale=0.1, size=50)
        >>> model = RVR(gamma=0.1).fit(X, y)
        >>> display = RegressionDisplay.from_estimator(model, X, y)
        >>> bool(display.is_relevance_vector.sum() == len(model.relevance_))
        True
        """
        transform, regressor = steps(estimator, RVR)
        check_consistent_length(X, y)
        inputs = transform(X)
        mean, std = regressor.predict(inputs, return_std=True)
        if mean.ndim > 1:
            raise ValueError(
                f"estimator predicts {mean.shape[1]} targets, expected one; fit the target to show "
                "by itself"
            )
        one_input = np.shape(X)[1] == 1 and np.asarray(X).dtype.kind in "biuf"
        columns = getattr(X, "columns", ["x"])
        display = cls(
            y=np.asarray(y, dtype=np.float64),
            mean=mean,
            std=std,
            is_relevance_vector=rows_among(inputs, regressor.relevance_vectors_),
            x=np.asarray(X, dtype=np.float64)[:, 0] if one_input else None,
            curve=_curve(transform, regressor, X) if one_input else None,
            x_name=x_name or str(columns[0]),
            y_name=y_name or str(getattr(y, "name", None) or "y"),
        )
        return display.plot(level=level, ax=ax)

    def plot(self, *, level: float = 0.95, ax: Axes | None = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        level : float, default=0.95
            Probability inside the bands and error bars.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        RegressionDisplay
            Itself, with `ax_` and `figure_` set.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1; got {level!r}")
        self.ax_ = new_axes() if ax is None else ax
        self.figure_ = cast("Figure", self.ax_.figure)
        half_width = NormalDist().inv_cdf((1 + level) / 2)
        if self.x is not None and self.curve is not None:
            self._plot_curve(self.x, self.curve, half_width, f"{100 * level:g} %")
        else:
            self._plot_against_true(half_width, f"{100 * level:g} %")
        self.ax_.spines[["top", "right"]].set_visible(False)
        self.ax_.legend(edgecolor="none", framealpha=0.85, fontsize="small")
        return self

    def _plot_curve(self, x: Array, curve: Curve, half_width: float, level: str) -> None:
        for std, color, label in (
            (curve.std, MIST, f"{level} of new observations"),
            (curve.latent_std, STEEL, f"{level} for the function"),
        ):
            low, high = curve.mean - half_width * std, curve.mean + half_width * std
            self.ax_.fill_between(curve.x, low, high, color=color, linewidth=0, label=label)
        self.ax_.plot(curve.x, curve.mean, color=BLUE, linewidth=2, label="mean")
        self._plot_rows(x, self.y)
        self.ax_.set(xlabel=self.x_name, ylabel=self.y_name, xlim=(curve.x[0], curve.x[-1]))

    def _plot_against_true(self, half_width: float, level: str) -> None:
        bars = half_width * self.std
        ends = [min(self.y.min(), self.mean.min()), max(self.y.max(), self.mean.max())]
        self.ax_.plot(ends, ends, color=BLUE, linewidth=1.5, label="predicted = true", zorder=1)
        self.ax_.errorbar(
            self.y, self.mean, bars, fmt="none", ecolor=STEEL, elinewidth=0.9, label=level, zorder=0
        )
        self._plot_rows(self.y, self.mean)
        self.ax_.set(xlabel=f"true {self.y_name}", ylabel=f"predicted {self.y_name}")

    def _plot_rows(self, across: Array, up: Array) -> None:
        self.ax_.scatter(across, up, s=12, color=INK, alpha=0.7, linewidth=0, label="data")
        kept = self.is_relevance_vector
        circle(self.ax_, across[kept], up[kept])


def _curve(transform: Callable[[Any], Any], regressor: RVR, X: Any) -> Curve:
    """Predict over the range of the only column of `X`, five per cent wider at either end."""
    x = np.asarray(X, dtype=np.float64)[:, 0]
    grid = widened(x, GRID_POINTS)
    inputs = transform(table_like(X, [grid]))
    mean, std = regressor.predict(inputs, return_std=True)
    _, latent_std = regressor.predict_latent(inputs, return_std=True)
    return Curve(grid, mean, latent_std, std)
