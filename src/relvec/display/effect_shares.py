"""Display of the shares of the variance that the terms of a model have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from relvec._numerics.checks import check_count
from relvec._numerics.typing import Array
from relvec.display.base import BLUE, INK, STEEL, Display, escaped, fitted_steps, hide_frame
from relvec.display.effects import output_of, shares_of
from relvec.display.relevance import AROUND, BAR

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class EffectSharesDisplay(Display):
    """Share of each term in the variance of the function of a fitted model of effects.

    A bar a term, the largest share on top, with a line that extends by one posterior standard
    deviation to either side. :meth:`from_estimator` makes one; :class:`EffectsDisplay` draws the
    effects themselves.

    Parameters
    ----------
    terms : sequence of str
        Names of the terms, those with the largest shares first.
    share, std : ndarray of shape (n_terms,)
        Their shares of the variance over the training rows, with standard deviations.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes drawn on, and their figure.
    """

    terms: Sequence[str]
    share: Array
    std: Array

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        n_terms: int | None = None,
        target: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the terms of a fitted estimator.

        Parameters
        ----------
        estimator : EffectsRegressor, EffectsClassifier or Pipeline
            A fitted estimator, or a fitted pipeline that ends in one.
        n_terms : int, default=None
            Draw so many terms at most, those with the largest shares; None draws all.
        target : object, default=None
            The class, or the position of the target, where the estimator has several functions.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        EffectSharesDisplay
            The picture, drawn, with the numbers behind it.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import EffectsRegressor
        >>> from relvec.display import EffectSharesDisplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-1, 1, (100, 2))
        >>> y = np.sin(3 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.standard_normal(100)
        >>> display = EffectSharesDisplay.from_estimator(EffectsRegressor().fit(X, y), n_terms=2)
        >>> display.terms
        ['x0', 'x1']
        """
        _, model = fitted_steps(estimator, "an estimator of effects")
        output_of(model, target)
        if n_terms is not None:
            check_count(n_terms, "n_terms")
        terms, share, std = shares_of(model, target)
        shown = slice(n_terms)
        return cls(terms=terms[shown], share=share[shown], std=std[shown]).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        self._set_axes(ax)
        if ax is None:
            self.figure_.set_figheight(AROUND + BAR * len(self.terms))
        self._draw()
        return self

    def _draw(self) -> None:
        ax, places = self.ax_, np.arange(len(self.terms))
        ax.barh(places, self.share, height=0.7, color=STEEL, edgecolor=BLUE)
        ends = np.maximum(self.share - self.std, 0), self.share + self.std
        ax.hlines(places, *ends, color=INK, linewidth=1.5)
        ax.set_yticks(places, [escaped(term) for term in self.terms])
        ax.invert_yaxis()
        ax.set_xlim(left=0)
        ax.set_xlabel("share of the variance of the function")
        ax.grid(axis="x", color=STEEL, alpha=0.4, linewidth=0.6)
        ax.set_axisbelow(True)
        hide_frame(ax)
