"""Contracts of posterior and evidence, exact or approximate, as solvers use them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from relvec._design.base import Design
from relvec._evidence.gains import deletion_costs
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.noise import Noise
from relvec._evidence.posterior import Independent, Posterior
from relvec._numerics.groups import Groups
from relvec._numerics.typing import Array, Index
from relvec.likelihoods.base import Likelihood


@dataclass(frozen=True)
class AscentLimits:
    """Newton steps at most, and the share of `tol` under which a gain or gradient is nothing."""

    steps: int
    tol_share: float


@dataclass(frozen=True)
class WarmStart:
    """Weights at some hyperparameters, from which the mode at others is searched for."""

    hyper: Hyperparameters
    weights: Array  # (n_active, n_outputs), their mode
    level: Array  # (n_outputs,), outputs where all functions are zero


class EvidenceState(ABC):
    """Posterior of the weights at some hyperparameters, and the evidence with its derivatives.

    Outputs that are independent of each other, but for their precisions, make sets of their own.
    """

    hyper: Hyperparameters
    #: (n_sets, n_active · R, n_active · R), Σ̂ = A^(1/2) Σ A^(1/2) of each set of R outputs, those
    #: of one function side by side
    variances: Array
    means: Array  # (n_sets, n_active, R), μ̂ = A^(1/2) μ
    log_evidence: float  # L, in the design's units
    #: nats that a step may lower the evidence by on its way to where the gradient is zero: none
    #: where the gradient is that of the evidence
    allowed_decrease: float = 0.0

    @property
    def mean(self) -> Array:
        """μ̂ of all outputs, shape (n_active, n_outputs)."""
        return np.concatenate(list(self.means), axis=1)

    def gradient(self) -> Array:
        """Return ∂L/∂log α of each group, then ∂L/∂log β of each noise, where there is any.

        Of L as if the likelihood were Gaussian with the curvature that it has here.
        """
        hyper, noise = self.hyper, self.noise_derivatives
        variance = self.variances.diagonal(axis1=1, axis2=2).reshape(self.means.shape)
        by_function: Array = 0.5 * (1 - variance - self.means**2).sum(axis=(0, 2))
        gradient = by_function if hyper.single else hyper.total(by_function)
        return gradient if noise is None else np.concatenate([gradient, noise[0]])

    def hessian(self) -> Array:
        """Second derivatives of the same."""
        hyper, noise, (_, k, outputs) = self.hyper, self.noise_derivatives, self.means.shape
        hessian = np.zeros((k, k))
        for V, m in zip(self.variances, self.means.reshape(len(self.means), -1), strict=True):
            H = V * (0.5 * V + np.multiply.outer(m, m))
            H.flat[:: len(m) + 1] -= 0.5 * (V.diagonal() + m**2)
            hessian += H if outputs == 1 else H.reshape(k, outputs, k, outputs).sum(axis=(1, 3))
        if not hyper.single:
            hessian = hyper.total(hyper.total(hessian).T)
        if noise is None:
            return hessian
        _, mixed, second = noise
        k, size = len(hessian), len(hessian) + len(second)
        whole = np.zeros((size, size))
        whole[:k, :k] = hessian
        whole[:k, k:] = mixed if hyper.single else hyper.total(mixed)
        whole[k:, :k] = whole[:k, k:].T
        whole.flat[k * (size + 1) :: size + 1] = second
        return whole

    @property
    def noise_derivatives(self) -> tuple[Array, Array, Array] | None:
        """Derivatives of L that involve noise; None without.

        ∂L/∂log β (n_noises,), ∂²L/∂log α ∂log β of every function (n_active, n_noises), and
        ∂²L/∂(log β)² (n_noises,).
        """
        return None

    def evidence_gradient(self) -> Array:
        """Gradient of L itself in those coordinates, which `gradient` may only be near."""
        return self.gradient()

    @abstractmethod
    def misfit(self) -> Array:
        """Squared misfit r = ‖t − Φμ‖² of each target that has noise, shape (n_noises,)."""

    @abstractmethod
    def move(self, hyper: Hyperparameters) -> EvidenceState:
        """Posterior of the same functions at other precisions."""

    @abstractmethod
    def keep(self, which: Index) -> EvidenceState:
        """Posterior with the groups at some positions only."""

    def warm_start(self) -> WarmStart | None:
        """Return a start for the posterior elsewhere; None where it has a closed form."""
        return None

    def determined(self) -> Array:
        """γ = 1 − αΣ_ii of eq. 17 of every weight, shape (n_active, n_outputs)."""
        variance = self.variances.diagonal(axis1=1, axis2=2).reshape(self.means.shape)
        return np.concatenate(list(1 - variance), axis=1)

    def well_determined(self) -> Array:
        """γ_i of every function, the mean over the outputs, in [0, 1], shape (n_active,)."""
        determined: Array = self.determined().mean(axis=1)
        return determined

    def used(self) -> Array:
        """Σγ_i: observations that the weights of each output use up, shape (n_outputs,)."""
        used: Array = self.determined().sum(axis=0)
        return used

    def deletion_costs(self) -> Array:
        """Nats that deleting each group would cost, as far as a Gaussian posterior knows."""
        return deletion_costs(self.variances, self.means, self.hyper)


@dataclass(frozen=True)
class SparseModel:
    """A model in the users' units."""

    active: Index  # (n_active,), candidates that were kept, in ascending order
    #: (n_active,) or (n_targets, n_active), their prior precisions; one and the same in the units
    #: of each target
    alpha: Array
    likelihood: Likelihood  # with what was learnt of it
    posterior: Posterior | Independent  # weights and intercept, or those of each target
    well_determined: Array  # (n_active,) or (n_targets, n_active), γ_i of eq. 17
    log_evidence: float  # log evidence of the kept functions, recomputed from a fresh factorisation


