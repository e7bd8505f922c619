"""The groups of functions that a fit kept: names, precisions and what they are worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from relvec._fitting.result import FitResult
from relvec._numerics.groups import Groups
from relvec._numerics.typing import Array, Index

#: Functions that the name of a group lists at most.
LISTED = 3


class KeptGroups:
    """Groups of the kept functions of a fit, and their `order`, that of their first functions.

    Values are of shape (n_groups,) with a single output, otherwise (n_outputs, n_groups).
    """

    def __init__(self, result: FitResult) -> None:
        self._result, self.groups = result, Groups.of_labels(result.basis.groups)
        self.order: Index = np.argsort(self.groups.first)

    def names(self, features: Sequence[str] | None) -> list[str]:
        """Name of each group: its function, the term that it is alone, or its first functions."""
        names, terms = self._result.basis.names(features), self._result.basis.terms(features)
        members = [self.groups.members(np.array([g]))[0] for g in range(self.groups.count)]
        of_groups = [{terms[k] for k in own} for own in members]
        shared = Counter(term for own in of_groups for term in own)
        found = []
        for own, terms_of_group in zip(members, of_groups, strict=True):
            (term, *others) = terms_of_group
            listed = [names[k] for k in own[:LISTED]] + ["…"] * (len(own) > LISTED)
            alone = len(own) > 1 and not others and shared[term] == 1
            found.append(term if alone else ", ".join(listed))
        return found

    def precision(self) -> Array:
        """Precision of the weights of each, infinite where an output does not use it."""
        return self._result.by_output("alpha", np.inf)[..., self.groups.first]

    def well_determined(self) -> Array:
        """Σγ: number of weights of each that the data determine."""
        return self.groups.total(self._result.by_output("well_determined", 0.0), axis=-1)

    def worth(self) -> Array:
        """Nats of log evidence that deleting each would cost."""
        worth = np.zeros((len(self._result.outputs), self.groups.count))
        for row, output in zip(worth, self._result.outputs, strict=True):
            label = self.groups.label[output.columns]
            row[np.unique(label)] = [output.worth(label == g) for g in np.unique(label)]
        return worth[0] if self._result.single else worth
