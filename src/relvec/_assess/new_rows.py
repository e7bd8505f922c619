"""Rules on predictions and error bars at rows that the fit has not seen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import binom, norm
from sklearn.base import is_classifier

from relvec._assess.case import ENOUGH, Case, Mask
from relvec._assess.findings import Finding
from relvec._fitting.residuals import LEVEL
from relvec._numerics.checks import of_rows
from relvec._numerics.floats import SMALLEST
from relvec.basis.curves import Levels
from relvec.basis.effects import effects_in
from relvec.exceptions import Advice
from relvec.likelihoods import Gaussian, Poisson

#: Mean square of standardised residuals from which on error bars are too short to be of use.
TOO_SHORT = 1.5
#: Coverage of the intervals that are looked at, and the share of rows outside that errors of that
#: mean square have: 11 %.
COVERAGE = 0.95
TOO_MANY = float(2 * norm.sf(norm.isf((1 - COVERAGE) / 2) / np.sqrt(TOO_SHORT)))
#: Share of a function's peak under which it says nothing, and of rows without any function above
#: which it is more than stragglers.
NEXT_TO_NOTHING, STRAGGLERS = 0.01, 0.05

#: Categories that a finding lists.
LISTED = 3
#: Probability that as few rows lie in their intervals by chance. Other rules are looked at in every
#: fit of a search, new rows once, and of few rows 79 % in intervals of 95 % are to be told of.
BY_CHANCE = 0.01
#: Rows from which on errors are compared with those of a constant.
FEWEST = 20

#: Remedies for intervals that are too short, by the likelihood of the model.
WIDER: dict[type, tuple[Advice, ...]] = {
    Gaussian: (Advice("use {}", "calibrate"), Advice("check {} if you set it", "noise_variance")),
    Poisson: (
        Advice("give it more inputs, as counts vary more than Poisson's"),
        Advice("use {}", "likelihood", "negative_binomial"),
    ),
}


def error_bars_short(case: Case) -> Iterator[Finding]:
    """Targets that miss by more than their standard deviations, or lie outside of intervals."""
    if is_classifier(case.model) or not len(case.y) or case.result.noise_by_row:
        return
    square, inside = case.standardised**2, _inside(case)
    mean, coverage = float(square.mean()), float(inside.mean())
    by_chance = float(norm.isf(LEVEL) * square.std() / np.sqrt(square.size))
    likelihood = type(case.result.outputs[0].likelihood)
    misses = len(case.y) >= ENOUGH and mean > TOO_SHORT and mean - 1 > by_chance
    # of targets of one row, which may miss together, the one that misses most
    outside = int((~inside).sum(axis=0).max(initial=0))
    too_many = outside > TOO_MANY * len(inside)
    too_many &= binom.sf(outside - 1, len(inside), 1 - COVERAGE) < BY_CHANCE
    if (misses and likelihood in WIDER) or (too_many and not case.fitted_rows):
        yield Finding(
            "error_bars_short",
            f"targets miss the predictions by {np.sqrt(mean):.2f} standard deviations (root mean "
            f"square), expected 1, and intervals of {100 * COVERAGE:g} % hold "
            f"{100 * coverage:.0f} % of them: error bars are too short here",
            {"mean_square": mean, "coverage": coverage},
            WIDER.get(likelihood, (Advice("use {}", "calibrate"),)),
        )


def overconfident(case: Case) -> Iterator[Finding]:
    """Labels of new rows that are less probable than the probabilities of all classes promise."""
    if not _new_labels(case):
        return
    log_p = np.log(np.maximum(case.probabilities, SMALLEST))
    expected = -(case.probabilities * log_p).sum(axis=1)
    variance = (case.probabilities * log_p**2).sum(axis=1) - expected**2
    loss, promised = _log_loss(case), float(expected.mean())
    by_chance = float(norm.isf(LEVEL) * np.sqrt(max(variance.sum(), 0.0)) / len(expected))
    if loss > TOO_SHORT * promised and loss - promised > by_chance:
        advice = Advice("use a wider kernel (a smaller {})", "gamma")
        integrate = Advice("use {}", "proba", "integrated")
        yield Finding(
            "overconfident",
            f"the log loss is {loss:.3g} on these rows, where the predicted probabilities promise "
            f"{promised:.3g}: they are too sure",
            {"log_loss": loss, "expected": promised},
            (integrate if case.parameter("proba") == "mode" else advice,),
        )


def no_skill(case: Case) -> Iterator[Finding]:
    """Predictions of new rows that are worse than one constant for all of them."""
    new = len(case.y) >= FEWEST and not case.fitted_rows
    if not new or not len(case.model.relevance_):
        return
    advice = Advice("check that these rows are like those of the fit")
    if _new_labels(case):
        loss, shares = _log_loss(case), np.bincount(case.y) / len(case.y)
        constant = float(-(shares[shares > 0] @ np.log(shares[shares > 0])))
        if len(np.unique(case.y)) > 1 and loss > constant:
            yield Finding(
                "no_skill",
                f"the log loss is {loss:.3g} on these rows, more than the {constant:.3g} of the "
                "shares of their classes as probabilities",
                {"log_loss": loss, "constant": constant},
                (advice,),
            )
        return
    predicted = np.reshape(case.predicted, case.y.shape)
    for name, t, y in zip(case.output_names, case.y.T, predicted.T, strict=True):
        error, spread = float(np.sqrt(np.mean((t - y) ** 2))), float(t.std())
        if 0 < spread < error:
            yield Finding(
                "no_skill",
                f"{name}the root mean square error is {error:.3g} on these rows, more than the "
                f"{spread:.3g} of their mean as prediction",
                {"error": error, "constant": spread},
                (advice,),
            )


def far_from_data(case: Case) -> Iterator[Finding]:
    """Rows at which every function is next to zero."""
    new = case.has_inputs and not case.fitted_rows
    if not new or case.parameter("augment") or not case.local.size or not case.local.all():
        return
    largest = (np.abs(case.Phi) / case.peaks).max(axis=1)
    share = float(np.mean(largest < NEXT_TO_NOTHING))
    if share > STRAGGLERS:
        yield Finding(
            "far_from_data",
            f"at {100 * share:.3g} % of the rows all functions are next to zero: predictions fall "
            "back to the intercept, with error bars no wider than among the data",
            {"share": share},
            (
                Advice("use {}", "augment", value=True),
                case.width_advice("a wider kernel (a smaller {})"),
            ),
        )


def unknown_category(case: Case) -> Iterator[Finding]:
    """Categories of kept effects that the rows of the fit do not have, for each input."""
    found: dict[int, Mask] = {}
    if len(case.X):
        for effect in effects_in(case.model.basis_):
            for factor in effect.factors:
                if isinstance(factor, Levels):
                    found[factor.feature] = of_rows(factor.unknown, case.X)
    for feature, unknown in found.items():
        values = sorted({str(value) for value in case.at(np.flatnonzero(unknown))[:, feature]})
        if values:
            listed = ", ".join(map(repr, values[:LISTED])) + ", …" * (len(values) > LISTED)
            yield Finding(
                "unknown_category",
                f"{case.features[feature]} is {listed} in {unknown.sum()} of these rows and in "
                "none of the fit: its effect there is taken for zero, as unsure as its prior",
                {"rows": float(unknown.sum()), "categories": float(len(values))},
                (Advice("fit again with rows of these categories"),),
            )


def _inside(case: Case) -> Mask:
    """Which targets lie within their intervals, shaped as y."""
    low, high = case.model.predict_interval(case.given, COVERAGE, **case.known)
    inside: Mask = (low.reshape(case.y.shape) <= case.y) & (case.y <= high.reshape(case.y.shape))
    return inside


def _new_labels(case: Case) -> bool:
    """Return whether there are labels of new rows, and enough of them."""
    return is_classifier(case.model) and len(case.y) >= FEWEST and not case.fitted_rows


def _log_loss(case: Case) -> float:
    """Mean of −log of the probability of each label."""
    of_label = case.probabilities[np.arange(len(case.y)), case.y]
    return float(-np.log(np.maximum(of_label, SMALLEST)).mean())
