"""Gaussian noise: posterior and evidence are exact, in coordinates that no digit is lost in."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from relvec._design.base import ClosedFrame, Design, TargetFrame, in_units
from relvec._evidence.base import (
    AscentLimits,
    CandidateScores,
    EvidenceModel,
    EvidenceState,
    SparseModel,
    WarmStart,
)
from relvec._evidence.exchanges import Exchanges
from relvec._evidence.gains import Block, best_independent, best_of_groups, greedy_additions
from relvec._evidence.gaussian import CandidateFactors, ExactState, ReducedData
from relvec._evidence.hyperparameters import Hyperparameters
from relvec._evidence.low_rank_start import NEGLECTED, low_rank_frame, low_rank_starts
from relvec._evidence.noise import NOISE_FLOOR, Noise
from relvec._evidence.posterior import Independent, Posterior
from relvec._numerics.floats import EPSILON
from relvec._numerics.groups import Groups
from relvec._numerics.priors import Gamma
from relvec._numerics.typing import Array, Index
from relvec.likelihoods.gaussian import Gaussian

#: Noise that a search from no function begins with, as a share of the variance of the target.
FIRST_NOISE = 0.03
#: The same as a share of what all functions together leave, where that is known: less than all, so
#: that the noise does not swallow signal.
SHARE_HELD = 0.5
#: Share of a function's square that the first frame may neglect where less would take too many
#: directions for so small a number of candidates.
NEGLECTED_OF_ROUGH, SMALL = 1e-8, 128
#: S = β‖φ‖² of what the first frame may neglect of a function.
NEGLECTED_FACTOR = 1.0
#: Noise precision beside a target of unit norm up to which squares stay in range.
LARGEST_PRECISION = 1e100
#: Rate of its prior, for a target of unit norm, up to which products with it do.
LARGEST_RATE = 1e200
#: Exchanges of which a step in the other precisions is tried.
TRIALS = 3
#: Exchanges that are looked at with an addition after them, and the products of numbers of the
#: candidates that this may take.
DOUBLES, PRODUCTS = 32, 1 << 20
#: The frame is rebuilt when it holds this many times the active functions, and this many more.
SLACK, SPARE = 1.3, 64


class ExactScores(CandidateScores):
    """Factors of every candidate in a frame, which grows with what is chosen."""

    def __init__(self, inference: ExactEvidence, state: ExactState) -> None:
        frame, hyper = inference.frame, state.hyper
        self._inference, self._hyper, self.groups = inference, hyper, inference.design.groups
        self._factors = factors = CandidateFactors.at(frame, state.data, hyper)
        if self.groups.single:
            self.gain, _ = best_independent(factors.S.T, factors.Q.T, factors.floor)
        else:
            self.gain = self._gain_of_groups(frame)
        self.gain[self.groups.label[hyper.active]] = 0.0

    def _gain_of_groups(self, frame: TargetFrame) -> Array:
        """Gain of each group of candidates."""
        factors, gain = self._factors, np.empty(self.groups.count)
        within = factors.within(frame.coords, self.groups, frame.residual_grams())
        for (which, members), S in zip(self.groups.by_size, within, strict=True):
            floor = np.broadcast_to(factors.floor[:, None], S.shape[:2])
            gain[which], _ = best_of_groups(S, factors.Q[:, members], floor)
        return gain

    def additions(self, batch: Index, threshold: float) -> tuple[Index, Array]:
        frame, (index, group) = self._inference.frame, self.groups.members(batch)
        residual, coords = frame.residual(index), frame.coords[:, index]
        S, floor = self._factors.block(coords, residual), self._factors.floor[:, None]
        groups = Groups(group)
        block = Block(S, self._factors.Q[:, index], floor, groups)
        chosen, alpha = greedy_additions(block, threshold)
        added, _ = groups.members(chosen)
        if len(frame.coords) <= SLACK * (len(self._hyper.active) + len(added)) + SPARE:
            new = added[frame.residual_norm2[index[added]] > 0]
            frame.extend(index[new], residual[:, new])
        else:
            self._inference.span_only(np.append(self._hyper.active, index[added]))
        return batch[chosen], alpha


class ExactEvidence(EvidenceModel):
    """Posterior and evidence under Gaussian noise, of known variance or learnt.

    Raw targets t (n_samples, n_targets) share the functions and their α in their standard units.
    """

    quick, thorough = AscentLimits(steps=1, tol_share=1e-6), AscentLimits(steps=50, tol_share=1e-6)
    norm2, polish_steps = 1.0, 4

    def __init__(self, design: Design, t: Array, likelihood: Gaussian) -> None:
        self.design, self.likelihood = design, likelihood
        self.target = design.target(t)
        self.n = design.n_effective
        self.output_variance = float(self.target.variance.mean())
        self.first_beta = 1 / self._first_noise()
        prior = self._precision_prior()
        if likelihood.noise_variance is None:
            least = likelihood.least_variance / self.target.scale**2
            floor = np.maximum(NOISE_FLOOR * self.target.variance, least)
            self.noise = Noise(False, 1 / floor, prior)
        else:
            self.noise = Noise(True, self._beta(likelihood.noise_variance), prior)

    def _precision_prior(self) -> Gamma:
        """Prior of β for targets of unit norm."""
        given = self.likelihood.precision_prior
        with np.errstate(over="ignore"):  # which is refused
            prior = given.in_units(self.target.scale**-2)
        if not np.all(np.asarray(prior.rate) < LARGEST_RATE):
            raise OverflowError(
                f"the rate of beta_prior, {given.rate:g} in squared units of y, and the variance "
                "of y are too far apart for the range of float64; rescale both"
            )
        return prior

    def _first_noise(self) -> Array:
        """Noise variance for a search that begins with no function.

        Far less than what all functions together leave of the target makes hundreds of them fit
        noise until it is let go.
        """
        first: Array = FIRST_NOISE * self.target.variance
        unexplained = self.design.unexplained(self.target)
        return first if unexplained is None else np.maximum(first, SHARE_HELD * unexplained)

    def _beta(self, noise_variance: float | Array) -> Array:
        with np.errstate(over="ignore"):  # which is refused
            beta: Array = self.target.scale**2 / noise_variance
        # Less noise than y has rounding errors would have the functions explain those.
        least = np.maximum(EPSILON**2 * self.target.variance, 1 / LARGEST_PRECISION)
        if not ((beta * least <= 1) & (beta > 1 / LARGEST_PRECISION)).all():
            variance = float((self.target.variance * self.target.scale**2).min())
            raise OverflowError(
                f"noise_variance={noise_variance!r} and the variance of y, {variance:.3g}, are too "
                "far apart for the digits of float64; noise_variance is in squared units of y"
            )
        return beta

    @cached_property
    def frame(self) -> TargetFrame:
        """Frame of all functions ever active, or of all there are where few directions span them.

        Then the search neglects what they leave, until `refine`, and most of it costs nothing that
        grows with the rows.
        """
        # Of so many rows that S tells what is left of a unit function, less is neglected.
        few, many = NEGLECTED
        beta = self.noise.beta_max if self.noise.held else self.first_beta
        many = min(many, NEGLECTED_FACTOR / float(beta.max()))
        small = self.design.shape[1] < SMALL
        for neglected in (few, NEGLECTED_OF_ROUGH) if small else (few,):
            spanning = low_rank_frame(self.design, self.target, neglected=(neglected, many))
            if spanning is not None:
                return ClosedFrame.neglecting(spanning)
        return self.design.frame(self.target)

    def span_only(self, active: Index) -> None:
        """See `EvidenceModel.span_only`: a new frame."""
        self.frame = self.design.frame(self.target)
        self.frame.span(active)

    def at(self, hyper: Hyperparameters, warm: WarmStart | None = None) -> ExactState:
        self.frame.span(hyper.active)
        data = ReducedData.from_frame(self.frame, hyper.active, self.n)
        return ExactState(data, hyper, self.noise.prior)

    def scores(
        self, state: EvidenceState, worth: float = np.inf, known: Array | None = None
    ) -> ExactScores:
        assert isinstance(state, ExactState)
        return ExactScores(self, state)

    def exchanges(
        self, hyper: Hyperparameters, least: float, penalty: float
    ) -> tuple[Hyperparameters | None, list[EvidenceState]]:
        """See `EvidenceModel.exchanges`; of single functions, not of groups."""
        if not (self.design.groups.single and len(hyper.active)):
            return None, []
        exchanges = Exchanges(self.frame, self.at(hyper), penalty)
        singles = exchanges.singles(TRIALS)
        if singles and singles[0].worth > least:
            return singles[0].of(hyper), []
        double = exchanges.best_double(min(DOUBLES, PRODUCTS // math.prod(self.design.shape)))
        if double is not None and double.worth > least:
            return double.of(hyper), []
        return None, [self._beside_frame(one.of(hyper)) for one in singles]

    def _beside_frame(self, hyper: Hyperparameters) -> ExactState:
        """Posterior at a model of which the frame spans all functions but the last.

        What is left of that one is a direction of its own, which costs no pass over rows; the
        digits that its norm has lost as a difference are those of a look at the model.
        """
        frame, last = self.frame, hyper.active[-1]
        norm = np.sqrt(frame.residual_norm2[last])
        data = ReducedData.from_frame(frame, hyper.active, self.n)
        if norm > 0:
            beside = np.atleast_2d(frame.residual_dot)[:, last] / norm
            R = np.vstack([data.R, norm * (hyper.active == last)])
            c, left = np.column_stack([data.c, beside]), data.residual_target - beside**2
            data = replace(data, R=R, c=c, residual_target=np.maximum(left, 0.0))
        return ExactState(data, hyper, self.noise.prior)

    def all_active(self) -> Self:
        """See `EvidenceModel.all_active`: the rows themselves are the frame."""
        self.frame = self.design.closed_frame(self.target)
        return self

    def function_slope(self, state: EvidenceState) -> Array:
        """See `EvidenceModel.function_slope`: D = Σβ[(t − Φμ)μᵀ − ΦΣ], eq. 55, copies counted."""
        hyper = state.hyper
        Phi, scale = self.design.columns(hyper.active), self.design.scale[hyper.active]
        root_alpha = np.sqrt(hyper.each)
        mean = state.means[:, :, 0] / root_alpha
        variance = np.tensordot(hyper.beta, state.variances, 1) / np.multiply.outer(
            root_alpha, root_alpha
        )
        residual = self.target.values - Phi @ mean.T
        D = residual @ (hyper.beta[:, None] * mean) - Phi @ variance
        slope: Array = self.design.slope_of_rows(D) / scale
        return slope

    def low_rank_starts(self) -> tuple[Hyperparameters, ...]:
        """See `EvidenceModel.low_rank_starts`; cheap where few directions span the dictionary."""
        if not isinstance(self.frame, ClosedFrame):
            return ()
        return low_rank_starts(self.frame, self.n, self.noise)

    def n_directions(self) -> float:
        return len(self.frame.coords) if isinstance(self.frame, ClosedFrame) else np.inf

    def refine(self, hyper: Hyperparameters) -> bool:
        neglecting = isinstance(self.frame, ClosedFrame)
        if neglecting:
            self.span_only(hyper.active)
        return neglecting

    def finalize(self, hyper: Hyperparameters) -> SparseModel:
        hyper = hyper.sorted(self.design)
        alpha = hyper.each
        kept = self.design.kept(hyper.active, hyper.beta.max() / alpha)
        found = self._recomputed(kept, alpha, hyper.beta)
        noise_variance, units = self.target.scale**2 / hyper.beta, self.target.scale[:, None]
        with np.errstate(over="ignore", under="ignore"):
            user_alpha = in_units(alpha, kept.scale / units)
        posteriors = tuple(
            Posterior(
                mean=to_weight[:, None] * mean,
                root=to_weight[:, None] * root,
                center=kept.center[None, :],
                level=np.array([level]),
                level_covariance=np.array([[variance * self.design.level_share]]),
            )
            for to_weight, mean, root, level, variance in zip(
                units / (kept.scale * np.sqrt(alpha)),
                found.means,
                found.roots,
                self.target.center,
                noise_variance,
                strict=True,
            )
        )
        several = len(posteriors) > 1
        learnt = noise_variance if several else float(noise_variance[0])
        return SparseModel(
            active=hyper.active,
            alpha=user_alpha if several else user_alpha[0],
            likelihood=self.likelihood
            if self.noise.held
            else replace(self.likelihood, noise_variance=learnt),
            posterior=Independent(posteriors) if several else posteriors[0],
            well_determined=found.determined().T if several else found.well_determined(),
            log_evidence=self.user_evidence(found.log_evidence),
        )

    def _recomputed(self, design: Design, alpha: Array, beta: Array) -> ExactState:
        """Posterior of all functions of a design in a fresh orthonormal frame."""
        every, frame = np.arange(len(alpha)), design.frame(self.target)
        frame.span(every)
        data = ReducedData.from_frame(frame, every, self.n)
        return ExactState(data, Hyperparameters(every, alpha, beta), self.noise.prior)

    def hyper_of(self, alpha: Array) -> Hyperparameters:
        """See `EvidenceModel.hyper_of`; the noise has to be known."""
        assert self.likelihood.noise_variance is not None
        beta = self._beta(self.likelihood.noise_variance)
        first = np.atleast_2d(alpha)[0]  # those of the others are the same in other units
        alpha, every = in_units(first, self.weight_unit()), np.arange(len(first))
        return Hyperparameters.of_functions(self.design, every, alpha, beta)

    def weight_unit(self) -> Array:
        """See `EvidenceModel.weight_unit`; of the first target's weights."""
        unit: Array = self.target.scale[0] * self.design.weight_unit
        return unit

    def log_evidence(self, alpha: Array) -> float:
        hyper = self.hyper_of(alpha)
        found = self._recomputed(self.design, hyper.each, hyper.beta)
        return self.user_evidence(found.log_evidence)

    def user_evidence(self, log_evidence: float) -> float:
        """See `EvidenceModel.user_evidence`; c log β has units as well."""
        counted = self.n + 2 * self.noise.prior.shape
        by_units = counted * float(np.log(self.target.scale).sum())
        return log_evidence - by_units + len(self.target.scale) * self.design.precision_evidence

    def noise_variance(self, beta: Array) -> float:
        """See `EvidenceModel.noise_variance`: the geometric mean over the targets."""
        variances = self.target.scale**2 / beta
        return float(variances[0] * np.exp((np.log(variances) - np.log(variances[0])).mean()))
