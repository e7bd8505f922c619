"""The row that every basis, likelihood and solver has in the contract tests."""

import inspect

import numpy as np

from relvec.basis import (
    RBF,
    Bias,
    CallableKernel,
    CategoricalKernel,
    Columns,
    Concatenate,
    Effects,
    Fourier,
    FunctionColumns,
    Group,
    Hamming,
    Laplacian,
    LinearKernel,
    LinearSpline,
    Matern32,
    Matern52,
    Periodic,
    Polynomial,
    PolynomialKernel,
    Precomputed,
    Process,
    Processes,
    Product,
    RationalQuadratic,
    Sigmoid,
    Sum,
    Tanimoto,
)
from relvec.basis.curves import Curve, Line
from relvec.basis.effects import Effect
from relvec.likelihoods import (
    Bernoulli,
    Categorical,
    Gaussian,
    NegativeBinomial,
    Poisson,
    StudentT,
)
from relvec.likelihoods.bernoulli import ExpectedLogistic, LogisticBound
from relvec.likelihoods.chi_squared import ChiSquared
from relvec.solvers import EM, FixedPoint, Sequential, Variational


class Named:
    """A function of the users' own whose name has no address in it, the same in every process."""

    def __repr__(self):
        return self.__name__


class Cauchy(Named):
    __name__ = "cauchy"

    def __call__(self, X, Z):
        return 1 / (1 + ((X[:, None] - Z) ** 2).sum(axis=-1))


class SquaresAndSums(Named):
    __name__ = "squares_and_sums"

    def __call__(self, X):
        return np.hstack([X**2, X.sum(axis=1, keepdims=True)])


cauchy, squares_and_sums = Cauchy(), SquaresAndSums()

BASES = [
    Bias(),
    Columns(),
    RBF(gamma=0.4),
    Laplacian(gamma=0.3),
    LinearKernel(),
    PolynomialKernel(degree=2, gamma=0.5, coef0=1.0),
    Sigmoid(gamma=0.2, coef0=-0.5),
    LinearSpline(),
    Matern32(gamma=0.4),
    Matern52(gamma=np.array([0.1, 0.0, 0.2, 0.3, 0.4, 0.5])),
    RationalQuadratic(alpha=0.7, gamma=0.4),
    Periodic(3.0, gamma=0.3, learn_period=False),
    Tanimoto(),
    Hamming(),
    CategoricalKernel(gamma=0.3),
    CallableKernel(cauchy),
    Precomputed(),
    Concatenate([Bias(), Columns(), RBF(gamma=np.array([0.1, 0.0, 0.2, 0.3, 0.4, 0.5]))]),
    Columns(["a", "b", "a", "a", "c", "b"]),
    Group(RBF(gamma=0.4)),
    Concatenate([Columns(), Group(Fourier(harmonics=2))]),
    Sum([RBF(gamma=0.4), LinearKernel()]),
    Product([Laplacian(gamma=0.3), Sum([PolynomialKernel(gamma=0.1), CallableKernel(cauchy)])]),
    Polynomial(degree=3),
    Fourier(harmonics=2),
    FunctionColumns(squares_and_sums),
    Effect([Line(0, 0.1, 1.5), Curve.of(1, np.linspace(-1, 1, 9), None, 3, 1.0)]),
    Effects(knots=4, pair_knots=3),
    Process(RBF(gamma=0.4), 6),
    Processes(0.8, 8),
]
LIKELIHOODS = [
    Gaussian(0.3),
    Bernoulli(),
    LogisticBound(),
    ExpectedLogistic(),
    Categorical(4),
    Poisson(),
    NegativeBinomial(0.4),
    StudentT(0.3, 7.0),
    ChiSquared(),
]
SOLVERS = [Sequential(), FixedPoint(), EM(max_iter=20_000), Variational(max_iter=20_000)]


def name_of(row):
    return type(row).__name__


def concrete(base):
    """Subclasses of any depth that the package defines and that can be made."""
    for cls in base.__subclasses__():
        if cls.__module__.startswith("relvec.") and not inspect.isabstract(cls):
            yield cls
        yield from concrete(cls)
