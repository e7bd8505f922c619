"""Facts of a fit in a few words, as text and for a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

# Tones are those of the notebook's theme, light or dark.
CELL = "text-align: left; padding: .1em 1em .1em 0; border: none; background: none; color: inherit"


def facts(estimator: Any) -> dict[str, str]:
    """Return texts on a fit by name."""
    return {
        "functions kept": f"{len(estimator.relevance_)}, fitted to {estimator.n_samples_fit_} rows",
        "log evidence": f"{estimator.log_evidence_:.2f} nats",
        **_noise(estimator),
        "status": estimator.status_,
    }


def _noise(estimator: Any) -> dict[str, str]:
    """Standard deviation of the noise of each target, or what else its likelihood has learnt."""
    if hasattr(estimator, "degrees_of_freedom_"):
        scale, tails = numbers(estimator.noise_scale_), numbers(estimator.degrees_of_freedom_)
        return {"noise scale": f"{scale}, with {tails} degrees of freedom"}
    if hasattr(estimator, "noise_variance_"):
        found = {"noise sd": numbers(np.sqrt(estimator.noise_variance_))}
        if hasattr(estimator, "noise_correlation_"):
            ar1 = estimator.noise_correlation_
            learnt = "" if ar1.std_error is None else f" ± {numbers(ar1.std_error)}"
            found["noise correlation"] = f"{numbers(ar1.rho)}{learnt} at a step of {ar1.step:.4g}"
        return found
    hyper = [output.likelihood.hyper for output in estimator.fit_result_.outputs]
    return {name: numbers([own[name] for own in hyper]) for name in hyper[0]}


def numbers(values: Any) -> str:
    """Return numbers as text, one after the other."""
    return ", ".join(f"{value:.4g}" for value in np.atleast_1d(values))


def facts_text(found: Mapping[str, str]) -> str:
    """Return facts as lines of text."""
    width = max(map(len, found), default=0)
    return "\n".join(f"{name.ljust(width)}  {text}" for name, text in found.items())


def facts_html(found: Mapping[str, str]) -> str:
    """Return facts as a table in HTML."""
    rows = "".join(
        f'<tr style="background: none"><th scope="row" style="{CELL}">{escape(name)}</th>'
        f'<td style="{CELL}">{escape(text)}</td></tr>'
        for name, text in found.items()
    )
    return f'<table class="relvec-facts" style="margin: .5em 0; border: none">{rows}</table>'
