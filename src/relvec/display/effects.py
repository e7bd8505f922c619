"""Display of the effects of inputs: curves, points of categories and maps of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from numbers import Number
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relvec._numerics.checks import check_coverage
from relvec._numerics.typing import Array
from relvec.display.base import (
    BLUE,
    INK,
    STEEL,
    Display,
    escaped,
    fitted_steps,
    hide_frame,
    padded_grid,
    table_like,
)
from relvec.likelihoods.gaussian import normal_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Points of a curve, and of either side of a map.
CURVE_POINTS, MAP_POINTS = 200, 50
#: Lines of a map, and pictures beside each other.
CONTOURS, ACROSS = 7, 3
#: Width and height of a picture of one effect, in inches.
WIDTH, HEIGHT = 3.2, 2.6
#: Letters of a category on an axis of a picture.
MOST_LETTERS = 10

Values: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class EffectCurve:
    """Main effect of an input: a curve of numbers, or a point for each category.

    Attributes
    ----------
    name : str
        Name of the input.
    x : ndarray of shape (n_points,)
        Numbers, or categories.
    mean, std : ndarray of shape (n_points,)
        What the input adds to the function there, and the standard deviation of that.
    rows : ndarray of shape (n_samples,)
        Values of the input in the rows.
    is_category : bool
        Whether `x` has all there are, without an order.
    """

    name: str
    x: Values
    mean: Array
    std: Array
    rows: Values
    is_category: bool = False


@dataclass(frozen=True)
class EffectMap:
    """Interaction of two inputs, numbers or categories.

    Attributes
    ----------
    names : tuple of two str
        Names of the inputs.
    first, second : ndarray of shape (n_first,), (n_second,)
        Numbers or categories of each.
    mean, std : ndarray of shape (n_second, n_first)
        What they add to the function together, and the standard deviation of that.
    rows : tuple of two ndarray of shape (n_samples,)
        Values of the inputs in the rows.
    is_category : tuple of two bool
        Which of them are categories.
    """

    names: tuple[str, str]
    first: Values
    second: Values
    mean: Array
    std: Array
    rows: tuple[Values, Values]
    is_category: tuple[bool, bool] = (False, False)


@dataclass(kw_only=True, eq=False, repr=False)
class EffectsDisplay(Display):
    """Contributions of the inputs to the function of a fitted model of effects, one picture each.

    An input of numbers has a curve with a band, and ticks at the deciles of the rows; one of
    categories, or of two values, has points with error bars. A pair has a map, on which points are
    the rows, the thick line is an effect of zero, and hatching marks where the interval holds zero.
    Every effect has a mean of zero over the training rows, and those of all terms and the constant
    add up to the function. :meth:`from_estimator` makes one; :class:`EffectSharesDisplay` draws how
    much the terms matter.

    Parameters
    ----------
    effects : sequence of EffectCurve or EffectMap
        The effects, in the order in which they are drawn.
    level : float, default=0.95
        Probability inside the bands and error bars.
    effect_name : str, default="effect"
        Name of the axes of effects.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        The axes of every effect.
    ax_, figure_ : matplotlib Axes and Figure
        The axes whose place is divided among them, and their figure.
    """

    effects: Sequence[EffectCurve | EffectMap]
    level: float = 0.95
    effect_name: str = "effect"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        terms: Sequence[str] | None = None,
        *,
        target: Any = None,
        level: float = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Draw terms of a fitted estimator over the range of the rows.

        Parameters
        ----------
        estimator : EffectsRegressor, EffectsClassifier or Pipeline
            A fitted estimator, or a fitted pipeline that ends in one, whose inputs are drawn.
        X : array-like of shape (n_samples, n_features)
            Rows over whose range effects are drawn, such as those of the fit.
        terms : sequence of str, default=None
            Names of inputs and pairs to draw, of ``terms_``; None draws all, those with the largest
            shares of the variance first. A process has all inputs, and no picture.
        target : object, default=None
            The class, or the position of the target, where the estimator has several functions.
        level : float, default=0.95
            Probability inside the bands and error bars.
        ax : matplotlib Axes, default=None
            Axes whose place is divided among the pictures; None makes a new figure.

        Returns
        -------
        EffectsDisplay
            The picture, drawn, with the numbers behind it.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from relvec import EffectsRegressor
        >>> from relvec.display import EffectsDisplay
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
        >>> model = EffectsRegressor().fit(X, y)
        >>> display = EffectsDisplay.from_estimator(model, X, ["bmi"])
        >>> display.axes_[0].get_xlabel()
        'bmi'
        """
        check_coverage(level, "level")
        transform, model = fitted_steps(estimator, "an estimator of effects")
        inputs = transform(X)
        if not hasattr(inputs, "columns"):
            inputs = np.asarray(inputs)
        output = output_of(model, target)
        effects = [
            _effect(model, inputs, term, output) for term in _terms_to_draw(model, terms, target)
        ]
        name = "effect on the log-odds" if hasattr(model, "classes_") else "effect"
        return cls(effects=effects, level=level, effect_name=name).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        self._set_axes(ax)
        if ax is None:
            across = min(len(self.effects), ACROSS)
            down = ceil(len(self.effects) / ACROSS)
            self.figure_.set_size_inches(WIDTH * max(across, 1.6), HEIGHT * max(down, 1.4))
        self._draw()
        return self

    def _draw(self) -> None:
        self.axes_ = self._divided(len(self.effects))
        for ax, effect in zip(self.axes_, self.effects, strict=True):
            if isinstance(effect, EffectMap):
                self._plot_map(ax, effect)
            else:
                self._plot_curve(ax, effect)

    def _divided(self, count: int) -> list[Axes]:
        """Axes for so many pictures in the place of `ax_`: itself, where there is one."""
        if count == 1:
            return [self.ax_]
        place = self.ax_.get_subplotspec()
        if place is None:
            raise ValueError(
                "ax must be one of a figure's subplots, so that its place can be split"
            )
        self.ax_.set_axis_off()
        grid = place.subgridspec(ceil(count / ACROSS), min(count, ACROSS))
        return [self.figure_.add_subplot(grid[divmod(i, ACROSS)]) for i in range(count)]

    def _plot_curve(self, ax: Axes, effect: EffectCurve) -> None:
        low, high = normal_interval(effect.mean, effect.std, self.level)
        ax.axhline(0, color=INK, linewidth=0.6, zorder=0)
        if effect.is_category:
            places = np.arange(len(effect.x))
            ax.vlines(places, low, high, color=STEEL, linewidth=5, zorder=1)
            ax.plot(places, effect.mean, "o", color=INK, markersize=5)
            ax.set_xlim(-0.5, len(places) - 0.5)
            ax.set_xticks(places, _labels(effect.x))
        else:
            x = effect.x.astype(np.float64)
            ax.fill_between(x, low, high, color=STEEL, linewidth=0)
            ax.plot(x, effect.mean, color=BLUE, linewidth=2)
            deciles = np.quantile(effect.rows.astype(np.float64), np.linspace(0, 1, 11))
            ax.plot(deciles, np.zeros(11), "|", color=INK, transform=ax.get_xaxis_transform())
            ax.set_xlim(x[0], x[-1])
        ax.set(xlabel=escaped(effect.name), ylabel=self.effect_name)
        hide_frame(ax)

    def _plot_map(self, ax: Axes, effect: EffectMap) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        tones = LinearSegmentedColormap.from_list("tones", ["white", STEEL])
        sides = (effect.first, effect.second)
        first, second = (
            np.arange(len(values)) if is_category else values.astype(np.float64)
            for values, is_category in zip(sides, effect.is_category, strict=True)
        )
        filled = ax.pcolormesh(first, second, effect.mean, cmap=tones, shading="nearest")
        if not any(effect.is_category):
            self._plot_lines(ax, effect)
        for axis, values, is_category in zip(
            (ax.xaxis, ax.yaxis), sides, effect.is_category, strict=True
        ):
            if is_category:
                axis.set_ticks(np.arange(len(values)), _labels(values))
        self.figure_.colorbar(filled, ax=ax, aspect=30, label=self.effect_name)
        across, up = map(escaped, effect.names)
        ax.set(xlabel=across, ylabel=up)

    def _plot_lines(self, ax: Axes, effect: EffectMap) -> None:
        """Draw contours, where the interval holds zero, and the rows."""
        from matplotlib.ticker import MaxNLocator

        grid = effect.first, effect.second
        low, high = effect.mean.min(), effect.mean.max()
        levels = [at for at in MaxNLocator(CONTOURS).tick_values(low, high) if low < at < high]
        if levels:
            widths = [1.8 if at == 0 else 0.6 for at in levels]
            ax.contour(*grid, effect.mean, levels=levels, colors=[INK], linewidths=widths)
        ends = normal_interval(effect.mean, effect.std, self.level)
        unsure = (ends[0] < 0) & (ends[1] > 0)
        if unsure.any():
            marked = unsure.astype(np.float64)
            ax.contourf(*grid, marked, levels=[0.5, 1.5], colors="none", hatches=["...."])
        limits = (effect.first[[0, -1]], effect.second[[0, -1]])
        ax.plot(*effect.rows, ".", color=INK, markersize=3, markeredgewidth=0)
        ax.set(xlim=limits[0], ylim=limits[1])


