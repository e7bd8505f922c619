"""The regression problems of Tipping (2001), and readers of data that lie beside the checkout.

Generators need nothing; readers look for a folder a data set in ``$RELVEC_DATA``, then in
``../shared/data`` beside the working directory and beside the checkout.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import sklearn.datasets
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

Array = NDArray[np.float64]

_FRIEDMAN: dict[int, Callable[..., tuple[Array, Array]]] = {
    1: sklearn.datasets.make_friedman1,
    2: sklearn.datasets.make_friedman2,
    3: sklearn.datasets.make_friedman3,
}


def sinc(x: ArrayLike) -> Array:
    """Return sin(x) / x, which is 1 at 0.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    ndarray of the shape of `x`

    Examples
    --------
    >>> sinc([0.0, np.pi / 2]).round(4)
    array([1.    , 0.6366])
    """
    return np.asarray(np.sinc(np.asarray(x, dtype=float) / np.pi))


def make_sinc(
    n_samples: int = 100,
    *,
    noise: Literal["gaussian", "uniform"] = "gaussian",
    noise_scale: float = 0.1,
    grid: bool = True,
    random_state: int | RandomState | None = None,
) -> tuple[Array, Array]:
    """Draw noisy observations of sin(x) / x on [-10, 10].

    Tipping's benchmark has 100 equally spaced inputs and Gaussian noise of standard deviation 0.1
    or uniform noise in [-0.1, 0.1], with the error measured to the true function on 1000 equally
    spaced points. His Figure 1 has no noise and his Figure 2 uniform noise in [-0.2, 0.2].

    Parameters
    ----------
    n_samples : int
    noise : {"gaussian", "uniform"}
        The distribution of the noise.
    noise_scale : float
        Standard deviation of Gaussian noise, half the range of uniform noise; 0 for the function.
    grid : bool
        Equally spaced inputs, ends included, or inputs drawn uniformly.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> X, y = make_sinc(5, noise_scale=0)
    >>> X.ravel()
    array([-10.,  -5.,   0.,   5.,  10.])
    >>> y.round(3)
    array([-0.054, -0.192,  1.   , -0.192, -0.054])
    """
    rng = check_random_state(random_state)
    x = np.linspace(-10, 10, n_samples) if grid else rng.uniform(-10, 10, n_samples)
    if noise == "gaussian":
        disturbance = rng.standard_normal(n_samples)
    elif noise == "uniform":
        disturbance = rng.uniform(-1, 1, n_samples)
    else:
        raise ValueError(f"noise must be 'gaussian' or 'uniform', got {noise!r}")
    return x[:, None], sinc(x) + noise_scale * disturbance


def make_friedman(
    number: Literal[1, 2, 3],
    n_samples: int = 240,
    *,
    noise: bool = True,
    random_state: int | RandomState | None = None,
) -> tuple[Array, Array]:
    """Draw one of Friedman's (1991) functions with the noise of Tipping's benchmark.

    Function 1 has ten inputs, five of them without effect, and Gaussian noise of standard deviation
    1; functions 2 and 3 have four inputs and Gaussian noise whose standard deviation is a third of
    the standard deviation of the function over the sample. The paper trains on 240 rows and
    measures the error on 1000 rows without noise.

    Parameters
    ----------
    number : {1, 2, 3}
    n_samples : int
    noise : bool
        Whether to add the noise.
    random_state : int, RandomState or None

    Returns
    -------
    X : ndarray of shape (n_samples, 10) for function 1, else (n_samples, 4)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> X, y = make_friedman(2, 240, random_state=0)
    >>> X.shape, y.shape
    ((240, 4), (240,))
    """
    if number not in _FRIEDMAN:
        raise ValueError(f"number must be 1, 2 or 3, got {number!r}")
    rng = check_random_state(random_state)
    X, y = _FRIEDMAN[number](n_samples, random_state=rng)
    if noise:
        scale = 1.0 if number == 1 else y.std() / 3
        y = y + scale * rng.standard_normal(n_samples)
    return X, y


class Table(NamedTuple):
    """A data set read from a file: inputs, target, and the names of the inputs."""

    X: Array
    y: Array
    feature_names: tuple[str, ...]


def find_staged(name: str) -> Path:
    """Return the folder that holds the data set `name`.

    Parameters
    ----------
    name : str
        A folder name, such as ``"boston_housing"``.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    FileNotFoundError
        Naming the data set and every place looked in.
    """
    configured = os.environ.get("RELVEC_DATA")
    checkout = Path(__file__).resolve().parents[2]
    beside = [base.parent / "shared" / "data" for base in (Path.cwd(), checkout)]
    places = list(dict.fromkeys(([Path(configured)] if configured else []) + beside))
    for place in places:
        if (place / name).is_dir():
            return place / name
    looked = ", ".join(str(place) for place in places)
    raise FileNotFoundError(
        f"data set {name!r} not found in {looked}; set RELVEC_DATA to the folder that holds it"
    )


def load_staged(name: str, file: str = "data.csv") -> Table:
    """Read a numeric CSV file whose first row is the header and whose last column is the target.

    Parameters
    ----------
    name : str
        The data set, a folder that `find_staged` finds.
    file : str
        The file in that folder.

    Returns
    -------
    Table
        ``X``, ``y`` and ``feature_names``.

    Raises
    ------
    FileNotFoundError
        If no folder of that name is found, or it lacks the file.
    """
    path = find_staged(name) / file
    with path.open() as lines:
        header = next(lines).strip().split(",")
        values: NDArray[Any] = np.loadtxt(lines, delimiter=",", ndmin=2)
    return Table(values[:, :-1], values[:, -1], tuple(header[:-1]))
