"""The picture of which inputs matter to a machine with learnt scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from relvec._assess.pipelines import estimator_of
from relvec._numerics.checks import check_count
from relvec._numerics.typing import Array
from relvec.display.parts import BLUE, INK, STEEL, new_axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Height of the picture for each input, in inches, and of what is around the bars.
BAR, AROUND = 0.28, 1.0


class RelevanceDisplay:
    """How much each input matters to the kernel of a fitted machine.

    A bar an input, the most relevant on top: how many widths of the kernel the input extends over,
    which no unit changes. An input of zero was found not to matter. :meth:`from_estimator` makes
    one.

    Parameters
    ----------
    relevance : ndarray of shape (n_features,)
        ``feature_relevance_``.
    names : sequence of str
        Names of the inputs.

    Attributes
    ----------
    order : ndarray of int
        Inputs that are drawn, the most relevant first.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure they belong to.

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

    ax_: Axes
    figure_: Figure

    def __init__(self, *, relevance: Array, names: Sequence[str]) -> None:
        self.relevance = np.asarray(relevance, dtype=np.float64)
        self.names = list(names)
        self.order = np.argsort(-self.relevance, kind="stable")

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_features: int | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the inputs of a fitted estimator.

        Parameters
        ----------
        estimator : RVR, RVC or Pipeline
            Fitted, with a kernel that has a width. The inputs of a pipeline are those of its last
            step.
        n_features : int, default=None
            Draw so many inputs, the most relevant ones; None draws all.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : RelevanceDisplay
            The picture.
        """
        check_is_fitted(estimator)
        machine = estimator_of(estimator)
        if not hasattr(machine, "feature_relevance_"):
            raise AttributeError(
                f"{type(machine).__name__} has no feature_relevance_: no function of its kernel "
                "has a width"
            )
        relevance = machine.feature_relevance_
        names = getattr(machine, "feature_names_in_", [f"x{i}" for i in range(len(relevance))])
        if isinstance(estimator, Pipeline) and len(estimator) > 1:
            names = estimator[:-1].get_feature_names_out()
        return cls(relevance=relevance, names=names).plot(n_features=n_features, ax=ax)

    def plot(self, *, n_features: int | None = None, ax: Axes | None = None) -> Self:
        """Draw; see `from_estimator` for the parameters."""
        if n_features is not None:
            check_count(n_features, "n_features", len(self.relevance))
        shown = self.order[:n_features]
        if ax is None:
            ax = new_axes()
            ax.figure.set_figheight(AROUND + BAR * len(shown))  # type: ignore[union-attr]
        places = np.arange(len(shown))
        values = self.relevance[shown]
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
        ax.set_yticks(places, [plain(self.names[index]) for index in shown])
        ax.invert_yaxis()
        ax.set_xlim(left=0)
        ax.set_xlabel("spread of the input in widths of the kernel")
        ax.grid(axis="x", color=STEEL, alpha=0.4, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return self
