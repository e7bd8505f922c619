"""Display of a regressor's predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from sklearn.utils.validation import check_consistent_length

from relvec._numerics.checks import check_coverage
from relvec._numerics.typing import Array
from relvec.display.base import (
    BLUE,
    INK,
    MIST,
    STEEL,
    Display,
    Mask,
    escaped,
    fitted_steps,
    hide_frame,
    padded_grid,
    rows_among,
    table_like,
)
from relvec.likelihoods.gaussian import normal_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID_POINTS = 400
Interval: TypeAlias = tuple[Array, Array]


@dataclass(frozen=True)
class Curve:
    """The prediction along one input: mean, interval of an observation and of the function."""

    x: Array
    mean: Array
    interval: Interval
    function_interval: Interval


@dataclass(kw_only=True, eq=False, repr=False)
class RegressionDisplay(Display):
    """Predictions of a fitted regressor beside the data.

    One input that is a number: the mean as a curve inside two bands, the dark one for the function
    itself and the light one for a new observation. Other inputs: predicted against true values
    with error bars. Rows that are relevance vectors are circled in both. :meth:`from_estimator`
    and :meth:`from_predictions` make one.

    Parameters
    ----------
    y, mean : ndarray of shape (n_samples,)
        True value and predicted mean of each row.
    interval : tuple of two ndarray of shape (n_samples,), default=None
        Lower and upper end of what each row is predicted to lie in.
    level : float, default=0.95
        Probability inside the intervals.
    is_relevance_vector : ndarray of bool of shape (n_samples,), default=None
        Rows that a function of the model is centred on.
    x : ndarray of shape (n_samples,), default=None
        The input, where there is one number only.
    curve : Curve, default=None
        The prediction over the range of `x`.
    x_name, y_name : str
        Names of input and target, written on the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes drawn on, and their figure.
    """

    y: Array
    mean: Array
    interval: Interval | None = None
    level: float = 0.95
    is_relevance_vector: Mask | None = None
    x: Array | None = None
    curve: Curve | None = None
    x_name: str = "x"
    y_name: str = "y"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        level: float = 0.95,
        x_name: str | None = None,
        y_name: str | None = None,
        exposure: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Predict the rows of `X` and draw them.

        Parameters
        ----------
        estimator : RVR, SparseBayesianRegressor or Pipeline
            A fitted regressor, or a fitted pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Rows to show.
        y : array-like of shape (n_samples,)
            Their true values.
        level : float, default=0.95
            Probability inside the bands and error bars.
        x_name, y_name : str, default=None
            Names for the axes; None takes the names that `X` and `y` carry, else "x" and "y".
        exposure : array-like of shape (n_samples,), default=None
            Exposure of each count, where the regressor was fitted with one; predictions are then
            drawn against true values, of one input, too.
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
        check_coverage(level, "level")
        transform, regressor = fitted_steps(estimator, "a regressor")
        check_consistent_length(X, y)
        inputs, known = transform(X), regressor._known_exposure(exposure, len(y))
        mean = regressor.predict(inputs, **known)
        if mean.ndim > 1:
            raise ValueError(
                f"estimator predicts {mean.shape[1]} targets, expected one; fit the target to show "
                "by itself"
            )
        one_input = not known and np.shape(X)[1] == 1 and np.asarray(X).dtype.kind in "biuf"
        columns = getattr(X, "columns", ["x"])
        display = cls(
            y=np.asarray(y, dtype=np.float64),
            mean=mean,
            interval=regressor.predict_interval(inputs, coverage=level, **known),
            level=level,
            is_relevance_vector=rows_among(inputs, regressor.relevance_vectors_),
            x=np.asarray(X, dtype=np.float64)[:, 0] if one_input else None,
            curve=_curve(transform, regressor, X, level) if one_input else None,
            x_name=x_name or str(columns[0]),
            y_name=y_name or _name_of(y),
        )
        return display.plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        interval: tuple[Any, Any] | None = None,
        level: float = 0.95,
        y_name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw predictions of any regressor against true values.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True values.
        y_pred : array-like of shape (n_samples,)
            What was predicted.
        interval : tuple of two array-like of shape (n_samples,), default=None
            Lower and upper ends of intervals, as `predict_interval` returns them. None draws no
            bars.
        level : float, default=0.95
            Probability inside the intervals, which the legend names.
        y_name : str, default=None
            Name for the axes; None takes the name that `y_true` carries, else "y".
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        RegressionDisplay
            The picture, drawn, with the numbers behind it.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from relvec import RVR
        >>> from relvec.display import RegressionDisplay
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = RVR().fit(X[:300], y[:300])
        >>> display = RegressionDisplay.from_predictions(
        ...     y[300:], model.predict(X[300:]), interval=model.predict_interval(X[300:])
        ... )
        >>> display.ax_.get_ylabel()
        'predicted y'
        """
        check_coverage(level, "level")
        check_consistent_length(y_true, y_pred, *(interval or ()))
        ends = None
        if interval is not None:
            low, high = (np.asarray(end, dtype=np.float64) for end in interval)
            ends = low, high
        display = cls(
            y=np.asarray(y_true, dtype=np.float64),
            mean=np.asarray(y_pred, dtype=np.float64),
            interval=ends,
            level=level,
            y_name=y_name or _name_of(y_true),
        )
        return display.plot(ax=ax)

    def _draw(self) -> None:
        if self.x is not None and self.curve is not None:
            self._plot_curve(self.x, self.curve)
        else:
            self._plot_against_true()
        hide_frame(self.ax_)
        self._legend()

    def _plot_curve(self, x: Array, curve: Curve) -> None:
        level = f"{100 * self.level:g} %"
        for ends, color, label in (
            (curve.interval, MIST, f"{level} of new observations"),
            (curve.function_interval, STEEL, f"{level} for the function"),
        ):
            self.ax_.fill_between(curve.x, *ends, color=color, linewidth=0, label=label)
        self.ax_.plot(curve.x, curve.mean, color=BLUE, linewidth=2, label="mean")
        self._plot_rows(x, self.y)
        self.ax_.set(
            xlabel=escaped(self.x_name), ylabel=escaped(self.y_name), xlim=(curve.x[0], curve.x[-1])
        )

    def _plot_against_true(self) -> None:
        ends = [min(self.y.min(), self.mean.min()), max(self.y.max(), self.mean.max())]
        self.ax_.plot(ends, ends, color=BLUE, linewidth=1.5, label="predicted = true", zorder=1)
        if self.interval is not None:
            level = f"{100 * self.level:g} %"
            self.ax_.vlines(
                self.y, *self.interval, color=STEEL, linewidth=0.9, label=level, zorder=0
            )
        self._plot_rows(self.y, self.mean)
        name = escaped(self.y_name)
        self.ax_.set(xlabel=f"true {name}", ylabel=f"predicted {name}")

    def _plot_rows(self, across: Array, up: Array) -> None:
        self.ax_.scatter(across, up, s=12, color=INK, alpha=0.7, linewidth=0, label="data")
        if (kept := self.is_relevance_vector) is not None:
            self._circle(across[kept], up[kept])


def _name_of(y: Any) -> str:
    """Name that a series carries, else "y"."""
    return str(getattr(y, "name", None) or "y")


def _curve(transform: Callable[[Any], Any], regressor: Any, X: Any, level: float) -> Curve:
    """Predict over the range of the only column of `X`, five per cent wider at either end."""
    x = np.asarray(X, dtype=np.float64)[:, 0]
    grid = padded_grid(x, GRID_POINTS)
    inputs = transform(table_like(X, [grid]))
    return Curve(
        grid,
        np.asarray(regressor.predict(inputs)),
        regressor.predict_interval(inputs, coverage=level),
        _function_interval(regressor, inputs, level),
    )


def _function_interval(regressor: Any, inputs: Any, level: float) -> Interval:
    """Interval of the function in units of the target: of the rate, where targets are counts."""
    mean, std = regressor.predict_latent(inputs, return_std=True)
    ends = normal_interval(mean, std, level)
    (output,) = regressor.fit_result_.outputs
    low, high = (
        output.likelihood.moments(end[:, None], np.zeros((len(end), 1, 1)))[0][:, 0] for end in ends
    )
    return low, high
