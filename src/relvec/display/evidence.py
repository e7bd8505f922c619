"""The picture of how the evidence rose during a fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from relvec._estimators.base import RelevanceEstimator
from relvec.display.parts import BLUE, INK, STEEL, new_axes, split_below, steps
from relvec.solvers import Pass

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Lines of several machines differ in dashes, those that repeat them in tone.
LINES = (("-", BLUE), ("--", BLUE), (":", BLUE), ("-.", BLUE), ("-", INK), ("--", INK), (":", INK))
# Passes up to which each has a mark.
MOST_MARKS = 40


class EvidenceDisplay:
    """Log evidence and number of functions after every pass of a fit.

    Above, the log evidence, which no pass lowers; below, how many functions the model has. A fit
    of several machines has a line for each. :meth:`from_estimator` makes one.

    Parameters
    ----------
    history : sequence of Pass
        ``history_``.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the evidence.
    functions_ax_ : matplotlib Axes
        The axes of the number of functions, under them.
    figure_ : matplotlib Figure
        The figure they belong to.
    """

    ax_: Axes
    functions_ax_: Axes
    figure_: Figure

    def __init__(self, *, history: Sequence[Pass]) -> None:
        self.history = list(history)

    @classmethod
    def from_estimator(
        cls, estimator: RelevanceEstimator | Pipeline, *, ax: Axes | None = None
    ) -> Self:
        """Draw the history of a fitted estimator.

        Parameters
        ----------
        estimator : RVR, RVC, SparseBayesianRegressor, SparseBayesianClassifier or Pipeline
            A fitted estimator, or a fitted pipeline that ends in one.
        ax : matplotlib Axes, default=None
            Axes to draw on, which give up a strip for the number of functions; None makes a new
            figure.

        Returns
        -------
        EvidenceDisplay
            The picture, drawn, with the numbers behind it.

        Examples
        --------
        >>> from relvec import RVR
        >>> from relvec.datasets import make_sinc
        >>> from relvec.display import EvidenceDisplay
        >>> model = RVR(gamma=0.1).fit(*make_sinc(100, noise_scale=0.1, random_state=0))
        >>> display = EvidenceDisplay.from_estimator(model)
        >>> bool(display.history[-1].n_active == len(model.relevance_))
        True
        """
        _, machine = steps(estimator, RelevanceEstimator, "an estimator")
        return cls(history=machine.history_).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on, which give up a strip for the number of functions; None makes a new
            figure.

        Returns
        -------
        EvidenceDisplay
            Itself, with `ax_`, `functions_ax_` and `figure_` set.
        """
        from matplotlib.ticker import MaxNLocator

        self.ax_ = new_axes() if ax is None else ax
        self.figure_ = cast("Figure", self.ax_.figure)
        self.functions_ax_ = split_below(self.ax_, (3, 1))
        machines = np.unique([row.machine for row in self.history])
        for machine, (line, tone) in zip(machines, cycle(LINES), strict=False):
            self._plot_machine(machine, line, tone)
        self.ax_.set_ylabel("log evidence in nats")
        self.functions_ax_.set(xlabel="pass", ylabel="functions")
        self.functions_ax_.set_ylim(0, 1.1 * max(row.n_active for row in self.history) or 1)
        for axis in (self.functions_ax_.xaxis, self.functions_ax_.yaxis):
            axis.set_major_locator(MaxNLocator(nbins="auto", integer=True))
        for axes in (self.ax_, self.functions_ax_):
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(axis="y", color=STEEL, alpha=0.4, linewidth=0.6)
        if len(machines) > 1:
            self.ax_.legend(edgecolor="none", framealpha=0.85, fontsize="small")
        return self

    def _plot_machine(self, machine: int, line: str, tone: str) -> None:
        rows = [row for row in self.history if row.machine == machine]
        passes: NDArray[np.intp] = np.arange(1, len(rows) + 1)
        look: dict[str, Any] = {"color": tone, "linestyle": line, "linewidth": 1.5}
        self.ax_.plot(
            passes,
            [row.log_evidence for row in rows],
            marker="o" if len(rows) <= MOST_MARKS else None,
            markersize=4,
            label=f"machine {machine}",
            **look,
        )
        self.functions_ax_.step(passes, [row.n_active for row in rows], where="mid", **look)
