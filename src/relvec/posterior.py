"""The posterior of the kept weights, as it is stored with a fitted model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Posterior:
    """Gaussian posterior of the weights and of a flat-prior intercept, in the users' units.

    The intercept was eliminated by centring the basis functions at φ̄, so given φ̄ it is
    independent of the weights: y(x) = ȳ + (φ(x) − φ̄)ᵀw with w ~ N(μ, Σ) and ȳ ~ N(level,
    level_variance).

    Attributes
    ----------
    mean : ndarray of shape (n_active,)
        μ, eq. 13.
    root : ndarray of shape (n_active, n_active)
        Upper triangular F with Σ = F Fᵀ, eq. 12.
    center : ndarray of shape (n_active,)
        φ̄; zeros without an intercept.
    level, level_variance : float
        Mean and variance of the function at φ̄; zeros without an intercept.
    """

    mean: Array
    root: Array
    center: Array
    level: float
    level_variance: float

    @property
    def intercept(self) -> float:
        """w_0 such that the mean is φ(x)ᵀμ + w_0."""
        return float(self.level - self.center @ self.mean)

    @property
    def covariance(self) -> Array:
        """Σ, eq. 12, shape (n_active, n_active)."""
        return self.root @ self.root.T

    def latent_mean(self, Phi: Array) -> Array:
        """Mean of the function at rows of active basis functions (n_samples, n_active)."""
        return Phi @ self.mean + self.intercept

    def latent_variance(self, Phi: Array) -> Array:
        """Variance of the function at each row, shape (n_samples,)."""
        spread = (Phi - self.center) @ self.root
        variance: Array = np.einsum("ij,ij->i", spread, spread) + self.level_variance
        return variance

    def latent_covariance(self, Phi: Array) -> Array:
        """Covariance of the function between the rows, shape (n_samples, n_samples)."""
        spread = (Phi - self.center) @ self.root
        return spread @ spread.T + self.level_variance

    def sample(self, Phi: Array, n_samples: int, rng: np.random.RandomState) -> Array:
        """Draw functions from the posterior, shape (n_samples of Phi, n_samples)."""
        draws = self.mean[:, None] + self.root @ rng.standard_normal((len(self.mean), n_samples))
        levels = self.level + np.sqrt(self.level_variance) * rng.standard_normal(n_samples)
        samples: Array = (Phi - self.center) @ draws + levels
        return samples
