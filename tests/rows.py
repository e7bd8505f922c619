"""The row that every basis, likelihood and solver has in the contract tests."""

import numpy as np

from relvec.basis import (
    RBF,
    Bias,
    CallableKernel,
    Columns,
    Concatenate,
    Laplacian,
    LinearKernel,
    LinearSpline,
    PolynomialKernel,
    Precomputed,
    Sigmoid,
)
from relvec.likelihoods import Bernoulli, Categorical, Gaussian, Poisson
from relvec.solvers import Sequential


def cauchy(X, Z):
    return 1 / (1 + ((X[:, None] - Z) ** 2).sum(axis=-1))


BASES = [
    Bias(),
    Columns(),
    RBF(gamma=0.4),
    Laplacian(gamma=0.3),
    LinearKernel(),
    PolynomialKernel(degree=2, gamma=0.5, coef0=1.0),
    Sigmoid(gamma=0.2, coef0=-0.5),
    LinearSpline(),
    CallableKernel(cauchy),
    Precomputed(),
    Concatenate([Bias(), Columns(), RBF(gamma=np.array([0.1, 0.0, 0.2, 0.3, 0.4, 0.5]))]),
]
LIKELIHOODS = [Gaussian(0.3), Bernoulli(), Categorical(4), Poisson()]
SOLVERS = [Sequential()]


def name_of(row):
    return type(row).__name__
