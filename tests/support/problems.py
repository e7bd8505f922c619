"""Small problems with the dense matrices that the package itself never forms.

An intercept is eliminated by the N - 1 contrasts of the rows that are orthogonal to the constant
(a Helmert matrix), not by centring, so that nothing here is shared with the package.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert
from scipy.stats import multivariate_normal

from relvec._design import DenseDesign, Target, TargetFrame
from relvec._evidence.exact import ExactEvidence
from relvec._evidence.gaussian import ReducedData
from relvec.likelihoods import Gaussian

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Candidate columns Phi, a target t and whether an intercept is to be eliminated."""

    Phi: Array
    t: Array
    center: bool

    @cached_property
    def design(self) -> DenseDesign:
        return DenseDesign(self.Phi.copy(), center=self.center)

    @cached_property
    def standard(self) -> Target:
        return Target.of(self.t, self.design)

    def exact(self, noise_variance: float | None = None) -> ExactEvidence:
        return ExactEvidence(self.design, self.t[:, None], Gaussian(noise_variance))

    @cached_property
    def contrasts(self) -> Array:
        return helmert(len(self.t)) if self.center else np.eye(len(self.t))

    @cached_property
    def columns(self) -> Array:
        """Columns of unit norm; zero where nothing is left of them."""
        columns = self.contrasts @ self.Phi
        norm = np.linalg.norm(columns, axis=0)
        return columns / np.where(norm > 1e-13 * np.linalg.norm(self.Phi, axis=0), norm, np.inf)

    @cached_property
    def target(self) -> Array:
        target = self.contrasts @ self.t
        return target / np.linalg.norm(target)

    @property
    def n(self) -> int:
        return len(self.target)

    def frame(self, *blocks) -> TargetFrame:
        """Frame extended by one block of candidates after the other."""
        frame = self.design.frame(self.standard)
        for block in blocks:
            index = np.asarray(block, dtype=np.intp)
            frame.extend(index, frame.residual(index))
        return frame

    def data(self, active) -> ReducedData:
        active = np.asarray(active, dtype=np.intp)
        return ReducedData.from_frame(self.frame(active), active, self.n)

    def covariance(self, active, alpha, beta) -> Array:
        """C = I / beta + Phi A^-1 Phi' of the standardised target."""
        columns = self.columns[:, active]
        return np.eye(self.n) / beta + (columns / alpha) @ columns.T

    def evidence(self, active, alpha, beta) -> float:
        C = self.covariance(active, alpha, beta)
        return float(multivariate_normal.logpdf(self.target, cov=C))

    def posterior(self, active, alpha, beta) -> tuple[Array, Array]:
        """Mean and covariance of the weights (eq. 13 and 12) by a dense inverse."""
        columns = self.columns[:, active]
        covariance = np.linalg.inv(beta * columns.T @ columns + np.diag(alpha))
        return beta * covariance @ columns.T @ self.target, covariance


def draw(rng, center, n=15, m=9) -> Problem:
    """Correlated columns in different units, of which 0, 2 and 5 make up the target."""
    Phi = (rng.standard_normal((n, m)) + rng.standard_normal((n, 1))) * 10.0 ** rng.uniform(
        -3, 3, m
    )
    t = 7.0 + 40 * (Phi / np.linalg.norm(Phi, axis=0))[:, [0, 2, 5]] @ [1.0, -0.6, 0.4]
    return Problem(Phi, t + rng.standard_normal(n), center)


def smooth(center, n=40, width=3.0, seed=0) -> Problem:
    """Gaussian functions on evenly spaced points and noisy sinc."""
    x = np.linspace(-8.0, 8.0, n)
    t = np.sinc(x / np.pi) + 0.1 * np.random.RandomState(seed).standard_normal(n)
    return Problem(np.exp(-(((x[:, None] - x) / width) ** 2)), t, center)
