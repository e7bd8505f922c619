"""What a stored estimator holds: nothing twice, and nothing that grows with the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._numerics.compact import Compact
from relvec.solvers import Pass

#: Passes of `history_` that are stored.
MOST_PASSES = 256
#: What is read off the machines and the basis.
DERIVED = (
    "dual_coef_",
    "intercept_",
    "weight_precision_",
    "well_determined_",
    "relevance_rows_",
    "relevance_vectors_",
)
#: Codes of warnings by the names that release 0.1.0 stored.
EARLIER_CODES = {
    "ConvergenceWarning": "not_converged",
    "EmptyModelWarning": "empty_model",
    "InterruptedWarning": "interrupted",
    "NoiseFloorWarning": "noise_floor",
    "PrecisionWarning": "digits_lost",
}
PASS = np.dtype(
    [
        ("start", np.int32),
        ("log_evidence", np.float64),
        ("n_active", np.int32),
        ("noise_variance", np.float64),
        ("seconds", np.float64),
        ("machine", np.int32),
    ]
)


class Stored(Compact):
    """An estimator that stores what cannot be told from the rest of it, and is whole when read."""

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "machines_" in state:
            state["single"] = state["weight_precision_"].ndim == 1
            state["history_"] = _packed(state["history_"])
            for name in DERIVED:
                del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        single = state.pop("single", None)
        super().__setstate__(state)
        if single is not None:
            self.history_ = [Pass(*row) for row in state["history_"].tolist()]
            self._notes = [(EARLIER_CODES.get(code, code), text) for code, text in state["_notes"]]
            self._publish(single=single)

    _notes: list[tuple[str, str]]

    def _publish(self, *, single: bool) -> None:
        """Set the attributes that are read off the machines and the basis."""
        raise NotImplementedError


def _packed(history: list[Pass]) -> NDArray[Any]:
    """Rows of a history, of a long one as many as are stored, evenly spaced to the last."""
    rows = np.array(history, dtype=PASS)
    if len(rows) > MOST_PASSES:
        rows = rows[np.linspace(0, len(rows) - 1, MOST_PASSES).round().astype(np.intp)]
    return rows
