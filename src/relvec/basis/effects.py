"""Main effects and interactions of the inputs, each a group of functions that share a precision."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from relvec._numerics.checks import check_count
from relvec._numerics.typing import Array, Index
from relvec.basis.base import Basis, Centers
from relvec.basis.combine import Concatenate
from relvec.basis.curves import Curve, Factor, Levels, Line, holds_numbers, numbers
from relvec.basis.functions import Terms, feature_name
from relvec.basis.products import Products
from relvec.basis.scale import standard_deviations

#: Widths of the finer and the smoother curves of an input, in standard deviations of it: of main
#: effects and of the factors of interactions.
WIDTHS, PAIR_WIDTHS = (0.35, 1.0), (0.5, 1.0)
#: Pairs of inputs to be chosen up to which all have finer products, too; of more these many have.
MOST_FINER = 100
#: Share of the variance of an effect that directions may have together and be left out.
NEGLECTED = 1e-5


class Effect(Terms):
    """Functions of one input, or products of functions of two, that share one precision.

    They are the principal components of the products over the training rows, which span the same
    functions with the same prior and leave out directions that hardly vary.

    Parameters
    ----------
    factors : sequence of Factor
        Functions of each input, placed already.

    Attributes
    ----------
    axes_ : ndarray of shape (n_products, n_components)
        Principal axes, the first with the largest variance.
    mean_ : ndarray of shape (n_components,)
        Mean of each component over the training rows, which is taken away.
    terms_ : ndarray of int, shape (n_functions,)
        The components that are functions.
    """

    axes_: Array
    mean_: Array

    def __init__(self, factors: Sequence[Factor]) -> None:
        self.factors = factors

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Find the principal components over the rows; see `Basis.place`."""
        values = [factor.values(X) for factor in self.factors]
        return self.fitted(values, _shares(len(X), weights))

    def fitted(self, values: Sequence[Array], share: Array) -> Self:
        """Find the principal components, given the `values` of each factor at the training rows.

        These are of shape (n_samples, size), and ``share`` (n_samples,) is what each row counts.
        """
        raw = _products(values)
        mean = share @ raw
        raw = raw - mean
        variance, axes = np.linalg.eigh((raw.T * share) @ raw)
        known = np.cumsum(variance) > NEGLECTED * variance.sum()
        self.axes_ = axes[:, known][:, ::-1]
        self.mean_ = mean @ self.axes_
        return self._of(np.arange(len(self.mean_)))

    def evaluate(self, X: Array) -> Array:
        """Components of the products less their means; see `Basis.evaluate`.

        They are zero for categories that the training rows do not have.
        """
        values = _products([factor.values(X) for factor in self.factors])
        components: Array = values @ self.axes_[:, self.terms_] - self.mean_[self.terms_]
        components[self._unknown(X).any(axis=0)] = 0.0
        return components

    def derivatives(self, X: Array) -> Iterator[Array]:
        """Yield derivatives of the components, zero in categories; see `Basis.derivatives`."""
        known = ~self._unknown(X).any(axis=0, keepdims=True).T
        for d in range(X.shape[1]):
            factors = [
                factor.slopes(X) if factor.feature == d else factor.values(X)
                for factor in self.factors
            ]
            yield _products(factors) @ self.axes_[:, self.terms_] * (known & (d in self.features))

    def products(self) -> list[Products]:
        """Products of the functions of the inputs, and of one for their mean; see `Basis`."""
        order = np.argsort(self.features)
        mix = np.vstack([self.axes_[:, self.terms_], -self.mean_[None, self.terms_]])
        return [Products(np.array(self.features)[order], partial(self._factors, order), mix)]

    def _factors(self, order: Index, X: Array) -> Array:
        """Factors of the products, and ones, zero for unknown categories.

        Of shape (n_samples, n_factors, n_products + 1), the factors in an `order`.
        """
        sizes, values = [factor.size for factor in self.factors], []
        for place, (factor, unknown) in enumerate(zip(self.factors, self._unknown(X), strict=True)):
            before, after = int(np.prod(sizes[:place])), int(np.prod(sizes[place + 1 :]))
            each = np.tile(np.repeat(factor.values(X), after, axis=1), (1, before))
            values.append(np.column_stack([each, np.ones(len(X))]) * ~unknown[:, None])
        return np.stack(values, axis=1)[:, order]

    def _unknown(self, X: Array) -> NDArray[np.bool_]:
        """Return whether the category of each factor is unknown, shape (n_factors, n_samples)."""
        never = np.zeros(len(X), dtype=np.bool_)
        return np.array(
            [one.unknown(X) if isinstance(one, Levels) else never for one in self.factors]
        )

    @property
    def features(self) -> tuple[int, ...]:
        """The inputs."""
        return tuple(factor.feature for factor in self.factors)

    @property
    def groups(self) -> Index:
        return np.zeros(len(self.terms_), dtype=np.intp)

    def unspanned(self, X: Array) -> dict[int, Array]:
        """Variance of categories that the training rows do not have; see `Basis.unspanned`."""
        unknown = self._unknown(X)
        rows = np.flatnonzero(unknown.any(axis=0))
        if not len(rows) or not len(self.terms_):
            return {}
        variance = np.zeros(len(X))
        known = [(factor.values(X[rows]) ** 2).sum(axis=1) for factor in self.factors]
        variance[rows] = np.where(unknown[:, rows], 1.0, known).prod(axis=0)
        return {0: variance}

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Name of the term, with the number of each function."""
        factors = " × ".join(
            f"{factor.kind}({feature_name(features, factor.feature)})" for factor in self.factors
        )
        return [f"{factors}[{number}]" for number in self.terms_]

    def terms(self, features: Sequence[str] | None = None) -> list[str]:
        """Names of the inputs, with a cross between them; see `Basis.terms`."""
        name = " × ".join(feature_name(features, column) for column in self.features)
        return [name] * len(self.terms_)


def _counted(X: Array, weights: Array | None) -> tuple[Array, Array | None]:
    """Rows (n_samples, n_features) of positive weight, and their weights."""
    return (X, None) if weights is None else (X[weights > 0], weights[weights > 0])


def _shares(n_rows: int, weights: Array | None) -> Array:
    """Weight of each of so many rows in a mean, shape (n_rows,)."""
    return np.full(n_rows, 1 / n_rows) if weights is None else weights / weights.sum()


def _sizes(n_knots: int) -> tuple[int, int]:
    """Knots of the finer curves of an input, and of the smoother ones."""
    return n_knots, (n_knots + 1) // 2


def effects_in(basis: Basis) -> list[Effect]:
    """Return the effects that a basis has, by itself or in its parts."""
    if isinstance(basis, Effect):
        return [basis]
    return [effect for part in getattr(basis, "parts_", ()) for effect in effects_in(part)]


def _is_pair(pair: Any, inputs: range) -> bool:
    """Return whether something is two different inputs."""
    return np.shape(pair) == (2,) and pair[0] != pair[1] and all(one in inputs for one in pair)


def _products(values: Sequence[Array]) -> Array:
    """Products of the columns of one or two arrays, of shapes (n_samples, m)."""
    if len(values) == 1:
        return values[0]
    first, second = values
    return (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)


class Effects(Concatenate):
    """Main effects of the inputs and interactions of two of them, each a few groups of functions.

    An input has a line and curves of two widths; a pair has products of curves of both inputs, of
    two widths, too. A category has an indicator for each of its levels in place of these. The
    functions of a group share a precision, so that the evidence chooses whole effects and shrinks
    what is in them. All have a mean of zero over the training rows, and products are made of
    functions whose means are zero, so that effects add up to the prediction and main effects are no
    part of interactions.

    Parameters
    ----------
    order : {1, 2}, default=2
        Inputs that an effect has at most.
    knots : int, default=12
        Points that the finer curves of an input are placed on, at its quantiles.
    pair_knots : int, default=9
        The same for each of the two inputs of an interaction.
    interactions : "auto", list of pairs or None, default="auto"
        Pairs of inputs, by position, that are candidates: all of which those are looked at closely
        that seem worth the most beside the main effects, those given, or none.
    linear : bool, default=True
        Include the inputs themselves.
    categorical : sequence of int, default=()
        Inputs whose values are labels of categories, besides those with other than numbers.

    Attributes
    ----------
    parts_ : list of Effect
        Groups of functions, those of interactions last.
    to_screen_ : bool
        Whether the pairs to be chosen are so many, over 100, that only the smoother of their
        products are there, until a fit has found those that seem worth most.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.basis import Effects
    >>> X = np.random.default_rng(0).uniform(size=(50, 2))
    >>> effects = Effects(knots=4, pair_knots=2).fit(X)
    >>> sorted(set(effects.terms()))
    ['x0', 'x0 × x1', 'x1']
    >>> bool(abs(effects.transform(X).mean(axis=0)).max() < 1e-12)
    True
    """

    def __init__(
        self,
        order: int = 2,
        knots: int = 12,
        pair_knots: int = 9,
        interactions: str | Sequence[tuple[int, int]] | None = "auto",
        linear: bool = True,
        categorical: Sequence[int] = (),
    ) -> None:
        self.order, self.knots, self.pair_knots = order, knots, pair_knots
        self.interactions, self.linear, self.categorical = interactions, linear, categorical

    centred = False
    any_rows = True
    follows_rows = True
    to_screen_: bool

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Place the functions of all effects on the training rows; see `Basis.place`."""
        self._check(X.shape[1])
        rows, weights = _counted(X, weights)
        share, columns = _shares(len(rows), weights), self._varying(rows, weights)
        main = [self._main(j, x, weights) for j, x in columns.items()]
        parts = [
            Effect([factor]).fitted([factor.values(rows)], share) for own in main for factor in own
        ]
        pairs = self._pairs(columns)
        self.to_screen_ = isinstance(self.interactions, str) and len(pairs) > MOST_FINER
        fine = [] if self.to_screen_ else self._interactions(rows, weights, pairs, finer=True)
        return self._of(parts + fine + self._interactions(rows, weights, pairs, finer=False))

    def _interactions(
        self, X: Array, weights: Array | None, pairs: Sequence[tuple[int, int]], *, finer: bool
    ) -> list[Effect]:
        """Products of the finer or of the smoother curves of pairs at rows that count.

        Those of levels alone, which have no width, are with the smoother ones.
        """
        share, columns = _shares(len(X), weights), self._varying(X, weights)
        size, width = _sizes(self.pair_knots)[not finer], PAIR_WIDTHS[not finer]
        needed = {j for pair in pairs for j in pair}
        factor = {j: self._factor(j, columns[j], weights, size, width) for j in sorted(needed)}
        values = {j: one.values(X) for j, one in factor.items()}
        return [
            Effect([factor[i], factor[j]]).fitted([values[i], values[j]], share)
            for i, j in pairs
            if not finer or isinstance(factor[i], Curve) or isinstance(factor[j], Curve)
        ]

    def screened(self, X: Array, weights: Array | None, gain: Array) -> Self:
        """Forget pairs but those that seem worth most, which get finer products, too.

        See `Basis.screened`.
        """
        if not self.to_screen_:
            return self
        own = zip(self.parts_, np.split(gain, self._begins()[1:-1]), strict=True)
        worth = np.array(
            [some.max(initial=0.0) if len(part.features) > 1 else 0.0 for part, some in own]
        )
        best = np.argsort(-worth, kind="stable")[:MOST_FINER]
        kept = [self.parts_[number] for number in np.sort(best[worth[best] > 0])]
        main = [part for part in self.parts_ if len(part.features) == 1]
        pairs = [part.features for part in kept]
        fine = self._interactions(*_counted(X, weights), pairs, finer=True)
        screened = copy.copy(self)._of(main + fine + kept)
        screened.to_screen_ = False
        return screened

    def _check(self, n_features: int) -> None:
        """Check the parameters for so many inputs."""
        check_count(self.order, "order", 2)
        check_count(self.knots, "knots")
        check_count(self.pair_knots, "pair_knots")
        check_scalar(self.linear, "linear", (bool, np.bool_))
        inputs = range(n_features)
        if any(column not in inputs for column in self.categorical):
            raise ValueError(
                f"categorical={self.categorical!r}, expected columns from 0 to {n_features - 1}"
            )
        pairs = self.interactions
        if pairs is None or (isinstance(pairs, str) and pairs == "auto"):
            return
        listed = isinstance(pairs, Iterable) and not isinstance(pairs, str)
        if not listed or not all(_is_pair(pair, inputs) for pair in pairs):
            raise ValueError(
                f"interactions={pairs!r}, expected 'auto', None or pairs of different columns from "
                f"0 to {n_features - 1}"
            )

    def _varying(self, X: NDArray[Any], weights: Array | None) -> dict[int, NDArray[Any]]:
        """Training values of every input that varies, shape (n_samples,): numbers or categories."""
        columns = dict[int, NDArray[Any]]()
        for j in range(X.shape[1]):
            if j in self.categorical or not holds_numbers(X, j):
                if len(np.unique(X[:, j])) > 1:
                    columns[j] = X[:, j]
            elif standard_deviations(numbers(X, j)[:, None], weights)[0] > 0:
                columns[j] = numbers(X, j)
        return columns

    def _main(self, feature: int, x: NDArray[Any], weights: Array | None) -> list[Factor]:
        """Functions of an input with the training values x (n_samples,), a list for each group."""
        if feature in self.categorical or x.dtype == object:
            return [Levels.of(feature, x, weights)]
        found: list[Factor] = [Line.of(feature, x, weights)] if self.linear else []
        if len(np.unique(x)) > 2 or not found:
            sizes = zip(_sizes(self.knots), WIDTHS, strict=True)
            found += [self._factor(feature, x, weights, size, width) for size, width in sizes]
        return found

    def _factor(
        self, feature: int, x: NDArray[Any], weights: Array | None, n_knots: int, width: float
    ) -> Factor:
        """Levels of a category, or curves of one width, at training values x (n_samples,)."""
        if feature in self.categorical or x.dtype == object:
            return Levels.of(feature, x, weights)
        return Curve.of(feature, x, weights, n_knots, width)

    def _pairs(self, varying: Iterable[int]) -> list[tuple[int, int]]:
        """Interactions of inputs that vary."""
        if self.order < 2 or self.interactions is None:
            return []
        if isinstance(self.interactions, str):
            return list(combinations(varying, 2))
        asked = sorted({(int(min(pair)), int(max(pair))) for pair in self.interactions})
        return [(i, j) for i, j in asked if i in varying and j in varying]

    def restrict(self, active: Index) -> Self:
        """Forget effects without functions, too; see `Basis.restrict`."""
        own = self._divided(active).items()
        return copy.copy(self)._of([self.parts_[number].restrict(some) for number, some in own])

    @property
    def to_screen(self) -> bool:
        """True where pairs are so many; see `Basis.to_screen`."""
        return self.to_screen_

    @property
    def optional(self) -> NDArray[np.bool_]:
        """Functions of interactions, where these are to be chosen; see `Basis.optional`."""
        auto = isinstance(self.interactions, str)
        found = [np.full(len(part.rows_), auto and len(part.features) > 1) for part in self.parts_]
        return np.concatenate([*found, np.empty(0, dtype=np.bool_)])
