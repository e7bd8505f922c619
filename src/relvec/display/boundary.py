"""Display of a classifier of two features: probabilities over the plane, and its rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from relvec._numerics.typing import Array
from relvec.display.base import (
    BLUE,
    INK,
    STEEL,
    Display,
    Mask,
    escaped,
    fitted_steps,
    padded_grid,
    rows_among,
    table_like,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID_POINTS = 100
# Where the tone of the map changes: with two classes the probability of the second; with more,
# that of the likeliest, which is near one half all along a border, so that is no level.
TWO_CLASSES = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
MORE_CLASSES = [0.0, 0.6, 0.75, 0.9, 1.0]
# Shape and face of the marks of each class.
MARKS = (("o", "white"), ("^", INK), ("s", STEEL), ("D", BLUE), ("v", "white"), ("P", INK))


@dataclass(frozen=True)
class Map:
    """Class probabilities over a grid: its two coordinates, and (second, first, class)."""

    first: Array
    second: Array
    probability: Array


@dataclass(kw_only=True, eq=False, repr=False)
class BoundaryDisplay(Display):
    """Class probabilities of a fitted classifier of two features, beside the data.

    The tone is the probability of the second of two classes or, with more classes, of the
    likeliest one; it changes at fixed levels, which are its contours. Thick lines are where the
    likeliest class changes. Rows that are relevance vectors are circled. :meth:`from_estimator`
    makes one; :class:`CalibrationDisplay` draws classifiers of any number of features.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2)
        The two features of each row.
    y : ndarray of shape (n_samples,)
        Its class.
    classes : ndarray of shape (n_classes,)
        Classes in the order of the probabilities.
    is_relevance_vector : ndarray of bool of shape (n_samples,)
        Rows that a function of the model is centred on.
    surface : Map
        Probabilities over the range of the rows.
    feature_names : sequence of two str
        Names written on the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes drawn on, and their figure.
    """

    X: Array
    y: NDArray[Any]
    classes: NDArray[Any]
    is_relevance_vector: Mask
    surface: Map
    feature_names: tuple[str, str] = ("x1", "x2")

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None) -> Self:
        """Draw the probabilities over the range of `X`, and its rows.

        Parameters
        ----------
        estimator : RVC, SparseBayesianClassifier or Pipeline
            A fitted classifier of two features, or a fitted pipeline that ends in one.
        X : array-like of shape (n_samples, 2)
            Rows to show. The columns of a data frame name the axes.
        y : array-like of shape (n_samples,)
            Their classes.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        BoundaryDisplay
            The picture, drawn, with the numbers behind it.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from relvec import RVC
        >>> from relvec.display import BoundaryDisplay
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> petals = X[["petal length (cm)", "petal width (cm)"]]
        >>> model = RVC().fit(petals, y)
        >>> display = BoundaryDisplay.from_estimator(model, petals, y)
        >>> display.ax_.get_xlabel()
        'petal length (cm)'
        """
        transform, classifier = fitted_steps(estimator, "a classifier")
        check_consistent_length(X, y)
        if np.ndim(X) != 2 or np.shape(X)[1] != 2:
            raise ValueError(f"X has shape {np.shape(X)}, expected two features: (n_samples, 2)")
        rows = np.asarray(X, dtype=np.float64)
        first, second = (padded_grid(x, GRID_POINTS) for x in rows.T)
        grid = table_like(X, [x.ravel() for x in np.meshgrid(first, second)])
        probability = classifier.predict_proba(transform(grid))
        names = getattr(X, "columns", ("x1", "x2"))
        display = cls(
            X=rows,
            y=np.asarray(y),
            classes=classifier.classes_,
            is_relevance_vector=rows_among(transform(X), classifier.relevance_vectors_),
            surface=Map(first, second, probability.reshape(len(second), len(first), -1)),
            feature_names=(str(names[0]), str(names[1])),
        )
        return display.plot(ax=ax)

    def _draw(self) -> None:
        self._plot_surface()
        self._plot_rows()
        first, second = map(escaped, self.feature_names)
        self.ax_.set(xlabel=first, ylabel=second)
        self._legend()

    def _plot_surface(self) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        probability = self.surface.probability
        if len(self.classes) == 2:
            tone, levels, name = probability[..., 1], TWO_CLASSES, escaped(self.classes[1])
        else:
            tone, levels, name = probability.max(axis=-1), MORE_CLASSES, "the likeliest class"
        tones = LinearSegmentedColormap.from_list("tones", ["white", STEEL])
        grid = self.surface.first, self.surface.second
        filled = self.ax_.contourf(*grid, tone, levels=levels, cmap=tones)
        self._plot_contours(tone, levels, width=0.4)
        self.figure_.colorbar(
            filled,
            ax=self.ax_,
            aspect=30,
            spacing="proportional",
            format="%g",
            label=f"probability of {name}",
        )
        # The border of the last class is the others'.
        for k in range(len(self.classes) - 1):
            lead = probability[..., k] - np.delete(probability, k, axis=-1).max(axis=-1)
            self._plot_contours(lead, [0.0], width=2)

    def _plot_contours(self, values: Array, levels: list[float], *, width: float) -> None:
        crossed = [level for level in levels if values.min() < level < values.max()]
        if crossed:
            grid = self.surface.first, self.surface.second
            self.ax_.contour(*grid, values, levels=crossed, colors=[BLUE], linewidths=width)

    def _plot_rows(self) -> None:
        for name, (marker, face) in zip(self.classes, cycle(MARKS), strict=False):
            across, up = self.X[self.y == name].T
            self.ax_.scatter(
                across,
                up,
                s=18,
                marker=marker,
                facecolor=face,
                edgecolor=INK,
                linewidth=0.6,
                label=escaped(name),
            )
        self._circle(*self.X[self.is_relevance_vector].T)
