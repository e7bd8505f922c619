"""Some functions of a basis in any order, of which a basis itself keeps none but ascending."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relvec._numerics.typing import Array, Index
from relvec.basis.base import Basis


@dataclass(frozen=True)
class Functions:
    """Functions of a basis, each as often and where it is asked for."""

    basis: Basis  # the functions, each once
    #: (n_functions,), which of them each one is; all in their order without
    places: Index | None = None

    @property
    def nothing(self) -> float | Array:
        """See `Basis.nothing`."""
        nothing = self.basis.nothing
        return nothing if self.places is None or np.ndim(nothing) == 0 else self._of(nothing)

    def restrict(self, index: Index) -> Functions:
        """Return the functions `index` only, in that order."""
        own = index if self.places is None else self.places[index]
        ascending, places = np.unique(own, return_inverse=True)
        in_order = np.array_equal(places, np.arange(len(ascending)))
        return Functions(self.basis.restrict(ascending), None if in_order else places)

    def evaluate(self, X: Array) -> Array:
        """See `Basis.evaluate`."""
        return self._of(self.basis.evaluate(X))

    def checked(self, X: Array) -> Array:
        """See `Basis.checked`."""
        return self._of(self.basis.checked(X))

    def _of(self, values: Array | float) -> Array:
        """Values of the functions, (…, n_functions), of those that the basis has."""
        found: Array = np.asarray(values)
        return found if self.places is None else found[..., self.places]
