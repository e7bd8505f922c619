"""Objects whose stored state is small."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

#: Attributes that hold numbers of rows, columns or functions.
INDICES = ("columns", "relevance", "relevance_", "rows_", "places_", "terms_")


class Compact:
    """An object that stores its indices as the shortest integers that hold them.

    A parameter that the release which stored it did not have takes its default.
    """

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        for name in state.keys() & set(INDICES):
            values = state[name]
            ends = values.min(initial=0), values.max(initial=0)
            state[name] = values.astype(np.result_type(*map(np.min_scalar_type, ends)))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        parameters = signature(type(self)).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        vars(self).update(defaults | state)  # past the guard of a frozen dataclass
        for name in state.keys() & set(INDICES):
            vars(self)[name] = state[name].astype(np.intp)
