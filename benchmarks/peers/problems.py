"""What both sides are timed on, and how much faster than fastrvm the package sets out to be."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler

from benchmarks.staged import Split, load_raetsch, load_staged
from relvec.datasets import make_friedman, make_sinc

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Training rows, the width of the Gaussian kernel, and for classes rows to test on."""

    X: Array
    y: Array
    gamma: float
    test: tuple[Array, Array] | None = None

    @property
    def task(self) -> str:
        return "regression" if self.test is None else "classification"


@dataclass(frozen=True)
class Family:
    """Problems of several sizes, and the speed-up that is wanted of a size and functions kept."""

    draw: Callable[[int], Problem]
    sizes: tuple[int, ...]
    wanted: Callable[[int, int], float | None]


def sinc(n_samples: int) -> Problem:
    return Problem(*make_sinc(n_samples, random_state=0), gamma=1 / 9)


def friedman1(n_samples: int) -> Problem:
    return Problem(*make_friedman(1, n_samples, random_state=0), gamma=1.0)


def bumpy(n_samples: int) -> Problem:
    """Draw 27 bumps of alternating sign in the unit cube, with noise of standard deviation 0.1."""
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(n_samples, 3))
    y = np.sin(3 * np.pi * X).prod(axis=1) + 0.1 * rng.standard_normal(n_samples)
    return Problem(X, y, gamma=30.0)


def boston(n_samples: int) -> Problem:
    table = load_staged("boston_housing")
    X = StandardScaler().fit_transform(table.X)[:n_samples]
    return Problem(X, table.y[:n_samples], gamma=1 / X.shape[1])


def ripley(n_samples: int) -> Problem:
    train, test = (load_staged("ripley", f"{part}.csv") for part in ("train", "test"))
    return Problem(train.X[:n_samples], train.y[:n_samples], 4.0, (test.X, test.y))


def moons(n_samples: int) -> Problem:
    X, y = make_moons(n_samples + 1000, noise=0.25, random_state=0)
    return _standardised(Split(X[:n_samples], y[:n_samples], X[n_samples:], y[n_samples:]))


def raetsch(name: str) -> Callable[[int], Problem]:
    """Return the first split of one of Rätsch's problems."""

    def draw(n_samples: int) -> Problem:
        split = load_raetsch(name)[0]
        X, y = split.X_train[:n_samples], split.y_train[:n_samples]
        return _standardised(split._replace(X_train=X, y_train=y))

    return draw


def _standardised(split: Split) -> Problem:
    """Standard inputs, and a kernel as wide as the root of their number."""
    scaler = StandardScaler().fit(split.X_train)
    test = scaler.transform(split.X_test), split.y_test
    return Problem(scaler.transform(split.X_train), split.y_train, 1 / test[0].shape[1], test)


def _wanted_in_regression(n_samples: int, n_active: int) -> float | None:
    if n_samples >= 1000 and n_active > 100:
        return 6.0
    if n_samples >= 500:
        return 1.0
    return 1 / 1.5 if n_samples == 100 else None


def _wanted_on_sinc(n_samples: int, n_active: int) -> float | None:
    return 2.0 if n_samples >= 1000 else _wanted_in_regression(n_samples, n_active)


def _always(speedup: float) -> Callable[[int, int], float | None]:
    return lambda *_: speedup


FAMILIES = {
    "sinc": Family(sinc, (100, 500, 1000, 2000), _wanted_on_sinc),
    "friedman1": Family(friedman1, (240, 1000, 2000), _wanted_in_regression),
    "bumpy": Family(bumpy, (1000, 2000), _wanted_in_regression),
    "boston": Family(boston, (506,), _wanted_in_regression),
    "ripley": Family(ripley, (250,), _always(1)),
    "banana": Family(raetsch("banana"), (400,), _always(3)),
    "german": Family(raetsch("german"), (700,), _always(20)),
    "image": Family(raetsch("image"), (1300,), _always(30)),
    "moons": Family(moons, (1000,), _always(9)),
}
