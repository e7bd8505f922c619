"""Artificial problems of Tipping (2001), drawn at random: sinc, Friedman, Ripley, two uniforms."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import sklearn.datasets
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from relvec._numerics.typing import Array

Labels = NDArray[np.int64]

_FRIEDMAN: dict[int, Callable[..., tuple[Array, Array]]] = {
    1: sklearn.datasets.make_friedman1,
    2: sklearn.datasets.make_friedman2,
    3: sklearn.datasets.make_friedman3,
}
#: Centres of the two clouds of class 0, and of class 1.
RIPLEY_CENTRES = np.array([[(-0.7, 0.3), (0.3, 0.3)], [(-0.3, 0.7), (0.4, 0.7)]])


def sinc(x: ArrayLike) -> Array:
    """Return sin(x) / x, which is 1 at 0.

    Parameters
    ----------
    x : array_like
        In radians.

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
        Number of rows.
    noise : {"gaussian", "uniform"}
        The distribution of the noise.
    noise_scale : float
        Standard deviation of Gaussian noise, half the range of uniform noise; 0 for the function.
    grid : bool
        Equally spaced inputs, ends included, or inputs drawn uniformly.
    random_state : int, RandomState or None
        Seed or generator of the draw; None draws anew every time.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
    y : ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If `noise` is another word.

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
        The function, of equations 62 to 64 of the paper.
    n_samples : int
        Number of rows.
    noise : bool
        Whether to add the noise.
    random_state : int, RandomState or None
        Seed or generator of the draw; None draws anew every time.

    Returns
    -------
    X : ndarray of shape (n_samples, 10) for function 1, else (n_samples, 4)
    y : ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If `number` is another one.

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


def make_overlapping_uniforms(
    n_samples: int = 1000, *, random_state: int | RandomState | None = None
) -> tuple[Array, Labels]:
    """Draw two classes that are uniform on [0, 1] and on [0.5, 1.5], appendix D.2 of the paper.

    Either class is as likely as the other, so that the log-odds of class 1 are 0 on [0.5, 1],
    infinite to the left of it and minus infinite to the right, and the least possible error is
    25 %. The paper trains on 1000 rows with a Gaussian kernel of width 0.1 (``gamma=100``).

    Parameters
    ----------
    n_samples : int
        Number of rows.
    random_state : int, RandomState or None
        Seed or generator of the draw; None draws anew every time.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
    y : ndarray of shape (n_samples,)
        1 where the row was drawn from [0, 1], else -1.

    Examples
    --------
    >>> X, y = make_overlapping_uniforms(500, random_state=0)
    >>> print(X[y == 1].max() < 1, X[y == -1].min() > 0.5)
    True True
    """
    rng = check_random_state(random_state)
    y = rng.choice([-1, 1], n_samples)
    x = rng.uniform(0, 1, n_samples) + np.where(y == 1, 0, 0.5)
    return x[:, None], y


def make_ripley(
    n_samples: int = 250, *, random_state: int | RandomState | None = None
) -> tuple[Array, Labels]:
    """Draw Ripley's (1996) two classes of two normal clouds each, whose least error is 8.9 %.

    Either class is as likely as the other, and so is either cloud of a class; all have a standard
    deviation of √0.03 in either input. The paper trains on 100 rows with a Gaussian kernel of
    width 0.5 (``gamma=4``).

    Parameters
    ----------
    n_samples : int
        Number of rows.
    random_state : int, RandomState or None
        Seed or generator of the draw; None draws anew every time.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        0 or 1.

    References
    ----------
    Ripley, B. D. (1996). Pattern recognition and neural networks. Cambridge University Press.

    Examples
    --------
    >>> X, y = make_ripley(1000, random_state=0)
    >>> print((X[y == 1, 1].mean() - X[y == 0, 1].mean()).round(1))
    0.4
    """
    rng = check_random_state(random_state)
    y, cloud = rng.randint(2, size=(2, n_samples))
    return RIPLEY_CENTRES[y, cloud] + np.sqrt(0.03) * rng.standard_normal((n_samples, 2)), y
