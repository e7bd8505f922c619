"""Data of every kind that users have, and some that nobody should."""

from dataclasses import dataclass

import hypothesis.strategies as st
import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

Array = NDArray[np.float64]

KINDS = {
    "normal": lambda r, n, d: r.standard_normal((n, d)),
    "small integers": lambda r, n, d: r.randint(-1, 2, (n, d)).astype(float),
    "duplicates": lambda r, n, d: r.standard_normal((1 + n // 3, d))[r.randint(0, 1 + n // 3, n)],
    "constant": lambda r, n, d: np.full((n, d), r.standard_normal()),
    "zero": lambda r, n, d: np.zeros((n, d)),
    "grid": lambda r, n, d: np.tile(np.linspace(-1, 1, n)[:, None], (1, d)),
    "collinear": lambda r, n, d: r.standard_normal((n, 1)) * r.standard_normal((1, d)),
    "rank two": lambda r, n, d: r.standard_normal((n, 2)) @ r.standard_normal((2, d)),
    "one-hot": lambda r, n, d: np.eye(max(n, d))[:n, :d],
    "one constant column": lambda r, n, d: r.standard_normal((n, d)) * (np.arange(d) > 0) + 3.0,
    "far from zero": lambda r, n, d: 1e9 + r.standard_normal((n, d)),
    "units": lambda r, n, d: r.standard_normal((n, d)) * 10.0 ** r.randint(-6, 7, d),
    "outlier": lambda r, n, d: r.standard_normal((n, d)) + 1e8 * (np.arange(n) == 0)[:, None],
    "nearly equal": lambda r, n, d: 1.0 + 1e-13 * r.standard_normal((n, d)),
}
TARGETS = {
    "line": lambda r, x: x + 0.1 * r.standard_normal(len(x)),
    "wave": lambda r, x: np.sin(3 * x) + 0.1 * r.standard_normal(len(x)),
    "noise": lambda r, x: r.standard_normal(len(x)),
    "exact": lambda r, x: x,
    "constant": lambda r, x: np.full(len(x), 3.0),
    "zero": lambda r, x: np.zeros(len(x)),
    "far from zero": lambda r, x: 1e6 + r.standard_normal(len(x)),
    "outlier": lambda r, x: r.standard_normal(len(x)) + 1e8 * (np.arange(len(x)) == 0),
    "steps": lambda r, x: np.sign(x),
}
DTYPES = [np.float64, np.float32, np.float16, np.int8, np.uint8, np.int64, bool, object]


@dataclass(frozen=True)
class Data:
    """Inputs, a target for each row that follows the first of them, and queries."""

    X: Array
    y: Array
    queries: Array
    draw: RandomState
    kind: str


@st.composite
def data(draw, most_rows=12, n_targets=1):
    """Rows of one kind with targets of another, without units yet."""
    random = RandomState(draw(st.integers(0, 2**31)))
    n, d = draw(st.integers(1, most_rows)), draw(st.integers(1, 4))
    kind = draw(st.sampled_from(list(KINDS)))
    X = KINDS[kind](random, n, d)
    x = (X[:, 0] - X[:, 0].mean()) / (np.ptp(X[:, 0]) or 1.0)
    y = np.column_stack(
        [TARGETS[draw(st.sampled_from(list(TARGETS)))](random, x) for _ in range(n_targets)]
    )
    spread = np.ptp(X, axis=0).max()
    near = X[random.randint(0, n, 3)] + spread * random.standard_normal((3, d))
    queries = np.vstack([X, near, X[:1] + 1e3 * spread, np.zeros((1, d))])
    return Data(X, y[:, 0] if n_targets == 1 else y, queries, random, kind)


exponents = st.one_of(st.just(0.0), st.floats(-1, 1))


@st.composite
def units(draw):
    """Units of X and of y: 1e-100 to 1e100 in one of them, 1e-50 to 1e50 in both."""
    one, other = draw(exponents), draw(exponents)
    which = draw(st.sampled_from(["X", "y", "both"]))
    x, y = {"X": (100 * one, 0), "y": (0, 100 * one), "both": (50 * one, 50 * other)}[which]
    return 10.0**x, 10.0**y


def weights(n):
    """Copies of each row: none, whole numbers with zeros, or of any size."""
    size = st.floats(-300, 300).map(lambda power: 10.0**power)
    return st.one_of(
        st.none(),
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
        st.lists(st.one_of(st.just(0.0), st.floats(0.5, 100.0)), min_size=n, max_size=n),
        st.lists(size, min_size=n, max_size=n),
    )
