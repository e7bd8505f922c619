"""Other likelihoods by Laplace's method: a Gaussian posterior at the mode of the weights.

Tipping (2001), section 3, for any log-concave likelihood of one or several outputs a row. The
evidence is that of the method itself, L = log p(t|ŵ) − ½ŵᵀAŵ + ½Σ log α − ½ log|H| (with ½ log 2π
for each flat direction), and so are its slopes: that ŵ and with it B move with α is part of them.
"""

from __future__ import annotations

from functools import cached_property, partial
from math import ceil
from typing import Self

import numpy as np
from sklearn.utils.random import sample_without_replacement

from relvec._design.base import Design, Target, in_units
from relvec._evidence.base import (
    AscentLimits,
    EvidenceModel,
    EvidenceState,
    SparseModel,
    WarmStart,
)
from relvec._evidence.candidates import LaplaceScores, screened
from relvec._evidence.curvature import Curvature, PredictorCovariance
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.laplace_start import FrameModel, shared_precision_start
from relvec._evidence.low_rank_start import low_rank_frame
from relvec._evidence.mode import (
    CLOSELY,
    EXACTLY,
    LogLikelihood,
    NewtonIterate,
    RowLikelihood,
    find_mode,
)
from relvec._evidence.noise import Noise
from relvec._evidence.posterior import Posterior
from relvec._numerics.groups import columns_of
from relvec._numerics.linalg import inverse_root_of_covariance
from relvec._numerics.typing import Array, Index, RowVector
from relvec.likelihoods.base import Likelihood

#: The low-rank start is made where a frame of so many directions at most, and no more than one to
#: two candidates, leaves out no more than this share of any function's square.
MAX_DIRECTIONS, NEGLECTED = 64, 1e-6
#: Newton steps that a model at rest is given at most to settle.
POLISH_STEPS = 4
#: Rows that a search begins with where a look at all is a pass.
FEW_ROWS = 16_000
#: Nats that a step towards a fixed point of eq. 16 may cost; a longer one is shortened.
FALL = 1.0


class LaplaceState(EvidenceState):
    """Gaussian posterior at the mode of the weights, and the evidence by Laplace's method.

    The search for the mode begins at `start`, with what is known of the `curvature` near there, and
    ends within a `tolerance` in nats.
    """

    allowed_decrease = FALL

    def __init__(
        self,
        hyper: Hyperparameters,
        start: NewtonIterate,
        tolerance: float = EXACTLY,
        curvature: Curvature | None = None,
    ) -> None:
        self.hyper = hyper
        self.mode, reached = find_mode(start, tolerance, curvature)
        self.curvature = self.mode.curvature
        self.variances = self.curvature.variance[None]
        self.means = (np.sqrt(hyper.each)[:, None] * self.weights)[None]
        # A model whose mode is out of reach is none that a search may end in.
        self.log_evidence = self.mode.log_evidence if reached else -np.inf

    @property
    def weights(self) -> Array:
        """Weights at the mode, (n_active, n_outputs)."""
        return self.mode.weights

    @property
    def intercept(self) -> Array:
        """Linear predictor where all functions are zero, (n_outputs,)."""
        return self.mode.intercept

    @cached_property
    def log_det_gradient(self) -> RowVector:
        """∂ log|H|/∂y of every row, which moves with the mode: h∘∂B/∂y with one output."""
        return self.mode.log_det_gradient(self.curvature.predictor_covariance)

    @cached_property
    def mode_shift(self) -> tuple[Array, Array]:
        """H⁻¹Xᵀ ∂log|H|/∂y: shift of the mode's weights and intercept along that gradient."""
        return self.curvature.solve(*self.curvature.information.gradient(self.log_det_gradient))

    @cached_property
    def log_det_residual(self) -> RowVector:
        """∂ log|H|/∂y less BX times the shift of the mode, of every row."""
        function = partial(_less_shift, *self.mode_shift)
        return self.mode.design.map_rows(
            function, self.mode.Phi, self.mode.B, self.log_det_gradient
        )

    def evidence_gradient(self) -> Array:
        """∂L/∂log α: the mode moves B, which adds ½α_i ŵ_i [ΣΦᵀ(h∘∂B/∂y)]_i."""
        moved = 0.5 * self.hyper.each * (self.weights * self.mode_shift[0]).sum(axis=1)
        return self.gradient() + self.hyper.total(moved)

    def warm_start(self) -> WarmStart:
        return WarmStart(self.hyper, self.weights, self.intercept)

    def misfit(self) -> Array:
        """See `EvidenceState.misfit`: there is no noise."""
        return np.empty(0)

    def move(self, hyper: Hyperparameters) -> Self:
        return type(self)(hyper, self.mode.under(hyper.each), CLOSELY)

    def keep(self, which: Index) -> Self:
        """See `EvidenceState.keep`; it begins at a Gaussian posterior's mode without the others."""
        here, outputs, stay = self.mode, self.mean.shape[1], self.hyper.functions(which)
        gone = np.setdiff1d(np.arange(len(self.mean)), stay)
        kept, lost = columns_of(stay, outputs), columns_of(gone, outputs)
        V, mean = self.variances[0], self.means.ravel()
        root = inverse_root_of_covariance(V[np.ix_(lost, lost)])
        mean = mean[kept] - V[np.ix_(kept, lost)] @ (root @ (root.T @ mean[lost]))
        hyper = self.hyper.keep(which)
        weights = mean.reshape(-1, outputs) / np.sqrt(hyper.each)[:, None]
        intercept = here.intercept
        if here.design.has_intercept:
            center = self.curvature.information.mean_functions
            moved = center @ here.weights.ravel() - center[:, kept] @ weights.ravel()
            intercept = intercept + moved
        start = here.restricted(hyper, weights, intercept)
        curvature = Curvature(self.curvature.information.keep(stay, start.Phi), hyper.each)
        return type(self)(hyper, start, CLOSELY, curvature)


