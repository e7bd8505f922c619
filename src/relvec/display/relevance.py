"""Display of the relevance of each input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from relvec._assess.pipelines import unwrap
from relvec._numerics.checks import check_count
from relvec._numerics.typing import Array
from relvec.display.base import BLUE, INK, STEEL, Display, escaped, hide_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Height of the picture for each input, in inches, and of what is around the bars.
BAR, AROUND = 0.28, 1.0
ONE_WIDTH = ",\none for all inputs: no measure of what matters"


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceDisplay(Display):
    """Relevance of each input to the kernel of a fitted estimator.

    A bar an input, the most relevant on top: how many widths of the kernel the input extends over,
    which no unit changes. An input of zero was found not to matter. :meth:`from_estimator` makes
    one.

    Parameters
    ----------
    relevance : ndarray of shape (n_features,)
        ``feature_relevance_``.
    names : sequence of str
        Names of the inputs.
    one_width : bool, default=False
        Say that the kernel has one width for all inputs: bars are then their spreads, and tell
        nothing of what matters.

    Attributes
    ----------
    order : ndarray of int of shape (n_features,)
        Inputs, the most relevant first.
    ax_, figure_ : matplotlib Axes and Figure
        The axes drawn on, and their figure.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVR
    >>> from relvec.display import RelevanceDisplay
    >>> rng = np.random.RandomState(0)
    >>> X = rng.uniform(-3, 3, (60, 2))
    >>> model = RVR(gamma="ard").fit(X, np.sin(X[:, 1]) + 0.1 * rng.standard_normal(60))
    >>> display = RelevanceDisplay.from_estimator(model)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['x1', 'x0']
    """

    relevance: Array
    names: Sequence[str]
    one_width: bool = False
    order: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        self.order = np.argsort(-self.relevance, kind="stable")

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_features: int | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the inputs of a fitted estimator.

        Parameters
        ----------
        estimator : RVR, RVC or Pipeline
            Fitted, with a kernel that has a width, or a model that holds one; the inputs are those
            that it receives there.
        n_features : int, default=None
            Draw so many inputs, the most relevant ones; None draws all.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        RelevanceDisplay
            The picture, drawn.
        """
        check_is_fitted(estimator)
        parts = unwrap(estimator)
        last = parts.estimator
        if not hasattr(last, "feature_relevance_"):
            raise AttributeError(
                f"{type(last).__name__} has no feature_relevance_: no function of its kernel "
                "has a width"
            )
        relevance = last.feature_relevance_
        names = parts.names or [f"x{i}" for i in range(len(relevance))]
        one_width = np.size(getattr(last, "gamma_", ())) == 1 < len(relevance)
        display = cls(relevance=relevance, names=names, one_width=one_width)
        return display.plot(n_features=n_features, ax=ax)

    def plot(self, *, n_features: int | None = None, ax: Axes | None = None) -> Self:
        if n_features is not None:
            check_count(n_features, "n_features", len(self.relevance))
        self._set_axes(ax)
        if ax is None:
            self.figure_.set_figheight(AROUND + BAR * len(self.order[:n_features]))
        self._draw(n_features)
        return self

    def _draw(self, n_features: int | None = None) -> None:
        ax, shown = self.ax_, self.order[:n_features]
        values = self.relevance[shown]
        places = np.arange(len(values))
        ax.barh(places, values, height=0.7, color=BLUE)
        for place in places[values == 0]:
            ax.annotate(
                "does not matter",
                (0, place),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                color=INK,
                fontsize="small",
            )
        ax.set_yticks(places, [escaped(self.names[index]) for index in shown])
        ax.invert_yaxis()
        ax.set_xlim(left=0)
        ax.set_xlabel("spread of the input in widths of the kernel" + ONE_WIDTH * self.one_width)
        ax.grid(axis="x", color=STEEL, alpha=0.4, linewidth=0.6)
        ax.set_axisbelow(True)
        hide_frame(ax)
