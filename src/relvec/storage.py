"""Which types a stored model is made of."""

from __future__ import annotations

from relvec import (
    augmentation,
    basis,
    classification,
    hyperpriors,
    likelihoods,
    linear,
    posterior,
    regression,
)
from relvec._machine import Machine

__all__ = ["TRUSTED"]

#: Bases that hold functions of the users' own, which are code.
HOLD_CODE = (basis.CallableKernel, basis.FunctionColumns)

STORED = [
    *(getattr(basis, name) for name in basis.__all__ if isinstance(getattr(basis, name), type)),
    *(getattr(likelihoods, name) for name in likelihoods.__all__),
    Machine,
    augmentation.Residuals,
    classification.RVC,
    hyperpriors.Gamma,
    linear.SparseBayesianClassifier,
    linear.SparseBayesianRegressor,
    posterior.Posterior,
    regression.RVR,
]

#: Types of calibrated models, whose module needs MAPIE.
CALIBRATED = ["relvec.conformal.CalibratedClassifier", "relvec.conformal.CalibratedRegressor"]

#: Names of the types that `skops.io.load` has to trust to read any model of this package. None of
#: them runs code that is in the file; a function of the users' own has to be trusted by its name.
TRUSTED = CALIBRATED + sorted(
    f"{kind.__module__}.{kind.__qualname__}"
    for kind in STORED
    if not (getattr(kind, "__abstractmethods__", None) or kind in HOLD_CODE)
)
