"""Predictions of a fitted estimator for a row, as expressions."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from relvec import (
    RVC,
    RVR,
    EffectsClassifier,
    EffectsRegressor,
    SparseBayesianClassifier,
    SparseBayesianRegressor,
)
from relvec._fitting.result import FittedOutput
from relvec._numerics.typing import Array, Index
from relvec.basis import Basis
from relvec.export.effects import unspanned
from relvec.export.expression import (
    Axis,
    Expression,
    Stored,
    absolute,
    choose,
    exp,
    inner,
    keep,
    log,
    maximum,
    minimum,
    normal_cdf,
    pick,
    renamed,
    sqrt,
    square,
    stack,
    table,
    total,
)
from relvec.export.formulas import formula
from relvec.export.special import SMALLEST, logistic, principal_root, softmax
from relvec.likelihoods import (
    Bernoulli,
    Categorical,
    Gaussian,
    Likelihood,
    NegativeBinomial,
    Poisson,
    StudentT,
)
from relvec.likelihoods.bernoulli import MIXTURE_SCALES, MIXTURE_WEIGHTS
from relvec.likelihoods.chi_squared import ChiSquared

REGRESSORS = (RVR, EffectsRegressor, SparseBayesianRegressor)
CLASSIFIERS = (RVC, EffectsClassifier, SparseBayesianClassifier)
#: Mean and variance of a linear predictor or of a target; covariance of several predictors.
Moments = tuple[Expression, Expression]


def exported(model: Any, *, return_std: bool = False) -> Any:
    """Return the estimator that a fitted model ends in, which must know what is asked for."""
    estimator = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(estimator, REGRESSORS + CLASSIFIERS):
        raise TypeError(
            f"model is {model!r}, expected an estimator of relvec or a pipeline that ends in one"
        )
    check_is_fitted(estimator)
    if not isinstance(return_std, bool | np.bool_):
        raise TypeError(f"return_std={return_std!r}, expected a bool")
    if return_std and isinstance(estimator, CLASSIFIERS):
        raise ValueError(
            f"return_std=True, expected False with {type(estimator).__name__}, which predicts "
            "classes"
        )
    return estimator


def predicted(estimator: Any, x: Expression, *, return_std: bool) -> dict[str, Stored]:
    """Return the predictions of an estimator for a row of its inputs, each with one axis.

    Of a regressor "mean" of every target, and "std" if asked for; of a classifier "probability" of
    every class, and "score", which is largest for the label.
    """
    if estimator.training_rows_ is not None:
        raise ValueError(
            f"{type(estimator).__name__} was fitted with augment=True and needs all training rows "
            "to predict, which cannot be exported; fit with augment=False"
        )
    (feature,) = x.axes
    if isinstance(estimator, CLASSIFIERS):
        return _classes(estimator, x, feature)
    found = _numbers(estimator, x, feature, return_std=return_std)
    return found if return_std else {"mean": found["mean"]}


class Weights(Protocol):
    """Posterior of the weights of some kept functions, such as those of an output."""

    @property
    def columns(self) -> Index:
        """Functions that they are weights of, shape (n_columns,)."""

    @property
    def posterior(self) -> Any:
        """Posterior of the weights."""

    @property
    def alpha(self) -> Array:
        """Their prior precisions, shape (n_columns,)."""


class Functions(NamedTuple):
    """Kept functions at a row."""

    phi: Expression | None  # their values, None if there are none
    unspanned: dict[int, Expression]  # see `relvec.basis.Basis.unspanned`; none without spread

    @classmethod
    def of(
        cls, basis: Basis, x: Expression, feature: Axis, *, name: str = "functions", spread: bool
    ) -> Self:
        """Evaluate the functions of a basis at a row x."""
        function = Axis("function", len(basis.rows_))
        if not function.size:
            return cls(None, {})
        phi = keep(formula(basis, x, feature, function), function, name=name)
        return cls(phi, unspanned(basis, x, feature, phi) if spread else {})


def _numbers(model: Any, x: Expression, feature: Axis, *, return_std: bool) -> dict[str, Stored]:
    at, moments = Functions.of(model.basis_, x, feature, spread=return_std), []
    for output in model.fit_result_.outputs:
        likelihood, latent = output.likelihood, _latent(output, at)
        if output.noise is None:
            moments.append(observed(likelihood, *latent))
            continue
        of_noise = Functions.of(output.noise.basis, x, feature, name="noise", spread=return_std)
        g, spread = _latent(output.noise, of_noise)
        relative, _ = observed(ChiSquared(), g, spread)
        moments.append((latent[0], latent[1] + likelihood.noise_variance * relative))
    target = Axis("target", len(moments))
    deviations = [sqrt(variance) for _, variance in moments]
    mean = stack([mean for mean, _ in moments], target, "mean")
    return {"mean": mean, "std": stack(deviations, target, "std")}


def _latent(fitted: Weights, at: Functions, *outputs: Axis) -> Moments:
    """Mean and variance of the linear predictor; of several with two axes of them, covariance.

    The mean is φᵀμ + w_0 and the covariance |(φ ⊗ I − φ̄)ᵀF|², that of the intercept, and what the
    functions do not span.
    """
    phi, posterior, one, two = at.phi, fitted.posterior, outputs[:1], outputs[1:]
    sizes = [axis.size for axis in one]
    mean: Expression = table(posterior.intercept.reshape(sizes), *one, name="intercepts")
    of_level = posterior.level_covariance.reshape(sizes + sizes)
    covariance: Expression = table(of_level, *one, *two, name="level_covariance")
    if phi is None or not len(fitted.columns):
        return mean, covariance
    for position, variance in at.unspanned.items():
        for place in np.flatnonzero(fitted.columns == position):
            each = np.identity(sizes[0]) if outputs else np.ones(())
            own = table(each / fitted.alpha[place], *one, *two, name="prior_variance")
            covariance = covariance + variance * own
    (function,) = phi.axes
    if len(fitted.columns) < function.size:
        used = Axis("function", len(fitted.columns))
        phi, function = pick(phi, function, fitted.columns, used), used
    weight = Axis("weight", len(posterior.root))
    weights = posterior.mean.reshape(function.size, *sizes)
    root = posterior.root.reshape(function.size, *sizes, weight.size)
    center = (posterior.center @ posterior.root).reshape(*sizes, weight.size)
    along = inner(phi, table(root, function, *one, weight, name="covariance_root"), function)
    spread = along - table(center, *one, weight, name="center")
    across = spread
    if outputs:
        spread = keep(spread, *one, weight, name="spread")
        across = renamed(spread, *outputs)
    return (
        inner(phi, table(weights, function, *one, name="weights"), function) + mean,
        inner(spread, across, weight) + covariance,
    )


@singledispatch
def observed(likelihood: Likelihood, mean: Expression, variance: Expression) -> Moments:
    """Mean and variance of a target whose linear predictor has a posterior N(mean, variance)."""
    raise ValueError(f"{likelihood!r} cannot be exported: its moments have no formula here")


@observed.register
def _(likelihood: Gaussian, mean: Expression, variance: Expression) -> Moments:
    assert isinstance(likelihood.noise_variance, float)
    return mean, variance + likelihood.noise_variance


@observed.register
def _(likelihood: StudentT, mean: Expression, variance: Expression) -> Moments:
    return mean, variance + likelihood.noise_variance


@observed.register
def _(likelihood: ChiSquared, mean: Expression, variance: Expression) -> Moments:
    average = exp(mean + 0.5 * variance)
    return average, square(average) * (3.0 * exp(variance) - 1.0)


@observed.register
def _(likelihood: Poisson, mean: Expression, variance: Expression) -> Moments:
    rate = exp(mean)
    return rate, rate + rate * (rate * variance)


@observed.register
def _(likelihood: NegativeBinomial, mean: Expression, variance: Expression) -> Moments:
    rate, dispersion = exp(mean), likelihood.dispersion
    return rate, rate + rate * (rate * (variance + dispersion * (1.0 + variance)))


def _classes(model: Any, x: Expression, feature: Axis) -> dict[str, Stored]:
    label = Axis("kind", len(model.classes_))
    integrated = model.fit_result_.parameters["proba"] == "integrated"
    at = Functions.of(model.basis_, x, feature, spread=integrated)
    first, *others = model.fit_result_.outputs
    if isinstance(first.likelihood, Categorical):
        p = _categorical(first, at, label, integrated=integrated)
        return {"probability": p, "score": p}
    pairs = []
    for output in model.fit_result_.outputs:
        if not isinstance(output.likelihood, Bernoulli):
            raise ValueError(f"{output.likelihood!r} cannot be exported: it has no formula here")
        pairs.append(_bernoulli(*_latent(output, at), integrated=integrated))
    if not others:
        p = stack(pairs[0], label, "probability")
        return {"probability": p, "score": p}
    rests, owns = ([maximum(p, SMALLEST) for p in side] for side in zip(*pairs, strict=True))
    own = stack(owns, label, "own")
    scores = [log(p) - log(rest) for rest, p in zip(rests, owns, strict=True)]
    p = keep(own / total(own, label), label, name="probability")
    return {"probability": p, "score": stack(scores, label, "score")}


def _bernoulli(
    mean: Expression, variance: Expression, *, integrated: bool
) -> tuple[Expression, Expression]:
    """Probability of either class; see `Bernoulli.mean_probabilities`."""
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
    below = normal_cdf(scale * mean / sqrt(1.0 + square(scale) * variance))
    return inner(below, share, term)


def _categorical(fitted: FittedOutput, at: Functions, label: Axis, *, integrated: bool) -> Stored:
    """Probability of every class; see `Categorical.mean_probabilities`."""
    likelihood = fitted.likelihood
    assert isinstance(likelihood, Categorical)
    output, other = (Axis(name, likelihood.n_outputs) for name in ("output", "other"))
    mean, covariance = _latent(fitted, at, output, other)
    contrasts = table(likelihood.contrasts, output, label, name="contrasts")
    middle = keep(inner(mean, contrasts, output), label, name="middle")
    if not integrated:
        return keep(softmax(middle, label), label, name="probability")
    root = principal_root(covariance, other, output)
    along = keep(inner(root, contrasts, output), other, label, name="along")
    points = likelihood.normal_points
    point = Axis("point", len(points))
    normal = table(points, point, other, name="normal_points")
    away = keep(inner(along, normal, other), label, name="away")
    mirrored = softmax(middle + away, label) + softmax(middle - away, label)
    sums = keep(total(mirrored, point), label, name="sums")
    return keep(sums / (2.0 * point.size), label, name="probability")
