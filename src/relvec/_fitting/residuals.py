"""Residuals of the rows of a fit as predicted without themselves, and whether they depend on X."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.neighbors import NearestNeighbors

from relvec._fitting.data import TrainingData
from relvec._fitting.result import FitResult
from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.typing import Array, Index
from relvec.basis import Precomputed
from relvec.basis.scale import standard_deviations
from relvec.exceptions import (
    Advice,
    InterruptedWarning,
    NoiseFloorWarning,
    NotConvergedWarning,
    UnderfitWarning,
)
from relvec.likelihoods import Gaussian

#: Share of the variance of residuals that near rows have in common, above which most of what is
#: taken for noise is a function of X.
MOSTLY = 0.5
#: Probability that a statistical rule speaks by chance: fits come by the hundred in a search.
LEVEL = 1e-3
#: What explains that residuals depend on X, or leaves none.
CAUSES = (NotConvergedWarning, InterruptedWarning, NoiseFloorWarning)
#: Rows at most that a fit looks at, numbers that their inputs may be, and inputs of which there are
#: so many that no rows are near.
MOST_ROWS, MOST_NUMBERS, MOST_INPUTS = 10_000, 1 << 23, 10_000
#: Places at most whose neighbours are looked up, at least, distances at most that these take, and
#: neighbours at most of each.
MOST_PLACES, FEWEST_PLACES, MOST_DISTANCES, MOST_NEIGHBOURS = 2000, 50, 200_000_000, 8
#: Neighbours are equally near whose distances differ by no more than this share.
EQUALLY_NEAR = 1e-6


def left_out(
    result: FitResult,
    Phi: Array,
    y: Array,
    noise_variance: Array | None = None,
    weights: Array | None = None,
) -> tuple[Array, Array]:
    """Return residual and variance of every target predicted without it, at fixed precisions.

    Taking the Gaussian factor of one observation out of the posterior of y_n, which is N(m, v),
    leaves a Gaussian. With its leverage h = v/σ_n² the predictive distribution of t_n without it is
    N(t_n − (t_n − m)/(1 − h), σ_n²/(1 − h)): the exact refit at the same α and β, a flat intercept
    included.

    Phi, the kept functions at the rows of the fit, has the shape (n_samples, n_active), y and both
    results (n_samples, n_targets), noise variances σ_n², by default that of the fit, (n_samples,)
    or (n_samples, n_targets), and weights (n_samples,). Of the copies of a row one is left out, and
    of less than one all there is. Where nothing else determines the linear predictor, residual and
    variance are zero and infinite.
    """
    share = np.ones(len(y)) if weights is None else np.minimum(weights, 1.0)
    residuals, variances = np.zeros(y.shape), np.full(y.shape, np.inf)
    for target, output in enumerate(result.outputs):
        assert isinstance(output.likelihood, Gaussian)
        own, posterior = Phi[:, output.columns], output.posterior
        noise: Any = output.likelihood.noise_variance if noise_variance is None else noise_variance
        noise = noise[:, target] if np.ndim(noise) == 2 else noise
        leverage = posterior.latent_covariance(own)[:, 0, 0] / noise
        rest = 1 - share * leverage
        known = rest > ROUNDINGS * len(y)
        rest = np.where(known, rest, 1.0)
        residual = (y[:, target] - posterior.latent_mean(own)[:, 0]) / rest
        residuals[known, target] = residual[known]
        variances[known, target] = (noise * (1 + leverage / rest))[known]
    return residuals, variances


def learnt_variances(result: FitResult, X: Array) -> Array | None:
    """Noise variances (n_samples, n_targets) of the rows X of the fit; None if none was learnt.

    What a row counts is its expected precision.
    """
    if all(output.noise is None for output in result.outputs):
        return None
    variances = np.empty((len(X), len(result.outputs)))
    for target, output in enumerate(result.outputs):
        assert isinstance(output.likelihood, Gaussian)
        variance: Any = output.likelihood.noise_variance
        relative = 1.0 if output.noise is None else output.noise.relative_precision(X)
        variances[:, target] = variance / relative
    return variances


def with_underfit(result: FitResult, data: TrainingData, order: Index | None) -> FitResult:
    """Return a fit result that warns of a function that misses most of what X tells.

    Under Gaussian noise that is the same for all rows or was learnt, where nothing else explains
    it: the fit came to rest, and noise is not at its floor. The result's outputs are those of the
    targets in an `order`, if not in theirs. Residuals of near rows may be alike where noise is
    correlated.
    """
    explained = any(isinstance(warning, CAUSES) for warning in result.warnings)
    gaussian = all(isinstance(output.likelihood, Gaussian) for output in result.outputs)
    of_inputs = not isinstance(result.basis, Precomputed)
    correlated, n_inputs = any(o.correlation is not None for o in result.outputs), data.X.shape[1]
    of_inputs &= n_inputs <= MOST_INPUTS
    if not (gaussian and of_inputs) or result.noise_by_row or explained or correlated:
        return result
    rows = data.some_rows(most_rows(n_inputs))
    if rows is None or rows.X.dtype == object:
        return result
    t = np.hstack(list(rows.targets.values()))
    t = t if order is None else t[:, order]
    Phi, noise = result.basis.checked(rows.X), learnt_variances(result, rows.X)
    residual, variance = left_out(result, Phi, t, noise, rows.weights)
    neighbours = Neighbours(rows.X)
    shares = [neighbours.missed(z) for z in (residual / np.sqrt(variance)).T]
    if not any(shares):
        return result
    warning = UnderfitWarning(statement(max(shares)), Advice("see {}(X, y)", "diagnose"))
    return replace(result, warnings=[warning, *result.warnings])


def most_rows(n_inputs: int) -> int:
    """Return how many rows of so many inputs neighbours are looked for among at most."""
    return min(MOST_ROWS, max(1, MOST_NUMBERS // n_inputs))


def statement(share: float) -> str:
    """Words for residuals of which near rows have such a share of the variance in common."""
    return (
        f"residuals depend on X: each shares {100 * share:.0f} % of its variance with those of the "
        "nearest rows, where noise shares none, so the function misses a part of y that counts as "
        "noise"
    )


class Neighbours:
    """The rows nearest to each row of X (n, d), whose residuals are alike where a function misses.

    Columns are standardised. Rows at one place have their mean in the place of residuals: copies of
    a row tell nothing of their neighbours. Where several places are as near, they have theirs.
    """

    def __init__(self, X: Array) -> None:
        spread = standard_deviations(X)
        X = X[:, spread > 0] / spread[spread > 0]
        places, place = np.unique(X, axis=0, return_inverse=True)
        self._place, n = place.ravel(), len(places)
        self._chosen = np.arange(n)
        if n < 2:
            return
        count = min(n, MOST_PLACES, max(FEWEST_PLACES, MOST_DISTANCES // n))
        self._chosen = np.linspace(0, n - 1, count).round().astype(np.intp)
        nearest = NearestNeighbors(n_neighbors=min(n, 1 + MOST_NEIGHBOURS)).fit(places)
        distance, self._index = nearest.kneighbors(places[self._chosen])
        distance = np.where(self._index == self._chosen[:, None], np.inf, distance)
        self._near = distance <= (1 + EQUALLY_NEAR) * distance.min(axis=1, keepdims=True)

    def missed(self, z: Array, expected: float = 0.0) -> float:
        """Share of their variance that residuals z (n_samples,) have in common with the nearest.

        Beyond that `expected`; zero where it is no more than half, or may be chance. Without a
        missed function the share has a variance of 2/n at most, if all rows are pairs of
        neighbours: fewer than 20 places show nothing.
        """
        common, n = self.common(z)
        common -= expected
        return common if common > MOSTLY and common * np.sqrt(n / 2) > norm.isf(LEVEL) else 0.0

    def common(self, z: Array) -> tuple[float, int]:
        """Covariance of residuals z (n_samples,) with the nearest, over their variance, at least 1.

        And the number of places that were looked at.
        """
        if len(self._chosen) < 2:
            return 0.0, len(self._chosen)
        z = np.bincount(self._place, z) / np.bincount(self._place)
        z = z - z.mean()
        beside = (self._near * z[self._index]).sum(axis=1) / self._near.sum(axis=1)
        z = z[self._chosen]
        return float(np.mean(z * beside) / max(np.mean(z**2), 1.0)), len(z)
