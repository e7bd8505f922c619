"""Names that earlier releases stored types under, by which `pickle` and `skops` find them."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

#: Present names of types by the names that release 0.1.0 stored them under. `relvec.basis` gives
#: those of its own to their earlier module.
EARLIER_NAMES = {
    "relvec._machine.Machine": "relvec._fitting.result.FittedOutput",
    "relvec.augmentation.Residuals": "relvec._fitting.augmentation.Residuals",
    "relvec.basis.combine.Product": "relvec.basis.kernel.Product",
    "relvec.basis.combine.Sum": "relvec.basis.kernel.Sum",
    "relvec.classification.RVC": "relvec._estimators.classification.RVC",
    "relvec.conformal.CalibratedClassifier": "relvec._assess.conformal.CalibratedClassifier",
    "relvec.conformal.CalibratedRegressor": "relvec._assess.conformal.CalibratedRegressor",
    "relvec.hyperpriors.Gamma": "relvec._numerics.priors.Gamma",
    "relvec.linear.SparseBayesianClassifier": "relvec._estimators.linear.SparseBayesianClassifier",
    "relvec.linear.SparseBayesianRegressor": "relvec._estimators.linear.SparseBayesianRegressor",
    "relvec.posterior.Posterior": "relvec._evidence.posterior.Posterior",
    "relvec.regression.RVR": "relvec._estimators.regression.RVR",
}


class EarlierModule(ModuleType):
    """A module of an earlier release, which imports a type once it is asked for."""

    def __getattr__(self, name: str) -> Any:
        path = EARLIER_NAMES.get(f"{self.__name__}.{name}")
        if path is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module, _, present = path.rpartition(".")
        return getattr(import_module(module), present)


def register() -> None:
    """Have Python find the modules of earlier releases that are no more."""
    for path in EARLIER_NAMES:
        name = path.rpartition(".")[0]
        if not name.startswith("relvec.basis."):
            sys.modules.setdefault(name, EarlierModule(name, "Types of an earlier release."))
