"""What the likelihood makes of the outputs of the rows, wherever these are.

Nothing outside a design holds a value a row: what depends on the rows is a function of a block of
them, which the design maps or sums. The functions are written here and beside what asks for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from relvec._design.base import Design
from relvec._numerics.typing import Array, Index, RowVector
from relvec.likelihoods.base import Likelihood


@dataclass(frozen=True)
class Terms:
    """What the likelihood makes of the outputs of some rows, copies of a row counted.

    Parameters
    ----------
    likelihood : Likelihood
    power : float
        To which it is raised.
    """

    likelihood: Likelihood
    power: float = 1.0

    def log_prob(self, y: Array, t: Array, weights: Array) -> float:
        """Log-likelihood."""
        return self.power * float(weights @ self.likelihood.log_prob(t, y))

    def slope(self, y: Array, t: Array, weights: Array) -> Array:
        """∂ log p/∂y, shape (n_rows, n_outputs)."""
        return self.power * weights[:, None] * self.likelihood.slope(t, y)

    def curvature(self, y: Array, t: Array, weights: Array) -> Array:
        """B = −∂² log p/∂y², shape (n_rows, n_outputs, n_outputs)."""
        return self.power * weights[:, None, None] * self.likelihood.curvature(t, y)

    def curvature_slope(self, y: Array, spread: Array, t: Array, weights: Array) -> Array:
        """∂ tr(B h)/∂y for h = `spread`."""
        return self.power * weights[:, None] * self.likelihood.curvature_slope(t, y, spread)


@dataclass(frozen=True)
class Rows:
    """All rows of a design, with what the likelihood knows of them.

    Attributes
    ----------
    design : Design
    terms : Terms
        What the likelihood makes of a block of rows.
    given : tuple of RowVector
        What the terms are given beside the outputs: targets, row weights.
    """

    design: Design
    terms: Terms
    given: tuple[RowVector, ...]

    @property
    def likelihood(self) -> Likelihood:
        """The likelihood of a row."""
        return self.terms.likelihood

    @property
    def has_intercept(self) -> bool:
        """Whether a flat-prior intercept is part of the outputs."""
        return self.design.has_intercept

    def tempered(self, beta: float) -> Rows:
        """The likelihood to the power β."""
        return replace(self, terms=replace(self.terms, power=beta))

    def map(self, function: Callable[..., Array], *vectors: RowVector) -> RowVector:
        """Apply a function of terms, vectors and what the terms are given to blocks of rows."""
        return self.design.map_rows(partial(function, self.terms), *vectors, *self.given)

    def sum(
        self,
        function: Callable[..., tuple[Array, ...]],
        *vectors: RowVector,
        index: Index | slice | None = None,
    ) -> tuple[Array, ...]:
        """Sum a function of terms, candidates `index`, vectors and what the terms are given."""
        function = partial(function, self.terms)
        return self.design.sum_rows(function, *vectors, *self.given, index=index)


def slope_of(terms: Terms, y: Array, *given: Any) -> Array:
    """∂ log p/∂y."""
    return terms.slope(y, *given)


def curvature_of(terms: Terms, y: Array, *given: Any) -> Array:
    """B."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is no ascent
        return terms.curvature(y, *given)


def weightings(B: Array) -> Array:
    """B_rs of the rows for r ≤ s, shape (n_pairs, n_rows)."""
    if B.shape[1] == 1:
        only: Array = B[:, :, 0].T
        return only
    rows, columns = np.triu_indices(B.shape[1])
    pairs: Array = B[:, rows, columns].T
    return pairs


def by_weighting(weights: Array, product: Callable[[Array], Array]) -> Array:
    """A product with each weighting of the rows, stacked along the first axis."""
    if len(weights) == 1:
        return product(weights[0])[None]
    return np.stack([product(weight) for weight in weights])


def as_matrices(stacked: Array) -> Array:
    """What was stacked for B_rs with r ≤ s as matrices, shape (…, n_outputs, n_outputs)."""
    if len(stacked) == 1:
        only: Array = stacked[0][..., None, None]
        return only
    pairs = _places(len(stacked))
    # A product of two different factors is symmetric in the outputs only, not in the functions.
    matrices: Array = np.moveaxis(stacked, 0, -1)[..., pairs]
    return matrices


@cache
def _places(n_pairs: int) -> Index:
    """Where each B_rs is in a stack."""
    outputs = int(np.sqrt(2 * n_pairs))
    places = np.empty((outputs, outputs), dtype=np.intp)
    rows, columns = np.triu_indices(outputs)
    places[rows, columns] = places[columns, rows] = np.arange(n_pairs)
    return places
