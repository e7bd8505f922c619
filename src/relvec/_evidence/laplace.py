"""Other likelihoods by Laplace's method: a Gaussian posterior at the mode of the weights.

Tipping (2001), section 3, for any log-concave likelihood of one or several outputs a row. The
evidence is that of the method itself, L = log p(t|ŵ) − ½ŵᵀAŵ + ½Σ log α − ½ log|H| (with ½ log 2π
for each flat direction), and so are its slopes: that ŵ and with it B move with α is part of them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from relvec._design.base import Design, Target, in_units
from relvec._evidence.base import (
    AscentLimits,
    EvidenceModel,
    EvidenceState,
    SparseModel,
    WarmStart,
    columns_of,
)
from relvec._evidence.candidates import LaplaceScores, screened
from relvec._evidence.curvature import Curvature, PredictorCovariance
from relvec._evidence.gaussian import LOG_2PI
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.low_rank_start import low_rank_frame, mackay_iterations
from relvec._evidence.mode import (
    CLOSELY,
    EXACTLY,
    LinearPredictor,
    NewtonIterate,
    find_mode,
    outputs_of,
)
from relvec._evidence.noise import Noise
from relvec._evidence.posterior import Posterior
from relvec._evidence.rows import Rows, Terms
from relvec._numerics.typing import Array, Index, RowVector
from relvec.likelihoods.base import Likelihood

#: The low-rank start neglects functions' parts outside a frame up to this share of their squares:
#: beside the curvature of a class they hardly count. One direction to so many candidates at most.
NEGLECTED, CANDIDATES_A_DIRECTION = 0.01, 4
#: Nats that a step towards a fixed point of eq. 16 may cost; a longer one is shortened.
FALL = 1.0


class LaplaceState(EvidenceState):
    """A model with the Gaussian posterior at the mode of its weights.

    Parameters
    ----------
    hyper : Hyperparameters
    start : NewtonIterate
        A place on the log posterior, which the mode is looked for from.
    tolerance : float
        How near the mode has to be, in nats.
    bend : Curvature, optional
        What is known of the curvature near there.

    Attributes
    ----------
    outputs : LinearPredictor
        Weights and outputs at the mode.
    bend : Curvature
        Curvature there.
    """

    allowed_decrease = FALL

    def __init__(
        self,
        hyper: Hyperparameters,
        start: NewtonIterate,
        tolerance: float = EXACTLY,
        bend: Curvature | None = None,
    ) -> None:
        self.hyper = hyper
        self._mode, reached = find_mode(start, tolerance, bend)
        self.outputs, self.bend = self._mode.outputs, self._mode.curvature
        self.variance = self.bend.variance
        self.mean = np.sqrt(hyper.each)[:, None] * self.outputs.weights
        # A model whose mode is out of reach is none that a search may end in.
        self.log_evidence = self._mode.height - self.bend.half_log_det if reached else -np.inf
        if self.outputs.rows.has_intercept:
            self.log_evidence += 0.5 * LOG_2PI * len(self.outputs.level)

    @property
    def weights(self) -> Array:
        """Weights at the mode, (n_active, n_outputs)."""
        return self.outputs.weights

    @property
    def level(self) -> Array:
        """Outputs where all functions are zero, (n_outputs,)."""
        return self.outputs.level

    @property
    def slope(self) -> RowVector:
        """∂ log p/∂y of every row."""
        return self.outputs.slope

    @cached_property
    def pull(self) -> RowVector:
        """∂ log|H|/∂y of every row, which moves with the mode: h∘d with one output."""
        here = self.outputs
        return here.rows.map(partial(_pull, self.bend.reach), here.Phi, here.y)

    @cached_property
    def following(self) -> tuple[Array, Array]:
        """H⁻¹Xᵀ(h∘d): how weights and level follow the pull."""
        return self.bend.solve(*self.outputs.information.gradient(self.pull))

    @cached_property
    def pull_outside(self) -> RowVector:
        """h∘d less what weights and intercept, following it, take back."""
        here, function = self.outputs, partial(_outside, *self.following)
        return here.rows.design.map_rows(function, here.Phi, here.B, self.pull)

    def evidence_gradient(self) -> Array:
        """The mode moves B, which adds ½α_i ŵ_i [ΣΦᵀ(h∘d)]_i."""
        moved = 0.5 * self.hyper.each * (self.weights * self.following[0]).sum(axis=1)
        return self.gradient() + self.hyper.total(moved)

    def warm_start(self) -> WarmStart:
        """See `EvidenceState.warm_start`."""
        return WarmStart(self.hyper, self.weights, self.level)

    def misfit(self) -> Array:
        """See `EvidenceState.misfit`: there is no noise."""
        return np.empty(0)

    def move(self, hyper: Hyperparameters) -> Self:
        """See `EvidenceState.move`."""
        return type(self)(hyper, self._mode.under(hyper.each), CLOSELY)

    def keep(self, which: Index) -> Self:
        """See `EvidenceState.keep`; it begins at a Gaussian posterior's mode without the others."""
        here, each = self.outputs, self.mean.shape[1]
        stay = self.hyper.functions(which)
        gone = np.setdiff1d(np.arange(len(self.mean)), stay)
        kept, lost = columns_of(stay, each), columns_of(gone, each)
        V, mean = self.variance, self.mean.ravel()
        mean = mean[kept] - V[np.ix_(kept, lost)] @ np.linalg.solve(
            V[np.ix_(lost, lost)], mean[lost]
        )
        hyper = self.hyper.keep(which)
        weights = mean.reshape(-1, each) / np.sqrt(hyper.each)[:, None]
        level = here.level
        if here.rows.has_intercept:
            middle = here.information.middle
            level = level + middle @ here.weights.ravel() - middle[:, kept] @ weights.ravel()
        Phi = here.rows.design.columns(hyper.active)
        outputs = LinearPredictor(here.rows, Phi, weights, level)
        bend = Curvature(here.information.keep(stay, Phi), hyper.each)
        return type(self)(hyper, NewtonIterate(outputs, hyper.each), CLOSELY, bend)


