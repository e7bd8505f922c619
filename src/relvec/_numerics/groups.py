"""Functions in groups, each of which has one precision."""

from __future__ import annotations

from functools import cached_property
from typing import Self

import numpy as np

from relvec._numerics.typing import Array, Index


class Groups:
    """A partition of functions by labels (n_functions,), numbered from 0 without gaps.

    It has a `count` of groups, and is `single` where every function is a group of its own, in the
    order of the functions.
    """

    def __init__(self, label: Index) -> None:
        self.label, self.count = label, int(label.max(initial=-1)) + 1
        self.single = bool((label == np.arange(len(label))).all())

    @classmethod
    def of_labels(cls, labels: Index) -> Self:
        """Number groups in ascending order of any labels."""
        return cls(np.unique(labels, return_inverse=True)[1].astype(np.intp))

    def restrict(self, index: Index) -> Groups:
        """Groups of some of the functions, in their order."""
        return Groups(np.arange(len(index))) if self.single else self.of_labels(self.label[index])

    @cached_property
    def sizes(self) -> Index:
        """Functions in each group, shape (count,)."""
        return np.bincount(self.label, minlength=self.count)

    @cached_property
    def _order(self) -> Index:
        """Positions of the functions, those of one group side by side, shape (n_functions,)."""
        return np.argsort(self.label, kind="stable")

    @cached_property
    def _starts(self) -> Index:
        """Begin of each group in that order, shape (count,)."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def first(self) -> Index:
        """Position of each group's first function, shape (count,)."""
        return self._order[self._starts]

    @cached_property
    def by_size(self) -> list[tuple[Index, Index]]:
        """Groups (n,) of each size, and positions of their functions (n, size)."""
        found = []
        for size in np.unique(self.sizes).tolist():
            which = np.flatnonzero(self.sizes == size)
            found.append((which, self._order[self._starts[which, None] + np.arange(size)]))
        return found

    def members(self, which: Index) -> tuple[Index, Index]:
        """Positions of the functions of some groups, and of each one's group in `which`."""
        if self.single:
            return which, np.arange(len(which))
        sizes = self.sizes[which]
        group = np.repeat(np.arange(len(which)), sizes)
        within = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self._order[self._starts[which][group] + within], group

    def total(self, values: Array, axis: int = 0) -> Array:
        """Sum values of the functions over those of each group, along an axis."""
        if self.single:
            return values
        ordered = values.take(self._order, axis)
        return np.add.reduceat(ordered, self._starts, axis)

    def largest(self, values: Array) -> Array:
        """Largest of the values of each group, zero at least; shape (count,)."""
        if self.single:
            return values
        largest = np.zeros(self.count)
        np.maximum.at(largest, self.label, values)
        return largest


def columns_of(functions: Index, outputs: int) -> Index:
    """Columns of the weights of some functions (..., k), of shape (..., k · outputs)."""
    columns: Index = functions[..., None] * outputs + np.arange(outputs)
    return columns.reshape(*functions.shape[:-1], -1)
