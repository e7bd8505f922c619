"""What a model says of rows that it has not seen, from refits without them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags

from relvec._numerics.checks import named_errors
from relvec._numerics.typing import Array

if TYPE_CHECKING:
    from relvec._estimators.base import RelevanceEstimator

Fitted = TypeVar("Fitted", bound="RelevanceEstimator")


def refits(
    model: Fitted, X: Array, y: NDArray[Any], cv: Any, groups: ArrayLike | None
) -> Iterator[tuple[Fitted, Array, NDArray[Any]]]:
    """Fit the model anew without each fold, and hand that over with the fold's rows and targets.

    X and y are the rows that the model was fitted to, validated. Of a precomputed kernel a refit
    has the columns of its own rows.
    """
    if len(X) != model.n_samples_fit_:
        raise ValueError(
            f"X has {len(X)} rows, expected the {model.n_samples_fit_} of the fit with cv={cv!r}"
        )
    with named_errors("cv", "groups"):
        folds = list(check_cv(cv, y, classifier=is_classifier(model)).split(X, y, groups))
    pairwise = get_tags(model).input_tags.pairwise
    for kept, left in folds:
        rows = X[:, kept] if pairwise else X
        yield clone(model).fit(rows[kept], y[kept]), rows[left], y[left]


def check_ungrouped(groups: ArrayLike | None) -> None:
    """Raise if there are groups that no splitter keeps together."""
    if groups is not None:
        raise ValueError("groups is given, expected None without cv")
