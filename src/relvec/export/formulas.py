"""Formula of every basis, as an expression of a row.

A new kernel can be exported once its formula stands here, or is registered from elsewhere with
``formula.register``.
"""

from __future__ import annotations

from functools import reduce, singledispatch
from operator import add, mul
from typing import Any

import numpy as np

from relvec.basis import (
    RBF,
    Bias,
    CallableKernel,
    CategoricalKernel,
    Columns,
    Concatenate,
    Fourier,
    FunctionColumns,
    Hamming,
    Laplacian,
    LinearKernel,
    LinearSpline,
    Matern32,
    Matern52,
    Periodic,
    Polynomial,
    PolynomialKernel,
    Product,
    RationalQuadratic,
    ScaledKernel,
    Sigmoid,
    Sum,
    Tanimoto,
)
from relvec.basis.kernels import RadialKernel
from relvec.export.expression import (
    Axis,
    Expression,
    Table,
    absolute,
    choose,
    exp,
    inner,
    keep,
    log,
    minimum,
    pick,
    power,
    product,
    sin,
    sqrt,
    square,
    stack,
    table,
    tanh,
    total,
)


@singledispatch
def formula(basis: Any, x: Expression, feature: Axis, function: Axis) -> Expression:
    """Values of a fitted basis at a row x along the axis `feature`, along the axis `function`."""
    raise ValueError(
        f"{basis!r} cannot be exported: no formula of {type(basis).__name__} is known; "
        "relvec.export.formula.register takes one"
    )


@formula.register
def _(basis: Bias, x: Expression, feature: Axis, function: Axis) -> Expression:
    return table(np.ones(function.size), function)


@formula.register
def _(basis: Columns, x: Expression, feature: Axis, function: Axis) -> Expression:
    return pick(x, feature, basis.terms_, function)


@formula.register
def _(basis: RBF, x: Expression, feature: Axis, function: Axis) -> Expression:
    return exp(-_squares(basis, x, feature, function))


@formula.register
def _(basis: Matern32, x: Expression, feature: Axis, function: Axis) -> Expression:
    a = keep(sqrt(6.0 * _squares(basis, x, feature, function)), function, name="distances")
    return (1.0 + a) * exp(-a)


@formula.register
def _(basis: Matern52, x: Expression, feature: Axis, function: Axis) -> Expression:
    a = keep(sqrt(10.0 * _squares(basis, x, feature, function)), function, name="distances")
    return (1.0 + a + a * a / 3.0) * exp(-a)


@formula.register
def _(basis: RationalQuadratic, x: Expression, feature: Axis, function: Axis) -> Expression:
    u = _squares(basis, x, feature, function) / basis.alpha_
    return exp(-basis.alpha_ * log(1.0 + u))


@formula.register
def _(basis: Periodic, x: Expression, feature: Axis, function: Axis) -> Expression:
    wave = sin((x - _centers(basis, function, feature)) * (np.pi / basis.period_))
    return exp(-2.0 * total(square(wave) * _gamma(basis, feature), feature))


@formula.register
def _(basis: Hamming, x: Expression, feature: Axis, function: Axis) -> Expression:
    return 1.0 - total(_differing(basis, x, feature, function), feature) / float(feature.size)


@formula.register
def _(basis: CategoricalKernel, x: Expression, feature: Axis, function: Axis) -> Expression:
    differ = _differing(basis, x, feature, function) * _gamma(basis, feature)
    return exp(-total(differ, feature))


@formula.register
def _(basis: Tanimoto, x: Expression, feature: Axis, function: Axis) -> Expression:
    both = keep(inner(x, _centers(basis, function, feature), feature), function, name="both")
    squares = table((basis.centers_**2).sum(axis=1), function, name="squares")
    either = keep(total(square(x), feature) + squares - both, function, name="either")
    return choose(-either, both / either, 1.0)


@formula.register
def _(basis: Laplacian, x: Expression, feature: Axis, function: Axis) -> Expression:
    apart = (x - _centers(basis, function, feature)) * _gamma(basis, feature)
    return exp(-total(absolute(apart), feature))


