"""Types that a stored model is made of, and the names that earlier releases stored them under."""

from __future__ import annotations

from relvec import basis, likelihoods
from relvec._assess.conformal import CalibratedClassifier, CalibratedRegressor
from relvec._earlier import EARLIER_NAMES
from relvec._estimators.classification import RVC
from relvec._estimators.effects import EffectsClassifier, EffectsRegressor
from relvec._estimators.linear import SparseBayesianClassifier, SparseBayesianRegressor
from relvec._estimators.regression import RVR
from relvec._evidence.posterior import Posterior
from relvec._fitting.augmentation import Residuals
from relvec._fitting.result import FitResult, FittedOutput
from relvec._fitting.terms import Terms
from relvec._numerics.priors import Gamma
from relvec.basis.curves import Curve, Levels, Line
from relvec.basis.effects import Effect
from relvec.solvers import SOLVERS

__all__ = ["TRUSTED"]

#: Bases that hold functions of the users' own, which are code.
HOLD_CODE = (basis.CallableKernel, basis.FunctionColumns)

STORED = [
    *(getattr(basis, name) for name in basis.__all__ if isinstance(getattr(basis, name), type)),
    *(
        kind
        for kind in vars(likelihoods).values()
        if isinstance(kind, type) and issubclass(kind, likelihoods.Likelihood)
    ),
    *SOLVERS.values(),
    CalibratedClassifier,
    CalibratedRegressor,
    Curve,
    Effect,
    EffectsClassifier,
    EffectsRegressor,
    FitResult,
    FittedOutput,
    Gamma,
    Levels,
    Line,
    Posterior,
    RVC,
    RVR,
    Residuals,
    SparseBayesianClassifier,
    SparseBayesianRegressor,
    Terms,
]

#: Names of the types that `skops.io.load` has to trust to read any model of this package. None of
#: them runs code that is in the file; a function of the users' own has to be trusted by its name.
TRUSTED = sorted(
    f"{kind.__module__}.{kind.__qualname__}"
    for kind in STORED
    if not (getattr(kind, "__abstractmethods__", None) or kind in HOLD_CODE)
) + sorted(EARLIER_NAMES)
