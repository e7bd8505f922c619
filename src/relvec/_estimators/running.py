"""The runner of an estimator's fit: its callbacks, and the checkpoint that it goes on from."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._numerics.typing import Array
from relvec._runner import Checkpoint, fingerprints
from relvec._runner.callbacks import Listeners, Tasks
from relvec._runner.runner import Runner

#: Parameters that may change before a fit goes on: its result does not depend on them.
FREE = ("checkpoint", "n_jobs", "verbose")


@dataclass(frozen=True)
class FitArguments:
    """Validated arguments of `fit`.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
    sample_weight, noise_variance_per_row : ndarray of shape (n_samples,) or None
    """

    X: Array
    y: NDArray[Any]
    sample_weight: Array | None = None
    noise_variance_per_row: Array | None = None


def runner_of(estimator: Any, given: FitArguments, checkpoint: Checkpoint | None = None) -> Runner:
    """Return the runner of a fit, which tells the estimator's callbacks of it."""
    weight = given.sample_weight
    metadata = None if weight is None else {"sample_weight": weight}
    data = {"X": given.X, "y": given.y, "metadata": metadata}
    return Runner(checkpoint, Tasks(Listeners(estimator, data, partial(_attributes, estimator))))


def _attributes(estimator: Any, result: Any) -> dict[str, Any]:
    """Attributes that the estimator would have with a fit result."""
    ended = copy(estimator)
    ended._set_fit_result(result)
    own = vars(estimator)
    return {name: value for name, value in vars(ended).items() if own.get(name) is not value}


def checkpoint_of(
    estimator: Any, given: FitArguments, targets: Mapping[str, Array]
) -> Checkpoint | None:
    """Return the checkpoint of a fit, as far as another process came, if the user asked for one."""
    place = estimator.checkpoint
    if place is None:
        return None
    if not isinstance(place, str | PathLike):
        raise TypeError(f"checkpoint={place!r}, expected None or the path of a file")
    path = Path(place)
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"checkpoint={place!r}, expected a file in a folder that exists")
    data = {
        "X": given.X,
        "y": np.hstack(list(targets.values())),
        "sample_weight": given.sample_weight,
        "noise_variance_per_row": given.noise_variance_per_row,
    }
    own = estimator.get_params(deep=False)
    fixed = {name: value for name, value in own.items() if name not in FREE}
    made_by = {"the estimator": type(estimator).__name__, "relvec's version": version("relvec")}
    return Checkpoint(path, fingerprints(data, made_by | fixed))
