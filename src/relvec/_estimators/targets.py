"""Which targets a fit takes together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relvec._numerics.floats import ROUNDINGS
from relvec._numerics.typing import Array, Index


@dataclass(frozen=True)
class Arrangement:
    """Columns of y by the machine that they are fitted in.

    Attributes
    ----------
    columns : dict of str to ndarray of int
        Columns of each solution of the fit, by the name that warnings call it.
    order : ndarray of int, shape (n_targets,)
        Which of the machines, in the order of `columns`, belongs to each column of y.
    """

    columns: dict[str, Index]
    order: Index

    @classmethod
    def of(cls, varies: NDArray[np.bool_], *, together: bool) -> Arrangement:
        """Arrange columns of which some vary from row to row.

        Together are all columns but those that are constant, which have no relevance to share and
        no scale to measure weights by.
        """
        every = np.arange(len(varies))
        if len(every) == 1:
            return cls({"": every}, every)
        varying = every[varies] if together else every[:0]
        alone = np.setdiff1d(every, varying)
        columns = {"": varying} if len(varying) else {}
        columns |= {f"target {k}: ": np.array([k]) for k in alone.tolist()}
        return cls(columns, np.argsort(np.append(varying, alone)))

    def targets(self, y: Array) -> dict[str, Array]:
        """Those columns of y (n_samples, n_targets), by the same names."""
        return {name: y[:, columns] for name, columns in self.columns.items()}


def vary(y: Array) -> NDArray[np.bool_]:
    """Whether columns differ from row to row by more than rounding."""
    varies: NDArray[np.bool_] = np.ptp(y, axis=0) > ROUNDINGS * np.abs(y).max(axis=0)
    return varies
