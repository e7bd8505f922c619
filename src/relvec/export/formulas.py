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
    Columns,
    Concatenate,
    Fourier,
    FunctionColumns,
    Laplacian,
    LinearKernel,
    LinearSpline,
    Polynomial,
    PolynomialKernel,
    Product,
    ScaledKernel,
    Sigmoid,
    Sum,
)
from relvec.export.expression import (
    Axis,
    Expression,
    Table,
    absolute,
    exp,
    inner,
    minimum,
    pick,
    power,
    product,
    sin,
    square,
    stack,
    table,
    tanh,
    total,
)


@singledispatch
def formula(basis: Any, x: Expression, feature: Axis, function: Axis) -> Expression:
    """Values of a fitted basis at a row x along the axis `feature`, along the axis `function`."""
    del x, feature, function
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
    apart = (x - _centers(basis, function, feature)) * _gamma(basis, feature, 0.5)
    return exp(-total(square(apart), feature))


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


def _gamma(basis: ScaledKernel, feature: Axis, root: float = 1.0) -> Table:
    """γ to a power: one number, or one for each feature."""
    gamma = np.asarray(basis.gamma_) ** root
    return table(gamma, *[feature][: gamma.ndim], name="scales")


def _scaled_inner(basis: ScaledKernel, x: Expression, feature: Axis, function: Axis) -> Expression:
    """Σ_d γ_d x_d z_d."""
    scaled = table(basis.centers_ * basis.gamma_, function, feature, name="centers")
    return inner(x, scaled, feature)
