"""What the pictures share: tones, axes, rings, and the parts of a fitted pipeline."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from relvec._assess.pipelines import estimator_of, inputs_of
from relvec._numerics.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Mask = NDArray[np.bool_]
Estimator = TypeVar("Estimator")

# Tones far enough apart to survive a greyscale print, darkest first.
INK, BLUE, STEEL, MIST = "#111111", "#1d4e79", "#8fb3d1", "#dbe7f1"


def plain(name: object) -> str:
    """Text of a name in which a dollar is one, and begins no formula."""
    return str(name).replace("$", r"\$")


def new_axes() -> Axes:
    """Make a figure with one pair of axes, or name the extra that brings matplotlib."""
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "drawing needs matplotlib: install it, or relvec with its extra relvec[plot]"
        ) from error
    return pyplot.subplots(layout="constrained")[1]


def circle(ax: Axes, across: Array, up: Array) -> None:
    """Circle the rows that are relevance vectors, if there are any."""
    if len(across):
        from matplotlib.patheffects import withStroke

        ax.scatter(
            across,
            up,
            s=90,
            facecolor="none",
            edgecolor=INK,
            linewidth=1.4,
            label="relevance vectors",
            zorder=3,
            path_effects=[withStroke(linewidth=3, foreground="white")],
        )


def split_below(ax: Axes, share: tuple[int, int]) -> Axes:
    """Give up a strip under these axes for others, which share their horizontal axis.

    Heights are in proportion to `share`, that above first.
    """
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError("ax must be one of a figure's subplots, so that its place can be split")
    halves = place.subgridspec(2, 1, height_ratios=share)
    ax.set_subplotspec(halves[0])
    ax.tick_params(labelbottom=False)
    return cast("Figure", ax.figure).add_subplot(halves[1], sharex=ax)


def likely_shares(probability: Array, count: Any, level: float) -> tuple[Array, Array]:
    """Between which shares of `count` rows events of a probability come true, with that level."""
    low, high = binom.interval(level, count, probability)
    return low / count, high / count


def against_diagonal(
    ax: Axes, said: Array, found: Array, likely: tuple[Array, Array], names: tuple[str, str, str]
) -> None:
    """Draw shares that were found against those that were said, with bars of what is likely.

    Names are those of the bars, of the diagonal and of the points in the legend.
    """
    bars, diagonal, points = names
    ax.vlines(said, *likely, color=STEEL, linewidth=5, alpha=0.6, label=bars, zorder=0)
    ax.plot([0, 1], [0, 1], color=BLUE, linewidth=1.5, label=diagonal, zorder=1)
    ax.plot(said, found, "o-", color=INK, linewidth=1, markersize=5, label=points)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(edgecolor="none", framealpha=0.85, fontsize="small", loc="upper left")


def steps(
    estimator: Estimator | Pipeline, kind: type[Estimator], called: str
) -> tuple[Callable[[Any], Any], Estimator]:
    """Split a fitted estimator into what prepares its inputs and the machine itself.

    Messages call the kind of machine that is wanted by this name.
    """
    check_is_fitted(estimator)
    machine = estimator_of(estimator)
    if not isinstance(machine, kind):
        raise TypeError(
            f"estimator must be {called} of relvec or a Pipeline that ends in one; "
            f"got {type(machine)!r}"
        )
    return partial(inputs_of, estimator), machine


def rows_among(rows: Any, vectors: Array) -> Mask:
    """Mark one row for each relevance vector that is, number for number, among the rows."""
    index = {tuple(row): i for i, row in enumerate(np.asarray(rows))}
    marked = np.zeros(len(rows), dtype=np.bool_)
    marked[[index[vector] for vector in map(tuple, vectors) if vector in index]] = True
    return marked


def widened(values: Array, n_points: int) -> Array:
    """Points spread evenly over the range of the values, five per cent wider at either end.

    Equal values are taken for a range as wide as they are from zero.
    """
    margin = 0.05 * (np.ptp(values) or abs(values[0]) or 1.0)
    return np.linspace(values.min() - margin, values.max() + margin, n_points)


def table_like(X: Any, columns: list[Array]) -> Any:
    """Columns in the form of `X`: a frame stays a frame, so that a model sees its feature names."""
    if hasattr(X, "columns"):
        return type(X)(dict(zip(X.columns, columns, strict=True)))
    return np.column_stack(columns)
