"""Labels of classes as numbers, and the weights of classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from relvec._numerics.checks import check_positive, check_weights, in_memory, refuse_missing
from relvec._numerics.typing import Array, Index
from relvec.likelihoods import Bernoulli, Categorical, ClassLikelihood
from relvec.likelihoods.bernoulli import ExpectedLogistic

Labels = NDArray[Any]
ClassWeight = Mapping[Any, float] | str | None

#: Likelihood of two classes by the name of how the posterior of the weights is approximated.
APPROXIMATIONS = {"laplace": Bernoulli(), "variational": ExpectedLogistic()}
#: Parameters of a classifier that are one of several names.
CHOICES = {
    "multi_class": ("multinomial", "ovr"),
    "proba": ("integrated", "mode"),
    "approximation": tuple(APPROXIMATIONS),
}


def encode(labels: Labels, weights: Array | None) -> tuple[Labels, Index]:
    """Return the labels that occur, ascending, and the number of each row's label."""
    classes = classes_of(labels if weights is None else labels[weights > 0])
    return classes, codes_of(classes, labels)


def plain_labels(labels: Any) -> Any:
    """Return labels in a type that scikit-learn knows; missing ones are refused."""
    labels = in_memory(labels)
    if not issparse(labels):
        refuse_missing("y", labels)
    if getattr(getattr(labels, "dtype", None), "kind", None) == "T":  # texts of any length
        return labels.astype(object).astype(str)
    return labels


def classes_of(labels: Labels) -> Labels:
    """Return the labels that occur, ascending."""
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(f"y holds 1 class, {classes.tolist()[0]!r}, expected 2 classes or more")
    return classes


def codes_of(classes: Labels, labels: Labels) -> Index:
    """Return the number of each label; one that no weighted row has gets any: it is absent."""
    return np.minimum(np.searchsorted(classes, labels), len(classes) - 1)


def targets_of(
    one_hot: Array, classes: Labels, multi_class: str, approximation: str
) -> tuple[dict[str, Array], ClassLikelihood]:
    """Return the target of each output, by its name in messages, and their likelihood.

    Indicators of the classes have the shape (n_samples, n_classes), targets (n_samples, d).
    """
    n_classes, of_two = len(classes), APPROXIMATIONS[approximation]
    if n_classes == 2:
        return {"": one_hot[:, 1:]}, of_two
    if multi_class == "ovr":
        columns = np.split(one_hot, n_classes, axis=1)
        named = zip(classes.tolist(), columns, strict=True)
        return {f"class {label!r}: ": t for label, t in named}, of_two
    if approximation != "laplace":
        raise ValueError(
            f"approximation={approximation!r}, expected 'laplace' with multi_class='multinomial' "
            "and more than two classes"
        )
    return {"": one_hot}, Categorical(n_classes)


def with_class_weight(
    class_weight: ClassWeight, classes: Labels, codes: Index, weights: Array | None
) -> Array | None:
    """Return the weights of the rows times the factors of their classes."""
    if class_weight is None:
        return weights
    counts = np.ones(len(codes)) if weights is None else weights
    totals = np.bincount(codes, counts).astype(np.float64)
    factors = class_factors(class_weight, classes, totals)
    return check_weights(counts * factors[codes], len(codes))


def class_factors(class_weight: ClassWeight, classes: Labels, totals: Array) -> Array:
    """Return the factor of each class, given the total frequency of its rows."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        balanced: Array = totals.sum() / (len(totals) * totals)
        return balanced
    if not isinstance(class_weight, Mapping):
        raise ValueError(f'class_weight={class_weight!r}, expected None, "balanced" or a dict')
    known = classes.tolist()
    strangers = [label for label in class_weight if label not in known]
    if strangers and any(label not in class_weight for label in known):
        # as in scikit-learn: a fold may lack a class that is named, but a typo leaves one without
        raise ValueError(f"class_weight holds {strangers[0]!r}, expected labels out of {known}")
    for label, factor in class_weight.items():
        check_positive(factor, f"class_weight[{label!r}]")
    return np.array([class_weight.get(label, 1.0) for label in known])


@dataclass(frozen=True)
class ClassCounts:
    """Total frequency of each label; those of different rows add up."""

    counts: dict[Any, float]

    @classmethod
    def of(cls, labels: Labels, weights: Array) -> ClassCounts:
        """Count rows; a label none of whose rows counts does not occur."""
        found, codes = np.unique(labels, return_inverse=True)
        counts = dict(zip(found.tolist(), np.bincount(codes, weights).tolist(), strict=True))
        return cls({label: count for label, count in counts.items() if count})

    def __add__(self, other: ClassCounts) -> ClassCounts:
        both = dict(self.counts)
        for label, count in other.counts.items():
            both[label] = both.get(label, 0.0) + count
        return ClassCounts(both)


# Functions of a block of rows that are not in memory.


def class_counts_of_block(_X: Array, labels: Labels, weights: Array) -> ClassCounts:
    """Frequency of each label in a block."""
    return ClassCounts.of(labels, weights)


def one_hot_of_block(classes: Labels, _X: Array, labels: Labels) -> Array:
    """Indicators of the classes, shape (n_rows, n_classes)."""
    return np.eye(len(classes))[codes_of(classes, labels)]


def weighting_of_block(
    class_weight: ClassWeight, classes: Labels, totals: Mapping[Any, float]
) -> Callable[..., Array]:
    """Return what multiplies counts by the factors of classes, given their total frequencies."""
    of_each = np.array([totals[label] for label in classes.tolist()])
    return partial(_weighted_of_block, classes, class_factors(class_weight, classes, of_each))


def _weighted_of_block(
    classes: Labels, factors: Array, _X: Array, labels: Labels, counts: Array
) -> Array:
    """Counts (n_rows,) times the factor of each row's class."""
    return counts * factors[codes_of(classes, labels)]
