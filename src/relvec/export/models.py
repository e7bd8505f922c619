"""What can be exported: an estimator, by itself or at the end of a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relvec._assess.pipelines import estimator_of
from relvec._estimators.classifier import Classifier
from relvec._estimators.predictor import Predictor


def exported(model: Any, *, return_std: bool) -> Predictor | Classifier:
    """The estimator that a fitted model ends in, which must know what is asked for."""
    machine = estimator_of(model)
    if not isinstance(machine, Predictor | Classifier):
        raise TypeError(
            f"model is {model!r}, expected an estimator of relvec or a pipeline that ends in one"
        )
    check_is_fitted(machine)
    if not isinstance(return_std, bool | np.bool_):
        raise TypeError(f"return_std={return_std!r}, expected a bool")
    if return_std and isinstance(machine, Classifier):
        raise ValueError(
            f"return_std=True, expected False with {type(machine).__name__}, which predicts classes"
        )
    return machine