class CandidateScores(ABC):
    """Gain of every candidate beside the active functions."""

    groups: Groups  # of the candidates
    #: (n_groups,), rise of the evidence if the group alone is added, zero for active ones and for
    #: those that were not looked at
    gain: Array
    #: (n_groups,), the gain of each when it was last looked at, where not all are every time
    known: Array | None = None

    @abstractmethod
    def additions(self, batch: Index, threshold: float) -> tuple[Index, Array]:
        """Choose from a batch of groups those worth more than `threshold`, and their precisions."""

    def added(self, hyper: Hyperparameters, batch: Index, threshold: float) -> Hyperparameters:
        """Return the hyperparameters with what `additions` chooses at the end."""
        if not len(batch):
            return hyper
        chosen, alpha = self.additions(batch, threshold)
        index, group = self.groups.members(chosen)
        return hyper.add(index, alpha, group)


class EvidenceModel(ABC):
    """The evidence as the search sees it: points, and scans of the candidates."""

    design: Design  # candidates
    n: float  # number of observations that the evidence counts
    norm2: float
    noise: Noise  # what may be done to the noise precision
    #: (n_noises,), noise precision of each target for a search that begins with no function
    first_beta: Array
    output_variance: float  # variance over the rows that outputs may be expected to have
    quick: AscentLimits  # Newton steps between two batches of additions
    thorough: AscentLimits  # Newton steps before a phase may end
    n_outputs: int = 1
    #: whether a look at the candidates is a pass over rows that are not at hand
    evaluation_is_a_pass: bool = False
    #: whether a start from all functions is gone on with at another power of the likelihood, which
    #: costs little beside it
    tempers: bool = False
    #: Newton steps that a model at rest is given at most to settle; none where each is a pass
    polish_steps: int = 0

    @abstractmethod
    def at(self, hyper: Hyperparameters, warm: WarmStart | None = None) -> EvidenceState:
        """Posterior at a model, looked for from what is known at one `near` it."""

    @abstractmethod
    def scores(
        self, state: EvidenceState, worth: float = np.inf, known: Array | None = None
    ) -> CandidateScores:
        """Look at every candidate, or at some of which at least one is worth so many nats.

        Where a look costs much, what is `known` of an earlier scan tells which.
        """

    def exchanges(
        self, hyper: Hyperparameters, least: float, penalty: float
    ) -> tuple[Hyperparameters | None, list[EvidenceState]]:
        """Let candidates come in the place of active functions, all other precisions as they are.

        Returned is what the best exchange leads to, if it is worth `least` nats, each function
        costing a `penalty`, or else states after a few that may be worth it once the other
        precisions follow. None where what they are worth has no closed form.
        """
        return None, []

    def all_active(self) -> Self:
        """Prepare for points at which every candidate is active, and no scans."""
        return self

    @abstractmethod
    def function_slope(self, state: EvidenceState) -> Array:
        """D = ∂L/∂Φ of the active functions as they are raw, α in their units held (eq. 55)."""

    @abstractmethod
    def hyper_of(self, alpha: Array) -> Hyperparameters:
        """Model of every candidate, given precisions in the users' units."""

    @abstractmethod
    def low_rank_starts(self) -> tuple[Hyperparameters, ...]:
        """Return models that all functions at once lead to; none where that is too dear."""

    def n_directions(self) -> float:
        """Return how many directions span the candidates nearly; infinite where not few do."""
        return np.inf

    def of_few_rows(self) -> EvidenceModel | None:
        """Evidence of some rows in memory, whose model is a start where a look at all is a pass.

        None where it is not, or where few rows cannot stand for all.
        """
        return None

    def refine(self, hyper: Hyperparameters) -> bool:
        """Neglect nothing of a model's functions from now on; whether anything was."""
        return False

    @abstractmethod
    def span_only(self, active: Index) -> None:
        """Begin again with what some functions need, exactly, and nothing else."""

    def weight_unit(self) -> Array:
        """Unit of each candidate's weight, in the users' units: their α is α / unit²."""
        return self.design.weight_unit

    @abstractmethod
    def finalize(self, hyper: Hyperparameters) -> SparseModel:
        """Recompute evidence and posterior of the kept functions from their columns alone.

        What is reported never rests on the digits that the search may have lost.
        """

    @abstractmethod
    def log_evidence(self, alpha: Array) -> float:
        """Log evidence of all candidates of the design, for precisions in the users' units."""

    def at_precisions(self, alpha: Array) -> SparseModel:
        """Return the model of all candidates, for precisions in the users' units."""
        return self.finalize(self.hyper_of(alpha))

    def user_evidence(self, log_evidence: float) -> float:
        """Log evidence in the users' units."""
        return log_evidence

    def noise_variance(self, beta: Array) -> float:
        """σ² in squared units of the target, NaN for likelihoods without noise."""
        return float("nan")
