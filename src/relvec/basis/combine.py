"""Several bases in one dictionary."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Self

import numpy as np
from sklearn.base import clone

from relvec.basis.base import Array, Basis, Centers, Index


class Concatenate(Basis):
    """The functions of several bases side by side.

    Parameters
    ----------
    bases : sequence of Basis
        The parts, in the order of their functions.

    Attributes
    ----------
    bases_ : list of Basis
        The fitted parts.

    Examples
    --------
    >>> from relvec.basis import RBF, Bias, Concatenate
    >>> Concatenate([Bias(), RBF(gamma=0.5)]).fit([[0.0], [1.0]]).transform([[0.0]]).round(3)
    array([[1.   , 1.   , 0.607]])
    """

    bases_: list[Basis]

    def __init__(self, bases: Sequence[Basis]) -> None:
        self.bases = bases

    @property
    def centred(self) -> bool:  # type: ignore[override]
        """Whether any part is."""
        return any(getattr(basis, "centred", False) for basis in self.bases)

    def place(self, X: Array, centers: Centers, weights: Array | None) -> Self:
        """Fix the functions of every part; see `Basis.place`."""
        for position, basis in enumerate(self.bases):
            if not isinstance(basis, Basis):
                raise TypeError(f"bases[{position}] is {basis!r}, expected a relvec.basis object")
        return self._of([clone(basis).place(X, centers, weights) for basis in self.bases])

    def _of(self, parts: list[Basis]) -> Self:
        self.bases_ = parts
        self.rows_ = np.concatenate([part.rows_ for part in parts])
        return self

    def evaluate(self, X: Array) -> Array:
        """Values of all parts side by side; see `Basis.evaluate`."""
        return np.hstack([part.evaluate(X) for part in self.bases_])

    def restrict(self, active: Index) -> Self:
        """Keep the functions `active` of each part, in ascending order; see `Basis.restrict`."""
        ends = np.cumsum([len(part.rows_) for part in self.bases_])
        parts, begin = [], 0
        for part, end in zip(self.bases_, ends, strict=True):
            parts.append(part.restrict(active[(active >= begin) & (active < end)] - begin))
            begin = end
        return copy.copy(self)._of(parts)

    def names(self, features: Sequence[str] | None = None) -> list[str]:
        """Names of all parts."""
        return [name for part in self.bases_ for name in part.names(features)]

    @property
    def vectors(self) -> Array:
        """Points that functions of any part are centred on, shape (n_centred, n_features)."""
        found = [part.vectors for part in self.bases_ if part.vectors.shape[1]]
        return np.vstack(found) if found else np.empty((0, 0))

    def linear_map(self) -> Array | None:
        """The parts' maps side by side, if every part is linear."""
        maps = [part.linear_map() for part in self.bases_]
        known = [part for part in maps if part is not None]
        return np.hstack(known) if len(known) == len(maps) else None
