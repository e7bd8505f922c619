"""Rows that are drawn: eight independent normal inputs, and a smooth function of them.

f(x) = sin x₁ + x₂x₃ + x₄²/2 + (x₅ − x₆ + x₇ − x₈)/4, the same for every size and seed. Targets have
normal noise of half a unit; of two classes the log-odds are 2f − 1.
"""

import numpy as np
from scipy.special import expit

from relvec import RVC, RVR

N_FEATURES, NOISE_SCALE = 8, 0.5
#: Rows, and centres, that the width of the kernel is learnt with.
SAMPLE, SAMPLE_CENTERS = 2000, 200

Array = np.ndarray


def inputs(n_rows: int, seed: int) -> Array:
    return np.random.RandomState(seed).standard_normal((n_rows, N_FEATURES))


def function(X: Array) -> Array:
    straight = X[:, 4] - X[:, 5] + X[:, 6] - X[:, 7]
    return np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] ** 2 / 2 + straight / 4


def numbers(n_rows: int, seed: int = 0) -> tuple[Array, Array]:
    """Inputs and targets."""
    X = inputs(n_rows, seed)
    noise = np.random.RandomState(seed + 1).standard_normal(n_rows)
    return X, function(X) + NOISE_SCALE * noise


def log_odds(X: Array) -> Array:
    return 2 * function(X) - 1


def labels(n_rows: int, seed: int = 0) -> tuple[Array, Array]:
    """Inputs, and which of two classes each row has."""
    X = inputs(n_rows, seed)
    drawn = np.random.RandomState(seed + 1).uniform(size=n_rows)
    return X, (drawn < expit(log_odds(X))).astype(int)


def learnt_width(machine: type[RVR] | type[RVC], X: Array, y: Array) -> float:
    """γ of largest evidence on the first rows."""
    few = machine(gamma="evidence", centers=SAMPLE_CENTERS, random_state=0)
    return float(few.fit(X[:SAMPLE], y[:SAMPLE]).basis_.gamma_)
