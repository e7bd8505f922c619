"""What a fitted estimator predicts of a row, as expressions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

from sklearn.utils.validation import check_is_fitted

from relvec._estimators.base import RelevanceEstimator
from relvec._estimators.classifier import Classifier
from relvec._estimators.predictor import Predictor
from relvec._evidence.posterior import Posterior
from relvec._fitting.result import FittedOutput
from relvec._numerics.typing import Array
from relvec.export.expression import (
    Axis,
    Expression,
    PrincipalRoot,
    Smallest,
    absolute,
    choose,
    exp,
    inner,
    keep,
    log,
    logistic,
    maximum,
    minimum,
    normal_cdf,
    pick,
    renamed,
    softmax,
    sqrt,
    square,
    stack,
    table,
    total,
    weighted,
)
from relvec.export.formulas import formula
from relvec.likelihoods import Bernoulli, Categorical, Gaussian, Likelihood, Poisson, StudentT
from relvec.likelihoods.bernoulli import MIXTURE_SCALES, MIXTURE_WEIGHTS

#: Mean and variance of one output, or of a target.
Moments = tuple[Expression, Expression]


@dataclass(frozen=True)
class Numbers:
    """Mean and standard deviation of every target, along `axis`."""

    axis: Axis
    mean: Expression
    std: Expression


@dataclass(frozen=True)
class Classes:
    """Probability of every class, and what is largest for the label, along `axis`."""

    axis: Axis
    probability: Expression
    score: Expression


@dataclass(frozen=True)
class Functions:
    """The kept functions of an estimator at a row, along `axis`; None where none was kept."""

    phi: Expression | None
    axis: Axis

    @classmethod
    def of(cls, model: RelevanceEstimator, x: Expression, feature: Axis) -> Functions:
        """Take them from a fitted estimator."""
        check_is_fitted(model)
        if model.training_rows_ is not None:
            raise ValueError(
                f"{type(model).__name__} was fitted with augment=True and needs all training rows "
                "to predict, which cannot be exported; fit with augment=False"
            )
        axis = Axis("function", len(model.basis_.rows_))
        if not axis.size:
            return cls(None, axis)
        phi = formula(model.basis_, x, feature, axis)
        return cls(keep(phi, axis, name="functions"), axis)

    def used(self, machine: FittedOutput) -> Functions:
        """Those that a machine uses."""
        if self.phi is None or not len(machine.columns):
            return Functions(None, self.axis)
        if len(machine.columns) == self.axis.size:
            return self
        axis = Axis("function", len(machine.columns))
        return Functions(pick(self.phi, self.axis, machine.columns, axis), axis)

    def one(self, posterior: Posterior) -> Moments:
        """Mean and variance of the output of a machine that has a single one."""
        mean, variance = table(posterior.intercept[0]), table(posterior.level_covariance[0, 0])
        if self.phi is None:
            return mean, variance
        weights = table(posterior.mean[:, 0], self.axis, name="weights")
        spread = self._spread(posterior, posterior.root, Axis("weight", len(posterior.root)))
        return (
            weighted(self.phi, weights, self.axis) + mean,
            total(square(spread), spread.axes[0]) + variance,
        )

    def several(self, posterior: Posterior, output: Axis, other: Axis) -> Moments:
        """Mean along `output` of several outputs, and their covariance along `other` too."""
        mean = table(posterior.intercept, output, name="intercepts")
        covariance = table(posterior.level_covariance, output, other, name="level_covariance")
        if self.phi is None:
            return mean, covariance
        weights = table(posterior.mean, self.axis, output, name="weights")
        weight = Axis("weight", len(posterior.root))
        root = posterior.root.reshape(self.axis.size, output.size, weight.size)
        spread = keep(self._spread(posterior, root, output, weight), output, weight, name="spread")
        return (
            weighted(self.phi, weights, self.axis) + mean,
            inner(spread, renamed(spread, output, other), weight) + covariance,
        )

    def _spread(self, posterior: Posterior, root: Array, *axes: Axis) -> Expression:
        """(φ ⊗ I − φ̄)ᵀF."""
        assert self.phi is not None
        center = (posterior.center @ posterior.root).reshape([axis.size for axis in axes])
        factor = table(root, self.axis, *axes, name="covariance_root")
        return weighted(self.phi, factor, self.axis) - table(center, *axes, name="center")


def numbers(model: Predictor, x: Expression, feature: Axis) -> Numbers:
    """What a regressor predicts."""
    functions, means, deviations = Functions.of(model, x, feature), [], []
    for machine in model.machines_:
        latent = functions.used(machine).one(machine.posterior)
        mean, variance = observed(machine.likelihood, *latent)
        means.append(mean)
        deviations.append(sqrt(variance))
    target = Axis("target", len(means))
    return Numbers(target, stack(means, target, "mean"), stack(deviations, target, "std"))


@singledispatch
def observed(likelihood: Likelihood, mean: Expression, variance: Expression) -> Moments:
    """Mean and variance of a target whose output has a posterior N(mean, variance)."""
    raise ValueError(f"{likelihood!r} cannot be exported: its moments have no formula here")


@observed.register
def _(likelihood: Gaussian, mean: Expression, variance: Expression) -> Moments:
    assert isinstance(likelihood.noise_variance, float)
    return mean, variance + likelihood.noise_variance


@observed.register
def _(likelihood: StudentT, mean: Expression, variance: Expression) -> Moments:
    return mean, variance + likelihood.noise_variance


@observed.register
def _(likelihood: Poisson, mean: Expression, variance: Expression) -> Moments:
    rate = exp(mean)
    return rate, rate + rate * (rate * variance)


def classes(model: Classifier, x: Expression, feature: Axis) -> Classes:
    """What a classifier predicts."""
    functions, kind = Functions.of(model, x, feature), Axis("kind", len(model.classes_))
    integrated = model.proba == "integrated"
    (first, *others) = machines = model.machines_
    if isinstance(first.likelihood, Categorical):
        p = _categorical(functions.used(first), first, kind, integrated=integrated)
        return Classes(kind, p, p)
    pairs = [_bernoulli(functions.used(m), m, integrated=integrated) for m in machines]
    if not others:
        p = stack(pairs[0], kind, "probability")
        return Classes(kind, p, p)
    rests, owns = ([maximum(p, Smallest()) for p in side] for side in zip(*pairs, strict=True))
    own = stack(owns, kind, "own")
    scores = [log(p) - log(rest) for rest, p in zip(rests, owns, strict=True)]
    return Classes(kind, own / total(own, kind), stack(scores, kind, "score"))


def _bernoulli(
    functions: Functions, machine: FittedOutput, *, integrated: bool
) -> tuple[Expression, Expression]:
    """Probability of either class; see `Bernoulli.mean_probabilities`."""
    assert isinstance(machine.likelihood, Bernoulli)
    mean, variance = functions.one(machine.posterior)
    if not integrated:
        return logistic(-mean), logistic(mean)
    below = -absolute(mean)
    exponent = below + 0.5 * variance
    shifted = exp(minimum(exponent, 0.0)) * _mixture(-below - variance, variance)
    rare = choose(exponent, shifted, _mixture(below, variance))
    return choose(mean, 1.0 - rare, rare), choose(mean, rare, 1.0 - rare)


def _mixture(mean: Expression, variance: Expression) -> Expression:
    """E σ(y) of a normal y by the mixture of normals."""
    term = Axis("term", len(MIXTURE_WEIGHTS))
    scale = table(MIXTURE_SCALES, term, name="mixture_scales")
    share = table(MIXTURE_WEIGHTS / MIXTURE_WEIGHTS.sum(), term, name="mixture_weights")
    return total(
        share * normal_cdf(scale * mean / sqrt(1.0 + square(scale) * variance)),
        term,
    )


def _categorical(
    functions: Functions, machine: FittedOutput, kind: Axis, *, integrated: bool
) -> Expression:
    """Probability of every class; see `Categorical.mean_probabilities`."""
    likelihood = machine.likelihood
    assert isinstance(likelihood, Categorical)
    output, other = (Axis(name, likelihood.n_outputs) for name in ("output", "other"))
    mean, covariance = functions.several(machine.posterior, output, other)
    contrasts = table(likelihood.contrasts, output, kind, name="contrasts")
    middle = weighted(mean, contrasts, output)
    if not integrated:
        return softmax(middle, kind)
    middle = keep(middle, kind, name="middle")
    points = likelihood.normal_points
    direction, point = Axis("direction", output.size), Axis("point", len(points))
    root = PrincipalRoot(covariance, output, other, direction)
    axes = table(likelihood.contrasts, other, kind, name="contrasts")
    along = keep(weighted(root, axes, other), direction, kind, name="along")
    normal = table(points, point, direction, name="normal_points")
    away = keep(weighted(along, normal, direction), kind, name="away")
    mirrored = softmax(middle + away, kind) + softmax(middle - away, kind)
    return keep(total(mirrored, point), kind, name="sums") / (2.0 * point.size)
