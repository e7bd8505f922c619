"""Bounds and updates of the precision of Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relvec._numerics.priors import UNIFORM, Gamma
from relvec._numerics.typing import Array

#: Least share of the variance of the targets that is noise (SparseBayes has β ≤ 1e6/var t).
NOISE_FLOOR = 1e-6
#: β rises no further when less than this share of the observations is left to tell the noise from.
LEAST_FREEDOM = 0.2
#: Squared misfit of a target of unit norm that is as good as none.
NO_MISFIT = 1e-200


@dataclass(frozen=True)
class Noise:
    """Bounds of the noise precision β of each target."""

    held: bool  # β stays as it is
    #: (n_noises,), its ceiling; the known value, where the noise is known. A number is taken as the
    #: only one
    beta_max: Array
    #: prior of β, for targets of unit norm; it counts as 2c observations with a misfit of 2d
    prior: Gamma = UNIFORM

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta_max", np.atleast_1d(self.beta_max))

    def may_move(
        self, beta: Array, slope: Array, n: float, freedom: float | Array
    ) -> NDArray[np.bool_]:
        """Return whether each β may follow ∂L/∂log β = `slope`, with n − Σγ = `freedom`."""
        rises = (beta < self.beta_max) & (freedom + 2 * self.prior.shape > LEAST_FREEDOM * n)
        return ((slope <= 0) | rises) & (not self.held)

    def released(self, beta: Array) -> Array:
        """β from which to go on after it was held elsewhere."""
        return self.beta_max if self.held else np.minimum(beta, self.beta_max)

    def precision(self, freedom: Array, misfit: Array) -> Array:
        """β = (N − Σγ + 2c)/(r + 2d) of eq. 46, up to the ceiling.

        It is at least what one observation that misses by the whole target would say.
        """
        most: float | Array = 1.0
        if not self.prior.uniform:
            freedom, misfit = freedom + 2 * self.prior.shape, misfit + 2 * self.prior.rate
            most = 1 + 2 * self.prior.rate
        beta = freedom / np.maximum(misfit, NO_MISFIT)
        return np.minimum(np.maximum(beta, 1 / most), self.beta_max)
