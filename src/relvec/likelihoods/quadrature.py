"""Expectations over a normal linear predictor, and quantiles of the mixtures that they make."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial.hermite_e import hermegauss, hermevander
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp
from sklearn.utils import gen_batches

from relvec._numerics.typing import Array, Index

#: Nodes of the trapezium rule lie up to so many standard deviations from the mean, beyond which
#: float64 has no normal density. There are so many of them, at first and at most.
REACH, FIRST, MOST = 37.0, 297, 200_000
#: Rows are done whose value the same rule with every second node has to so many digits: beyond a
#: few, each halving of the step doubles the number of digits at least.
CLOSE = 1e-7
#: Values of a function held at a time.
ENTRIES = 1 << 20
#: Nodes of the Gauss-Hermite rule, and Hermite polynomials, that covariances are expanded in.
HERMITE_NODES, HERMITE_DEGREE = 96, 48


def expectation(
    function: Callable[..., Array],
    mean: Array,
    variance: Array,
    *given: Array,
    log: bool = False,
) -> Array:
    """Expectation of a function of y ~ N(mean, variance) in every row.

    The trapezium rule converges exponentially for analytic functions; steps are halved, row by row,
    until it has.

    Parameters
    ----------
    function : callable
        Takes y (n, k) and what is `given` of the same rows, returns values (n, k).
    mean, variance : ndarray of shape (n, 1)
    *given : ndarray of shape (n, 1)
    log : bool
        The function is the logarithm of what is averaged, and so is the result.

    Returns
    -------
    expectation : ndarray of shape (n, 1)
    """
    found, left, n_nodes = np.empty(mean.shape), np.arange(len(mean)), FIRST
    average = _log_average if log else _average
    while len(left):
        if n_nodes > MOST:
            raise ArithmeticError(
                f"quadrature over the linear predictor needs more than {MOST} nodes, where its "
                f"standard deviation is {np.sqrt(variance[left].max()):.3g}; give the likelihood "
                "a closed form"
            )
        z, undecided = np.linspace(-REACH, REACH, n_nodes), list[Index]()
        for block in gen_batches(len(left), max(1, ENTRIES // n_nodes)):
            rows = left[block]
            y = mean[rows] + np.sqrt(variance[rows]) * z
            values = function(y, *(vector[rows] for vector in given))
            found[rows, 0], apart = average(values, -0.5 * z**2)
            undecided.append(rows[~(apart <= CLOSE)])
        left, n_nodes = np.concatenate(undecided), 2 * n_nodes - 1
    return found


def _average(values: Array, log_weight: Array) -> tuple[Array, Array]:
    """Average of values (n, k), and its relative distance from that over every second node."""
    weight = np.exp(log_weight)
    fine = values @ weight / weight.sum()
    coarse = values[:, ::2] @ weight[::2] / weight[::2].sum()
    size = np.abs(values) @ weight / weight.sum()
    return fine, np.abs(fine - coarse) / np.where(size > 0, size, 1.0)


def _log_average(values: Array, log_weight: Array) -> tuple[Array, Array]:
    """The same of exponentials, in logarithms."""
    fine, coarse = (
        logsumexp(values[:, ::step] + log_weight[::step], axis=1) - logsumexp(log_weight[::step])
        for step in (1, 2)
    )
    # Of a logarithm the distance is relative; both are −∞ where float64 has no density.
    return fine, np.where(fine == coarse, 0.0, np.abs(np.where(fine == coarse, 0, fine) - coarse))


def covariances(function: Callable[[Array], Array], mean: Array, covariance: Array) -> Array:
    """Covariances of f(y_i) and f(y_j) for jointly normal y, by Mehler's formula.

    With the Hermite coefficients c_ik = E[f(y_i) He_k(z_i)]/√k! and correlations ρ, the covariance
    is Σ_k≥1 c_ik c_jk ρ_ij^k.

    Parameters
    ----------
    function : callable
        Takes y (n, k) to values (n, k).
    mean : ndarray of shape (n,)
    covariance : ndarray of shape (n, n)
    """
    std = np.sqrt(covariance.diagonal())
    z, weight = hermegauss(HERMITE_NODES)
    degrees = np.arange(HERMITE_DEGREE + 1)
    polynomials = hermevander(z, HERMITE_DEGREE) * np.exp(-0.5 * gammaln(degrees + 1))
    values = function(mean[:, None] + np.multiply.outer(std, z))
    coefficients = values @ (polynomials * (weight / weight.sum())[:, None])
    unit = np.where(std > 0, std, 1.0)
    correlation = covariance / np.multiply.outer(unit, unit)
    joint, power = np.zeros_like(covariance), np.ones_like(covariance)
    for column in coefficients.T[1:]:
        power = power * correlation
        joint += np.multiply.outer(column, column) * power
    return joint


def least(
    holds: Callable[[Array], NDArray[np.bool_]], below: Array, upper: Array, *, integer: bool
) -> Array:
    """Least value above `below` for which something holds that holds for all above it.

    It holds for `upper`. By bisection, between integers or to the last digit.
    """
    lower = below
    while True:
        middle = lower + 0.5 * (upper - lower)
        middle = np.floor(middle) if integer else middle
        inside = (lower < middle) & (middle < upper)
        if not inside.any():
            return upper
        found = holds(middle)
        upper = np.where(inside & found, middle, upper)
        lower = np.where(inside & ~found, middle, lower)
