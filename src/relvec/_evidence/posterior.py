"""The posterior of the kept weights, as it is stored with a fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec._numerics.typing import Array


@dataclass(frozen=True)
class Posterior:
    """Gaussian posterior of the weights and of a flat-prior intercept, in the users' units.

    There is a weight for every active function and latent output. The intercept was eliminated at
    φ̄, so given φ̄ it is independent of the weights: y(x) = ȳ + (φ(x) ⊗ I − φ̄)ᵀw with
    w ~ N(μ, Σ) and ȳ ~ N(level, level_covariance). With one output φ ⊗ I is φ.
    """

    mean: Array  # (n_active, n_outputs), μ, eq. 13
    #: (n_active · n_outputs, n_active · n_outputs), upper triangular F with Σ = F Fᵀ, eq. 12; the
    #: weights of one function lie side by side
    root: Array
    #: (n_outputs, n_active · n_outputs), φ̄, one row an output; zeros without an intercept
    center: Array
    level: Array  # (n_outputs,), mean of the outputs at φ̄; zeros without an intercept
    level_covariance: Array  # (n_outputs, n_outputs), their covariance

    def __getstate__(self) -> dict[str, Any]:
        """Half of the root is zeros, which are not stored."""
        if np.tril(self.root, -1).any():
            raise ValueError("root has entries below its diagonal, expected an upper triangle")
        return vars(self) | {"root": self.root[np.triu_indices(len(self.root))]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        size = state["mean"].size
        root = np.zeros((size, size))
        root[np.triu_indices(size)] = state["root"]
        vars(self).update(state | {"root": root})

    @property
    def intercept(self) -> Array:
        """w_0 of every output, shape (n_outputs,), such that the mean is φ(x)ᵀμ + w_0."""
        return self.level - self.center @ self.mean.ravel()

    @property
    def covariance(self) -> Array:
        """Σ, eq. 12."""
        return self.root @ self.root.T

    def latent_mean(self, Phi: Array) -> Array:
        """Mean of the outputs at rows of active functions (n_samples, n_active)."""
        return Phi @ self.mean + self.intercept

    def latent_covariance(self, Phi: Array) -> Array:
        """Covariance between the outputs of each row, shape (n_samples, n_outputs, n_outputs)."""
        spread = self._spread(Phi)
        covariance: Array = np.einsum("rnw,snw->nrs", spread, spread) + self.level_covariance
        return covariance

    def joint_covariance(self, Phi: Array, output: int = 0) -> Array:
        """Covariance of one output between the rows, shape (n_samples, n_samples)."""
        spread = self._spread(Phi)[output]
        joint: Array = spread @ spread.T + float(self.level_covariance[output, output])
        return joint

    def sample(self, Phi: Array, n_samples: int, rng: np.random.RandomState) -> Array:
        """Draw outputs from the posterior, shape (n_outputs, n_samples of Phi, n_samples)."""
        weights = rng.standard_normal((len(self.root), n_samples))
        levels = rng.standard_normal((len(self.level), n_samples))
        if self.level_covariance.any():
            levels = np.linalg.cholesky(self.level_covariance) @ levels
        else:
            levels[:] = 0
        mean = self.latent_mean(Phi).T[:, :, None]
        return mean + self._spread(Phi) @ weights + levels[:, None]

    def _spread(self, Phi: Array) -> Array:
        """(φ ⊗ I − φ̄)ᵀF a row, shape (n_outputs, n_samples, n_weights)."""
        outputs = len(self.level)
        return np.stack(
            [
                Phi @ self.root[output::outputs] - self.center[output] @ self.root
                for output in range(outputs)
            ]
        )


@dataclass(frozen=True)
class Independent:
    """Posteriors of the weights for several targets, none of which says anything of another."""

    parts: tuple[Posterior, ...]  # one a target, of the same functions