@formula.register
def _(basis: LinearKernel, x: Expression, feature: Axis, function: Axis) -> Expression:
    return inner(x, _centers(basis, function, feature), feature)


@formula.register
def _(basis: PolynomialKernel, x: Expression, feature: Axis, function: Axis) -> Expression:
    return power(_scaled_inner(basis, x, feature, function) + basis.coef0, float(basis.degree))


@formula.register
def _(basis: Sigmoid, x: Expression, feature: Axis, function: Axis) -> Expression:
    return tanh(_scaled_inner(basis, x, feature, function) + basis.coef0)


@formula.register
def _(basis: LinearSpline, x: Expression, feature: Axis, function: Axis) -> Expression:
    z = _centers(basis, function, feature)
    m, both = minimum(x, z), x * z
    each = 1.0 + both + both * m - (x + z) / 2.0 * (m * m) + m * m * m / 3.0
    return product(each, feature)


@formula.register
def _(basis: Sum, x: Expression, feature: Axis, function: Axis) -> Expression:
    return reduce(add, (formula(part, x, feature, function) for part in basis.parts_))


@formula.register
def _(basis: Product, x: Expression, feature: Axis, function: Axis) -> Expression:
    return reduce(mul, (formula(part, x, feature, function) for part in basis.parts_))


@formula.register
def _(basis: Concatenate, x: Expression, feature: Axis, function: Axis) -> Expression:
    parts = [
        formula(part, x, feature, Axis("function", len(part.rows_)))
        for part in basis.parts_
        if len(part.rows_)
    ]
    return stack(parts, function, name="functions")


@formula.register
def _(basis: Polynomial, x: Expression, feature: Axis, function: Axis) -> Expression:
    padded, factor = Axis("padded", feature.size + 1), Axis("factor", basis.terms_.shape[1])
    one = table(np.ones(1), Axis("one", 1))
    powers = pick(stack([x, one], padded), padded, basis.terms_, function, factor)
    return product(powers, factor)


@formula.register
def _(basis: Fourier, x: Expression, feature: Axis, function: Axis) -> Expression:
    which, harmonic, cosine = basis.terms_.T
    x = pick(x, feature, basis.features_[which], function)
    origin = table(basis.origin_[which], function, name="origins")
    frequency = table(basis.frequency_[which] * (1 + harmonic), function, name="frequencies")
    return sin((x - origin) * frequency + table(cosine * (np.pi / 2), function, name="phases"))


@formula.register(CallableKernel)
@formula.register(FunctionColumns)
def _(
    basis: CallableKernel | FunctionColumns, x: Expression, feature: Axis, function: Axis
) -> Expression:
    raise ValueError(
        f"{type(basis).__name__} holds the Python function {basis.function!r}, which cannot be "
        "exported: only kernels and functions of relvec.basis can"
    )


def _centers(basis: Any, function: Axis, feature: Axis) -> Table:
    return table(basis.centers_, function, feature, name="centers")


def _squares(basis: RadialKernel, x: Expression, feature: Axis, function: Axis) -> Expression:
    """Σ_d γ_d (x_d − z_d)²."""
    apart = (x - _centers(basis, function, feature)) * _gamma(basis, feature, 0.5)
    return total(square(apart), feature)


def _differing(basis: Any, x: Expression, feature: Axis, function: Axis) -> Expression:
    """One for every input whose category is not that of the centre."""
    if basis.centers_.dtype == object:
        raise ValueError(
            f"{basis!r} has categories that are no numbers, which cannot be exported; encode them "
            "before the fit"
        )
    return choose(-absolute(x - _centers(basis, function, feature)), 1.0, 0.0)


def _gamma(basis: ScaledKernel, feature: Axis, root: float = 1.0) -> Table:
    """γ to a power: one number, or one for each feature."""
    gamma = np.asarray(basis.gamma_) ** root
    return table(gamma, *[feature][: gamma.ndim], name="scales")


def _scaled_inner(basis: ScaledKernel, x: Expression, feature: Axis, function: Axis) -> Expression:
    """Σ_d γ_d x_d z_d."""
    scaled = table(basis.centers_ * basis.gamma_, function, feature, name="centers")
    return inner(x, scaled, feature)
