"""Display of the evidence over the passes of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from relvec.display.base import BLUE, INK, STEEL, Display, fitted_steps, hide_frame
from relvec.solvers import Pass

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Lines of several outputs differ in dashes, those that repeat them in tone.
LINES = (("-", BLUE), ("--", BLUE), (":", BLUE), ("-.", BLUE), ("-", INK), ("--", INK), (":", INK))
# Passes up to which each has a mark.
MOST_MARKS = 40


@dataclass(kw_only=True, eq=False, repr=False)
class EvidenceDisplay(Display):
    """Log evidence and number of functions after every pass of a fit.

    Above, the log evidence, which no pass lowers; below, how many functions the model has. A fit
    of several outputs, targets or classes, has a line for each. :meth:`from_estimator` makes one.

    Parameters
    ----------
    history : sequence of Pass
        ``history_``.

    Attributes
    ----------
    ax_, functions_ax_ : matplotlib Axes
        The axes of the evidence, and those of the number of functions, under them.
    figure_ : matplotlib Figure
        The figure they belong to.
    """

    history: Sequence[Pass]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
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
        return cls(history=fitted_steps(estimator, "an estimator")[1].history_).plot(ax=ax)

    def _draw(self) -> None:
        from matplotlib.ticker import MaxNLocator

        self.functions_ax_ = self._split_below((3, 1))
        outputs = np.unique([row.machine for row in self.history])
        for output, (line, tone) in zip(outputs, cycle(LINES), strict=False):
            self._plot_output(output, color=tone, linestyle=line, linewidth=1.5)
        self.ax_.set_ylabel("log evidence in nats")
        self.functions_ax_.set(xlabel="pass", ylabel="functions")
        self.functions_ax_.set_ylim(0, 1.1 * max(row.n_active for row in self.history) or 1)
        for axis in (self.functions_ax_.xaxis, self.functions_ax_.yaxis):
            axis.set_major_locator(MaxNLocator(nbins="auto", integer=True))
        for axes in (self.ax_, self.functions_ax_):
            hide_frame(axes)
            axes.grid(axis="y", color=STEEL, alpha=0.4, linewidth=0.6)
        if len(outputs) > 1:
            self._legend()

    def _plot_output(self, output: int, **look: Any) -> None:
        rows = [row for row in self.history if row.machine == output]
        passes: NDArray[np.intp] = np.arange(1, len(rows) + 1)
        marker = "o" if len(rows) <= MOST_MARKS else None
        evidence = [row.log_evidence for row in rows]
        label = f"output {output}"
        self.ax_.plot(passes, evidence, marker=marker, markersize=4, label=label, **look)
        self.functions_ax_.step(passes, [row.n_active for row in rows], where="mid", **look)
