"""Functions as sums of products of functions of one input each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Self

import numpy as np

from relvec._numerics.typing import Array, Index


@dataclass(frozen=True)
class Products:
    """Parts Σ_p mix_pm Π_d u_dp(x_d) of functions φ_m, of some inputs d."""

    features: Index  # (n_inputs,), the inputs, ascending
    #: maps rows (n_samples, n_features) to u, of shape (n_samples, n_inputs, n_products)
    values: Callable[[Array], Array]
    mix: Array  # (n_products, n_functions)

    @classmethod
    def of_input(cls, feature: int, values: Callable[[Array], Array], mix: Array) -> Self:
        """Functions of one input: `values` maps rows to them, of shape (n_samples, n_products)."""
        return cls(np.array([feature]), partial(_of_one, values), mix)

    def among(self, columns: Index, size: int) -> Self:
        """Parts of `size` functions, of which those at the `columns` are these."""
        mix = np.zeros((len(self.mix), size))
        mix[:, columns] = self.mix
        return replace(self, mix=mix)


def multiplied(parts: Sequence[Products]) -> Products:
    """Products of parts that have one product for each function."""
    features = reduce(np.union1d, (part.features for part in parts))
    return Products(features, partial(_multiplied, parts, features), parts[0].mix)


def _multiplied(parts: Sequence[Products], features: Index, X: Array) -> Array:
    found = np.ones((len(X), len(features), len(parts[0].mix)))
    for part in parts:
        found[:, np.searchsorted(features, part.features)] *= part.values(X)
    return found


def _of_one(values: Callable[[Array], Array], X: Array) -> Array:
    return values(X)[:, None]
