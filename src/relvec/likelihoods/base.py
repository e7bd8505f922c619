"""What the rest of the package asks of p(t | y)."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Likelihood(ABC):
    """Distribution of a target given the latent function y(x) = Σ w_i φ_i(x) + w_0."""

    @abstractmethod
    def log_prob(self, t: Array, y: Array) -> Array:
        """Log density of each target, shape (n_samples,)."""

    @abstractmethod
    def moments(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Mean and variance of a new target whose latent value is N(mean, variance)."""
