"""Bases: the candidate functions φ(x) that a model may use."""

from relvec.basis import combine
from relvec.basis.base import Basis, Centers
from relvec.basis.combine import Concatenate, Group
from relvec.basis.effects import Effects
from relvec.basis.functions import Bias, Columns, Precomputed
from relvec.basis.kernel import Kernel, Product, ScaledKernel, Sum
from relvec.basis.kernels import (
    RBF,
    CallableKernel,
    Laplacian,
    LinearKernel,
    LinearSpline,
    PolynomialKernel,
    Sigmoid,
)
from relvec.basis.process import Process
from relvec.basis.terms import Fourier, FunctionColumns, Polynomial

#: Names that an estimator's ``kernel`` takes.
KERNELS: dict[str, type[Basis]] = {
    "rbf": RBF,
    "laplacian": Laplacian,
    "linear": LinearKernel,
    "poly": PolynomialKernel,
    "sigmoid": Sigmoid,
    "linear_spline": LinearSpline,
    "effects": Effects,
    "precomputed": Precomputed,
}

__all__ = [
    "KERNELS",
    "RBF",
    "Basis",
    "Bias",
    "CallableKernel",
    "Centers",
    "Columns",
    "Concatenate",
    "Effects",
    "Fourier",
    "FunctionColumns",
    "Group",
    "Kernel",
    "Laplacian",
    "LinearKernel",
    "LinearSpline",
    "Polynomial",
    "PolynomialKernel",
    "Precomputed",
    "Process",
    "Product",
    "ScaledKernel",
    "Sigmoid",
    "Sum",
]

# Models of release 0.1.0 are stored with these as types of another module.
for _kind in (Product, Sum):
    setattr(combine, _kind.__name__, _kind)