def _pull(reach: PredictorCovariance, terms: Terms, Phi: Array, y: Array, *given: Any) -> Array:
    return terms.curvature_slope(y, reach.spread(Phi), *given)


def _outside(weights: Array, level: Array, Phi: Array, B: Array, pull: Array) -> Array:
    outside: Array = pull - np.einsum("nrs,ns->nr", B, outputs_of(weights, level, Phi))
    return outside


def _working_targets(level: float, curvature: float, slope: Array, weights: Array) -> Array:
    """Targets y + B⁻¹ ∂log p/∂y where every row has the same curvature, times its copies."""
    targets: Array = slope[:, 0] / weights / curvature + level
    return targets


def _function_slope(
    scale: Array,
    weights: Array,
    following: Array,
    reach: PredictorCovariance,
    Phi: Array,
    B: Array,
    slope: Array,
    outside: Array,
) -> Array:
    D: Array = (slope - 0.5 * outside) @ weights.T - 0.5 * slope @ following.T
    D -= reach.explained(B, Phi)
    return D / scale


class LaplaceEvidence(EvidenceModel):
    """Posterior and evidence by Laplace's method.

    Parameters
    ----------
    design : Design
        Candidates.
    t : RowVector, of shape (n_samples, d)
        Target.
    likelihood : Likelihood
        Log-concave in its outputs.
    """

    first_beta, output_variance = np.ones(1), 1.0
    quick, thorough = AscentLimits(steps=1, tol_share=1.0), AscentLimits(steps=100, tol_share=1e-4)
    noise = Noise(held=True, beta_max=first_beta)

    def __init__(self, design: Design, t: RowVector, likelihood: Likelihood) -> None:
        self.design = design
        self.rows = Rows(design, Terms(likelihood), (t, design.row_weights))
        self.n, self.norm2 = design.n_effective, design.total_weight
        self._outputs = likelihood.n_outputs

    def at(self, hyper: Hyperparameters, warm: WarmStart | None = None) -> LaplaceState:
        """It begins with the weights of `warm`, zero for new functions."""
        rows = self.rows.tempered(float(hyper.beta[0]))
        return LaplaceState(hyper, self._place(hyper, warm, rows))

    def _place(self, hyper: Hyperparameters, warm: WarmStart | None, rows: Rows) -> NewtonIterate:
        weights, level = np.zeros((len(hyper.active), self._outputs)), np.zeros(self._outputs)
        if warm is not None:
            both = np.intersect1d(hyper.active, warm.hyper.active, return_indices=True)
            _, here, there = both
            weights[here], level = warm.weights[there], warm.level
        Phi = self.design.columns(hyper.active)
        return NewtonIterate(LinearPredictor(rows, Phi, weights, level), hyper.each)

    @property
    def evaluation_is_a_pass(self) -> bool:  # type: ignore[override]
        """See `EvidenceModel`: as the design says."""
        return self.design.evaluation_is_a_pass

    def scores(
        self, point: EvidenceState, worth: float = np.inf, known: Array | None = None
    ) -> LaplaceScores:
        """See `EvidenceModel.scores`."""
        assert isinstance(point, LaplaceState)
        if not self.evaluation_is_a_pass:
            return LaplaceScores(self.design, point)
        return screened(self.design, point, worth, known)

    def all_active(self) -> Self:
        """See `EvidenceModel.all_active`."""
        return self

    def function_slope(self, point: EvidenceState) -> Array:
        """See `EvidenceModel.function_slope`.

        With g = ∂log p/∂y, the pull p = h∘d and v = H⁻¹Xᵀp which follows it, D = gŵᵀ − B(Φ − φ̄)Σ −
        ½[(p − BXv)ŵᵀ + gvᵀ]: the mode moves, and B with it.
        """
        assert isinstance(point, LaplaceState)
        here, scale = point.outputs, self.design.scale[point.hyper.active]
        function = partial(
            _function_slope, scale, point.weights, point.following[0], point.bend.reach
        )
        rows = here.Phi, here.B, point.slope, point.pull_outside
        slope: Array = self.design.map_rows(function, *rows)
        return slope

    def low_rank_start(self) -> Hyperparameters | None:
        """See `EvidenceModel.low_rank_start`; for one output and rows that few directions span.

        With no function in the model every row has the same curvature, so that its working targets
        y + B⁻¹ ∂log p/∂y have Gaussian noise of a known variance.
        """
        if self._outputs > 1 or self.evaluation_is_a_pass:
            return None
        nothing = self.at(Hyperparameters.empty(self.first_beta))
        curvature = float(nothing.outputs.information.at_level.sum()) / self.design.total_weight
        working = self.design.map_rows(
            partial(_working_targets, float(nothing.level[0]), curvature),
            nothing.slope,
            self.design.row_weights,
        )
        target = Target.of(working, self.design)
        frame = low_rank_frame(
            self.design,
            target,
            neglected=(NEGLECTED, NEGLECTED),
            candidates_a_direction=CANDIDATES_A_DIRECTION,
        )
        if frame is None:
            return None
        known = Noise(held=True, beta_max=np.array([target.scale**2 * curvature]))
        hyper = mackay_iterations(frame, target, self.n, known)
        return replace(hyper, alpha=hyper.alpha / target.scale**2, beta=self.first_beta)

    def refine(self, hyper: Hyperparameters) -> bool:
        """Nothing is ever neglected."""
        return False

    def span_only(self, active: Index) -> None:
        """Nothing is stored."""

    def finalize(self, hyper: Hyperparameters) -> SparseModel:
        """See `EvidenceModel.finalize`."""
        hyper = hyper.sorted()
        kept, found = self.design.restrict(hyper.active), self.at(hyper)
        return SparseModel(
            active=hyper.active,
            alpha=in_units(hyper.each, kept.scale),
            likelihood=self.rows.likelihood,
            posterior=self._posterior(kept, found),
            well_determined=found.well_determined(),
            log_evidence=found.log_evidence,
        )

    def _posterior(self, kept: Design, found: LaplaceState) -> Posterior:
        """Posterior in the users' units."""
        bend, middle = found.bend, found.outputs.information.middle
        scale = np.repeat(kept.scale, self._outputs)
        level = found.level + middle @ found.weights.ravel()
        root_alpha = np.repeat(np.sqrt(found.hyper.each), self._outputs)
        center = scale * middle + np.kron(kept.center, np.eye(self._outputs))
        return Posterior(
            mean=found.weights / kept.scale[:, None],
            root=bend.root / (scale * root_alpha)[:, None],
            center=center if self.rows.has_intercept else np.zeros_like(center),
            level=level if self.rows.has_intercept else np.zeros_like(level),
            level_covariance=bend.level_covariance,
        )

    def hyper_of(self, alpha: Array) -> Hyperparameters:
        """See `EvidenceModel.hyper_of`."""
        alpha, every = in_units(alpha, self.weight_unit()), np.arange(len(alpha))
        return Hyperparameters.of_functions(self.design, every, alpha, self.first_beta)

    def weight_unit(self) -> Array:
        """See `EvidenceModel.weight_unit`."""
        return self.design.weight_unit

    def log_evidence(self, alpha: Array) -> float:
        """See `EvidenceModel.log_evidence`."""
        return self.at(self.hyper_of(alpha)).log_evidence

    def user_evidence(self, log_evidence: float) -> float:
        """See `EvidenceModel.user_evidence`: there are no other units."""
        return log_evidence

    def noise_variance(self, beta: Array) -> float:
        """See `EvidenceModel.noise_variance`: there is none."""
        return float("nan")
