"""Any estimator, likelihood, container and option, on numbers of any size: finite, or refused."""

from contextlib import nullcontext

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
from hypothesis import given
from numpy.random import RandomState

from relvec import (
    RVC,
    RVR,
    EffectsClassifier,
    EffectsRegressor,
    SparseBayesianClassifier,
    SparseBayesianRegressor,
)
from relvec.basis import KERNELS as NAMES
from relvec.basis import (
    RBF,
    Bias,
    Columns,
    Fourier,
    Group,
    Laplacian,
    LinearKernel,
    Polynomial,
    Process,
)
from tests.properties.contract import outcome
from tests.properties.data import KINDS, TARGETS, weights

#: Powers of ten that X and y are multiplied by.
powers = st.sampled_from([0, 0, -300, 300, -200, 200]) | st.floats(-308, 308)
CONTAINERS = {
    "array": np.asarray,
    "columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "int64": lambda X: X.astype(np.int64),
    "objects": lambda X: X.astype(object),
    "list": lambda X: X.tolist(),
    "masked": np.ma.masked_array,
    "every second": lambda X: np.repeat(X, 2, axis=0)[::2],
    "pandas": lambda X: pd.DataFrame(X, columns=[f"x{d}" for d in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame(X, schema=[f"x{d}" for d in range(X.shape[1])]),
}
OPTIONS = {
    "fit_intercept": [True, False],
    "max_iter": [1, 3, 30],
    "tol": [1e-6, 0.03, 1.0],
    "solver": ["sequential", "sequential", "fixed_point", "em", "variational"],
    "alpha_prior": [(0.0, 0.0), (0.0, 0.0), (1e-3, 1e-3), (2.0, 1e3)],
    "memory_limit": [1.0, 1e9],
    "remainder": [None, None, "process", RBF(), Process(Laplacian("scale"), n_centers=3)],
    "n_starts": [1, 2],
}
OF_KERNELS = {
    "kernel": [
        *(name for name in NAMES if name != "precomputed"),
        [Bias(), Columns(), "rbf"],
        [Polynomial(degree=2), Fourier(harmonics=1)],
        Group(Polynomial(degree=2)),
        RBF("scale") * Laplacian("scale"),
        RBF("ard") + LinearKernel(),
    ],
    "gamma": ["scale", "auto", "evidence", "ard", 1e-300, 1e-3, 1e6, 1e300],
    "coef0": [0.0, 1.0],
    "centers": [None, None, 1, 4],
    "augment": [False, False, True],
}
OF_REGRESSION = {
    "likelihood": ["gaussian", "gaussian", "student_t", "poisson", "negative_binomial"],
    "multi_output": ["shared", "independent"],
    "noise_variance": [None, None, None, 1e-30, 1.0, 1e30],
    "beta_prior": [(0.0, 0.0), (0.0, 0.0), (1.0, 1e-3)],
}
OF_CLASSES = {
    "multi_class": ["multinomial", "ovr"],
    "proba": ["integrated", "mode"],
    "class_weight": [None, "balanced"],
}
EFFECTS = {"interactions": [None, "auto"], "max_iter": [1, 30], "remainder": [None, "process"]}
REGRESSORS = {
    RVR: OPTIONS | OF_KERNELS | OF_REGRESSION,
    SparseBayesianRegressor: OPTIONS | OF_REGRESSION,
    EffectsRegressor: EFFECTS | {"likelihood": OF_REGRESSION["likelihood"]},
}
CLASSIFIERS = {
    RVC: OPTIONS | OF_KERNELS | OF_CLASSES,
    SparseBayesianClassifier: OPTIONS | OF_CLASSES,
    EffectsClassifier: EFFECTS | {"class_weight": OF_CLASSES["class_weight"]},
}


@st.composite
def models(draw, menu):
    """An estimator with a few of its parameters at other values than by default."""
    estimator = draw(st.sampled_from([each for each in menu for _ in menu[each]]))
    names = draw(st.lists(st.sampled_from(sorted(menu[estimator])), max_size=6, unique=True))
    return estimator(**{name: draw(st.sampled_from(menu[estimator][name])) for name in names})


@st.composite
def inputs(draw):
    """Rows of one kind and size in some container, the rows as float64, and queries."""
    random = RandomState(draw(st.integers(0, 2**31)))
    n, d = draw(st.integers(2, 10)), draw(st.integers(1, 3))
    scale = 10.0 ** draw(powers)
    X = KINDS[draw(st.sampled_from(list(KINDS)))](random, n, d)
    copies = draw(st.sampled_from([1, 1, 1, 5]))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        X = np.repeat(np.clip(X * scale, -1e308, 1e308), copies, axis=0)
        queries = np.vstack([X[:3], X[:1] + scale * random.standard_normal((2, d))])
        contain = CONTAINERS[draw(st.sampled_from(list(CONTAINERS)))]
        return contain(X), X, contain(np.clip(queries, -1e308, 1e308)), random


def copies_of(draw, X):
    """Weights of the rows, mostly none."""
    return draw(weights(len(X)) if draw(st.sampled_from([False] * 4 + [True])) else st.none())


def caller(errors):
    """What a caller has NumPy do of floating-point errors."""
    return np.errstate(all=errors) if errors else nullcontext()


def values(draw, X, random, model):
    """A target of numbers, or counts, of any size."""
    spread = np.ptp(X[:, 0] / 2) or 1.0
    y = TARGETS[draw(st.sampled_from(list(TARGETS)))](random, X[:, 0] / 2 / spread)
    with np.errstate(over="ignore", under="ignore"):
        y = np.clip(y * 10.0 ** draw(powers), -1e308, 1e308)
    counts = model.get_params().get("likelihood") in ("poisson", "negative_binomial")
    if counts and draw(st.sampled_from([True] * 3 + [False])):
        y = np.floor(np.abs(y))
    return y if draw(st.sampled_from([True, True, False])) else np.column_stack([y, y[::-1], 0 * y])


@given(inputs(), models(REGRESSORS), st.data(), st.sampled_from([None, "raise"]))
def test_regression(rows, model, choose, errors):
    given, X, queries, random = rows
    y = values(choose.draw, X, random, model)
    arguments = {"sample_weight": copies_of(choose.draw, X)}
    if choose.draw(st.sampled_from([False] * 4 + [True])):
        power = 10.0 ** choose.draw(powers)
        arguments["noise_variance_per_row"] = power * random.uniform(0.5, 2.0, len(X))
    with caller(errors):
        outcome(model, given, y, queries, everything=True, **arguments)


@given(inputs(), models(CLASSIFIERS), st.data(), st.sampled_from([None, "raise"]))
def test_classification(rows, model, choose, errors):
    given, X, queries, random = rows
    n_classes = choose.draw(st.integers(2, 4))
    y = random.randint(0, n_classes, len(X))
    weight = copies_of(choose.draw, X)
    with caller(errors):
        outcome(model, given, y, queries, everything=True, sample_weight=weight)
