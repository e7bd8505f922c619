"""Laplace's method with the dense matrices that the package itself never forms.

Weights and levels are one vector and X = [Φ ⊗ I, 1 ⊗ I] one matrix: nothing is centred, scaled or
eliminated. Of the package only the likelihoods' derivatives are used, which are held against finite
differences and mpmath on their own.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from relvec._design import DenseDesign
from relvec._evidence.laplace import LaplaceEvidence
from relvec.likelihoods import Bernoulli, Categorical, Likelihood, Poisson

Array = NDArray[np.float64]

#: Likelihoods that Laplace's method is for, of one and of several outputs.
LIKELIHOODS = [Bernoulli(), Categorical(3), Poisson()]
#: How near a mode has to be: the last Newton step to it gains less than 1e-9 nats, and the next
#: would move the weights by about that much of their spread.
MODE = {"rtol": 1e-5, "atol": 1e-6}
#: A function leaves a top-down fit when the data determine its weight this little.
PRUNE_WELL_DETERMINED = 1e-5


@dataclass(frozen=True)
class DenseCurvature:
    """H = XᵀBX + A; a level has no precision."""

    Phi: Array
    B: Array
    alpha: Array
    center: bool

    @property
    def outputs(self) -> int:
        return self.B.shape[1]

    @property
    def n_weights(self) -> int:
        return len(self.alpha) * self.outputs

    @cached_property
    def prior(self) -> Array:
        """Precisions of the weights, then zeros for the levels."""
        return np.repeat(np.append(self.alpha, [0.0] * self.center), self.outputs)

    def expand(self, Phi: Array) -> Array:
        """Columns for every output, shape (n, n_outputs, n_columns)."""
        return np.kron(Phi, np.eye(self.outputs)).reshape(len(Phi), self.outputs, -1)

    def rows(self, Phi: Array) -> Array:
        """X of some rows, those of the levels included."""
        return self.expand(np.hstack([Phi, np.ones((len(Phi), int(self.center)))]))

    @cached_property
    def joined(self) -> Array:
        """X."""
        return self.rows(self.Phi)

    def products(self, left: Array, right: Array) -> Array:
        """LᵀBR."""
        return np.tensordot(left, self.B @ right, axes=((0, 1), (0, 1)))

    @cached_property
    def matrix(self) -> Array:
        """H."""
        return self.products(self.joined, self.joined) + np.diag(self.prior)

    @cached_property
    def inverse(self) -> Array:
        """H⁻¹."""
        return np.linalg.inv(self.matrix)

    def sparsity(self, columns: Array) -> Array:
        """φᵀ(B − BXH⁻¹XᵀB)φ between all candidates and outputs, (m, R, m, R)."""
        wide = self.expand(columns)
        seen = self.products(self.joined, wide)
        S = self.products(wide, wide) - seen.T @ self.inverse @ seen
        return S.reshape(columns.shape[1], self.outputs, columns.shape[1], self.outputs)

    def spread(self, Phi: Array) -> Array:
        """Covariance of the outputs of some rows."""
        X = self.rows(Phi)
        return np.einsum("nra,ab,nsb->nrs", X, self.inverse, X, optimize=True)


@dataclass(frozen=True)
class DenseMode:
    """Mode of all weights for some columns and precisions, and the evidence that follows."""

    Phi: Array
    t: Array
    likelihood: Likelihood
    alpha: Array
    center: bool
    copies: Array

    def slope_at(self, y: Array) -> Array:
        """∂ log p/∂y of every row and its copies."""
        return self.copies[:, None] * self.likelihood.gradient(self.t, y)

    def bend_at(self, y: Array) -> DenseCurvature:
        B = self.copies[:, None, None] * self.likelihood.neg_hessian(self.t, y)
        return DenseCurvature(self.Phi, B, self.alpha, self.center)

    @cached_property
    def _top(self) -> tuple[Array, DenseCurvature]:
        """Weights, then levels, at the mode, and the curvature there: damped Newton steps."""
        bend = self.bend_at(np.zeros((len(self.t), self.likelihood.n_outputs)))
        X, prior = bend.joined, bend.prior
        at = np.zeros(len(prior))
        height = self.height(at, X, prior)
        for _ in range(100):
            gradient = np.einsum("nra,nr->a", X, self.slope_at(X @ at)) - prior * at
            step, size = np.linalg.solve(bend.matrix, gradient), 1.0
            while (there := self.height(at + size * step, X, prior)) < height and size > 1e-9:
                size /= 2
            at, height = at + size * step, there
            bend = self.bend_at(X @ at)
            if gradient @ step < 1e-18:
                break
        return at, bend

    def height(self, joint: Array, X: Array, prior: Array) -> float:
        """Log posterior less its constants."""
        log_prob = self.likelihood.log_prob(self.t, X @ joint)
        return float(self.copies @ log_prob - 0.5 * prior @ joint**2)

    @property
    def joint(self) -> Array:
        """Weights, then levels."""
        return self._top[0]

    @property
    def bend(self) -> DenseCurvature:
        """Curvature at the mode."""
        return self._top[1]

    @property
    def y(self) -> Array:
        """Outputs of the rows."""
        return self.bend.joined @ self.joint

    @property
    def weights(self) -> Array:
        """Shape (n_functions, n_outputs)."""
        return self.joint[: self.bend.n_weights].reshape(-1, self.bend.outputs)

    @property
    def level(self) -> Array:
        """Outputs where all functions are zero."""
        return self.joint[self.bend.n_weights :] if self.center else np.zeros(self.bend.outputs)

    @cached_property
    def log_evidence(self) -> float:
        """log p(t|ŵ) − ½ŵᵀAŵ + ½log|A| − ½log|H|, with ½ log 2π for each level."""
        flat = self.bend.prior == 0
        log_det = np.log(self.bend.prior[~flat]).sum() - np.linalg.slogdet(self.bend.matrix)[1]
        height = self.height(self.joint, self.bend.joined, self.bend.prior)
        return float(height + 0.5 * (log_det + np.log(2 * np.pi) * flat.sum()))

    def quality(self, columns: Array) -> Array:
        """Q = φᵀ ∂log p/∂y of each candidate, (m, R)."""
        return columns.T @ self.slope_at(self.y)


def rise(alpha: Array, S: Array, Q: Array) -> Array:
    """ℓ(α) = ½[R log α − log|αI + S| + Qᵀ(αI + S)⁻¹Q] at many α."""
    shifted = alpha[:, None, None] * np.eye(len(Q)) + S
    explained = np.linalg.solve(shifted, np.broadcast_to(Q[:, None], (*shifted.shape[:2], 1)))
    log_det = np.linalg.slogdet(shifted)[1]
    return 0.5 * (len(Q) * np.log(alpha) - log_det + explained[..., 0] @ Q)


@dataclass(frozen=True)
class LatentProblem:
    """Candidate columns, targets with their likelihood, and copies of the rows."""

    Phi: Array
    t: Array
    likelihood: Likelihood
    center: bool
    copies: Array | None = None

    @cached_property
    def design(self) -> DenseDesign:
        return DenseDesign(self.Phi.copy(), center=self.center, weights=self.copies)

    @cached_property
    def inference(self) -> LaplaceEvidence:
        return LaplaceEvidence(self.design, self.t, self.likelihood)

    def dense(self, active, alpha) -> DenseMode:
        """Mode for precisions in the users' units."""
        return self._mode(self.Phi[:, active], alpha)

    def standard(self, active, alpha) -> DenseMode:
        """Mode for columns and precisions as the design has them."""
        return self._mode(self.design.columns(np.asarray(active, dtype=np.intp)), alpha)

    def _mode(self, columns, alpha) -> DenseMode:
        copies = np.ones(len(self.t)) if self.copies is None else self.copies
        alpha = np.asarray(alpha, dtype=float)
        return DenseMode(columns, self.t, self.likelihood, alpha, self.center, copies)


