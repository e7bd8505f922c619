"""What the rest of the package asks of p(t | y)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from relvec._numerics.typing import Array


class Likelihood(ABC):
    """Distribution of a row's target t given its latent outputs y.

    It is log-concave in y, or has a `surrogate` that is. Targets have the shape (n_samples, d) and
    outputs (n_samples, n_outputs).

    Attributes
    ----------
    n_outputs : int
        Latent outputs of a row.
    mean_feels_spread : bool
        Whether the mean of a new target depends on the covariance of its outputs.
    positive_only : bool
        Whether targets cannot be negative.
    discrete : bool
        Whether targets have probabilities, of at most one, and not densities.
    learns_scales : bool
        Whether the scales of a kernel can be learnt under it.
    quadratic : bool
        Whether its logarithm is quadratic in the outputs, so that means and products of functions
        and targets tell all that the rows do.
    """

    n_outputs: int = 1
    mean_depends_on_variance: ClassVar[bool] = True
    positive_only: ClassVar[bool] = False
    discrete: ClassVar[bool] = True
    learns_scales: ClassVar[bool] = True
    quadratic: ClassVar[bool] = False

    @abstractmethod
    def log_prob(self, t: Array, y: Array) -> Array:
        """Log density of each row's target, shape (n_samples,)."""

    @abstractmethod
    def slope(self, t: Array, y: Array) -> Array:
        """∂ log p/∂y, shape (n_samples, n_outputs)."""

    @abstractmethod
    def curvature(self, t: Array, y: Array) -> Array:
        """B = −∂² log p/∂y², shape (n_samples, n_outputs, n_outputs)."""

    @abstractmethod
    def curvature_slope(self, t: Array, y: Array, spread: Array) -> Array:
        """∂ tr(B h)/∂y for a symmetric h = `spread` of every row."""

    def surrogate(self, t: Array, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Slope at the mean, and curvature, of the Gaussian in the place of p(t | y).

        It is the one that weights are inferred with, whose outputs are then N(mean, covariance).
        Shapes of arguments and results are as in `moments`, `slope` and `curvature`.
        """
        del covariance  # Laplace's method looks at the mean alone
        return self.slope(t, mean), self.curvature(t, mean)

    @abstractmethod
    def moments(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Mean and variance of a new target whose outputs have a posterior N(mean, covariance).

        The mean has the shape (n_samples, n_outputs), the covariance (n_samples, n_outputs,
        n_outputs), the results (n_samples, d).
        """

    @abstractmethod
    def sample(self, y: Array, rng: np.random.RandomState) -> Array:
        """Draw a target for each row of outputs."""

    def functions(self, y: Array) -> Array:
        """Functions that users see, given the outputs along the last axis."""
        return y

    def check(self, t: Array) -> None:
        """Raise ValueError unless the targets of a training set can be what they are."""
        del t  # any numbers will do


class RegressionLikelihood(Likelihood):
    """Distribution of a number, with one output."""

    @abstractmethod
    def joint_covariance(self, mean: Array, covariance: Array) -> Array:
        """Covariance between new targets whose outputs are jointly N(mean, covariance).

        The mean has the shape (n_samples,), the covariance and the result (n_samples, n_samples).
        """

    def spread(self, mean: Array, covariance: Array) -> Array:
        """What errors of new targets scale with: their std, unless that may be infinite.

        Arguments and result have the shapes of `moments`.
        """
        _, variance = self.moments(mean, covariance)
        spread: Array = np.sqrt(variance)
        return spread

    @abstractmethod
    def interval(self, mean: Array, covariance: Array, coverage: float) -> tuple[Array, Array]:
        """Central interval that holds a new target with probability `coverage`, at least.

        Arguments and the two results have the shapes of `moments`; either tail is left at most half
        of the rest.
        """

    @abstractmethod
    def predictive_log_density(self, t: Array, mean: Array, covariance: Array) -> Array:
        """Log density that new targets t have under outputs that are N(mean, covariance).

        Targets and outputs have the shapes of `moments`, the result (n_samples,). Of counts it is
        the log probability.
        """


class ClassLikelihood(Likelihood):
    """Distribution of a class; its functions decide between the classes."""

    @abstractmethod
    def probabilities(self, y: Array) -> Array:
        """Probability of each class given the outputs, shape (n_samples, n_classes)."""

    @abstractmethod
    def mean_probabilities(self, mean: Array, covariance: Array) -> Array:
        """The same averaged over outputs that are N(mean, covariance)."""
