"""Bases: the candidate functions φ(x) that a model may use."""

from relvec.basis import combine
from relvec.basis.base import Basis, Centers
from relvec.basis.combine import Concatenate, Group
from relvec.basis.discrete import CategoricalKernel, Hamming, Tanimoto
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
from relvec.basis.processes import Processes
from relvec.basis.stationary import Matern32, Matern52, Periodic, RationalQuadratic
from relvec.basis.terms import Fourier, FunctionColumns, Polynomial

#: Names that an estimator's ``kernel`` takes.
KERNELS: dict[str, type[Basis]] = {
    "rbf": RBF,
    "matern32": Matern32,
    "matern52": Matern52,
    "rational_quadratic": RationalQuadratic,
    "laplacian": Laplacian,
    "linear": LinearKernel,
    "poly": PolynomialKernel,
    "sigmoid": Sigmoid,
    "linear_spline": LinearSpline,
    "tanimoto": Tanimoto,
    "hamming": Hamming,
    "categorical": CategoricalKernel,
    "effects": Effects,
    "processes": Processes,
    "precomputed": Precomputed,
}

__all__ = [
    "KERNELS",
    "RBF",
    "Basis",
    "Bias",
    "CallableKernel",
    "CategoricalKernel",
    "Centers",
    "Columns",
    "Concatenate",
    "Effects",
    "Fourier",
    "FunctionColumns",
    "Group",
    "Hamming",
    "Kernel",
    "Laplacian",
    "LinearKernel",
    "LinearSpline",
    "Matern32",
    "Matern52",
    "Periodic",
    "Polynomial",
    "PolynomialKernel",
    "Precomputed",
    "Process",
    "Processes",
    "Product",
    "RationalQuadratic",
    "ScaledKernel",
    "Sigmoid",
    "Sum",
    "Tanimoto",
]

# Models of release 0.1.0 are stored with these as types of another module.
for _kind in (Product, Sum):
    setattr(combine, _kind.__name__, _kind)
