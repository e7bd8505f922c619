"""Data sets that are not part of the repository, read from a folder beside the checkout.

Each is a folder of its name in ``$RELVEC_DATA``, or else in ``../shared/data`` beside the working
directory or beside the checkout.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Table(NamedTuple):
    """A data set read from a file: inputs, target, and the names of the inputs."""

    X: Array
    y: Array
    feature_names: tuple[str, ...]


class Split(NamedTuple):
    """The rows to train on and the rows to test on; targets are numbers or integer labels."""

    X_train: Array
    y_train: NDArray[Any]
    X_test: Array
    y_test: NDArray[Any]


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
    checkout = Path(__file__).resolve().parents[1]
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


def load_raetsch(name: str) -> list[Split]:
    """Read one of Rätsch's classification problems, in the splits that the paper averages over.

    Parameters
    ----------
    name : str
        Such as ``"banana"``, read from ``banana.npz`` in the folder ``raetsch_banana``. The file
        holds all rows, ``X`` and ``y``, and the rows of each split, ``train_idx`` and
        ``test_idx`` of shape (n_splits, n_rows).

    Returns
    -------
    list of Split
        Labels are -1 and 1.

    Raises
    ------
    FileNotFoundError
        If no folder of that name is found, or it lacks the file.

    References
    ----------
    G. Rätsch, T. Onoda and K.-R. Müller, Soft margins for AdaBoost, Machine Learning 42, 2001.
    """
    with np.load(find_staged(f"raetsch_{name}") / f"{name}.npz", allow_pickle=False) as file:
        X, y = file["X"], file["y"].astype(np.int64)
        rows = list(zip(file["train_idx"], file["test_idx"], strict=True))
    return [Split(X[train], y[train], X[test], y[test]) for train, test in rows]


def load_usps() -> Split:
    """Read the handwritten digits of the U.S. Postal Service, 7291 to train on and 2007 to test on.

    Returns
    -------
    Split
        Inputs are the 16 x 16 pixels row by row, from -1 (paper) to 1 (ink); labels are 0 to 9.

    Raises
    ------
    FileNotFoundError
        If the folder ``usps`` is not found, or it lacks ``usps.npz``.
    """
    with np.load(find_staged("usps") / "usps.npz", allow_pickle=False) as file:
        return Split(
            file["X_train_x1000"] / 1000,
            file["y_train"].astype(np.int64),
            file["X_test_x1000"] / 1000,
            file["y_test"].astype(np.int64),
        )
