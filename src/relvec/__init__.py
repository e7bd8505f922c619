"""relvec: relevance vector machines and sparse Bayesian learning.

A model y(x) = Σ w_m φ_m(x) + w_0 keeps a handful of basis functions, with error bars, and nothing
is cross-validated but the kernel. The package, from what users meet to what everything stands on:

- ``_estimators``  scikit-learn's face; all user input is checked here
- ``_fitting``     one pipeline from training data to a fit result: centres, scales, prediction
- ``solvers``      the search for the maximum of the evidence
- ``_runner``      what goes on beside a search: history, callbacks, checkpoints, Ctrl-C
- ``_evidence``    posterior of the weights and evidence at given hyperparameters
- ``likelihoods``  p(t | y)
- ``_design``      the design matrix Φ as an operator
- ``basis``        x → φ(x): kernels, columns, terms, several together
- ``_numerics``    linear algebra, limits of float64, checks of arguments
- ``_files``       files that are written whole

Beside them, on public names only: ``_assess`` (compare, diagnose, calibrate, score), ``display``,
``export``, ``datasets``, ``rows``, ``storage`` and the command line, ``_commands``.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from relvec._earlier import register

if TYPE_CHECKING:
    from relvec import basis, storage
    from relvec._assess.compare import compare
    from relvec._assess.conformal import calibrate
    from relvec._assess.diagnose import diagnose
    from relvec._assess.importance import effects, importance
    from relvec._assess.overview import summary
    from relvec._assess.predictions import predict, predict_interval, predict_log_density
    from relvec._assess.scoring import log_density
    from relvec._estimators.classification import RVC
    from relvec._estimators.effects import EffectsClassifier, EffectsRegressor
    from relvec._estimators.linear import SparseBayesianClassifier, SparseBayesianRegressor
    from relvec._estimators.regression import RVR
    from relvec.storage import load, save

__version__ = version("relvec")

__all__ = [
    "RVC",
    "RVR",
    "EffectsClassifier",
    "EffectsRegressor",
    "SparseBayesianClassifier",
    "SparseBayesianRegressor",
    "__version__",
    "basis",
    "calibrate",
    "compare",
    "diagnose",
    "effects",
    "importance",
    "load",
    "log_density",
    "predict",
    "predict_interval",
    "predict_log_density",
    "save",
    "storage",
    "summary",
]

#: Module of each name that is imported once it is asked for, which takes a second.
_MODULES = {
    "RVC": "_estimators.classification",
    "RVR": "_estimators.regression",
    "EffectsClassifier": "_estimators.effects",
    "EffectsRegressor": "_estimators.effects",
    "SparseBayesianClassifier": "_estimators.linear",
    "SparseBayesianRegressor": "_estimators.linear",
    "calibrate": "_assess.conformal",
    "compare": "_assess.compare",
    "diagnose": "_assess.diagnose",
    "effects": "_assess.importance",
    "importance": "_assess.importance",
    "load": "storage",
    "log_density": "_assess.scoring",
    "predict": "_assess.predictions",
    "predict_interval": "_assess.predictions",
    "predict_log_density": "_assess.predictions",
    "save": "storage",
    "summary": "_assess.overview",
}
_PUBLIC_MODULES = {
    *("basis", "datasets", "display", "exceptions", "export"),
    *("likelihoods", "rows", "solvers", "storage"),
}


def __getattr__(name: str) -> Any:
    """Import a public name once it is asked for."""
    if name in _MODULES:
        found = getattr(import_module(f"relvec.{_MODULES[name]}"), name)
    elif name in _PUBLIC_MODULES:
        found = import_module(f"relvec.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the names of the module, those not yet imported among them."""
    return sorted({*globals(), *__all__})


register()
