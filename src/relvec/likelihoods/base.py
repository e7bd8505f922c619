"""Contract of a likelihood p(t | y) of a target t given its linear predictor y."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import ndtri

from relvec._numerics.typing import Array
from relvec.likelihoods.quadrature import covariances, expectation, least
from relvec.likelihoods.support import Interval

#: Step of central differences, in standard deviations of the linear predictor.
STEP = 1e-3
#: Values of the linear predictor, within its central part, whose quantiles enclose the mixture's.
ENCLOSING = 33


class Surrogate(NamedTuple):
    """Quadratic function of y in the place of log p(t | y), expanded about the mean of y.

    With e = y − mean it is value + gradientᵀe − ½eᵀ weight e. The working target of a row is
    mean + weight⁻¹ gradient; where a weight vanishes, it is out of range and the gradient is not.

    Attributes
    ----------
    value : ndarray of shape (n_samples,)
    gradient : ndarray of shape (n_samples, n_outputs)
    weight : ndarray of shape (n_samples, n_outputs, n_outputs)
        Positive semidefinite.
    """

    value: Array
    gradient: Array
    weight: Array


class Likelihood(ABC):
    """Distribution of a row's target t given its linear predictor y of one or several outputs.

    It is log-concave in y, or has a `surrogate` that is. Targets have the shape (n_samples, d) and
    linear predictors (n_samples, n_outputs).

    Attributes
    ----------
    n_outputs : int
        Outputs of the linear predictor.
    support : Interval
        Values of a target.
    mean_depends_on_variance : bool
        Whether the mean of a new target depends on the covariance of its linear predictor.
    takes_offset : bool
        Whether targets may have one more column, an offset that is added to the linear predictor:
        the logarithm of the exposure of a count.
    quadratic : bool
        Whether its logarithm is quadratic in y, so that means and products of functions and targets
        tell all that the rows do.
    """

    n_outputs: int = 1
    support: ClassVar[Interval] = Interval()
    mean_depends_on_variance: ClassVar[bool] = True
    takes_offset: ClassVar[bool] = False
    quadratic: ClassVar[bool] = False

    @abstractmethod
    def log_prob(self, t: Array, y: Array) -> Array:
        """Log density or log probability of each row's target, shape (n_samples,)."""

    @abstractmethod
    def gradient(self, t: Array, y: Array) -> Array:
        """∂ log p/∂y, shape (n_samples, n_outputs)."""

    @abstractmethod
    def neg_hessian(self, t: Array, y: Array) -> Array:
        """B = −∂² log p/∂y², shape (n_samples, n_outputs, n_outputs)."""

    def neg_hessian_gradient(self, t: Array, y: Array, variance: Array) -> Array:
        """∂ tr(B h)/∂y for the predictor variance h of each row, shape (n_samples, n_outputs).

        By central differences of fourth order, with a step in units of h.

        Parameters
        ----------
        t, y : ndarray
        variance : ndarray of shape (n_samples, n_outputs, n_outputs)
            Symmetric.
        """
        std = np.sqrt(np.maximum(variance.diagonal(axis1=1, axis2=2), 0.0))
        steps = STEP * np.where(std > 0, std, 1.0)

        def trace(moved: Array) -> Array:
            B = self.neg_hessian(t, y + moved)
            traced: Array = np.einsum("nrs,nsr->n", B, variance)
            return traced

        gradient = np.empty_like(y)
        for output in range(y.shape[1]):
            step = steps * (np.arange(y.shape[1]) == output)
            near, far = trace(step) - trace(-step), trace(2 * step) - trace(-2 * step)
            gradient[:, output] = (8 * near - far) / (12 * steps[:, output])
        return gradient

    def surrogate(self, t: Array, mean: Array, variance: Array) -> Surrogate:
        """Quadratic that weights are inferred with, for linear predictors N(mean, variance).

        Laplace's method expands log p about the mean alone; a lower bound that is quadratic looks
        at the variance, too. Shapes are as in `moments`.
        """
        return Surrogate(self.log_prob(t, mean), self.gradient(t, mean), self.neg_hessian(t, mean))

    @property
    def hyper(self) -> dict[str, float]:
        """Parameters of its own that are learnt, by name; none by default."""
        return {}

    @property
    def learns_scales(self) -> bool:
        """True where the scales of a kernel can be learnt: no parameter of its own has to be."""
        return self.quadratic or not self.hyper

    def learn(self, t: Array, mean: Array, variance: Array, frequency: Array) -> Self:
        """Likelihood with the `hyper` that is best for linear predictors N(mean, variance).

        It maximises Σ frequency·⟨log p(t | y)⟩, or the bound of it that its `surrogate` is.

        Parameters
        ----------
        t, mean, variance : ndarray
            As in `surrogate`.
        frequency : ndarray of shape (n_samples,)
            Frequency weight of each row.
        """
        return self

    def initial(self, t: Array, frequency: Array) -> tuple[Self, Array, Array]:
        """Likelihood, and moments of the linear predictor, that a fit which learns begins with."""
        R = self.n_outputs
        return self, np.zeros((len(t), R)), np.zeros((len(t), R, R))

    def conditional(
        self, t: Array, mean: Array, variance: Array, *, known: bool = False
    ) -> tuple[Likelihood, Array | None]:
        """Likelihood that a search works under, and the precision of each row's noise, if any.

        Of a mixture it is the component for N(mean, variance), with parameters that the search
        learns unless they are to be `known`.
        """
        return self, None

    def above_conditional(self, t: Array, mean: Array, variance: Array, precision: Array) -> Array:
        """Expected log p above that of the `conditional` with a `precision`, shape (n_samples,)."""
        return np.zeros(len(t))

    def with_conditional(self, conditional: Likelihood) -> Likelihood:
        """Likelihood with what a search learnt of its `conditional`."""
        return conditional

    def bound(self) -> Likelihood:
        """Likelihood whose `surrogate` is a lower bound of this one at any mean and variance.

        Raises
        ------
        ValueError
            There is none.
        """
        raise ValueError(
            f"solver='variational' has no lower bound under {type(self).__name__}, expected "
            "Gaussian noise or two classes; use multi_class='ovr' for several classes, or "
            "solver='sequential', 'fixed_point' or 'em'"
        )

    @abstractmethod
    def moments(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Mean and variance of a new target whose linear predictor is N(mean, covariance).

        The mean has the shape (n_samples, n_outputs), the covariance (n_samples, n_outputs,
        n_outputs), the results (n_samples, d).
        """

    @abstractmethod
    def sample(self, y: Array, rng: np.random.RandomState) -> Array:
        """Draw a target for each row of linear predictors."""

    def functions(self, y: Array) -> Array:
        """Functions that users see, given the linear predictors along the last axis."""
        return y

    def check(self, t: Array) -> None:
        """Raise ValueError unless the targets of a training set can be what they are."""
        self.support.check(t)


class RegressionLikelihood(Likelihood):
    """Distribution of a number, with one output.

    A subclass defines `distribution`, `gradient` and `neg_hessian`; all else follows, predictions
    by quadrature. What has a closed form may override it.
    """

    @abstractmethod
    def distribution(self, y: Array) -> Any:
        """Distribution of scipy.stats, one for each linear predictor in an array of any shape."""

    def log_prob(self, t: Array, y: Array) -> Array:
        log_prob: Array = self._log_density(y, t).sum(axis=1)
        return log_prob

    def _log_density(self, y: Array, t: Array) -> Array:
        given = self.distribution(y)
        log_density: Array = given.logpmf(t) if self.support.integer else given.logpdf(t)
        return log_density

    def moments(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Mean and variance of a new target, ⟨E t⟩ and ⟨Var t⟩ + Var E t."""
        variance = covariance[:, 0]
        average = expectation(lambda y: self.distribution(y).mean(), mean, variance)

        def square(y: Array, average: Array) -> Array:
            given = self.distribution(y)
            total: Array = given.var() + (given.mean() - average) ** 2
            return total

        return average, expectation(square, mean, variance, average)

    def joint_covariance(self, mean: Array, covariance: Array) -> Array:
        """Covariance between new targets whose linear predictors are jointly N(mean, covariance).

        The mean has the shape (n_samples,), the covariance and the result (n_samples, n_samples).
        """
        joint = covariances(lambda y: self.distribution(y).mean(), mean, covariance)
        own = covariance.diagonal()[:, None, None]
        joint.flat[:: len(mean) + 1] = self.moments(mean[:, None], own)[1][:, 0]
        return joint

    def error_scale(self, mean: Array, covariance: Array) -> Array:
        """Scale of the errors of new targets: their std, unless that may be infinite.

        Arguments and result have the shapes of `moments`.
        """
        scale: Array = np.sqrt(self.moments(mean, covariance)[1])
        return scale

    def interval(self, mean: Array, covariance: Array, coverage: float) -> tuple[Array, Array]:
        """Central interval that holds a new target with probability `coverage`, at least.

        Arguments and the two results have the shapes of `moments`; either tail is left at most half
        of the rest.
        """
        variance, tail = covariance[:, 0], 0.5 * (1 - coverage)
        reach = -ndtri(0.25 * tail)
        # Linear predictors out of this range have half of the tail together, so that a quantile of
        # the mixture lies between quantiles, at half of the tail less and more, of those within.
        within = self.distribution(mean + np.sqrt(variance) * np.linspace(-reach, reach, ENCLOSING))

        def cdf(t: Array) -> Array:
            return expectation(lambda y, t: self.distribution(y).cdf(t), mean, variance, t)

        def sf(t: Array) -> Array:
            return expectation(lambda y, t: self.distribution(y).sf(t), mean, variance, t)

        def ends(quantile: Any) -> tuple[Array, Array]:
            outer, inner = quantile(0.5 * tail), quantile(1.5 * tail)
            both = np.hstack([outer, inner])
            low, high = both.min(axis=1, keepdims=True), both.max(axis=1, keepdims=True)
            return (low - 1 if integer else low), high

        integer = self.support.integer
        lower = least(lambda t: cdf(t) >= tail, *ends(within.ppf), integer=integer)
        return lower, least(lambda t: sf(t) <= tail, *ends(within.isf), integer=integer)

    def predictive_log_density(self, t: Array, mean: Array, covariance: Array) -> Array:
        """Log density of new targets t whose linear predictors are N(mean, covariance).

        Targets and means have the shapes of `moments`, the result (n_samples,). Of counts it is the
        log probability.
        """
        return expectation(self._log_density, mean, covariance[:, 0], t, log=True)[:, 0]

    def sample(self, y: Array, rng: np.random.RandomState) -> Array:
        """Draw a target for each linear predictor."""
        drawn: Array = self.distribution(y).rvs(size=y.shape, random_state=rng).astype(np.float64)
        return drawn


class ClassLikelihood(Likelihood):
    """Distribution of a class; its functions decide between the classes."""

    support: ClassVar[Interval] = Interval(0.0, 1.0, integer=True)

    @abstractmethod
    def probabilities(self, y: Array) -> Array:
        """Probability of each class given the linear predictor, shape (n_samples, n_classes)."""

    @abstractmethod
    def mean_probabilities(self, mean: Array, covariance: Array) -> Array:
        """The same averaged over linear predictors N(mean, covariance)."""