def _less_shift(weights: Array, intercept: Array, Phi: Array, B: Array, gradient: Array) -> Array:
    residual: Array = gradient - np.einsum("nrs,ns->nr", B, Phi @ weights + intercept)
    return residual


def _of_one_copy(gradient: Array, copies: Array) -> Array:
    """Gradient of each row as one of its copies has it, zero where there is none."""
    of_one: Array = np.zeros(len(copies))
    return np.divide(gradient[:, 0], copies, out=of_one, where=copies > 0)


def _function_slope(
    scale: Array,
    weights: Array,
    shift: Array,
    covariance: PredictorCovariance,
    Phi: Array,
    B: Array,
    gradient: Array,
    residual: Array,
) -> Array:
    D: Array = (gradient - 0.5 * residual) @ weights.T - 0.5 * gradient @ shift.T
    D -= covariance.half_log_det_gradient(B, Phi)
    return D / scale


def _centred(design: Design, t: RowVector) -> tuple[RowVector, float]:
    """Targets (n_samples, d) with offsets less their mean, which an intercept stands for, and that.

    So nothing of a search depends on the unit of an exposure.
    """
    if not design.has_intercept:
        return t, 0.0
    (total,) = design.sum_rows(_offset_sum, t, design.row_weights)
    level = float(total) / design.total_weight
    return design.map_rows(partial(_less_offset, level), t), level


def _offset_sum(t: Array, copies: Array) -> tuple[Array]:
    return (np.asarray(copies @ t[:, 1:].sum(axis=1)),)


def _less_offset(level: float, t: Array) -> Array:
    return np.hstack([t[:, :1], t[:, 1:] - level])


