"""Rules of a diagnosis: each is a function of a `Case` that yields findings, listed in `RULES`.

Statistical rules have a level of one in a thousand fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import kurtosis, norm, normaltest, rankdata, skew
from scipy.stats import t as student
from sklearn.base import is_classifier

from relvec._assess.findings import Case, Diagnosis, Finding, Mask
from relvec._fitting.result import FittedOutput
from relvec._numerics.floats import SMALLEST
from relvec._numerics.typing import Array
from relvec.likelihoods import Gaussian, Poisson

#: Probability that a statistical rule speaks by chance: fits come by the hundred in a search.
LEVEL = 1e-3
#: Rows from which on residuals and shares are looked at: the tests' own distributions hold by then.
ENOUGH = 50
#: Share of the rows that well determined weights use up, above which every other row has a function
#: of its own.
CROWDED = 0.5
#: Spread of the rows in widths of the kernel under which it is the same for all of them, to 2 %:
#: exp(−(√2 · 0.1)²) = 0.98 for two rows a typical distance apart.
FLAT = 0.1
#: Share of a function's peak under which it says nothing, and under which a row is no neighbour.
NEXT_TO_NOTHING, NEIGHBOUR = 0.01, 0.1
#: Share of rows without any function above which it is more than stragglers.
STRAGGLERS = 0.05
#: Ratio of spreads: a feature that much narrower is a share of 1e-4 of a squared distance.
UNEVEN = 100.0
#: Correlation above which two weights, or columns, stand for each other: at 0.99 the variance of a
#: weight is 50 times what it would be alone.
COLLINEAR = 0.99
#: Share of rows that may be outliers of Gaussian noise; more of them are its shape.
FEW_OUTLIERS = 0.1
#: How many times as far noise may reach whose size is seen to differ from row to row.
BEYOND_TREND = 2.0
#: Mean square of standardised residuals from which on error bars are too short to be of use.
TOO_SHORT = 1.5
#: A class is rare under this share of what it would have were all equal.
RARE = 0.5
#: Standard deviations of a normal to one median absolute deviation, and its efficiency beside them.
MAD_TO_STD, MAD_EFFICIENCY = float(1 / norm.ppf(0.75)), 0.37

#: Remedy for intervals that are too short, by the likelihood of the model.
WIDER: dict[type, str] = {
    Gaussian: "use calibrate, or check noise_variance if you set it",
    Poisson: "counts that vary more than Poisson's want more inputs, or the Gaussian likelihood on "
    "their square roots",
}

Rule = Callable[[Case], Iterator[Finding]]


def diagnose(case: Case) -> Diagnosis:
    """Findings of all rules, in their order."""
    return Diagnosis(finding for rule in RULES for finding in rule(case))


def warned(case: Case) -> Iterator[Finding]:
    """Warnings of the fit, which name the parameter themselves."""
    for warning in case.result.warnings:
        yield Finding(warning.code, str(warning), {})


def starts_disagree(case: Case) -> Iterator[Finding]:
    """No second start came near the best."""
    for search in case.result.searches:
        if search.starts > 1 and search.agreed == 1:
            yield Finding(
                "starts_disagree",
                f"only one of {search.starts} starts found the best evidence, so there may be "
                "better; raise n_starts",
                {"agreed": search.agreed, "starts": search.starts},
            )


def kernel_narrow(case: Case) -> Iterator[Finding]:
    """Every point has a function of its own."""
    model, n = case.model, case.model.n_samples_fit_
    if not model.basis_.centred or n < ENOUGH / 5:
        return
    used = float(np.atleast_2d(model.well_determined_).sum(axis=1).max())
    wider = _width(case, "a wider kernel (a smaller gamma)")
    if used > CROWDED * n:
        yield Finding(
            "kernel_narrow",
            f"the functions use up {used:.1f} of {n} rows: each describes little but the point it "
            f"sits on; use {wider}, or a larger noise_variance if you set it",
            {"used": used, "rows": n},
        )
    elif case.fitted_rows and case.local.any():
        near = np.abs(case.Phi[:, case.local]) > NEIGHBOUR * case.peaks[case.local]
        neighbours = float(np.median(near.sum(axis=0) - 1))
        if neighbours < 1:
            yield Finding(
                "kernel_narrow",
                "most functions are near zero at every row but their own, so that nothing is "
                f"learnt from neighbours; use {wider}",
                {"neighbours": neighbours},
            )


def kernel_wide(case: Case) -> Iterator[Finding]:
    """All rows look alike to the kernel."""
    relevance = getattr(case.model, "feature_relevance_", None)
    if relevance is None or not case.local.any():
        return
    spread = float(np.linalg.norm(relevance))
    if spread < FLAT:
        yield Finding(
            "kernel_wide",
            f"the rows spread over {spread:.2g} widths of the kernel: to it they all look alike, "
            "and functions differ in their last digits only; use "
            f"{_width(case, 'a narrower kernel (a larger gamma)')}, or kernel='linear' if that is "
            "all it needs",
            {"spread": spread},
        )


def scales_uneven(case: Case) -> Iterator[Finding]:
    """One width for inputs of very different spread."""
    relevance = getattr(case.model, "feature_relevance_", None)
    one_width = np.ndim(getattr(case.model, "gamma_", 0.0)) == 0
    if relevance is None or not one_width or not case.local.any():
        return
    narrow, wide = np.where(relevance > 0, relevance, np.inf).argmin(), relevance.argmax()
    if relevance[wide] > UNEVEN * relevance[narrow]:
        ratio = float(relevance[wide] / relevance[narrow])
        yield Finding(
            "scales_uneven",
            f"the spread of {case.features[wide]} is {ratio:.3g} times that of "
            f"{case.features[narrow]} and both share one width, so that distances are those of the "
            "widest; standardise X (StandardScaler), or use gamma='ard'",
            {"ratio": ratio},
        )


def collinear_weights(case: Case) -> Iterator[Finding]:
    """Kept columns that stand for each other; of functions on points that is no harm."""
    if case.model.basis_.centred:
        return
    for output in case.result.outputs:
        correlation = np.abs(np.tril(_weight_correlation(output), -1))
        pairs = np.argwhere(correlation > COLLINEAR)
        if len(pairs):
            worst = np.unravel_index(correlation.argmax(), correlation.shape)
            a, b = (case.functions[output.columns[position]] for position in sorted(worst))
            yield Finding(
                "collinear",
                f"the weights of {a} and {b} have a correlation of {correlation.max():.4f}: the "
                "data tell what both do together, not each; leave one of them out of X",
                {"correlation": float(correlation.max()), "pairs": len(pairs)},
            )
            return


def collinear_inputs(case: Case) -> Iterator[Finding]:
    """A column that was left out and says what a kept one says."""
    basis = case.model.basis_
    linear = basis.linear_map() if case.has_inputs and not basis.centred else None
    if linear is None or len(case.X) < 3 or not linear.size:
        return
    correlation = np.abs(_correlation(case.X, case.Phi))
    correlation[linear.any(axis=1)] = 0  # a kept column is itself
    twins = np.argwhere(correlation > COLLINEAR)
    if len(twins):
        out, kept = np.unravel_index(correlation.argmax(), correlation.shape)
        yield Finding(
            "collinear",
            f"{case.features[out]} was left out and {case.functions[kept]} kept, with a "
            f"correlation of {correlation.max():.4f}: which of the two was kept says nothing of "
            "which matters; leave one of them out of X",
            {"correlation": float(correlation.max()), "pairs": len(twins)},
        )


def separable(case: Case) -> Iterator[Finding]:
    """Classes that nothing keeps from being told apart with certainty."""
    model = case.model
    if not is_classifier(model):
        return
    advice = (
        "no row bounds the weights but through their prior, and integrated probabilities are more "
        "cautious than the data ask for; proba='mode' is bolder, and log_evidence_ compares nothing"
    )
    if model.log_evidence_ > 0:
        yield Finding(
            "separable",
            f"the log evidence is {model.log_evidence_:.3g}, above zero, which only labels that "
            f"can be told apart without error allow: {advice}",
            {"log_evidence": float(model.log_evidence_)},
        )
        return
    judged = len(case.y) and case.fitted_rows and len(model.relevance_)
    if judged and (case.predicted == model.classes_[case.y]).all():
        yield Finding(
            "separable",
            f"all {len(case.y)} rows of the fit are on the right side: {advice}",
            {"errors": 0},
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
                f"class {label} is {100 * share:.3g} % of the rows and is predicted for none; use "
                "class_weight='balanced', or decide by predict_proba at a lower threshold",
                {"share": share},
            )


def heteroscedastic(case: Case) -> Iterator[Finding]:
    """Residuals whose size follows the prediction or an input."""
    for name, _, (strength, p, cause) in _residuals(case):
        if p < LEVEL:
            yield Finding(
                "heteroscedastic",
                f"{name}the size of the residuals {'grows' if strength > 0 else 'falls'} with "
                f"{cause} (rank correlation {strength:.2f}, p = {p:.1g}), but all rows have one "
                "noise; transform y, or give noise_variance_per_row to fit",
                {"correlation": strength, "p": p},
            )


def outliers(case: Case) -> Iterator[Finding]:
    """A few residuals that Gaussian noise does not have."""
    for name, z, (_, p, _) in _residuals(case):
        far = _outlying(z, 1.0 if p >= LEVEL else BEYOND_TREND)
        if 0 < far.mean() <= FEW_OUTLIERS:
            rows = ", ".join(map(str, np.flatnonzero(far)[:5]))
            yield Finding(
                "outliers",
                f"{name}{far.sum()} of {len(z)} residuals are further out than Gaussian noise "
                f"reaches (rows {rows}{', …' if far.sum() > 5 else ''}), and draw the function "
                "towards them; look at these rows, or use likelihood='student_t'",
                {"outliers": int(far.sum()), "largest": float(np.abs(z).max())},
            )


def non_gaussian(case: Case) -> Iterator[Finding]:
    """Residuals of another shape, a few outliers aside, where their size follows nothing."""
    for name, z, (_, p, _) in _residuals(case):
        if p < LEVEL:  # noise of several sizes has another shape
            continue
        far = _outlying(z)
        z = z[~far] if far.mean() <= FEW_OUTLIERS else z
        p = float(normaltest(z).pvalue)
        if p < LEVEL:
            skewness, excess = float(skew(z)), float(kurtosis(z))
            yield Finding(
                "non_gaussian",
                f"{name}residuals are not Gaussian (skewness {skewness:.2f}, excess kurtosis "
                f"{excess:.2f}, p = {p:.1g}), so that intervals do not hold what they say; "
                "transform y (its logarithm, if it is skewed), or use calibrate, or "
                "likelihood='student_t' for heavy tails",
                {"skewness": skewness, "kurtosis": excess, "p": p},
            )


def error_bars_short(case: Case) -> Iterator[Finding]:
    """Targets that miss by more than their standard deviations."""
    remedy = WIDER.get(type(case.result.outputs[0].likelihood))
    if remedy is None or len(case.y) < ENOUGH or case.result.noise_by_row:
        return
    square = case.standardised**2
    mean = float(square.mean())
    by_chance = float(norm.isf(LEVEL) * square.std() / np.sqrt(square.size))
    if mean > TOO_SHORT and mean - 1 > by_chance:
        yield Finding(
            "error_bars_short",
            f"targets miss the predictions by {np.sqrt(mean):.2f} standard deviations (root mean "
            f"square), expected 1: error bars are too short here; {remedy}",
            {"mean_square": mean},
        )


def far_from_data(case: Case) -> Iterator[Finding]:
    """Rows at which every function is next to zero."""
    new = case.has_inputs and not case.fitted_rows
    if not new or case.model.augment or not case.local.size or not case.local.all():
        return
    largest = (np.abs(case.Phi) / case.peaks).max(axis=1)
    share = float(np.mean(largest < NEXT_TO_NOTHING))
    if share > STRAGGLERS:
        yield Finding(
            "far_from_data",
            f"at {100 * share:.3g} % of the rows all functions are next to zero: predictions fall "
            "back to the intercept, with error bars no wider than among the data; use "
            f"augment=True, or {_width(case, 'a wider kernel (a smaller gamma)')}",
            {"share": share},
        )


RULES: list[Rule] = [
    warned,
    starts_disagree,
    kernel_narrow,
    kernel_wide,
    scales_uneven,
    collinear_weights,
    collinear_inputs,
    separable,
    imbalance,
    heteroscedastic,
    outliers,
    non_gaussian,
    error_bars_short,
    far_from_data,
]


def _width(case: Case, other: str) -> str:
    """Advice for another width of the kernel, unless it was learnt and not set."""
    learnt = case.model.basis_.hyper
    return "a gamma chosen by rows left out, as the evidence chose this one" if learnt else other


#: Rank correlation, its p-value, and the name of what it is with.
Trend = tuple[float, float, str]


def _residuals(case: Case) -> Iterator[tuple[str, Array, Trend]]:
    """Name, if there are several, standardised residuals and trend of each target that varies."""
    if len(case.residuals) >= ENOUGH:
        for number, (z, t) in enumerate(zip(case.residuals.T, case.y.T, strict=True)):
            if np.ptp(t) > 0:
                yield f"target {number}: " if case.y.shape[1] > 1 else "", z, _trend(case, z)


def _trend(case: Case, z: Array) -> Trend:
    """Strongest rank correlation of the size of residuals z with predictions and inputs."""
    predicted = np.reshape(case.predicted, (len(z), -1))
    against = np.hstack([predicted, case.X]) if case.has_inputs else predicted
    names = ["the prediction"] * predicted.shape[1] + case.features
    rho = _correlation(rankdata(against, axis=0), rankdata(np.abs(z))[:, None])[:, 0]
    worst, freedom = int(np.abs(rho).argmax()), len(z) - 2
    strength = float(rho[worst])
    score = abs(strength) * np.sqrt(freedom / max(1 - strength**2, SMALLEST))
    p = min(1.0, 2 * float(student.sf(score, freedom)) * len(rho))  # of the best of so many
    return strength, p, names[worst]


def _outlying(z: Array, times: float = 1.0) -> Mask:
    """Residuals that no row of Gaussian noise would have, by a spread that they do not enter.

    That spread is as uncertain as the standard deviation of fewer rows. Noise that differs from
    row to row reaches several `times` as far.
    """
    centred = np.abs(z - np.median(z))
    scale = MAD_TO_STD * float(np.median(centred))
    reach = times * float(student.isf(LEVEL / (2 * len(z)), MAD_EFFICIENCY * len(z)))
    far: Mask = (centred > reach * scale) & (scale > 0)
    return far


def _weight_correlation(output: FittedOutput) -> Array:
    """Correlation between the weights of each pair of functions, the largest over the classes."""
    n_outputs = output.posterior.mean.shape[1]
    roots = (output.posterior.root[number::n_outputs] for number in range(n_outputs))
    units = [root / np.linalg.norm(root, axis=1, keepdims=True) for root in roots]
    correlation: Array = np.max([unit @ unit.T for unit in units], axis=0)
    return correlation


def _correlation(A: Array, B: Array) -> Array:
    """Correlation of the columns of A with those of B, zero for constants."""
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    norms = np.outer(np.linalg.norm(A, axis=0), np.linalg.norm(B, axis=0))
    correlation: Array = np.divide(A.T @ B, norms, out=np.zeros_like(norms), where=norms > 0)
    return correlation
