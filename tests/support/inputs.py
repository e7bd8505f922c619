"""One small builder per input; each returns ``X, y``.

Draws come from `numpy.random.RandomState`, whose stream is frozen, so every version of NumPy
gives the same numbers.
"""

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from relvec.datasets import sinc

Array = NDArray[np.float64]


def noisy_sinc(
    n: int = 40, noise: float = 0.1, seed: int = 0, half_width: float = 8.0, slope: float = 0.0
) -> tuple[Array, Array]:
    """Evenly spaced points around zero; sin(x)/x, a slope if wanted, and Gaussian noise."""
    x = np.linspace(-half_width, half_width, n)
    return x[:, None], sinc(x) + slope * x + noise * RandomState(seed).standard_normal(n)


def two_rows() -> tuple[Array, Array]:
    return np.array([[1.5, 3.0], [2.5, 1.0]]), np.array([0.2, 1.7])


def three_rows() -> tuple[Array, Array]:
    return np.array([[0.0], [1.0], [2.5]]), np.array([1.0, 2.0, 0.5])


def constant_target(value: float) -> tuple[Array, Array]:
    return RandomState(5).standard_normal((20, 3)), np.full(20, value)


def two_strong_columns() -> tuple[Array, Array]:
    """The target is 3 times column 0 less 2 times column 3, nearly without noise."""
    draw = RandomState(14)
    X = draw.standard_normal((60, 5))
    return X, 3.0 * X[:, 0] - 2.0 * X[:, 3] + 0.05 * draw.standard_normal(60)


def one_column_is_the_target() -> tuple[Array, Array]:
    X = RandomState(7).standard_normal((250, 3))
    return X, X[:, 1].copy()


def steep_line_far_from_zero() -> tuple[Array, Array]:
    x = np.linspace(80.0, 100.0, 50)
    return x[:, None], 2.0 * x + RandomState(11).standard_normal(50)


def zigzag_line(n: int = 9) -> tuple[Array, Array]:
    """Slope 3, intercept 4 and residuals that alternate between +0.5 and -0.5."""
    x = np.linspace(-1.0, 1.0, n)
    return x[:, None], 4.0 + 3.0 * x + 0.5 * (-1.0) ** np.arange(n)


def replicates() -> tuple[Array, Array]:
    """Two places, six targets at each: 700 and 1250 on average, with the same spread."""
    spread = np.arange(-30.0, 31.0, 12.0)
    x = np.repeat([20.0, 140.0], len(spread))
    return x[:, None], np.concatenate([700.0 + spread, 1250.0 + spread])


def plane(n: int = 300) -> tuple[Array, Array]:
    """A linear kernel on these two columns has rank two, whatever n."""
    draw = RandomState(22)
    X = draw.standard_normal((n, 2))
    return X, X @ [1.0, -0.5] + 0.1 * draw.standard_normal(n)


def four_equal_rows() -> tuple[Array, Array]:
    draw = RandomState(24)
    X, y = draw.uniform(size=(9, 3)), draw.uniform(size=9)
    X[:4], y[:4] = 0.25, 1.0
    return X, y


def parallel_columns() -> tuple[Array, Array]:
    """Columns 0, 1 and 3 have one direction, and the target is 1.5 of it."""
    draw = RandomState(26)
    a, b = draw.standard_normal(60), draw.standard_normal(60)
    return np.column_stack([a, a, b, 2.0 * a]), 1.5 * a + 0.1 * draw.standard_normal(60)


def more_columns_than_rows() -> tuple[Array, Array]:
    """Twenty rows, 500 columns, of which 3 and 77 matter."""
    draw = RandomState(27)
    X = draw.standard_normal((20, 500))
    return X, 2.0 * X[:, 3] - 3.0 * X[:, 77] + 0.05 * draw.standard_normal(20)


def one_constant_column() -> tuple[Array, Array]:
    draw = RandomState(29)
    x = draw.standard_normal(25)
    return np.column_stack([np.full(25, 7.0), x]), 2.0 * x + 0.1 * draw.standard_normal(25)


def centred_columns() -> tuple[Array, Array]:
    """The linear kernel of these rows sums to zero, up to rounding."""
    draw = RandomState(30)
    X = draw.standard_normal((40, 6))
    X -= X.mean(axis=0)
    return X, X[:, 0] + 0.1 * draw.standard_normal(40)


def time_stamps(origin: float = 1e9) -> tuple[Array, Array]:
    x = origin + np.linspace(0.0, 10.0, 40)
    return x[:, None], np.sin(x - origin)


def two_of_six_columns() -> tuple[Array, Array]:
    """The target is column 0 and half of column 4."""
    draw = RandomState(33)
    X = draw.standard_normal((80, 6))
    return X, X[:, 0] + 0.5 * X[:, 4] + 0.2 * draw.standard_normal(80)


