"""Which points carry candidate functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array, check_random_state

from relvec._numerics.checks import check_count, named_errors
from relvec._numerics.objects import numbered
from relvec._numerics.typing import Array, Index
from relvec._runner.warn import warn_user
from relvec.basis import Centers
from relvec.exceptions import Advice, CentersWarning

RandomState = int | np.random.RandomState | None
CentersLike: TypeAlias = int | ArrayLike | BaseEstimator | None
Once: TypeAlias = Callable[[Callable[[], Any]], Any]

#: Entries of the design matrix up to which every row carries a candidate function (800 MB), and
#: how many rows do at least where there are more.
MAX_ENTRIES, LEAST_CENTERS = 100_000_000, 2000
#: Rows among which centres are looked for where there are more.
LOOKED_AT = 100_000


def at_once(draw: Callable[[], Any]) -> Any:
    """Return what a function draws."""
    return draw()


def distinct(X: Array, rows: Index) -> Index:
    """Rows without repetitions, in an order that depends on their values alone.

    Repeated rows would carry the same function again, and make the search depend on the copies.
    """
    if X.dtype == object:
        return rows[np.unique(numbered(X[rows]), return_index=True)[1]]
    values = np.ascontiguousarray(X[rows] + 0.0)  # one zero only
    as_bytes = values.view(np.dtype((np.void, values.strides[0]))).ravel()
    first: Index = np.unique(as_bytes, return_index=True)[1]
    return rows[first]


def _check_points(centers: ArrayLike, n_features: int) -> Array:
    """Return centres of the users' own as an array."""
    if isinstance(centers, str) or np.ndim(centers) != 2 or np.shape(centers)[1] != n_features:
        raise ValueError(
            f"centers={centers!r}, expected None, a number of rows, a clusterer with "
            f"cluster_centers_ or a 2-D array of shape (n_centers, {n_features})"
        )
    with named_errors("centers"):
        points: Array = check_array(centers, dtype=np.float64, input_name="centers")
    return points


def _clustered(clusterer: BaseEstimator, X: Array, random_state: RandomState) -> Array:
    """Return the centres of clusters of X."""
    own = clone(clusterer)
    if "random_state" in own.get_params() and own.get_params()["random_state"] is None:
        own.set_params(random_state=random_state)
    points: Array | None = getattr(own.fit(X), "cluster_centers_", None)
    if points is None:
        raise ValueError(
            f"centers={clusterer!r} has no cluster_centers_ when it is fitted, expected a "
            "clusterer that has, such as MiniBatchKMeans"
        )
    return np.asarray(points, dtype=np.float64)


def default_size(n_rows: int) -> int:
    """Return the number of rows that carry a candidate function by default."""
    if n_rows**2 <= MAX_ENTRIES:
        return n_rows
    return min(n_rows, max(LEAST_CENTERS, MAX_ENTRIES // n_rows))


def looked_at(
    centers: CentersLike,
    n_rows: int,
    random_state: RandomState,
    once: Once = at_once,
    *,
    needed: bool = True,
) -> Index:
    """Rows, ascending, that are enough to choose the centres from; what is drawn, `once`.

    Where no rows are `needed`, because nothing is centred on them, one is unless there is a choice.
    """
    if centers is None and not needed:
        return np.arange(min(1, n_rows))
    if centers is None or isinstance(centers, BaseEstimator):
        size = LOOKED_AT
    elif isinstance(centers, Integral):
        size = max(LOOKED_AT, int(centers))
    else:
        return np.arange(min(1, n_rows))  # which tells the number of inputs
    if n_rows <= size:
        return np.arange(n_rows)
    rng = check_random_state(random_state)
    drawn: Index = once(partial(rng.choice, n_rows, size, replace=False))
    return np.sort(drawn)


def choose_centers(
    centers: CentersLike,
    rows: Index,
    X: Array,
    random_state: RandomState,
    *,
    capped: bool,
    n_rows: int | None = None,
    once: Once = at_once,
) -> Centers:
    """Return the points that carry candidate functions, out of the usable `rows` of X.

    With `capped` every row carries one only as long as the design matrix stays of bounded size;
    who is told so hears that there are `n_rows`. What is drawn at random is drawn `once` in a fit,
    however many processes it takes.
    """
    if isinstance(centers, Integral):
        check_count(centers, "centers", len(rows))
        size = int(centers)
    elif isinstance(centers, BaseEstimator):
        return Centers.at(once(partial(_clustered, centers, X[rows], random_state)))
    elif centers is not None:
        return Centers.at(_check_points(centers, X.shape[1]))
    elif capped and default_size(len(rows)) < len(rows):
        size = default_size(len(rows))
        warn_user(
            CentersWarning(
                f"{n_rows or len(rows)} rows are too many for each to carry a candidate function: "
                f"a random {size} do",
                Advice("set {} to choose how many, or which", "centers"),
            )
        )
    else:
        size = len(rows)
    if size < len(rows):
        rng = check_random_state(random_state)
        rows = once(partial(rng.choice, rows, size, replace=False))
    return Centers.on(X, np.sort(rows))
