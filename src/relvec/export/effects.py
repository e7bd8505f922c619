"""Formulas of effects and processes, and of the variance that their functions do not span."""

from __future__ import annotations

from functools import reduce, singledispatch
from operator import add, mul
from typing import Any

import numpy as np

from relvec.basis import (
    CategoricalKernel,
    Concatenate,
    Hamming,
    Kernel,
    Laplacian,
    LinearKernel,
    LinearSpline,
    Periodic,
    PolynomialKernel,
    Process,
    Product,
    Sum,
    Tanimoto,
)
from relvec.basis.curves import TAIL, Curve, Factor, Levels, Line
from relvec.basis.effects import Effect
from relvec.basis.kernels import RadialKernel
from relvec.export.expression import (
    Axis,
    Expression,
    Limit,
    absolute,
    choose,
    exp,
    inner,
    keep,
    log,
    maximum,
    pick,
    power,
    product,
    sqrt,
    square,
    table,
    total,
)
from relvec.export.formulas import formula

#: Roundings by which a number may differ from the category that it is.
ROUNDINGS = 2.0


@formula.register
def _(basis: Effect, x: Expression, feature: Axis, function: Axis) -> Expression:
    values, shown = zip(*(_values(factor, x, feature) for factor in basis.factors), strict=True)
    sizes = [value.axes[0] for value in values]
    axes = basis.axes_[:, basis.terms_].reshape(*(axis.size for axis in sizes), function.size)
    along: Expression = table(axes, *sizes, function, name="axes")
    for value, axis in zip(values, sizes, strict=True):
        along = total(value * along, axis)
    means = table(basis.mean_[basis.terms_], function, name="means")
    known: Expression = reduce(mul, shown)
    return (along - means) * known


@formula.register
def _(basis: Process, x: Expression, feature: Axis, function: Axis) -> Expression:
    used, center = _used(basis, x, feature), Axis("center", len(basis.root_))
    covariance = keep(formula(basis.kernel_, used, used.axes[0], center), center, name="covariance")
    root = table(basis.root_[:, basis.terms_], center, function, name="root")
    return inner(covariance, root, center)


def _used(basis: Process, x: Expression, feature: Axis) -> Expression:
    """Inputs that a process depends on."""
    own = Axis("feature", len(basis.features_))
    return pick(x, feature, basis.features_, own)


def _values(factor: Factor, x: Expression, feature: Axis) -> tuple[Expression, Expression]:
    """Functions of an input along an axis of their own, and one; zero for an unknown category."""
    size, one = Axis("factor", factor.size), table(1.0)
    if isinstance(factor, Line):
        value = pick(x, feature, np.full(1, factor.feature), size)
        return keep((value - factor.mean) * (1 / factor.deviation), size, name="line"), one
    if isinstance(factor, Curve):
        return _curve(factor, x, feature, size), one
    if isinstance(factor, Levels):
        same = _same(factor, x, feature, size)
        return same - table(factor.share, size, name="shares"), total(same, size)
    raise TypeError(f"{factor!r} cannot be exported: no formula of it is known")


def _curve(factor: Curve, x: Expression, feature: Axis, size: Axis) -> Expression:
    """Gaussians at the knots, in directions that are independent."""
    knot = Axis("knot", len(factor.knots))
    value = pick(x, feature, np.full(knot.size, factor.feature), knot)
    u = _compressed((value - factor.middle) * (1 / factor.unit))
    apart = (u - table(factor.knots, knot, name="knots")) * (np.sqrt(0.5) / factor.width)
    gaussian = keep(exp(-square(apart)), knot, name="gaussian")
    raw = inner(gaussian, table(factor.root, knot, size, name="root"), knot)
    return keep(raw - table(factor.mean, size, name="means"), size, name="curve")


def _compressed(u: Expression) -> Expression:
    """TAIL arsinh(u / TAIL), without squares of large numbers."""
    far = absolute(u) * (1 / TAIL)
    most = maximum(far, 1.0)
    size = TAIL * log(far + most * sqrt(square(far / most) + square(1.0 / most)))
    return choose(u, -size, size)


