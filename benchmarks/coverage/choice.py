"""A model as one would choose it: that under which rows left out are most probable.

First the functions and the scale of the target, under Gaussian noise: linear, Gaussian kernels of
the default width, twice and four times that, or both together; y, or its logarithm where all
targets are positive. Then for those the noise, Gaussian or Student-t, and whether a function for
each query joins (`augment`). Left out are folds of the training rows; test rows play no part.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GridSearchCV

from benchmarks.coverage.intervals import Array, Ends, at_levels
from benchmarks.staged import Split
from relvec import RVR, log_density
from relvec._assess.conformal import CalibratedRegressor

#: Factors of gamma="scale".
FACTORS = [1, 1 / 4, 1 / 16]
NOISE = {"likelihood": ["gaussian", "student_t"]}
Folds = Sequence[tuple[np.ndarray, np.ndarray]]


class Choice(NamedTuple):
    """Parameters, and whether the logarithm of the target is fitted."""

    parameters: dict[str, Any]
    logarithm: bool

    def fit(self, split: Split) -> RVR:
        return RVR(**self.parameters).fit(split.X_train, self.target(split.y_train))

    def target(self, y: Array) -> Array:
        return np.log(y) if self.logarithm else y

    def ends(self, model: RVR | CalibratedRegressor, X: Array) -> Ends:
        """Intervals of the target itself."""
        found = at_levels(model.predict_interval, X)
        return np.exp(found) if self.logarithm else found

    def slope(self, y: Array) -> Array:
        """Logarithm of how fast the fitted target goes with y: what densities of y have more."""
        return -np.log(y) if self.logarithm else np.zeros_like(y)


def searched(
    split: Split, logarithm: bool, grid: Any, folds: Folds, **given: Any
) -> tuple[float, Choice]:
    """The best of a grid: mean log density of y in nats a row, and what has it."""
    choice = Choice(given, logarithm)
    search = GridSearchCV(
        RVR(**given), grid, scoring=log_density, cv=folds, refit=False, error_score="raise"
    )
    search.fit(split.X_train, choice.target(split.y_train))
    slopes = [choice.slope(split.y_train[left_out]).mean() for _, left_out in folds]
    best = choice._replace(parameters=given | search.best_params_)
    return float(search.best_score_ + np.mean(slopes)), best


def choose(split: Split, folds: Folds) -> Choice:
    """Choose by the training rows alone."""
    n_inputs = split.X_train.shape[1]
    kernels = [
        {"kernel": ["linear"]},
        {
            "kernel": ["rbf", ["linear", "rbf"]],
            "gamma": [factor / n_inputs for factor in FACTORS],  # inputs have variance 1
        },
    ]
    scales = [False, True] if split.y_train.min() > 0 else [False]
    found = [searched(split, logarithm, kernels, folds) for logarithm in scales]
    _, first = max(found, key=lambda each: each[0])
    local = "gamma" in first.parameters
    grid = NOISE | {"augment": [False, True]} if local else NOISE
    return searched(split, first.logarithm, grid, folds, **first.parameters)[1]
