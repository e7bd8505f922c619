"""Labels of classes as numbers, and what each class weighs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relvec._estimator import Array, Index, check_weights
from relvec.checks import check_positive

Labels = NDArray[Any]
ClassWeight = Mapping[Any, float] | str | None


def encode(labels: Labels, weights: Array | None) -> tuple[Labels, Index]:
    """Labels that occur, ascending, and the number of each row's label among them."""
    present = labels if weights is None else labels[weights > 0]
    classes = np.unique(present)
    if len(classes) < 2:
        raise ValueError(f"y holds 1 class, {classes.tolist()[0]!r}, expected 2 classes or more")
    # A label that no weighted row has gets any number: its rows are absent.
    return classes, np.minimum(np.searchsorted(classes, labels), len(classes) - 1)


def with_class_weight(
    class_weight: ClassWeight, classes: Labels, codes: Index, weights: Array | None
) -> Array | None:
    """Weights of the rows times those of their classes."""
    if class_weight is None:
        return weights
    copies = np.ones(len(codes)) if weights is None else weights
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, copies)
        factors = copies.sum() / (len(totals) * totals)
    elif isinstance(class_weight, Mapping):
        known = classes.tolist()
        for label, factor in class_weight.items():
            if label not in known:
                raise ValueError(f"class_weight holds {label!r}, expected labels out of {known}")
            check_positive(factor, f"class_weight[{label!r}]")
        factors = np.array([class_weight.get(label, 1.0) for label in known])
    else:
        raise ValueError(f'class_weight={class_weight!r}, expected None, "balanced" or a dict')
    return check_weights(copies * factors[codes], len(codes))