class LaplaceEvidence(EvidenceModel):
    """Posterior and evidence by Laplace's method, of a target t (n_samples, d)."""

    first_beta, output_variance, tempers = np.ones(1), 1.0, True
    quick, thorough = AscentLimits(steps=1, tol_share=1.0), AscentLimits(steps=100, tol_share=1e-4)
    noise = Noise(held=True, beta_max=first_beta)

    def __init__(self, design: Design, t: RowVector, likelihood: Likelihood) -> None:
        self.design, self.likelihood = design, likelihood
        self.t, self._level = _centred(design, t) if likelihood.takes_offset else (t, 0.0)
        self.n, self.norm2 = design.n_effective, design.total_weight
        self._outputs = self.n_outputs = likelihood.n_outputs

    def at(self, hyper: Hyperparameters, warm: WarmStart | None = None) -> LaplaceState:
        """It begins with the weights of `warm`, zero for new functions."""
        return LaplaceState(hyper, self._start(hyper, warm, self.likelihood, self.t))

    def _start(
        self,
        hyper: Hyperparameters,
        warm: WarmStart | None,
        likelihood: RowLikelihood,
        t: RowVector,
    ) -> NewtonIterate:
        weights, intercept = np.zeros((len(hyper.active), self._outputs)), np.zeros(self._outputs)
        if warm is not None:
            _, here, there = np.intersect1d(hyper.active, warm.hyper.active, return_indices=True)
            weights[here], intercept = warm.weights[there], warm.level
        at = LogLikelihood(likelihood, weights, intercept, float(hyper.beta[0]))
        return NewtonIterate(at, self.design, t, self.design.columns(hyper.active), hyper.each)

    @property
    def evaluation_is_a_pass(self) -> bool:  # type: ignore[override]
        """See `EvidenceModel`: as the design says."""
        return self.design.evaluation_is_a_pass

    @property
    def polish_steps(self) -> int:  # type: ignore[override]
        """See `EvidenceModel`: each is a pass where evaluations are."""
        return 0 if self.evaluation_is_a_pass else POLISH_STEPS

    def scores(
        self, state: EvidenceState, worth: float = np.inf, known: Array | None = None
    ) -> LaplaceScores:
        assert isinstance(state, LaplaceState)
        beside = state.mode, state.hyper.active, state.log_det_residual
        if not self.evaluation_is_a_pass:
            return LaplaceScores(*beside)
        return screened(*beside, worth, known)

    def function_slope(self, state: EvidenceState) -> Array:
        """See `EvidenceModel.function_slope`.

        With g = ∂log p/∂y, p = ∂log|H|/∂y and the shift v = H⁻¹Xᵀp of the mode, D = gŵᵀ − B(Φ − φ̄)Σ
        − ½[(p − BXv)ŵᵀ + gvᵀ]: the mode moves, and B with it.
        """
        assert isinstance(state, LaplaceState)
        here, scale = state.mode, self.design.scale[state.hyper.active]
        covariance = state.curvature.predictor_covariance
        function = partial(_function_slope, scale, state.weights, state.mode_shift[0], covariance)
        rows = here.Phi, here.B, here.gradient, state.log_det_residual
        slope: Array = self.design.map_rows(function, *rows)
        return slope

    def low_rank_starts(self) -> tuple[Hyperparameters, ...]:
        """See `EvidenceModel.low_rank_starts`; for one output and rows that few directions span."""
        if self._outputs > 1 or self.evaluation_is_a_pass:
            return ()
        nothing = self.at(Hyperparameters.empty(self.first_beta))
        rows = nothing.mode.gradient, self.design.row_weights
        target = Target.of(self.design.map_rows(_of_one_copy, *rows), self.design)
        frame = low_rank_frame(
            self.design,
            target,
            neglected=(NEGLECTED, NEGLECTED),
            candidates_a_direction=max(2, ceil(self.design.shape[1] / MAX_DIRECTIONS)),
        )
        if frame is None or len(frame.coords) < 2:
            return ()  # there is no search along one direction
        model = FrameModel.of(self.design, self.t, self.likelihood, frame)
        start = shared_precision_start(model, self.first_beta)
        return () if start is None else (start,)

    def of_few_rows(self) -> LaplaceEvidence | None:
        """See `EvidenceModel.of_few_rows`; a class may be too rare to be among them."""
        if not self.evaluation_is_a_pass:
            return None
        n_rows = self.design.shape[0]
        rows = sample_without_replacement(n_rows, min(FEW_ROWS, n_rows), random_state=0)
        few, (t,) = self.design.subset(np.sort(rows), self.t)
        try:
            self.likelihood.check(t)
        except ValueError:
            return None
        return LaplaceEvidence(few, t, self.likelihood)

    def span_only(self, active: Index) -> None:
        """Nothing is stored."""

    def finalize(self, hyper: Hyperparameters) -> SparseModel:
        searched, hyper = hyper, hyper.sorted(self.design)
        kept, found = self.design.restrict(hyper.active), self.at(hyper)
        if not np.isfinite(found.log_evidence):
            # There is one mode, which from no weights is found in one order and not in another.
            found = self.at(hyper, self.at(searched).warm_start())
        return SparseModel(
            active=hyper.active,
            alpha=in_units(hyper.each, kept.scale),
            likelihood=self.likelihood,
            posterior=self._posterior(kept, found),
            well_determined=found.well_determined(),
            log_evidence=found.log_evidence,
        )

    def _posterior(self, kept: Design, found: LaplaceState) -> Posterior:
        """Posterior in the users' units."""
        curvature = found.curvature
        mean_functions = curvature.information.mean_functions
        scale = np.repeat(kept.scale, self._outputs)
        level = found.intercept - self._level + mean_functions @ found.weights.ravel()
        root_alpha = np.repeat(np.sqrt(found.hyper.each), self._outputs)
        center = scale * mean_functions + np.kron(kept.center, np.eye(self._outputs))
        return Posterior(
            mean=found.weights / kept.scale[:, None],
            root=curvature.root / (scale * root_alpha)[:, None],
            center=center if self.design.has_intercept else np.zeros_like(center),
            level=level if self.design.has_intercept else np.zeros_like(level),
            level_covariance=curvature.intercept_covariance,
        )

    def hyper_of(self, alpha: Array) -> Hyperparameters:
        alpha, every = in_units(alpha, self.weight_unit()), np.arange(len(alpha))
        return Hyperparameters.of_functions(self.design, every, alpha, self.first_beta)

    def log_evidence(self, alpha: Array) -> float:
        return self.at(self.hyper_of(alpha)).log_evidence
