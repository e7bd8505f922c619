"""Gaussian noise: posterior and evidence are exact, in coordinates that no digit is lost in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from relvec.design.base import Array, ClosedFrame, Design, Index, Target, TargetFrame
from relvec.evidence import ActiveSet, CandidateFactors, WeightPosterior, posterior_root
from relvec.gains import best_addition, greedy_additions
from relvec.hyperpriors import UNIFORM, Gamma
from relvec.inference.base import Accepted, Effort, Inference, Model, Point, Scan
from relvec.inference.noise import NOISE_FLOOR, Noise
from relvec.inference.opening import spanning_frame, sweep
from relvec.likelihoods.gaussian import Gaussian
from relvec.posterior import Posterior

#: Noise that a search from no function begins with, as a share of the variance of the target.
FIRST_NOISE = 0.03
#: The frame is rebuilt when it holds this many times the active functions, and this many more.
SLACK, SPARE = 1.3, 64


@dataclass(frozen=True)
class ExactPoint(Point):
    """A model with its posterior, eq. 12 and 13, in the coordinates of a frame."""

    model: Model
    data: ActiveSet
    posterior: WeightPosterior
    prior: Gamma = UNIFORM

    @classmethod
    def of(cls, data: ActiveSet, model: Model, prior: Gamma = UNIFORM) -> ExactPoint:
        """Posterior of a model for the data of its functions, and a prior of β."""
        posterior = WeightPosterior.at(data, model.alpha, float(model.beta[0]))
        return cls(model, data, posterior, prior)

    @property
    def variance(self) -> Array:  # type: ignore[override]
        """Σ̂."""
        return self.posterior.variance

    @property
    def mean(self) -> Array:  # type: ignore[override]
        """μ̂, one output."""
        return self.posterior.mean[:, None]

    @property
    def log_evidence(self) -> float:  # type: ignore[override]
        """L, eq. 36 with the prior of β."""
        return self.posterior.log_evidence + self.prior.log_prob(self.model.beta)

    def gradient(self) -> Array:
        """See `Point.gradient`; the last entry is eq. 45."""
        gradient = self.posterior.gradient(self.data.n, float(self.model.beta[0]))
        gradient[-1:] += self.prior.slope(self.model.beta)
        return gradient

    def hessian(self) -> Array:
        """See `Point.hessian`."""
        hessian = self.posterior.hessian(float(self.model.beta[0]))
        hessian[-1, -1:] += self.prior.curvature(self.model.beta)
        return hessian

    def evidence_slope(self) -> Array:
        """See `Point.evidence_slope`."""
        return self.gradient()

    def misfit(self) -> Array:
        """See `Point.misfit`."""
        return np.array([self.posterior.misfit])

    def at(self, model: Model) -> ExactPoint:
        """See `Point.at`."""
        return ExactPoint.of(self.data, model, self.prior)

    def keep(self, which: Index) -> ExactPoint:
        """See `Point.keep`."""
        fewer = replace(self.data, R=self.data.R[:, which])
        return ExactPoint.of(fewer, self.model.keep(which), self.prior)


class ExactScan(Scan):
    """Factors of every candidate in a frame, which grows with what is chosen."""

    def __init__(self, inference: Exact, point: ExactPoint) -> None:
        model = point.model
        self._inference, self._model = inference, model
        self._factors = CandidateFactors.at(
            inference.frame, point.data, model.alpha, float(model.beta[0])
        )
        S, Q = self._factors.S[:, None, None], self._factors.Q[:, None]
        self.gain, _ = best_addition(S, Q, np.full(len(Q), self._factors.floor))
        self.gain[model.active] = 0.0

    def additions(self, batch: Index, threshold: float) -> tuple[Index, Array]:
        """See `Scan.additions`."""
        frame, factors = self._inference.frame, self._factors
        rest = frame.rest(batch)
        block = factors.block(frame.coords[:, batch], rest)[:, None, :, None]
        floor = np.full(len(batch), factors.floor)
        chosen, alpha = greedy_additions(block, factors.Q[batch, None], floor, threshold)
        n_active = len(self._model.active) + len(chosen)
        if len(frame.target) <= SLACK * n_active + SPARE:
            new = chosen[frame.rest_norm2[batch[chosen]] > 0]
            frame.extend(batch[new], rest[:, new])
        else:
            self._inference.span_only(np.append(self._model.active, batch[chosen]))
        return batch[chosen], alpha


class Exact(Inference):
    """Posterior and evidence under Gaussian noise.

    Parameters
    ----------
    design : Design
        Candidates.
    t : ndarray of shape (n_samples,)
        Raw target.
    likelihood : Gaussian
        With the noise variance if it is known.
    """

    quick, thorough = Effort(steps=1, rest=1e-6), Effort(steps=50, rest=1e-6)
    norm2 = 1.0

    def __init__(self, design: Design, t: Array, likelihood: Gaussian) -> None:
        self.design, self.likelihood, self.target = design, likelihood, Target.of(t, design)
        self.n = design.n_effective
        self.output_variance = self.target.variance
        variances = np.array([self.target.variance])
        self.first_beta = 1 / (FIRST_NOISE * variances)
        prior = likelihood.precision_prior.in_units(self.target.scale**-2)
        if likelihood.noise_variance is None:
            self.noise = Noise(False, 1 / (NOISE_FLOOR * variances), prior)
        else:
            self.noise = Noise(True, self._beta(likelihood.noise_variance), prior)

    def _beta(self, noise_variance: float) -> Array:
        beta = np.array([self.target.scale**2 / noise_variance])
        if not ((beta > 0) & (beta < np.inf)).all():
            raise OverflowError(
                f"noise_variance={noise_variance!r} beside the variance of y exceeds"
                " the range of float64; rescale y"
            )
        return beta

    @cached_property
    def frame(self) -> TargetFrame:
        """Frame of all functions ever active, or of all there are where few directions span them.

        Then the search neglects what they leave, until `refine`, and most of it costs nothing that
        grows with the rows.
        """
        spanning = spanning_frame(self.design, self.target)
        return (
            self.design.frame(self.target) if spanning is None else ClosedFrame.neglecting(spanning)
        )

    def span_only(self, active: Index) -> None:
        """See `Inference.span_only`: a new frame."""
        self.frame = self.design.frame(self.target)
        self.frame.span(active)

    def point(self, model: Model, near: Point | None = None) -> ExactPoint:
        """See `Inference.point`."""
        self.frame.span(model.active)
        data = ActiveSet.from_frame(self.frame, model.active, self.n)
        return ExactPoint.of(data, model, self.noise.prior)

    def scan(self, point: Point) -> ExactScan:
        """See `Inference.scan`."""
        assert isinstance(point, ExactPoint)
        return ExactScan(self, point)

    def all_active(self) -> Self:
        """See `Inference.all_active`: the rows themselves are the frame."""
        self.frame = ClosedFrame.of_rows(self.design, self.target)
        return self

    def function_slope(self, point: Point) -> Array:
        """See `Inference.function_slope`: D = β[(t − Φμ)μᵀ − ΦΣ], eq. 55, copies counted."""
        model = point.model
        Phi, scale = self.design.columns(model.active), self.design.scale[model.active]
        root_alpha = np.sqrt(model.alpha)
        mean = point.mean[:, 0] / root_alpha
        explained = Phi @ (point.variance / np.multiply.outer(root_alpha, root_alpha))
        D = np.multiply.outer(self.target.values - Phi @ mean, mean) - explained
        slope: Array = model.beta * self.design.row_weights[:, None] * D / scale
        return slope

    def opening(self) -> Model | None:
        """See `Inference.opening`; cheap where few directions span the dictionary."""
        if not isinstance(self.frame, ClosedFrame):
            return None
        return sweep(self.frame, self.target, self.n, self.noise)

    def refine(self, model: Model) -> bool:
        """See `Inference.refine`."""
        neglecting = isinstance(self.frame, ClosedFrame)
        if neglecting:
            self.span_only(model.active)
        return neglecting

    def accept(self, model: Model) -> Accepted:
        """See `Inference.accept`."""
        model = model.keep(np.argsort(model.active))
        alpha, kept = model.alpha, self.design.restrict(model.active)
        found = self._recomputed(kept, alpha, model.beta)
        noise_variance = self.noise_variance(model.beta)
        with np.errstate(over="ignore", under="ignore"):
            user_alpha = alpha * (kept.scale / self.target.scale) ** 2
        if not (np.isfinite(user_alpha) & (user_alpha > 0)).all():
            raise OverflowError(
                "weight precisions in the units of X and y exceed the range of float64; rescale "
                "them"
            )
        to_weight = self.target.scale / (kept.scale * np.sqrt(alpha))
        posterior = Posterior(
            mean=to_weight[:, None] * found.mean,
            root=to_weight[:, None]
            * posterior_root(found.data.weighted(alpha, float(model.beta[0]))),
            center=kept.center[None, :],
            level=np.array([self.target.center]),
            level_covariance=np.array([[noise_variance * self.design.level_share]]),
        )
        return Accepted(
            active=model.active,
            alpha=user_alpha,
            likelihood=self.likelihood
            if self.noise.held
            else replace(self.likelihood, noise_variance=noise_variance),
            posterior=posterior,
            well_determined=found.well_determined(),
            log_evidence=self.user_evidence(found.log_evidence),
        )

    def _recomputed(self, design: Design, alpha: Array, beta: Array) -> ExactPoint:
        """Posterior of all functions of a design in a fresh orthonormal frame."""
        every, frame = np.arange(len(alpha)), design.frame(self.target)
        frame.span(every)
        data = ActiveSet.from_frame(frame, every, self.n)
        return ExactPoint.of(data, Model(every, alpha, beta), self.noise.prior)

    def model_of(self, alpha: Array) -> Model:
        """See `Inference.model_of`; the noise has to be known."""
        assert self.likelihood.noise_variance is not None
        beta = self._beta(self.likelihood.noise_variance)
        return Model(np.arange(len(alpha)), alpha * self.weight_unit() ** 2, beta)

    def weight_unit(self) -> Array:
        """See `Inference.weight_unit`."""
        return self.target.scale * self.design.weight_unit

    def log_evidence(self, alpha: Array) -> float:
        """See `Inference.log_evidence`."""
        model = self.model_of(alpha)
        found = self._recomputed(self.design, model.alpha, model.beta)
        return self.user_evidence(found.log_evidence)

    def user_evidence(self, log_evidence: float) -> float:
        """See `Inference.user_evidence`; c log β has units as well."""
        counted = self.n + 2 * self.noise.prior.shape
        by_units = counted * float(np.log(self.target.scale))
        return log_evidence - by_units + self.design.precision_evidence

    def noise_variance(self, beta: Array) -> float:
        """See `Inference.noise_variance`."""
        return self.target.scale**2 / float(beta[0])
