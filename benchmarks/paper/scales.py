"""Section 4.3 of Tipping (2001): functions beside the kernel's, and input scales that are learnt.

The first problem is sinc(x₁) + 0.1 x₂ at 100 points uniform in [−10, 10]² with Gaussian noise of
standard deviation 0.1, the second Friedman's function 1.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.svm import SVR

from benchmarks.paper.fits import fit
from benchmarks.paper.regression import SVR_C, SVR_EPSILON, Problem, Score
from benchmarks.staged import Split
from relvec import RVR
from relvec.basis import RBF, Basis, Polynomial
from relvec.datasets import sinc

Array = NDArray[np.float64]

N_ROWS, REACH, NOISE = 100, 10.0, 0.1
#: The paper's Gaussian kernel with r = 3.
GAMMA = 1 / 3**2
#: Points a side of the grid on which errors are measured.
N_SIDE = 61

SVM = "SVR"
LEARNT = "RVR, terms and learnt scales"
#: The paper's terms: x₁, x₂, and their squares and product.
DICTIONARIES: dict[str, list[Basis]] = {
    "RVR": [RBF(GAMMA)],
    "RVR, terms": [Polynomial(degree=2), RBF(GAMMA)],
    LEARNT: [Polynomial(degree=2), RBF("ard")],
}

#: Table 1: error and functions.
PAPER_SVM, PAPER_RVM = (0.0194, 75), (0.0053, 8)
#: Table 2: weights of the terms, by their names in the package, and 10⁴ times η.
PAPER_WEIGHTS = {"x0": 0.0, "x1": 0.102, "x0^2": 0.0, "x1^2": 0.0, "x0 x1": 0.0}
PAPER_SCALES = (997.0, 2.0)
PAPER_NOISE = 0.101
#: Friedman's function 1 with learnt scales: error and vectors.
PAPER_FRIEDMAN = (0.27, 11.5)


def surface(X: Array) -> Array:
    return sinc(X[:, 0]) + 0.1 * X[:, 1]


def grid() -> Array:
    side = np.linspace(-REACH, REACH, N_SIDE)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


def draw(seed: int) -> Split:
    rng = np.random.RandomState(seed)
    X = rng.uniform(-REACH, REACH, (N_ROWS, 2))
    return Split(X, surface(X) + NOISE * rng.standard_normal(N_ROWS), grid(), surface(grid()))


class Fit(NamedTuple):
    machine: SVR | RVR
    mean_square: float
    functions: int
    seconds: float


def measure(machine: SVR | RVR | GridSearchCV, split: Split) -> Fit:
    fitted = fit(machine, split.X_train, split.y_train)
    error = np.mean((fitted.machine.predict(split.X_test) - split.y_test) ** 2)
    return Fit(fitted.machine, float(error), fitted.n_functions, fitted.seconds)


def fit_all(seed: int) -> dict[str, Fit]:
    split = draw(seed)
    folds = KFold(5, shuffle=True, random_state=seed)
    parameters = {"C": SVR_C, "epsilon": SVR_EPSILON}
    search = GridSearchCV(SVR(gamma=GAMMA), parameters, scoring="neg_mean_squared_error", cv=folds)
    fits = {SVM: measure(search, split)}
    return fits | {name: measure(RVR(kernel), split) for name, kernel in DICTIONARIES.items()}


def term_weights(machine: RVR) -> dict[str, float]:
    """Weights of the polynomial terms, zero for those that left."""
    kept = dict(zip(machine.basis_.names(), machine.dual_coef_, strict=True))
    return {name: float(kept.get(name, 0.0)) for name in PAPER_WEIGHTS}


def kernel_scales(machine: RVR) -> Array:
    """η of the kernel among the terms, in inverse squared units of the inputs."""
    return machine.basis_.parts_[-1].gamma_


class LearntScales(NamedTuple):
    score: Score
    gamma: Array
    relevance: Array


def fit_friedman(problem: Problem, seed: int) -> LearntScales:
    """Fit one draw with a scale for each of its inputs."""
    split = problem.draw(seed)
    machine, n_functions, seconds = fit(RVR(gamma="ard"), split.X_train, split.y_train)
    error = problem.error(split.y_test, machine.predict(split.X_test))
    score = Score(error, n_functions, seconds, log_evidence=machine.log_evidence_)
    return LearntScales(score, machine.gamma_, machine.feature_relevance_)
