"""Facts of a fit in a few words, and the block of an estimator in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

# Tones are those of the notebook's theme, light or dark.
CELL = "text-align: left; padding: .1em 1em .1em 0; border: none; background: none; color: inherit"


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


def facts(estimator: Any) -> dict[str, str]:
    """Return texts on a fit by name."""
    return {
        "functions kept": f"{len(estimator.relevance_)}, fitted to {estimator.n_samples_fit_} rows",
        "log evidence": f"{estimator.log_evidence_:.2f} nats",
        **_noise(estimator),
        "status": estimator.status_,
    }


def _noise(estimator: Any) -> dict[str, str]:
    """Standard deviation of the noise of each target, or scale and tails of Student-t noise."""
    if hasattr(estimator, "degrees_of_freedom_"):
        scale, tails = _numbers(estimator.noise_scale_), _numbers(estimator.degrees_of_freedom_)
        return {"noise scale": f"{scale}, with {tails} degrees of freedom"}
    if hasattr(estimator, "noise_variance_"):
        return {"noise sd": _numbers(np.sqrt(estimator.noise_variance_))}
    return {}


def _numbers(values: Any) -> str:
    return ", ".join(f"{value:.4g}" for value in np.atleast_1d(values))


def _facts_html(estimator: Any) -> str:
    """Table of the facts, empty before a fit."""
    if not hasattr(estimator, "status_"):
        return ""
    rows = "".join(
        f'<tr style="background: none"><th scope="row" style="{CELL}">{escape(name)}</th>'
        f'<td style="{CELL}">{escape(text)}</td></tr>'
        for name, text in facts(estimator).items()
    )
    return f'<table class="relvec-facts" style="margin: .5em 0; border: none">{rows}</table>'