def output_of(model: Any, target: Any) -> int | None:
    """Position of the function of a target, or None where there is one function."""
    several = np.ndim(model.constant_) > 0
    outputs = np.asarray(getattr(model, "classes_", np.arange(np.size(model.constant_)))).tolist()
    known = outputs if several else [None]
    if target not in known:
        raise ValueError(f"target={target!r}, expected one of {', '.join(map(repr, known))}")
    return known.index(target) if several else None


def shares_of(model: Any, target: Any) -> tuple[list[str], Array, Array]:
    """Terms, and their shares of the variance with standard deviations, the largest first."""
    table, suffix = model.effects_, "" if target is None else f"[{target}]"
    share = np.asarray(table[f"share{suffix}"])
    order = np.argsort(-share, kind="stable")
    std = np.asarray(table[f"share_std{suffix}"])
    return [table.index[i] for i in order], share[order], std[order]


def _terms_to_draw(model: Any, terms: Sequence[str] | None, target: Any) -> list[str]:
    """Terms that were asked for, or all that can be drawn."""
    features = dict(zip(model.terms_, model.term_features_, strict=True))
    known = [term for term in shares_of(model, target)[0] if 0 < len(features[term]) < 3]
    if terms is None:
        if not known:
            raise ValueError("estimator kept no effects of inputs or pairs, expected some to draw")
        return known
    unknown = [term for term in terms if term not in known]
    if isinstance(terms, str) or unknown or not len(terms):
        raise ValueError(f"terms={terms!r}, expected a list of some of {', '.join(known)}")
    return list(terms)