def sine_of_one_column() -> tuple[Array, Array]:
    X = RandomState(36).standard_normal((50, 3))
    return X, np.sin(X[:, 0])


def uint16_pixels() -> tuple[NDArray[np.uint16], Array]:
    """Differences of these integers wrap around if taken in their own type."""
    X = RandomState(38).randint(0, 2**16, size=(24, 10)).astype(np.uint16)
    return X, X[:, 0] / 2.0**16


def fifteen_rows() -> tuple[Array, Array]:
    draw = RandomState(42)
    X = draw.standard_normal((15, 3))
    return X, X[:, 0] + 0.3 * draw.standard_normal(15)


def sixty_thousand_rows() -> tuple[Array, Array]:
    x = np.linspace(0.0, 100.0, 60_000)
    X = np.column_stack([np.sin(x), np.cos(1.7 * x)])
    return X, X.prod(axis=1)


def wide_float32() -> tuple[NDArray[np.float32], Array]:
    """Sixty rows and 20,000 columns, of which five add up to the target."""
    X = RandomState(46).standard_normal((60, 20_000)).astype(np.float32)
    return X, X[:, :5].sum(axis=1).astype(float)


def eight_thousand_rows() -> tuple[Array, Array]:
    draw = RandomState(47)
    X = draw.standard_normal((8000, 21))
    return X, X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * draw.standard_normal(8000)


def offset_plane() -> tuple[Array, Array]:
    """Columns around 5; slopes 1, 0 and -2, intercept 4."""
    draw = RandomState(64)
    X = draw.standard_normal((30, 3)) + 5.0
    return X, X @ [1.0, 0.0, -2.0] + 4.0 + 0.05 * draw.standard_normal(30)


def difference_of_two_columns() -> tuple[Array, Array]:
    X = RandomState(70).standard_normal((30, 2))
    return X, X[:, 0] - X[:, 1]


def ten_columns_of_sinc(n: int = 1500) -> tuple[Array, Array]:
    """sin(x)/x of the first of ten columns."""
    draw = RandomState(71)
    X = draw.uniform(-8.0, 8.0, size=(n, 10))
    return X, sinc(X[:, 0]) + 0.1 * draw.standard_normal(n)


def mostly_zero() -> tuple[Array, Array]:
    draw = RandomState(72)
    filled = draw.uniform(size=(40, 30)) < 0.1
    X = np.where(filled, draw.standard_normal((40, 30)), 0.0)
    return X, X[:, 0] + 2.0 * X[:, 1] + 0.05 * draw.standard_normal(40)


def mirror_pair(middle: float = 0.0, half: float = 2.0, n_columns: int = 1) -> tuple[Array, Array]:
    """Two rows, one of each class, at the same distance from `middle` in every column."""
    return middle + half * np.repeat([[-1.0], [1.0]], n_columns, axis=1), np.array([0, 1])


def two_sides(gap: float = 2.0, n_columns: int = 1, n: int = 24) -> tuple[Array, Array]:
    """Two classes on both sides of a gap in the first column, each as wide as 2."""
    side = gap / 2 + np.linspace(0.0, 2.0, n // 2)
    others = RandomState(50).uniform(size=(n, n_columns - 1))
    return np.column_stack([np.concatenate([-side[::-1], side]), others]), np.repeat([0, 1], n // 2)


def unbalanced() -> tuple[Array, Array]:
    """380 rows of class 0 and 20 of class 1, which overlap."""
    draw = RandomState(54)
    X = np.vstack([draw.standard_normal((380, 2)), draw.standard_normal((20, 2)) + 2.5])
    return X, np.repeat([0, 1], [380, 20])


def threshold(at: float = 0.3, n: int = 20) -> tuple[Array, NDArray[np.bool_]]:
    """Evenly spaced points, and whether they lie above a threshold."""
    x = np.linspace(-2.0, 2.0, n)
    return x[:, None], x > at


def clouds(*sizes: int, spread: float = 0.6, seed: int = 58) -> tuple[Array, Array]:
    """So many rows of each class around (0, 0), (3, 0), (0, 3), (3, 3), (6, 0) and (0, 6)."""
    places = np.array([[0, 0], [3, 0], [0, 3], [3, 3], [6, 0], [0, 6]], float)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return places[y] + spread * RandomState(seed).standard_normal((len(y), 2)), y


def noisy_border(n: int = 80, seed: int = 0, noise: float = 0.5) -> tuple[Array, Array]:
    """Two classes on both sides of a curve through two columns, with noise across it."""
    draw = RandomState(seed)
    X = draw.standard_normal((n, 2))
    height = np.sin(2 * X[:, 0]) + X[:, 1] + noise * draw.standard_normal(n)
    return X, (height > 0).astype(int)


#: Integer weights with two zeros, for 18 rows.
INTEGER_WEIGHTS = np.array([1, 2, 0, 3, 1, 1, 2, 0, 1, 4, 1, 2, 1, 1, 0, 3, 1, 2])
