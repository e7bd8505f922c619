"""What type checkers tell users of the estimators' answers; `make lint` checks this file."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor
from relvec._assess.findings import Diagnosis

Array = NDArray[np.float64]


def answers_of_regressors(model: RVR | SparseBayesianRegressor, X: Array, y: Array) -> None:
    """One array, or two where both are asked for."""
    assert_type(model.predict(X), Array)
    assert_type(model.predict(X, return_std=True), tuple[Array, Array])
    assert_type(model.predict(X, return_cov=True), tuple[Array, Array])
    assert_type(model.predict_latent(X), Array)
    assert_type(model.predict_latent(X, return_std=True), tuple[Array, Array])
    assert_type(model.predict_interval(X, coverage=0.8), tuple[Array, Array])
    assert_type(model.predict_log_density(X, y), Array)
    assert_type(model.sample_y(X), Array)
    assert_type(model.log_evidence(X, y), float)
    assert_type(model.diagnose(X, y), Diagnosis)


def answers_of_classifiers(model: RVC | SparseBayesianClassifier, X: Array) -> None:
    """Arrays of labels have the type of the labels."""
    assert_type(model.predict_proba(X), Array)
    assert_type(model.decision_function(X), Array)
    assert_type(model.predict(X), NDArray[Any])


def fits_are_what_they_were(X: Array, y: Array) -> None:
    """A fit returns the estimator itself."""
    assert_type(RVR(gamma=0.1).fit(X, y, sample_weight=y), RVR)
    assert_type(RVC().fit(X, y), RVC)
