"""Columns of X that share a precision, as users say which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any

import numpy as np

from relvec._fitting.data import TrainingData
from relvec._numerics.typing import Array, Index
from relvec.basis.functions import feature_name

#: What ends the name of a categorical column in those of its indicators.
END = "_"
Labels = list[Hashable]


def column_labels(groups: Any, features: Sequence[str] | None, data: TrainingData) -> Labels | None:
    """Label of every column of X, the same where columns share a precision.

    Parameters
    ----------
    groups : None, array-like, mapping or "categories"
        As in the estimators.
    features : sequence of str or None
        Names of the columns.
    data : TrainingData
        Rows, which tell indicators from other columns.
    """
    n_features = data.X.shape[1]
    if groups is None:
        return None
    if isinstance(groups, str):
        if groups != "categories":
            raise ValueError(
                f"groups={groups!r}, expected None, 'categories', a label for each column of X, or "
                "a mapping of the names of groups to columns"
            )
        return _labels_of(_categories(features, data), features, n_features)
    if isinstance(groups, Mapping):
        return _labels_of(_members(groups, features, n_features), features, n_features)
    return _listed(groups, n_features)


def _listed(groups: Any, n_features: int) -> Labels:
    """Labels that are given one by one."""
    labels = np.asarray(groups, dtype=object)
    if labels.shape != (n_features,):
        raise ValueError(
            f"groups has shape {labels.shape}, expected a label for each of the {n_features} "
            "columns of X"
        )
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    for column, label in enumerate(plain):
        if not isinstance(label, Hashable) or label != label:
            raise ValueError(f"groups[{column}]={label!r}, expected a label such as a text")
    return plain


def _members(
    groups: Mapping[Any, Any], features: Sequence[str] | None, n_features: int
) -> dict[Hashable, list[int]]:
    """Positions of the columns of each group that a mapping gives, which no two share."""
    found: dict[Hashable, list[int]] = {}
    for name, columns in groups.items():
        where = f"groups[{name!r}]"
        if isinstance(columns, str) or not np.iterable(columns):
            raise TypeError(f"{where}={columns!r}, expected a list of columns of X")
        found[name] = [_position(column, features, n_features, where) for column in columns]
        if not found[name]:
            raise ValueError(f"{where} is empty, expected one column of X or more")
    counts = Counter(column for columns in found.values() for column in columns)
    column, count = counts.most_common(1)[0] if counts else (0, 0)
    if count > 1:
        raise ValueError(
            f"groups has column {feature_name(features, column)!r} {count} times, expected each "
            "column in one group at most"
        )
    return found


def _position(column: Any, features: Sequence[str] | None, n_features: int, where: str) -> int:
    """Position of a column that is given by its name or its position."""
    if isinstance(column, str):
        if features is None:
            raise ValueError(f"{where} has {column!r}, expected positions: X has no feature names")
        named = np.flatnonzero(np.asarray(features) == column)
        if not len(named):
            raise ValueError(f"{where} has {column!r}, expected names of columns of X")
        return int(named[0])
    whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if not (whole and 0 <= column < n_features):
        raise ValueError(
            f"{where} has {column!r}, expected names of columns of X or positions from 0 to "
            f"{n_features - 1}"
        )
    return int(column)


def _labels_of(
    members: Mapping[Hashable, list[int]], features: Sequence[str] | None, n_features: int
) -> Labels:
    """Labels of groups by their members; columns in none have a label of their own."""
    labels: Labels = [feature_name(features, column) for column in range(n_features)]
    grouped = {column for columns in members.values() for column in columns}
    for column in set(range(n_features)) - grouped:
        if labels[column] in members:
            raise ValueError(
                f"groups has a group {labels[column]!r}, which is the name of a column outside it; "
                "expected another name"
            )
    for name, columns in members.items():
        for column in columns:
            labels[column] = name
    return labels


def _categories(features: Sequence[str] | None, data: TrainingData) -> dict[Hashable, list[int]]:
    """Indicators of each categorical column, by what their names begin with.

    Those are the largest sets of columns of zeros and ones with a common beginning of the name, up
    to an underscore, of which no row has two ones.
    """
    if features is None:
        raise ValueError(
            "groups='categories', expected X with feature names such as a DataFrame has, of which "
            "those of indicators begin with the name of the categorical column"
        )
    named = np.array([column for column, name in enumerate(features) if END in name[1:]])
    named = named.astype(np.intp)
    counts = data.sum_inputs(partial(_indicators, named))
    products, others = counts[:-1], counts[-1]
    apart = products - np.diag(products.diagonal()) == 0
    usable = np.flatnonzero(others == 0).tolist()
    names = [str(features[column]) for column in named]
    found: dict[Hashable, list[int]] = {
        _beginning([names[k] for k in own]): named[own].tolist()
        for own in _exclusive(usable, names, apart, 1)
    }
    if not found:
        raise ValueError(
            "groups='categories', expected two columns of zeros and ones at least whose names are "
            "the same up to an underscore, such as 'city_Oslo' and 'city_Rome', and no row with "
            "two ones among them"
        )
    return found


def _exclusive(columns: list[int], names: list[str], apart: Array, begin: int) -> list[list[int]]:
    """Largest sets of columns with one beginning, at least so long, that are `apart`."""
    by_prefix: dict[str, list[int]] = {}
    for column in columns:
        end = names[column].find(END, begin)
        if end >= 0:
            by_prefix.setdefault(names[column][:end], []).append(column)
    found = []
    for prefix, own in by_prefix.items():
        if len(own) > 1 and apart[np.ix_(own, own)].all():
            found.append(own)
        elif len(own) > 1:
            found += _exclusive(own, names, apart, len(prefix) + 1)
    return found


def _beginning(names: list[str]) -> str:
    """Return what names begin with in common, up to an underscore."""
    parts = zip(*(name.split(END)[:-1] for name in names), strict=False)
    return END.join(part[0] for part in takewhile(lambda part: len(set(part)) == 1, parts)).rstrip(
        END
    )


def _indicators(columns: Index, X: Array, weights: Array | None = None) -> Array:
    """Count, in the rows that have a weight, ones that two columns share, and numbers but 0 and 1.

    Of some columns, shape (n_columns + 1, n_columns); the last row has the latter.
    """
    X = X[:, columns] if weights is None else X[weights > 0][:, columns]
    ones = (X == 1).astype(np.float64)
    return np.vstack([ones.T @ ones, ((X != 0) & (X != 1)).sum(axis=0)])
