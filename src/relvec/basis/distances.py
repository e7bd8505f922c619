"""Squared distances that keep their digits."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances

from relvec._numerics.typing import Array

#: From this many features the matrix product is worth its rounding errors, …
MANY_FEATURES = 32
#: … which stay under 1e-11 while no squared length, in units of the kernel's width, exceeds this.
SAFE_LENGTH2 = 1e4


def squared_distances(X: Array, Z: Array, scale: float | Array) -> Array:
    """Σ_d (scale_d (x_d − z_d))² between the rows of X and Z, shape (n, m).

    The origin moves into the data before anything is multiplied, so inputs far from zero lose
    nothing. The expansion ‖x‖² − 2xᵀz + ‖z‖² is used only where what it loses is negligible.
    """
    origin = Z[0]
    X, Z = (X - origin) * scale, (Z - origin) * scale
    if X.shape[1] == 1:
        difference = X - Z.T
        squared: Array = np.square(difference, out=difference)
        return squared
    if X.shape[1] >= MANY_FEATURES:
        X2, Z2 = np.einsum("ij,ij->i", X, X), np.einsum("ij,ij->i", Z, Z)
        if max(X2.max(initial=0.0), Z2.max(initial=0.0)) < SAFE_LENGTH2:
            expanded: Array = euclidean_distances(X, Z, squared=True)
            return expanded
    exact: Array = cdist(X, Z, "sqeuclidean")
    return exact
