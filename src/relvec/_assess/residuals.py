"""Rules on residuals, which depend on nothing and are Gaussian where the model is right."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from scipy.stats import kurtosis, norm, normaltest, rankdata, skew
from scipy.stats import t as student

from relvec._assess.case import ENOUGH, Case, Mask, correlation
from relvec._assess.findings import Finding
from relvec._fitting.residuals import LEVEL, Neighbours, statement
from relvec._numerics.floats import SMALLEST
from relvec._numerics.typing import Array
from relvec.exceptions import Advice
from relvec.solvers import Sequential

#: Share of rows that may be outliers of Gaussian noise; more of them are its shape.
FEW_OUTLIERS = 0.1
#: How many times as far noise may reach whose size is seen to differ from row to row.
BEYOND_TREND = 2.0
#: Standard deviations of a normal to one median absolute deviation, and its efficiency beside them.
MAD_TO_STD, MAD_EFFICIENCY = float(1 / norm.ppf(0.75)), 0.37

#: Rank correlation, its p-value, and the name of what it is with.
Trend = tuple[float, float, str]


def underfit(case: Case) -> Iterator[Finding]:
    """Residuals of near rows are alike: the function misses a part of what X tells of y.

    Kernel values are no inputs, and need be no distances.
    """
    if not case.has_inputs or not len(case.y):
        return
    dependent = list(_dependent(case))
    if not dependent:
        return
    rows = case.neighbours
    neighbours = Neighbours(case.at(rows))
    for name, z, expected in dependent:
        share = neighbours.missed(z[rows], expected)
        if share:
            fact = f"{name}{statement(share)}"
            yield Finding("underfit", fact, {"common": share}, _another_fit(case))


def heteroscedastic(case: Case) -> Iterator[Finding]:
    """Residuals whose size follows the prediction or an input."""
    for name, _, (strength, p, cause) in _residuals(case):
        if p < LEVEL:
            noise = "all rows have one noise"
            if any(output.noise is not None for output in case.result.outputs):
                noise = "the noise that was learnt does not"
            constant = case.parameter("noise") in (None, "constant")
            yield Finding(
                "heteroscedastic",
                f"{name}the size of the residuals {'grows' if strength > 0 else 'falls'} with "
                f"{cause} (rank correlation {strength:.2f}, p = {p:.1g}), but {noise}",
                {"correlation": strength, "p": p},
                (
                    *([Advice("use {}", "noise", "learnt")] if constant else []),
                    Advice("transform y"),
                    Advice("give {} to fit", "noise_variance_per_row"),
                ),
            )


def outliers(case: Case) -> Iterator[Finding]:
    """A few residuals that Gaussian noise does not have."""
    for name, z, (_, p, _) in _residuals(case):
        far = _outlying(z, 1.0 if p >= LEVEL else BEYOND_TREND)
        if 0 < far.mean() <= FEW_OUTLIERS:
            rows = ", ".join(map(str, case.row_names(far)[:5]))
            yield Finding(
                "outliers",
                f"{name}{far.sum()} of {len(z)} residuals are further out than Gaussian noise "
                f"reaches (rows {rows}{', …' if far.sum() > 5 else ''})"
                + (", and draw the function towards them" if case.fitted_rows else ""),
                {"outliers": int(far.sum()), "largest": float(np.abs(z).max())},
                (Advice("look at these rows"), Advice("use {}", "likelihood", "student_t")),
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
                f"{excess:.2f}, p = {p:.1g}), so that intervals do not hold what they say",
                {"skewness": skewness, "kurtosis": excess, "p": p},
                (
                    Advice("transform y (its logarithm, if it is skewed)"),
                    Advice("use {}", "calibrate"),
                    Advice("{} for heavy tails", "likelihood", "student_t"),
                ),
            )


def correlated(case: Case) -> Iterator[Finding]:
    """Residuals of rows that follow each other are alike."""
    for name, z, _ in _residuals(case):
        z = z - z.mean()
        square = float(z @ z)
        between = float(z[1:] @ z[:-1]) / square if square else 0.0
        p = float(norm.sf(between * np.sqrt(len(z))))
        if p < LEVEL:
            yield Finding(
                "correlated",
                f"{name}residuals of rows that follow each other have a correlation of "
                f"{between:.2f} (p = {p:.1g}), but count as independent",
                {"correlation": between, "p": p},
                (
                    Advice("use {} if rows are in the order of time", "noise_correlation", "ar1"),
                    Advice("tell X what rows that follow each other have in common"),
                ),
            )


def _dependent(case: Case) -> Iterator[tuple[str, Array, float]]:
    """Name and residuals of each target or class, and the share that near rows have in common.

    They share none in a fit that is right; but the function's own error, of new rows, is the same
    for near ones. Without Gaussian noise it is not told from that, and new rows are left out.
    """
    if len(case.residuals):
        expected = np.zeros(case.y.shape) if case.fitted_rows else case.latent_share
        yield from zip(case.output_names, case.residuals.T, expected.mean(axis=0), strict=True)
    elif case.fitted_rows and not case.gaussian:
        for name, z in zip(case.output_names, case.pearson.T, strict=True):
            yield name, z, 0.0


def _another_fit(case: Case) -> tuple[Advice, ...]:
    """Advice on how a fit that misses a part of the function may find it."""
    model = case.model
    has_width = hasattr(model, "gamma_") and not case.width_learnt
    advice = [] if case.spreads is None else list(case.spreads_advice)
    if has_width and not advice:
        by_evidence = "use another width of the kernel ({} learns one)"
        learn = Advice(by_evidence, "gamma", "evidence")
        advice.append(learn if case.learns_scales else Advice("use another {}", "gamma"))
    solver = case.parameter("solver")
    if solver == "sequential" or isinstance(solver, Sequential):
        advice.append(Advice("raise {} for a longer search", "n_starts"))
    if not has_width:
        advice.append(Advice("use another {}", "kernel"))
    if not hasattr(model, "kernel"):
        advice.append(Advice("add columns to X, such as products and powers"))
    return tuple(advice)


def _residuals(case: Case) -> Iterator[tuple[str, Array, Trend]]:
    """Name, if there are several, standardised residuals and trend of each target that varies."""
    if len(case.residuals) >= ENOUGH:
        for number, (z, t) in enumerate(zip(case.residuals.T, case.y.T, strict=True)):
            if np.ptp(t) > 0:
                yield case.output_names[number], z, _trend(case, z)


def _trend(case: Case, z: Array) -> Trend:
    """Strongest rank correlation of the size of residuals z with predictions and inputs."""
    predicted = np.reshape(case.predicted, (len(z), -1))
    size = rankdata(np.abs(z))[:, None]
    inputs = case.columns() if case.has_inputs else ()
    names = ["the prediction"] * predicted.shape[1] + case.features
    parts = (correlation(rankdata(part, axis=0), size) for part in chain([predicted], inputs))
    rho = np.concatenate(list(parts))[:, 0]
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
    return (centred > reach * scale) & (scale > 0)
