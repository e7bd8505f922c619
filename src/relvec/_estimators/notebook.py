"""The block of an estimator in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from relvec._assess.facts import facts, facts_html


class NotebookBlock(BaseEstimator):  # type: ignore[misc]
    """An estimator whose block in a notebook is scikit-learn's, above a few facts of its fit."""

    @property
    def _repr_html_(self) -> Callable[[], str]:
        block = super()._repr_html_  # an AttributeError where scikit-learn is set to show text
        return lambda: block() + _facts_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += _facts_html(self)
        return bundle


def _facts_html(estimator: Any) -> str:
    """Table of the facts, empty before a fit."""
    return facts_html(facts(estimator)) if hasattr(estimator, "status_") else ""
