"""What is compared: how each method is made, fitted and asked for means and intervals."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold, cross_val_predict, train_test_split

from benchmarks.scales.gaussian_process import gaussian_process
from benchmarks.staged import Split
from relvec import RVR, EffectsRegressor

Array = NDArray[np.float64]

LEVELS = (0.5, 0.95)
#: Folds that tell the noise of a method that predicts means alone, and the bags of a fit of EBM in
#: these, of 14 otherwise.
N_FOLDS, FEWER_BAGS = 5, 2
#: Trees of NGBoost at most, as in its paper, and for how many the rows left out may do no better.
MOST_TREES, PATIENCE = 2000, 50
#: Rows at most that the Gaussian process is fitted to, and rows that MAPIE is asked for at a time,
#: as it holds every training row for each of them.
PROCESS_ROWS, BLOCK = 1500, 500


class Answer(NamedTuple):
    """Of n rows: means, the standard deviations of normal densities where there are some, and ends
    of the intervals of every level, of shape (n_levels, 2, n).
    """

    mean: Array
    std: Array | None
    ends: Array


def normal(mean: Array, std: Array) -> Answer:
    return Answer(mean, std, np.array([norm(mean, std).interval(level) for level in LEVELS]))


def error_bars(model: Any, X: Array) -> Answer:
    return normal(*model.predict(X, return_std=True))


class Method(NamedTuple):
    """A line of the table. `make` may read the training rows of the split, and is not timed."""

    label: str
    make: Callable[[Split], Any]
    kept: Callable[[Any], int] | None = None
    answer: Callable[[Any, Array], Answer] = error_bars
    package: str = "relvec"
    most: int | None = None

    def missing(self) -> bool:
        return find_spec(self.package) is None


class ConstantNoise(RegressorMixin, BaseEstimator):
    """A regressor of means, with normal errors of the same standard deviation everywhere."""

    def __init__(self, regressor: Any, std: float) -> None:
        self.regressor = regressor
        self.std = std

    def fit(self, X: Array, y: Array) -> "ConstantNoise":
        self.regressor_ = clone(self.regressor).fit(X, y)
        return self

    def predict(self, X: Array, return_std: bool = False) -> Any:
        mean = self.regressor_.predict(X)
        return (mean, np.full(len(mean), self.std)) if return_std else mean


class Conformal(RegressorMixin, BaseEstimator):
    """Intervals by MAPIE, from residuals of a regressor in folds."""

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def fit(self, X: Array, y: Array) -> "Conformal":
        from mapie.regression import CrossConformalRegressor

        machine = CrossConformalRegressor(self.regressor, confidence_level=LEVELS, cv=folds())
        self.machine_ = machine.fit_conformalize(X, y)
        return self

    def answer(self, X: Array) -> Answer:
        blocks = np.array_split(X, -(-len(X) // BLOCK))
        parts = [self.machine_.predict_interval(block) for block in blocks]
        mean, ends = (np.concatenate(each) for each in zip(*parts, strict=True))
        return Answer(mean, None, ends.transpose(2, 1, 0))


def folds() -> KFold:
    return KFold(N_FOLDS, shuffle=True, random_state=0)


def residual_std(regressor: Any, split: Split) -> float:
    """Root mean square of the residuals of training rows, each predicted without its fold."""
    predicted = cross_val_predict(regressor, split.X_train, split.y_train, cv=folds())
    return float(np.sqrt(np.mean((split.y_train - predicted) ** 2)))


def additive(split: Split) -> ConstantNoise:
    from interpret.glassbox import ExplainableBoostingRegressor

    machine = ExplainableBoostingRegressor(n_jobs=1, random_state=0)
    fewer = clone(machine).set_params(outer_bags=FEWER_BAGS)
    return ConstantNoise(machine, residual_std(fewer, split))


def natural_gradients(split: Split) -> Any:
    """As many trees as do best on a fifth of the training rows, which then join the others."""
    from ngboost import NGBRegressor

    parts = train_test_split(split.X_train, split.y_train, test_size=0.2, random_state=0)
    X, X_left, y, y_left = parts
    machine = NGBRegressor(n_estimators=MOST_TREES, verbose=False, random_state=0)
    machine.fit(X, y, X_val=X_left, Y_val=y_left, early_stopping_rounds=PATIENCE)
    return clone(machine).set_params(n_estimators=machine.best_val_loss_itr + 1)


def boosted_density(model: Any, X: Array) -> Answer:
    density = model.pred_dist(X).params
    return normal(density["loc"], density["scale"])


def process(_: Split) -> Any:
    return gaussian_process(n_widths=1).set_params(n_restarts_optimizer=0)


def functions(model: RVR) -> int:
    return len(model.relevance_)


def terms(model: EffectsRegressor) -> int:
    return len(model.terms_)


METHODS: Mapping[str, Method] = {
    "rvr": Method("`RVR()`", lambda _: RVR(), functions),
    "ard": Method('`RVR(gamma="ard")`', lambda _: RVR(gamma="ard"), functions),
    "effects": Method("`EffectsRegressor()`", lambda _: EffectsRegressor(), terms),
    "effects-alone": Method(
        "`EffectsRegressor(remainder=None)`", lambda _: EffectsRegressor(remainder=None), terms
    ),
    "ngboost": Method("NGBoost", natural_gradients, answer=boosted_density, package="ngboost"),
    "ebm": Method(
        "EBM",
        additive,
        lambda model: len(model.regressor_.term_names_),
        package="interpret",
    ),
    "process": Method(
        "Gaussian process", process, lambda model: len(model.X_train_), most=PROCESS_ROWS
    ),
    "mapie": Method(
        "boosting, MAPIE",
        lambda _: Conformal(HistGradientBoostingRegressor(random_state=0)),
        answer=Conformal.answer,
        package="mapie",
    ),
}
