"""Student-t noise: heavy tails, which lets an outlier hardly move the function."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.polynomial import Chebyshev
from scipy.optimize import brentq, minimize_scalar
from scipy.special import digamma, gammaln, logsumexp, ndtr, ndtri
from scipy.stats import gamma
from scipy.stats import t as student

from relvec._numerics.checks import check_squares
from relvec._numerics.floats import ROUNDINGS, SMALLEST
from relvec._numerics.medians import weighted_median
from relvec._numerics.typing import Array
from relvec.likelihoods.base import Likelihood, RegressionLikelihood, Surrogate
from relvec.likelihoods.gaussian import Gaussian, normal_log_density

#: Range in which ν is learnt: from the least whole number for which noise has a variance to what
#: cannot be told from Gaussian noise.
LEAST_DEGREES, MOST_DEGREES = 3.0, 1e4
#: Least σ², as a share of the first.
LEAST_SHARE = 1e-6
#: Error of log σ² and of log ν where they are learnt, and of log ν in a first search.
DIGITS, NEAR = 1e-12, 1e-3
#: Least σ of targets that are constant: its inverse square is in the range of float64.
LEAST_SCALE = 8 * float(np.sqrt(SMALLEST))
#: Averages over precisions: how much probability is beyond them on either side, and their distance
#: in standard deviations of log u. Intervals: steps of the bisection, and degree of the
#: interpolating polynomial.
BEYOND, STEP, HALVINGS, DEGREE = 1e-15, 0.4, 80, 40
#: Residual, in scales of the noise, that a larger one is taken for: beyond, products overflow.
LARGEST_RESIDUAL = 1e100
#: Residual, in scales of the noise, up to which precisions are within the range of float64.
FARTHEST = 1e140


@dataclass(frozen=True)
class StudentT(RegressionLikelihood):
    """p(t | y) = St(t; y, σ², ν), a mixture of Gaussians: t = y + N(0, σ²/u), u ~ Gamma(ν/2, ν/2).

    The density is not log-concave. But its logarithm is convex in the squared residual
    z² = (t − y)²/σ², so that the tangent at any z² is a lower bound. It is that of Gaussian noise
    with precision ⟨u⟩/σ², ⟨u⟩ = (ν + 1)/(ν + z²), and touches best at the expected z². The bound
    of the evidence is then that of a factorised posterior q(w) Π q(u_n) with all terms of u_n
    collected, ⟨log p(t, u)⟩ − ⟨log q(u)⟩, where q(u_n) = Gamma((ν + 1)/2, (ν + z²)/2).

    Parameters
    ----------
    scale2 : float
        σ² in squared units of the target. It is not the variance, which is νσ²/(ν − 2).
    degrees_of_freedom : float
        ν. The variance is infinite up to ν = 2.
    least_scale2 : float
        Floor of σ² where it is learnt.
    """

    scale2: float = 1.0
    degrees_of_freedom: float = LEAST_DEGREES
    least_scale2: float = 0.0
    mean_depends_on_variance: ClassVar[bool] = False

    @property
    def noise_variance(self) -> float:
        """Variance of the noise, infinite up to two degrees of freedom."""
        nu = self.degrees_of_freedom
        return self.scale2 * nu / (nu - 2) if nu > 2 else float(np.inf)

    def log_density(self, square: Array) -> Array:
        """Logarithm of the density of (t − y)/σ at its square z²."""
        nu = self.degrees_of_freedom
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(np.pi * nu)
        density: Array = constant - (nu + 1) / 2 * np.log1p(square / nu)
        return density

    def log_prob_at(self, square: Array) -> Array:
        """Log density of a target whose residual has the square z² in units of σ²."""
        log_prob: Array = self.log_density(square) - 0.5 * np.log(self.scale2)
        return log_prob

    def degrees_gradient(self, square: Array) -> Array:
        """Derivative of the log density in ν at z²."""
        nu = self.degrees_of_freedom
        constant = digamma((nu + 1) / 2) - digamma(nu / 2) - 1 / nu
        by_square = (nu + 1) / nu * square / (nu + square) - np.log1p(square / nu)
        gradient: Array = 0.5 * (constant + by_square)
        return gradient

    def row_precision(self, square: Array) -> Array:
        """⟨u⟩ = (ν + 1)/(ν + z²), the precision of the Gaussian that touches at z²."""
        return (self.degrees_of_freedom + 1) / (self.degrees_of_freedom + square)

    def above_gaussian(self, square: Array, precision: Array) -> Array:
        """Log p less that of Gaussian noise with precision u/σ², at z².

        At the place where the Gaussian of precision ⟨u⟩ touches this is what the bound adds to it:
        ½⟨log u⟩ − ½ log⟨u⟩ less the divergence of q(u) from its prior.
        """
        gaussian = 0.5 * (np.log(precision / (2 * np.pi)) - precision * square)
        return self.log_density(square) - gaussian

    def expected_square(self, t: Array, mean: Array, variance: Array) -> Array:
        """⟨z²⟩ of each row for linear predictors N(mean, variance), shape (n_samples,)."""
        residual = np.abs(t - mean) / np.sqrt(self.scale2)
        square = np.minimum(residual, LARGEST_RESIDUAL) ** 2 + variance[:, 0] / self.scale2
        only: Array = square[:, 0]
        return only

    @property
    def hyper(self) -> dict[str, float]:
        """σ² and ν."""
        return {"scale2": self.scale2, "degrees_of_freedom": self.degrees_of_freedom}

    def initial(self, t: Array, frequency: Array) -> tuple[StudentT, Array, Array]:
        """See `Likelihood.initial`: what suits a constant, the median, and the heaviest tails.

        A fit under Gaussian noise would begin with functions that follow the outliers.
        """
        center = weighted_median(t[:, 0], frequency)
        rounding = max(ROUNDINGS * abs(center), LEAST_SCALE)
        with np.errstate(over="ignore", invalid="ignore"):  # which is refused
            distance = np.abs(t[:, 0] - center)
            check_squares(frequency @ distance**2)
        scale2 = robust_scale(distance, rounding, frequency) ** 2
        noise = StudentT(scale2, LEAST_DEGREES, max(LEAST_SHARE * scale2, rounding**2))
        return noise, np.full(t.shape, center), np.zeros((*t.shape, 1))

    def conditional(
        self, t: Array, mean: Array, variance: Array, *, known: bool = False
    ) -> tuple[Likelihood, Array | None]:
        """See `Likelihood.conditional`: Gaussian noise with precision ⟨u⟩/σ² in every row."""
        gaussian = Gaussian(self.scale2 if known else None, least_variance=self.least_scale2)
        return gaussian, self.row_precision(self.expected_square(t, mean, variance))

    def above_conditional(self, t: Array, mean: Array, variance: Array, precision: Array) -> Array:
        return self.above_gaussian(self.expected_square(t, mean, variance), precision)

    def with_conditional(self, conditional: Likelihood) -> StudentT:
        """See `Likelihood.with_conditional`: σ² is that of the Gaussian noise."""
        assert isinstance(conditional, Gaussian)
        assert isinstance(conditional.noise_variance, float)
        return replace(self, scale2=conditional.noise_variance)

    def learn(self, t: Array, mean: Array, variance: Array, frequency: Array) -> Self:
        """See `Likelihood.learn`: the σ² and ν with the highest Σ log p at the expected z²."""
        return self.learnt(self.expected_square(t, mean, variance), frequency)

    def learnt(self, square: Array, frequency: Array) -> Self:
        """The σ² ≥ `least_scale2` and ν with the highest Σ log p, given each row's expected z².

        z² is in units of the present σ². No σ² and ν are worse than the present ones.
        """
        least = self.least_scale2

        def at(nu: float) -> tuple[float, float]:
            return _best_growth(square, frequency, nu, least / self.scale2), nu

        def cost(growth: float, nu: float) -> float:
            return -float(frequency @ StudentT(growth, nu).log_prob_at(square / growth))

        ends = LEAST_DEGREES, MOST_DEGREES
        found = minimize_scalar(
            lambda log_nu: cost(*at(float(np.exp(log_nu)))),
            bounds=np.log(ends),
            method="bounded",
            options={"xatol": NEAR},
        )

        def gradient(log_nu: float) -> float:
            growth, nu = at(float(np.exp(log_nu)))
            return float(frequency @ StudentT(growth, nu).degrees_gradient(square / growth))

        # A maximum has half of the digits that its stationarity condition has.
        low, high = found.x - 10 * NEAR, found.x + 10 * NEAR
        inside = gradient(low) > 0 > gradient(high)
        best = brentq(gradient, low, high, xtol=DIGITS) if inside else found.x
        ways = [(1.0, self.degrees_of_freedom), at(float(np.exp(best))), *map(at, ends)]
        growth, nu = min(ways, key=lambda way: cost(*way))
        return replace(self, scale2=self.scale2 * growth, degrees_of_freedom=nu)

    def distribution(self, y: Array) -> Any:
        """Student-t, with the linear predictor for its location."""
        return student(self.degrees_of_freedom, y, np.sqrt(self.scale2))

    def log_prob(self, t: Array, y: Array) -> Array:
        return self.log_prob_at(((t - y) ** 2 / self.scale2)[:, 0])

    def gradient(self, t: Array, y: Array) -> Array:
        """(ν + 1)e/(νσ² + e²) for a residual e: it falls again beyond √ν σ."""
        e, nu = t - y, self.degrees_of_freedom
        return (nu + 1) * e / (nu * self.scale2 + e**2)

    def neg_hessian(self, t: Array, y: Array) -> Array:
        """(ν + 1)(νσ² − e²)/(νσ² + e²)², which is negative beyond √ν σ."""
        e2, nu = (t - y) ** 2, self.degrees_of_freedom
        width = nu * self.scale2
        neg_hessian: Array = (nu + 1) * (width - e2) / (width + e2) ** 2
        return neg_hessian[:, :, None]

    def neg_hessian_gradient(self, t: Array, y: Array, variance: Array) -> Array:
        """2(ν + 1)e(3νσ² − e²)/(νσ² + e²)³·h."""
        e, nu = t - y, self.degrees_of_freedom
        width = nu * self.scale2
        gradient: Array = 2 * (nu + 1) * e * (3 * width - e**2) / (width + e**2) ** 3
        return gradient * variance[:, :, 0]

    def surrogate(self, t: Array, mean: Array, variance: Array) -> Surrogate:
        """See `Likelihood.surrogate`: the Gaussian that touches at the expected square."""
        square = self.expected_square(t, mean, variance)
        weight = (self.row_precision(square) / self.scale2)[:, None]
        value = self.log_prob_at(square) + 0.5 * (weight * variance[:, 0])[:, 0]
        return Surrogate(value, weight * (t - mean), weight[:, :, None])

    def moments(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        return mean, covariance[:, 0] + self.noise_variance

    def joint_covariance(self, mean: Array, covariance: Array) -> Array:
        """The noise of every target is its own."""
        joint = covariance.copy()
        joint.flat[:: len(mean) + 1] += self.noise_variance
        return joint

    def error_scale(self, mean: Array, covariance: Array) -> Array:
        """√(σ² + variance of the linear predictor): finite where that of the noise is not."""
        return np.sqrt(covariance[:, 0] + self.scale2)

    def interval(self, mean: Array, covariance: Array, coverage: float) -> tuple[Array, Array]:
        """Quantiles of the sum of Student-t noise and a linear predictor that is normal.

        As the noise is a mixture, so is the sum: N(0, σ²/u + v) given u. In units of its σ² + v the
        square of the half width is smooth in v/(σ² + v), and interpolated there.
        """
        total = covariance[:, 0] + self.scale2
        of_share = Chebyshev.interpolate(
            lambda share: _half_width(share, self.degrees_of_freedom, coverage) ** 2, DEGREE, [0, 1]
        )
        half = np.sqrt(total * of_share(covariance[:, 0] / total))
        return mean - half, mean + half

    def predictive_log_density(self, t: Array, mean: Array, covariance: Array) -> Array:
        """Log density of the same sum: normal with the variance σ²/u + v, averaged over u."""
        error, variance = t - mean, covariance[:, 0]
        farthest = float(np.abs(error).max(initial=0.0)) / np.sqrt(self.scale2)
        if farthest > FARTHEST:
            raise OverflowError(
                f"y is up to {farthest:.3g} scales of the noise from its prediction, expected at "
                f"most {FARTHEST:g}"
            )
        log_density = np.full(error.shape, -np.inf)
        for u, log_weight in zip(*_precisions(self.degrees_of_freedom, farthest), strict=True):
            given = normal_log_density(error, self.scale2 / u + variance)
            log_density = np.logaddexp(log_density, log_weight + given)
        return log_density[:, 0]

    def sample(self, y: Array, rng: np.random.RandomState) -> Array:
        noisy: Array = y + np.sqrt(self.scale2) * rng.standard_t(self.degrees_of_freedom, y.shape)
        return noisy


def robust_scale(distance: Array, rounding: float, frequency: Array) -> float:
    """Median of the distances from the median, which few outliers do not move.

    Where more than half of the targets are equal, the root of the mean square; where all are, what
    `rounding` errors are about.
    """
    found = weighted_median(distance, frequency)
    if found <= rounding:
        largest = max(float(distance.max()), rounding)
        found = largest * float(np.sqrt(frequency @ (distance / largest) ** 2 / frequency.sum()))
    return max(found, rounding)


def _best_growth(square: Array, frequency: Array, nu: float, least: float) -> float:
    """The ρ ≥ `least` with Σ⟨u⟩z²/ρ = N, the factor of σ²: the left side falls with ρ."""
    ends = max(least, float(square.min())), max(least, float(square.max()))

    def excess(log_growth: float) -> float:
        return float(frequency @ ((nu + 1) * square / (nu * np.exp(log_growth) + square) - 1))

    low, high = map(float, np.log(ends))
    if excess(low) <= 0:
        return ends[0]
    return float(np.exp(brentq(excess, low, high + 1, xtol=DIGITS)))


def _precisions(nu: float, farthest: float = 0.0) -> tuple[Array, Array]:
    """Precisions u ~ Gamma(ν/2, ν/2) to average over, and the logarithms of their weights.

    They are evenly spaced in log u, where integrands are smooth and sums over them as good as
    integrals, and go down to those of residuals of up to `farthest`, in units of σ.
    """
    scales = gamma(nu / 2, scale=2 / nu)
    low = np.log(scales.ppf(BEYOND)) - np.log1p(farthest**2 / nu)
    high = np.log(scales.isf(BEYOND))
    log_u = np.linspace(low, high, int(np.ceil((high - low) / (STEP * np.sqrt(2 / (nu + 1))))) + 1)
    log_density = 0.5 * nu * (log_u - np.exp(log_u))  # of log u, but for a constant
    return np.exp(log_u), log_density - logsumexp(log_density)


def _half_width(share: Array, nu: float, coverage: float) -> Array:
    """Half of the interval of a variable N(0, (1 − share)/u + share), by bisection."""
    u, log_weights = _precisions(nu)
    weights = np.exp(log_weights)
    std = np.sqrt(np.divide.outer(1 - share, u) + share[:, None])
    normal = -ndtri(0.5 * (1 - coverage))
    low, high = normal * std.min(axis=1), normal * std.max(axis=1)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        left_out = 2 * ndtr(-middle[:, None] / std) @ weights
        low = np.where(left_out > 1 - coverage, middle, low)
        high = np.where(left_out > 1 - coverage, high, middle)
    half: Array = 0.5 * (low + high)
    return half
