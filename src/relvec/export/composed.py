"""What ONNX has no operator for, out of what it has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import erfcx

from relvec._numerics.typing import Array, Index
from relvec.export.expression import (
    Axis,
    Expression,
    PrincipalRoot,
    Smallest,
    absolute,
    choose,
    exp,
    largest,
    maximum,
    pick,
    renamed,
    sqrt,
    square,
    table,
    total,
)

#: The tail of the normal distribution is ½e^(−z²/2)·t·h(t) with t = WIDTH/(WIDTH + |z|) and h
#: smooth on [0, 1]. A polynomial of this degree has 14 digits of it.
WIDTH, DEGREE = 2.5, 24
#: Passes of Jacobi's method over all pairs, of which the number of right digits is doubled by each
#: once there are some.
SWEEPS = 8
#: Share of the diagonal below which an entry is rounding: to rotate it away would turn axes of the
#: same width at random.
ROUNDING = 1e-16


@cache
def tail_coefficients() -> tuple[float, ...]:
    """Coefficients of h in powers of 2t − 1, the highest first."""

    def h(t: Array) -> Array:
        scaled: Array = erfcx(WIDTH * (1 - t) / t / np.sqrt(2)) / t
        return scaled

    # The nodes of the interpolation lie inside of the interval.
    fitted = Chebyshev.interpolate(h, DEGREE, [0, 1])
    powers = fitted.convert(kind=Polynomial, domain=[0, 1], window=[-1, 1])
    return tuple(map(float, powers.coef[::-1]))


def normal_cdf(z: Expression) -> Expression:
    """Φ(z), for which ONNX Runtime has an error function in single precision only."""
    size = absolute(z)
    t = WIDTH / (WIDTH + size)
    u = 2.0 * t - 1.0
    first, *others = tail_coefficients()
    h: Expression = table(first)
    for coefficient in others:
        h = h * u + coefficient
    tail = 0.5 * exp(-0.5 * square(size)) * t * h
    return choose(z, tail, 1.0 - tail)


def principal_root(node: PrincipalRoot) -> Expression:
    """The same by Jacobi's method, the rotations of disjoint pairs at once."""
    (matrix,), (row, column), size = node.parts, node.matrix_axes, node.root_axis.size
    diagonalised = Square(matrix, row, column)
    turned = Square(table(np.eye(size), row, column), row, column)
    for partners in _rounds(size) * (SWEEPS if size > 2 else 1):
        diagonalised, turned = _rotated(diagonalised, turned, partners)
    return _sorted(diagonalised.diagonal(np.arange(size)), turned, node)


@dataclass(frozen=True)
class Square:
    """A square matrix and its axes."""

    entries: Expression
    row: Axis
    column: Axis

    def diagonal(self, columns: Index) -> Expression:
        """The entry of every row in the column given for it, zero where that is −1."""
        there = (columns[:, None] == np.arange(self.column.size)).astype(np.float64)
        return total(self.entries * table(there, self.row, self.column), self.column)

    def along(self, row: Axis, column: Axis, rows: Index, columns: Index) -> Expression:
        """The matrix with the rows and columns at these positions, along other axes."""
        return pick(pick(self.entries, self.row, rows, row), self.column, columns, column)


def _rotated(matrix: Square, turned: Square, partners: Index) -> tuple[Square, Square]:
    """JᵀAJ and JᵀR, with the J that makes the entries between partners zero.

    An index that is its own partner stays as it is.
    """
    row, column = Axis("row", matrix.row.size), Axis("column", matrix.row.size)
    own = np.arange(row.size)
    order = table(np.sign(partners - own), row)
    diagonal, entries = (
        matrix.diagonal(own),
        matrix.diagonal(np.where(partners == own, -1, partners)),
    )
    off = renamed(entries, matrix.row, row)
    mine = renamed(diagonal, matrix.row, row)
    other = pick(diagonal, matrix.row, partners, row)
    apart = order * (other - mine)
    off = choose(absolute(off) - ROUNDING * (absolute(mine) + absolute(other)), 0.0, off)
    far = absolute(apart) + sqrt(square(apart) + 4.0 * square(off))
    tangent = choose(apart, -2.0, 2.0) * off / maximum(far, Smallest())
    c = 1.0 / sqrt(1.0 + square(tangent))
    s = order * tangent * c
    c_, s_ = renamed(c, row, column), renamed(s, row, column)
    new = (
        c * (c_ * matrix.along(row, column, own, own))
        - s * (c_ * matrix.along(row, column, partners, own))
        - c * (s_ * matrix.along(row, column, own, partners))
        + s * (s_ * matrix.along(row, column, partners, partners))
    )
    rotated = c * turned.along(row, column, own, own) - s * turned.along(row, column, partners, own)
    return Square(new, row, column), Square(rotated, row, column)


def _rounds(size: int) -> list[Index]:
    """Who is whose partner in each round of a tournament; one without is its own."""
    players = size + size % 2
    others, rounds = list(range(1, players)), []
    for _ in range(players - 1):
        seats = [0, *others]
        partners = np.arange(size)
        for one, two in zip(seats[: players // 2], reversed(seats[players // 2 :]), strict=True):
            if max(one, two) < size:
                partners[[one, two]] = two, one
        rounds.append(partners)
        others = others[1:] + others[:1]
    return rounds


def _sorted(values: Expression, turned: Square, node: PrincipalRoot) -> Expression:
    """Rows of the root: those of the rotations at their length, the longest first."""
    (_, column), axis = node.matrix_axes, node.root_axis
    other = Axis("other", axis.size)
    (row,) = values.axes
    entries = renamed(turned.entries, turned.column, column)
    positive, size = largest(entries, column), largest(absolute(entries), column)
    length = sqrt(maximum(values, 0.0)) * choose(positive - size, -1.0, 1.0)
    lengths = entries * renamed(length, row, turned.row)
    beyond = renamed(values, row, other)
    tie = table(np.tri(axis.size, k=-1), row, other)
    before = choose(values - beyond, 1.0, choose(beyond - values, 0.0, tie))
    place = renamed(total(before, other), row, turned.row)
    there = choose(absolute(place - table(np.arange(axis.size), axis)) - 0.5, 1.0, 0.0)
    return total(lengths * there, turned.row)