def targets(likelihood: Likelihood, y: Array, seed: int = 0) -> Array:
    """Draw targets whose outputs follow y in different ways; every class occurs."""
    slopes = np.linspace(1, -1, likelihood.n_outputs) if likelihood.n_outputs > 1 else np.ones(1)
    outputs = np.outer(y, slopes) + 0.5 * np.outer(y**2, slopes[::-1] - slopes)
    t = likelihood.sample(outputs, np.random.RandomState(seed))
    if isinstance(likelihood, Categorical):
        t[: likelihood.n_classes] = np.eye(likelihood.n_classes)
    return t


def draw(rng, likelihood, center, n=50, m=7) -> LatentProblem:
    """Correlated columns in different units, of which 0, 2 and 5 make up the outputs."""
    Phi = rng.standard_normal((n, m)) + 0.5 * rng.standard_normal((n, 1))
    t = targets(likelihood, Phi[:, [0, 2, 5]] @ [1.0, -0.6, 0.4])
    return LatentProblem(Phi * 10.0 ** rng.uniform(-3, 3, m), t, likelihood, center)


def smooth(likelihood, center, n=60, width=2.0, seed=0) -> LatentProblem:
    """Gaussian functions on evenly spaced points, and outputs that go up and down."""
    x = np.linspace(-5.0, 5.0, n)
    Phi = np.exp(-(((x[:, None] - x) / width) ** 2))
    return LatentProblem(Phi, targets(likelihood, 3 * np.sin(1.3 * x), seed), likelihood, center)


def top_down(
    problem: LatentProblem, max_iter: int = 3000, tol: float = 1e-4
) -> tuple[Array, DenseMode]:
    """Eq. 16 with the curvature of each new mode, from the full dictionary, pruning as it goes.

    With several outputs a function's α is shared: γ and ŵ² are summed over them. Returns the
    functions that are left and their mode.
    """
    active = np.arange(problem.Phi.shape[1])
    alpha = len(active) / len(problem.t) * np.square(problem.Phi).sum(axis=0)
    for _ in range(max_iter):
        mode = problem.dense(active, alpha)
        variance = mode.bend.inverse.diagonal()[: mode.bend.n_weights].reshape(mode.weights.shape)
        gamma = (1 - alpha[:, None] * variance).sum(axis=1)
        new = gamma / np.maximum((mode.weights**2).sum(axis=1), 1e-300)
        keep = (gamma > PRUNE_WELL_DETERMINED) | (new < alpha)
        change = np.abs(np.log(new[keep] / alpha[keep])).max(initial=0.0)
        active, alpha = active[keep], new[keep]
        if keep.all() and change < tol:
            break
    return active, problem.dense(active, alpha)