def _effect(model: Any, X: Any, term: str, output: int | None) -> EffectCurve | EffectMap:
    """Evaluate a term over the range of its inputs."""
    position = model.terms_.index(term)
    features = model.term_features_[position]
    names = [str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(X.shape[1])])]
    rows = [_column(X, j) for j in features]
    is_category = [_is_category(model, j, x) for j, x in zip(features, rows, strict=True)]
    n_points = CURVE_POINTS if len(features) == 1 else MAP_POINTS
    points = [
        np.unique(x) if one else padded_grid(x.astype(np.float64), n_points)
        for x, one in zip(rows, is_category, strict=True)
    ]
    grid = [x.ravel() for x in np.meshgrid(*points)]
    found = model.predict_effects(_rows_at(X, dict(zip(features, grid, strict=True))), True)
    mean, std = (
        values[:, position] if output is None else values[:, position, output] for values in found
    )
    if len(features) == 1:
        return EffectCurve(names[features[0]], points[0], mean, std, rows[0], is_category[0])
    shape = len(points[1]), len(points[0])
    return EffectMap(
        (names[features[0]], names[features[1]]),
        points[0],
        points[1],
        mean.reshape(shape),
        std.reshape(shape),
        (rows[0], rows[1]),
        (is_category[0], is_category[1]),
    )


def _column(X: Any, feature: int) -> Values:
    """Values of an input in the rows, shape (n_samples,)."""
    return np.asarray(X[X.columns[feature]] if hasattr(X, "columns") else X[:, feature])


def _rows_at(X: Any, values: dict[int, Values]) -> Any:
    """Rows with these values of some inputs; others, which do not matter, as in the first row."""
    (count,) = {len(column) for column in values.values()}
    columns = [
        values[j] if j in values else np.repeat(_column(X, j)[:1], count) for j in range(X.shape[1])
    ]
    return table_like(X, columns)


def _is_category(model: Any, feature: int, x: Values) -> bool:
    """Return whether an input with these values is drawn by points: categories, or two values."""
    is_number = x.dtype.kind in "biuf" or all(isinstance(value, Number) for value in x)
    called = {feature, *getattr(model, "feature_names_in_", [])[feature : feature + 1]}
    is_given = not called.isdisjoint(model.categorical)
    return is_given or not is_number or len(np.unique(x)) <= 2


def _labels(categories: Values) -> list[str]:
    """Text of categories, long ones cut."""
    texts = [f"{each:g}" if isinstance(each, float) else str(each) for each in categories.tolist()]
    return [
        escaped(text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…")
        for text in texts
    ]
