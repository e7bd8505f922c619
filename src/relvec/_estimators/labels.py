"""Labels of classes as numbers, and what each class weighs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._numerics.checks import check_positive, check_weights
from relvec._numerics.typing import Array, Index

Labels = NDArray[Any]
ClassWeight = Mapping[Any, float] | str | None


def encode(labels: Labels, weights: Array | None) -> tuple[Labels, Index]:
    """Labels that occur, ascending, and the number of each row's label among them."""
    classes = classes_of(labels if weights is None else labels[weights > 0])
    return classes, codes_of(classes, labels)


def classes_of(labels: Labels) -> Labels:
    """Labels that occur, ascending."""
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(f"y holds 1 class, {classes.tolist()[0]!r}, expected 2 classes or more")
    return classes


def codes_of(classes: Labels, labels: Labels) -> Index:
    """Number of each label; one that no weighted row has gets any: its rows are absent."""
    return np.minimum(np.searchsorted(classes, labels), len(classes) - 1)


def with_class_weight(
    class_weight: ClassWeight, classes: Labels, codes: Index, weights: Array | None
) -> Array | None:
    """Weights of the rows times those of their classes."""
    if class_weight is None:
        return weights
    copies = np.ones(len(codes)) if weights is None else weights
    totals = np.bincount(codes, copies).astype(np.float64)
    factors = class_factors(class_weight, classes, totals)
    return check_weights(copies * factors[codes], len(codes))


def class_factors(class_weight: ClassWeight, classes: Labels, totals: Array) -> Array:
    """What each class weighs, given the copies of its rows."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        balanced: Array = totals.sum() / (len(totals) * totals)
        return balanced
    if not isinstance(class_weight, Mapping):
        raise ValueError(f'class_weight={class_weight!r}, expected None, "balanced" or a dict')
    known = classes.tolist()
    for label, factor in class_weight.items():
        if label not in known:
            raise ValueError(f"class_weight holds {label!r}, expected labels out of {known}")
        check_positive(factor, f"class_weight[{label!r}]")
    return np.array([class_weight.get(label, 1.0) for label in known])


@dataclass(frozen=True)
class Census:
    """Copies of the rows of each label; those of different rows add up."""

    copies: dict[Any, float]

    @classmethod
    def of(cls, labels: Labels, weights: Array) -> Census:
        """Count rows; a label none of whose rows counts does not occur."""
        found, codes = np.unique(labels, return_inverse=True)
        copies = dict(zip(found.tolist(), np.bincount(codes, weights).tolist(), strict=True))
        return cls({label: count for label, count in copies.items() if count})

    def __add__(self, other: Census) -> Census:
        both = dict(self.copies)
        for label, count in other.copies.items():
            both[label] = both.get(label, 0.0) + count
        return Census(both)
