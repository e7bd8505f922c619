"""Functions that are composed of the operators of `relvec.export.expression`."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import erfcx

from relvec._numerics.typing import Array, Index
from relvec.export.expression import (
    Axis,
    Expression,
    Limit,
    absolute,
    choose,
    exp,
    inner,
    keep,
    largest,
    maximum,
    pick,
    repeat,
    sqrt,
    square,
    table,
    total,
)

#: The smallest normal number.
SMALLEST = Limit("tiny")
#: The tail of the normal distribution is ½e^(−z²/2)·t·h(t) with t = WIDTH/(WIDTH + |z|) and h
#: smooth on [0, 1]. A polynomial of this degree has 14 digits of it.
WIDTH, DEGREE = 2.5, 24
#: Sweeps of Jacobi's method over all pairs. The number of right digits is doubled by each once
#: there are some; a single pair is done after one, and its rounding after another.
SWEEPS = 8


def logistic(y: Expression) -> Expression:
    """Return σ(y) = 1 / (1 + e^−y)."""
    return 1.0 / (1.0 + exp(-y))


def softmax(y: Expression, axis: Axis) -> Expression:
    """Return e^y over its sum along an axis."""
    powers = keep(exp(y - largest(y, axis)), axis, name="powers")
    return powers / total(powers, axis)


@cache
def tail_coefficients() -> tuple[float, ...]:
    """Return the coefficients of h in powers of 2t − 1, the highest first."""

    def h(t: Array) -> Array:
        scaled: Array = erfcx(WIDTH * (1 - t) / t / np.sqrt(2)) / t
        return scaled

    # The nodes of the interpolation lie inside of the interval.
    fitted = Chebyshev.interpolate(h, DEGREE, [0, 1])
    powers = fitted.convert(kind=Polynomial, domain=[0, 1], window=[-1, 1])
    return tuple(map(float, powers.coef[::-1]))


def composed_normal_cdf(z: Expression) -> Expression:
    """Return Φ(z) for ONNX Runtime, which has an error function in single precision only."""
    size = absolute(z)
    t = WIDTH / (WIDTH + size)
    u = 2.0 * t - 1.0
    first, *others = tail_coefficients()
    h: Expression = table(first)
    for coefficient in others:
        h = h * u + coefficient
    tail = 0.5 * exp(-0.5 * square(size)) * t * h
    return choose(z, tail, 1.0 - tail)


def principal_root(matrix: Expression, row: Axis, column: Axis) -> Expression:
    """Return R with RᵀR the positive semi-definite matrix, its rows orthogonal, the longest first.

    Signs are those that make the largest component of each row positive. By the one-sided method of
    Jacobi: rows of the symmetric matrix are rotated in pairs until they are orthogonal; they are
    then its axes, each at the length of its eigenvalue. Of two rows the first becomes the longer.
    """
    pairs = _pairs(row.size)
    scale = maximum(largest(largest(absolute(matrix), column), row), SMALLEST)

    def rotated(g: Expression, partners: Index, *turn: Axis) -> Expression:
        order = table(np.sign(partners - np.arange(row.size)), *turn, row, name="order")
        other = pick(g, row, partners, *turn, row)
        own = keep(total(square(g), column), row, name="own")
        others = pick(own, row, partners, *turn, row)
        apart = order * (own - others)
        product = order * inner(g, other, column)
        # Less is rounding: to rotate it away would turn axes of the same length at random.
        least = Limit("epsneg") * sqrt(own * others)
        off = choose(absolute(product) - least, 0.0, product)
        far = absolute(apart) + sqrt(square(apart) + 4.0 * square(off))
        tangent = 2.0 * off / maximum(far, SMALLEST)
        cosine = 1.0 / sqrt(1.0 + square(tangent))
        return cosine * choose(apart, tangent * g + other, g + tangent * other)

    g = repeat(matrix / scale, rotated, pairs, SWEEPS if row.size > 2 else 2)
    size = largest(absolute(g), column)
    sign = choose(largest(g, column) - size, -1.0, 1.0)
    length = sqrt(total(square(g), column))
    factor = sign * sqrt(scale) / sqrt(maximum(length, SMALLEST))
    return factor * g


def _pairs(size: int) -> Index:
    """Partner of each in the rounds of a tournament of all pairs; one without is its own."""
    own, n_rounds = np.arange(size), size | 1
    partners = (np.arange(n_rounds)[:, None] - own) % n_rounds
    rounds: Index = np.where(partners < size, partners, own)
    some: Index = rounds[(rounds != own).any(axis=1)]
    return some
