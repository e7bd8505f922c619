"""Rules of a diagnosis: each is a function of a `Case` that yields findings, listed in `RULES`.

Statistical rules have a level of one in a thousand fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from relvec._assess.case import ENOUGH, Case, Rule, correlation, row_labels
from relvec._assess.findings import Diagnosis, Finding
from relvec._assess.new_rows import (
    error_bars_short,
    far_from_data,
    no_skill,
    overconfident,
    unknown_category,
)
from relvec._assess.pipelines import unwrap_fitted
from relvec._assess.residuals import (
    correlated,
    heteroscedastic,
    non_gaussian,
    outliers,
    underfit,
)
from relvec._fitting.result import FittedOutput
from relvec._numerics.checks import in_memory
from relvec._numerics.typing import Array
from relvec.exceptions import Advice, UnderfitWarning

#: Share of the rows that well determined weights use up, above which every other row has a function
#: of its own.
CROWDED = 0.5
#: Spread of the rows in widths of the kernel under which it is the same for all of them, to 2 %:
#: exp(−(√2 · 0.1)²) = 0.98 for two rows a typical distance apart.
FLAT = 0.1
#: Share of a function's peak under which a row is no neighbour.
NEIGHBOUR = 0.1
#: Correlation above which two weights, or columns, stand for each other: at 0.99 the variance of a
#: weight is 50 times what it would be alone.
COLLINEAR = 0.99
LEAVE_OUT = Advice("leave one of them out of X")
#: A class is rare under this share of what it would have were all equal.
RARE = 0.5


def diagnose(
    model: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> Diagnosis:
    """Say in words what is wrong with a fit, and which parameter to change.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a pipeline, a search or a
        ``TransformedTargetRegressor`` that holds one, in any order.
    X : array-like of shape (n_samples, n_features), default=None
        Rows, of the fit or new ones, as ``model.predict`` takes them: are they far from the data?
    y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
        Their targets, for what residuals and labels tell.
    exposure : array-like of shape (n_samples,), default=None
        Exposure of each count, where the model was fitted with one.

    Returns
    -------
    diagnosis : Diagnosis
        A list that prints one finding a line, with inputs by the names that the steps of the model
        give them; each has a ``code``, a ``sentence`` and the ``numbers`` it rests on. Empty if
        there is nothing to say. A transformed target is judged as the estimator has it.

    Examples
    --------
    >>> import relvec
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from relvec.datasets import make_sinc
    >>> X, y = make_sinc(100, noise_scale=0.1, random_state=0)
    >>> relvec.diagnose(relvec.RVR(gamma=0.1).fit(X, y), X, y)
    nothing to report
    >>> relvec.diagnose(make_pipeline(StandardScaler(), relvec.RVR(gamma=1e-6)).fit(X, y)).codes
    ['underfit', 'kernel_wide']
    """
    parts = unwrap_fitted(model)
    if X is None and y is not None:
        raise ValueError("y is given without X, expected both or X alone")
    estimator, names = parts.estimator, parts.names
    if X is None:
        return findings_of(Case(estimator, names=names))
    X, y = in_memory(X), in_memory(y)
    inputs = parts.inputs(X)
    if y is None:
        return findings_of(Case(estimator, estimator._rows(inputs), given=inputs, names=names))
    rows, targets = estimator._like_fitted(inputs, parts.change.forward(y))
    known = estimator._known_exposure(exposure, len(rows))
    return findings_of(Case(estimator, rows, targets, inputs, row_labels(y), names, known))


def findings_of(case: Case) -> Diagnosis:
    """Findings of all rules, in their order, with the advice that the user of the model can take.

    Rules on noise say nothing where the function is at fault: residuals are then not noise alone.
    """
    found = Diagnosis()
    for rule in RULES:
        if rule not in ON_NOISE or not AT_FAULT.intersection(found.codes):
            found += [finding.possible(case.model) for finding in rule(case)]
    return found


def warned(case: Case) -> Iterator[Finding]:
    """Warnings of the fit, which name the parameter themselves."""
    judged = case.has_inputs and len(case.y) > 0  # by `underfit`
    for warning in case.result.warnings:
        if judged and warning.code == UnderfitWarning.code:
            continue
        yield Finding(warning.code, warning.fact, {}, warning.advice)


def starts_disagree(case: Case) -> Iterator[Finding]:
    """No second start came near the best."""
    for search in case.result.searches:
        if search.starts > 1 and search.agreed == 1:
            yield Finding(
                "starts_disagree",
                f"only one of {search.starts} starts found the best evidence, so there may be "
                "better",
                {"agreed": search.agreed, "starts": search.starts},
                (Advice("raise {}", "n_starts"),),
            )


def kernel_narrow(case: Case) -> Iterator[Finding]:
    """Every point has a function of its own."""
    model, n = case.model, case.model.n_samples_fit_
    if not model.basis_.centred or n < ENOUGH / 5:
        return
    used = float(np.atleast_2d(model.well_determined_).sum(axis=1).max())
    wider = case.width_advice("a wider kernel (a smaller {})")
    if used > CROWDED * n:
        yield Finding(
            "kernel_narrow",
            f"the functions use up {used:.1f} of {n} rows: each describes little but the point it "
            "sits on",
            {"used": used, "rows": n},
            (wider, Advice("a larger {} if you set it", "noise_variance")),
        )
    elif case.fitted_rows and case.local.any():
        near = np.abs(case.Phi[:, case.local]) > NEIGHBOUR * case.peaks[case.local]
        neighbours = float(np.median(near.sum(axis=0) - 1))
        if neighbours < 1:
            yield Finding(
                "kernel_narrow",
                "most functions are near zero at every row but their own, so that nothing is "
                "learnt from neighbours",
                {"neighbours": neighbours},
                (wider,),
            )


def kernel_wide(case: Case) -> Iterator[Finding]:
    """All rows look alike to the kernel."""
    relevance = getattr(case.model, "feature_relevance_", None)
    if relevance is None or not case.local.any():
        return
    spread = float(np.hypot.reduce(relevance))
    if spread < FLAT:
        yield Finding(
            "kernel_wide",
            f"the rows spread over {spread:.2g} widths of the kernel: to it they all look alike, "
            "and functions differ in their last digits only",
            {"spread": spread},
            (
                case.width_advice("a narrower kernel (a larger {})"),
                Advice("{} if that is all it needs", "kernel", "linear"),
            ),
        )


def scales_uneven(case: Case) -> Iterator[Finding]:
    """One width for inputs of very different spread."""
    if case.spreads is not None:
        narrow, wide, ratio = case.spreads
        yield Finding(
            "scales_uneven",
            f"the spread of {case.features[wide]} is {ratio:.3g} times that of "
            f"{case.features[narrow]} and both share one width, so that distances are those of the "
            "widest",
            {"ratio": ratio},
            case.spreads_advice,
        )


def collinear_weights(case: Case) -> Iterator[Finding]:
    """Kept columns that stand for each other; of functions on points that is no harm."""
    if case.model.basis_.centred:
        return
    for output in case.result.outputs:
        alike = np.abs(np.tril(_weight_correlation(output), -1))
        pairs = np.argwhere(alike > COLLINEAR)
        if len(pairs):
            worst = np.unravel_index(alike.argmax(), alike.shape)
            a, b = (case.functions[output.columns[position]] for position in sorted(worst))
            yield Finding(
                "collinear",
                f"the weights of {a} and {b} have a correlation of {alike.max():.4f}: the "
                "data tell what both do together, not each",
                {"correlation": float(alike.max()), "pairs": len(pairs)},
                (LEAVE_OUT,),
            )
            return


def collinear_inputs(case: Case) -> Iterator[Finding]:
    """A column that was left out and says what a kept one says."""
    basis = case.model.basis_
    linear = basis.linear_map() if case.has_inputs and not basis.centred else None
    if linear is None or len(case.X) < 3 or not linear.size:
        return
    alike = np.abs(np.vstack([correlation(some, case.Phi) for some in case.columns()]))
    alike[linear.any(axis=1)] = 0  # a kept column is itself
    twins = np.argwhere(alike > COLLINEAR)
    if len(twins):
        out, kept = np.unravel_index(alike.argmax(), alike.shape)
        yield Finding(
            "collinear",
            f"{case.features[out]} was left out and {case.functions[kept]} kept, with a "
            f"correlation of {alike.max():.4f}: which of the two was kept says nothing of "
            "which matters",
            {"correlation": float(alike.max()), "pairs": len(twins)},
            (LEAVE_OUT,),
        )


def separable(case: Case) -> Iterator[Finding]:
    """Classes that nothing keeps from being told apart with certainty."""
    model = case.model
    if not is_classifier(model):
        return
    so = (
        "no row bounds the weights but through their prior, integrated probabilities are more "
        "cautious than the data ask for, and log_evidence_ compares nothing"
    )
    bolder = (Advice("{} is bolder", "proba", "mode"),)
    if model.log_evidence_ > 0:
        yield Finding(
            "separable",
            f"the log evidence is {model.log_evidence_:.3g}, above zero, which only labels that "
            f"can be told apart without error allow: {so}",
            {"log_evidence": float(model.log_evidence_)},
            bolder,
        )
        return
    judged = len(case.y) and case.fitted_rows and len(model.relevance_)
    if judged and (case.predicted == model.classes_[case.y]).all():
        yield Finding(
            "separable",
            f"all {len(case.y)} rows of the fit are on the right side: {so}",
            {"errors": 0},
            bolder,
        )


def imbalance(case: Case) -> Iterator[Finding]:
    """A rare class that is never predicted."""
    if not is_classifier(case.model) or len(case.y) < ENOUGH:
        return
    classes = case.model.classes_
    for code, label in enumerate(classes):
        share = float(np.mean(case.y == code))
        if 0 < share < RARE / len(classes) and not (case.predicted == label).any():
            yield Finding(
                "imbalance",
                f"class {label} is {100 * share:.3g} % of the rows and is predicted for none",
                {"share": share},
                (
                    Advice("use {}", "class_weight", "balanced"),
                    Advice("decide by {} at a lower threshold", "predict_proba"),
                ),
            )


#: Rules on noise, and the findings by which residuals are not noise alone.
ON_NOISE: tuple[Rule, ...] = (heteroscedastic, outliers, non_gaussian, correlated)
AT_FAULT = {"underfit", "kernel_narrow"}

RULES: list[Rule] = [
    underfit,
    warned,
    starts_disagree,
    kernel_narrow,
    kernel_wide,
    scales_uneven,
    collinear_weights,
    collinear_inputs,
    separable,
    imbalance,
    *ON_NOISE,
    error_bars_short,
    overconfident,
    no_skill,
    far_from_data,
    unknown_category,
]


def _weight_correlation(output: FittedOutput) -> Array:
    """Correlation between the weights of each pair of functions, the largest over the classes."""
    n_outputs = output.posterior.mean.shape[1]
    roots = (output.posterior.root[number::n_outputs] for number in range(n_outputs))
    units = [root / np.linalg.norm(root, axis=1, keepdims=True) for root in roots]
    correlation: Array = np.max([unit @ unit.T for unit in units], axis=0)
    return correlation
