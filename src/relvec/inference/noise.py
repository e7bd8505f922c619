"""What the search may do to the precision of Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass

#: Least share of the variance of the targets that is noise (SparseBayes has β ≤ 1e6/var t).
NOISE_FLOOR = 1e-6
#: β rises no further when less than this share of the observations is left to tell the noise from.
LEAST_FREEDOM = 0.2


@dataclass(frozen=True)
class Noise:
    """Bounds of the noise precision β.

    Attributes
    ----------
    held : bool
        β stays as it is.
    beta_max : float
        Its ceiling; the known value, where the noise is known.
    """

    held: bool
    beta_max: float

    def may_move(self, beta: float, slope: float, n: float, freedom: float) -> bool:
        """Whether β is free to follow the slope ∂L/∂log β, with n − Σγ = `freedom`."""
        if self.held or slope <= 0:
            return not self.held
        return beta < self.beta_max and freedom > LEAST_FREEDOM * n

    def released(self, beta: float) -> float:
        """β from which to go on after it was held elsewhere."""
        return self.beta_max if self.held else min(beta, self.beta_max)

    def precision(self, freedom: float, misfit: float) -> float:
        """β = (N − Σγ)/r of eq. 18, up to the ceiling; the noise is at most the whole target."""
        if freedom >= self.beta_max * misfit:
            return self.beta_max
        return max(freedom / misfit, 1.0)