def _same(factor: Levels, x: Expression, feature: Axis, size: Axis) -> Expression:
    """One for the category of the input, zero for the others."""
    try:
        categories = factor.categories.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"column {factor.feature} has categories {list(factor.categories)}, which cannot be "
            "exported, expected numbers; encode them before the fit"
        ) from error
    value = pick(x, feature, np.full(size.size, factor.feature), size)
    apart = absolute(value - table(categories, size, name="categories"))
    rounding = ROUNDINGS * Limit("eps") * table(np.abs(categories), size, name="sizes")
    return keep(choose(rounding - apart, 0.0, 1.0), size, name="levels")


@singledispatch
def unspanned(basis: Any, x: Expression, feature: Axis, phi: Expression) -> dict[int, Expression]:
    """Variance of a fitted basis that its functions do not span; see `Basis.unspanned`.

    At a row x along the axis `feature`, given the values of all functions, `phi`.
    """
    return {}


@unspanned.register
def _(basis: Concatenate, x: Expression, feature: Axis, phi: Expression) -> dict[int, Expression]:
    found, begin, (function,) = dict[int, Expression](), 0, phi.axes
    for part in basis.parts_:
        own = Axis("function", len(part.rows_))
        if own.size:
            values = pick(phi, function, np.arange(begin, begin + own.size), own)
            parts = unspanned(part, x, feature, values)
            found |= {begin + place: variance for place, variance in parts.items()}
        begin += own.size
    return found


@unspanned.register
def _(basis: Process, x: Expression, feature: Axis, phi: Expression) -> dict[int, Expression]:
    if np.isinf(basis.unspanned_):
        return {}
    used, (function,) = _used(basis, x, feature), phi.axes
    left = variance(basis.kernel_, used, used.axes[0]) - total(square(phi), function)
    return {0: maximum(left - basis.unspanned_, 0.0)}


@unspanned.register
def _(basis: Effect, x: Expression, feature: Axis, phi: Expression) -> dict[int, Expression]:
    if not any(isinstance(factor, Levels) for factor in basis.factors):
        return {}
    values, shown = zip(*(_values(factor, x, feature) for factor in basis.factors), strict=True)
    each = [
        1.0 + known * (total(square(value), value.axes[0]) - 1.0)
        for value, known in zip(values, shown, strict=True)
    ]
    return {0: (1.0 - reduce(mul, shown)) * reduce(mul, each)}


@singledispatch
def variance(kernel: Any, x: Expression, feature: Axis) -> Expression:
    """Covariance k(x, x) of a row x along the axis `feature` with itself."""
    raise ValueError(
        f"Process({kernel!r}) cannot be exported with return_std=True or with probabilities: "
        f"k(x, x) of {type(kernel).__name__} has no formula"
    )


@variance.register(RadialKernel)
@variance.register(Laplacian)
@variance.register(Periodic)
@variance.register(CategoricalKernel)
@variance.register(Hamming)
@variance.register(Tanimoto)
def _(kernel: Kernel, x: Expression, feature: Axis) -> Expression:
    return table(1.0)


@variance.register
def _(kernel: LinearKernel, x: Expression, feature: Axis) -> Expression:
    return total(square(x), feature)


@variance.register
def _(kernel: PolynomialKernel, x: Expression, feature: Axis) -> Expression:
    gamma = np.asarray(kernel.gamma_)
    scaled = square(x) * table(gamma, *[feature][: gamma.ndim], name="scales")
    return power(total(scaled, feature) + kernel.coef0, float(kernel.degree))


@variance.register
def _(kernel: LinearSpline, x: Expression, feature: Axis) -> Expression:
    return product(1.0 + x * x + x * x * x * (1.0 / 3.0), feature)


@variance.register
def _(kernel: Sum, x: Expression, feature: Axis) -> Expression:
    return reduce(add, (variance(part, x, feature) for part in kernel.parts_))


@variance.register
def _(kernel: Product, x: Expression, feature: Axis) -> Expression:
    return reduce(mul, (variance(part, x, feature) for part in kernel.parts_))
