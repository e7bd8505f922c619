"""Fitted models on a dozen data sets, each with the rows that its exports are compared on."""

import warnings
from functools import cache

import numpy as np
from sklearn import datasets
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from relvec import (
    RVC,
    RVR,
    EffectsClassifier,
    EffectsRegressor,
    SparseBayesianClassifier,
    SparseBayesianRegressor,
)
from relvec.basis import RBF, Bias, Fourier, LinearKernel, Polynomial
from relvec.datasets import make_friedman, make_ripley, make_sinc


def sinc():
    X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    return RVR(gamma=0.1), X, y


def far_from_zero():
    X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    return RVR(gamma=0.1), X + 1000.1, y


def diabetes():
    X, y = datasets.load_diabetes(return_X_y=True)
    return make_pipeline(StandardScaler(), RVR(gamma=0.03)), X, y


def diabetes_columns():
    X, y = datasets.load_diabetes(return_X_y=True)
    return SparseBayesianRegressor(likelihood="student_t"), X, y


def learnt_scales():
    X, y = make_friedman(1, 100, random_state=0)
    return RVR(gamma="ard"), X, y


def mixed_dictionary():
    X, y = make_friedman(2, 150, random_state=0)
    kernel = [Bias(), RBF(0.1), LinearKernel(), Polynomial(2), Fourier(2), RBF(0.2) * RBF(0.1)]
    return make_pipeline(MinMaxScaler(), RVR(kernel=kernel)), X, y


def noise_that_varies():
    rng = np.random.default_rng(1)
    X = np.sort(rng.uniform(0, 1, (200, 1)), axis=0)
    y = np.sin(6 * X[:, 0]) + (0.1 + X[:, 0]) * rng.standard_normal(200)
    return make_pipeline(StandardScaler(), RVR(gamma=1.0, noise="learnt")), X, y


def three_targets():
    X, y = datasets.load_linnerud(return_X_y=True)
    return make_pipeline(StandardScaler(), RVR()), X, y


def counts():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (150, 2))
    return RVR(likelihood="poisson"), X, rng.poisson(np.exp(1 + np.sin(X[:, 0]))).astype(float)


def counts_that_vary_more():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (150, 2))
    y = rng.poisson(np.exp(1 + np.sin(X[:, 0])) * rng.gamma(2.0, 0.5, 150)).astype(float)
    return RVR(likelihood="negative_binomial"), X, y


def effects_of_numbers_and_levels():
    X, y = make_friedman(1, 120, random_state=0)
    X[:, 3] = (5 * X[:, 3]).round()
    return EffectsRegressor(categorical=[3]), X, y


def process_of_three_targets():
    X, y = datasets.load_linnerud(return_X_y=True)
    kernel = Polynomial(1)
    return (
        make_pipeline(StandardScaler(), RVR(kernel, remainder=RBF(0.1), remainder_centers=6)),
        X,
        y,
    )


def effects_of_classes():
    X, y = datasets.load_iris(return_X_y=True)
    return EffectsClassifier(), X, y


def breast_cancer():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return make_pipeline(StandardScaler(), RVC(gamma=0.02)), X, np.where(y, "benign", "malignant")


def ripley():
    X, y = make_ripley(250, random_state=0)
    return RVC(gamma=4.0, proba="mode"), X, y


def iris():
    X, y = datasets.load_iris(return_X_y=True)
    return RVC(gamma=0.1), X, y


def iris_mode():
    X, y = datasets.load_iris(return_X_y=True)
    return RVC(gamma=0.1, proba="mode"), X, y


def wine():
    X, y = datasets.load_wine(return_X_y=True)
    some = ColumnTransformer(
        [("some", StandardScaler(), [12, 0, 6, 9]), ("one", "passthrough", [7])]
    )
    return make_pipeline(some, RVC(multi_class="ovr")), X, y


def five_digits():
    X, y = datasets.load_digits(n_class=5, return_X_y=True)
    return SparseBayesianClassifier(), X[:300], y[:300]


NUMBERS = (
    sinc,
    far_from_zero,
    diabetes,
    diabetes_columns,
    learnt_scales,
    mixed_dictionary,
    noise_that_varies,
    three_targets,
    counts,
    counts_that_vary_more,
    effects_of_numbers_and_levels,
    process_of_three_targets,
)
CLASSES = (breast_cancer, ripley, iris, iris_mode, wine, five_digits, effects_of_classes)

#: Names that would end the comment that they are in, were their signs left to C.
HOSTILE = [
    r"length *\ int injected(void) { return 42; } \*",
    "length */ int injected(void) { return 42; } /*",
    "length *\\\n/ int injected(void) { return 42; } /*",
    "length *??/\n/ int injected(void) { return 42; } /*",
    "length *\r/ int injected(void) { return 42; } //\u202e*/",
    "*" * 91 + "/ int injected(void) { return 42; } /*",
]


@cache
def fitted(problem):
    """The fitted model, and its rows once float32 has rounded them: its centres are not."""
    model, X, y = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the fits, which are not what is tested
        return model.fit(X, y), X.astype(np.float32).astype(np.float64)


def columns(values):
    """Predictions with a column for each target."""
    return values.reshape(len(values), -1)
