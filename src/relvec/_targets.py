"""Which targets a fit takes together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relvec.precision import ROUNDINGS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Arrangement:
    """Columns of y by the machine that they are fitted in.

    Attributes
    ----------
    targets : dict of str to ndarray of shape (n_samples, d)
        Columns of each solution of the fit, by the name that warnings call it.
    order : ndarray of int, shape (n_targets,)
        Which of the machines, in the order of `targets`, belongs to each column of y.
    """

    targets: dict[str, Array]
    order: NDArray[np.intp]

    @classmethod
    def of(cls, y: Array, present: NDArray[np.bool_], *, together: bool) -> Arrangement:
        """Arrange the columns of y (n_samples, n_targets), of whose rows some are `present`.

        Together are all columns but those that are constant, which have no relevance to share and
        no scale to measure weights by.
        """
        columns = np.arange(y.shape[1])
        if y.shape[1] == 1:
            return cls({"": y}, columns)
        varying = columns[_vary(y[present])] if together else columns[:0]
        alone = np.setdiff1d(columns, varying)
        targets = {"": y[:, varying]} if len(varying) else {}
        targets |= {f"target {k}: ": y[:, [k]] for k in alone.tolist()}
        return cls(targets, np.argsort(np.append(varying, alone)))


def _vary(y: Array) -> NDArray[np.bool_]:
    """Whether columns differ from row to row by more than rounding."""
    varies: NDArray[np.bool_] = np.ptp(y, axis=0) > ROUNDINGS * np.abs(y).max(axis=0)
    return varies
