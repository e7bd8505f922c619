"""Every kind of estimator, with a target of its own made from a real one."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from relvec import RVC, RVR

Array = NDArray[np.float64]


@dataclass(frozen=True)
class EstimatorCase:
    """An estimator, and the function that makes its target of a real one."""

    estimator: RVR | RVC
    target: Callable[[Array], NDArray[Any]]

    def make(self, **parameters) -> RVR | RVC:
        return clone(self.estimator).set_params(**parameters)


def counts(y: Array) -> Array:
    """Counts that rise with y, from 1 to 20."""
    return np.round(20.0 ** ((y - y.min()) / max(np.ptp(y), 1.0)))


def classes(n_classes: int) -> Callable[[Array], NDArray[Any]]:
    """As many classes of equal size, by the height of y."""
    return lambda y: np.argsort(np.argsort(y)) * n_classes // len(y)


MACHINES = {
    "regression": EstimatorCase(RVR(), lambda y: y),
    "counts": EstimatorCase(RVR(likelihood="poisson"), counts),
    "two classes": EstimatorCase(RVC(), classes(2)),
    "three classes": EstimatorCase(RVC(multi_class="multinomial"), classes(3)),
    "one against the rest": EstimatorCase(RVC(multi_class="ovr"), classes(3)),
}


def at_the_mode(model: RVC) -> RVC:
    """Return the same fit as ``proba="mode"`` has it, which changes nothing but what it answers."""
    other, parameters = copy(model), model.fit_result_.parameters | {"proba": "mode"}
    other.fit_result_ = replace(model.fit_result_, parameters=parameters)
    return other


def plug_in(model: RVR | RVC, X: Any) -> Array:
    """Expected target at the mean of the weights; the share of every class."""
    if is_classifier(model):
        return at_the_mode(model).predict_proba(X)
    latent = model.predict_latent(X)
    return np.exp(latent) if model.likelihood == "poisson" else latent


def answers(model: RVR | RVC, X: Any) -> Array:
    """All that a fitted estimator says of its targets at some rows, one column each."""
    if is_classifier(model):
        return model.predict_proba(X)
    return np.column_stack(model.predict(X, return_std=True))
