"""relvec: relevance vector machines and sparse Bayesian learning.

A model y(x) = Σ w_m φ_m(x) + w_0 keeps a handful of basis functions, with error bars, and nothing
is cross-validated but the kernel. Where things are:

- ``regression``, ``classification``, ``linear``   the estimators `RVR` and `RVC`, and those whose
  functions are the columns of X; they assemble, through ``_fitting``, the parts below
- ``basis``        x → φ(x): kernels, columns, terms, several together
- ``design``       the matrix Φ as an operator
- ``likelihoods``  p(t | y)
- ``inference``    the posterior of the weights and the evidence: exact, or by Laplace's method
- ``solvers``      the search for the maximum of the evidence
- ``evidence``, ``gains``   its mathematics; ``posterior`` what is kept of it; ``linalg`` what it
  stands on
- ``comparison``, ``leave_one_out``, ``scoring``   models of the same data, ranked
- ``diagnosis``, ``findings``   what is wrong with a fit, in words
- ``export``       models as C and ONNX
- ``datasets``, ``display``, ``cli`` and its ``commands``
"""

from importlib.metadata import version

from relvec import basis
from relvec.classification import RVC
from relvec.comparison import compare
from relvec.linear import SparseBayesianClassifier, SparseBayesianRegressor
from relvec.regression import RVR
from relvec.scoring import log_density

__version__ = version("relvec")

__all__ = [
    "RVC",
    "RVR",
    "SparseBayesianClassifier",
    "SparseBayesianRegressor",
    "__version__",
    "basis",
    "compare",
    "log_density",
]
