"""Figures 7, 8 and 9: the evidence seen as a Gaussian over targets."""

import warnings
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

from benchmarks.paper.report.page import Part, Picture, Table
from benchmarks.paper.report.settings import Settings
from benchmarks.paper.report.sinc import noisy
from relvec import RVR
from relvec.basis import RBF, Columns
from relvec.datasets import make_sinc
from relvec.display import BLUE, INK, STEEL
from relvec.exceptions import RelvecWarning

Array = NDArray[np.float64]

#: Few rows and much noise, so that the noise can be seen beside the targets.
FIGURE_7_ROWS, FIGURE_7_NOISE, FIGURE_7_GAMMA = 20, 0.3, 0.1
FIGURE_8_TARGET, FIGURE_8_FUNCTION = np.array([1.0, 1.6]), np.array([1.5, 0.0])
FIGURE_8_NOISE_VARIANCE = 0.5
FIGURE_9_PAIR = [49, 55]
FIGURE_9_GAMMA = np.geomspace(1e-4, 1e2, 25)


class View(NamedTuple):
    """A fit seen as a Gaussian over the targets (eq. 34): its covariance and what it is made of."""

    covariance: Array
    functions: Array  # α_i^(−1/2) v_i, one a column
    noise_variance: float
    log_evidence: float


def view(X: Array, y: Array, kernel: RBF | Columns, noise_variance: float | None = None) -> View:
    with warnings.catch_warnings():
        # A fit that keeps nothing, or everything, is what the figures are about.
        warnings.simplefilter("ignore", RelvecWarning)
        fit = RVR(kernel, fit_intercept=False, noise_variance=noise_variance).fit(X, y)
    functions = fit.basis_.transform(X) / np.sqrt(fit.weight_precision_)
    covariance = fit.noise_variance_ * np.eye(len(y)) + functions @ functions.T  # eq. 34
    return View(covariance, functions, fit.noise_variance_, fit.log_evidence_)


def build(_: Settings) -> Part:
    widths = [view(*noisy(0), RBF(gamma)) for gamma in FIGURE_9_GAMMA]
    return Part(
        "Figures 7, 8 and 9: why functions leave",
        [
            "The evidence is the density of the targets t under a Gaussian with covariance C = σ²I "
            "+ Σ αᵢ⁻¹ vᵢvᵢᵀ, where vᵢ holds the values of function i at the training rows (eq. "
            "34). The paper sketches it in two dimensions; here it is drawn from fits. Ellipses "
            "have Mahalanobis distance 1.",
        ],
        "Noise of seed 0 in figures 7 and 9.",
        [figure_7(), *figure_8(), figure_9(widths)],
    )


def ellipse(covariance: Array) -> Array:
    """Points at Mahalanobis distance 1 from the origin, shape (2, n)."""
    angle = np.linspace(0, 2 * np.pi, 200)
    return np.linalg.cholesky(covariance) @ np.stack([np.cos(angle), np.sin(angle)])


def plot_ellipse(ax: Axes, covariance: Array, noise_variance: float) -> None:
    ax.plot(*ellipse(covariance), color=BLUE, linewidth=2, label="C")
    noise = ellipse(noise_variance * np.eye(2))
    ax.plot(*noise, color=STEEL, linestyle="dashed", label="noise, σ²I")


def plot_target(ax: Axes, target: Array) -> None:
    ax.plot(*target, "x", color=INK, markersize=10, markeredgewidth=2, label="targets t")
    ax.set(aspect="equal")
    ax.margins(0.12)


def plot_functions(ax: Axes, functions: Array) -> None:
    lines = np.stack([np.zeros_like(functions), functions])
    drawn = ax.plot(*lines.transpose(1, 0, 2), "o-", color=INK, linewidth=1, markevery=[1])
    drawn[0].set_label("functions kept")


def plane(view: View, t: Array) -> Array:
    """Two orthonormal directions: that of t, and across it the one in which C is widest."""
    along = t / np.linalg.norm(t)
    across = np.eye(len(t)) - np.outer(along, along)
    _, directions = np.linalg.eigh(across @ view.functions @ view.functions.T @ across)
    return np.stack([along, directions[:, -1]])


def figure_7() -> Picture:
    X, y = make_sinc(FIGURE_7_ROWS, noise_scale=FIGURE_7_NOISE, random_state=0)
    seen = view(X, y, RBF(FIGURE_7_GAMMA))
    onto = plane(seen, y)
    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.subplots()
    plot_ellipse(ax, onto @ seen.covariance @ onto.T, seen.noise_variance)
    plot_functions(ax, onto @ seen.functions)
    plot_target(ax, onto @ y)
    ax.set(xlabel="along t", ylabel="across t")
    figure.legend(loc="outside right upper")
    return Picture(
        figure,
        "An ellipse that reaches towards a cross, a small circle inside it, and two lines.",
        f"Figure 7: the evidence of {FIGURE_7_ROWS} noisy points of sinc, projected from "
        f"{FIGURE_7_ROWS} dimensions to two: the direction of t, and the one across it in which C "
        f"is widest. The {seen.functions.shape[1]} lines are the functions kept, as long as the "
        "standard deviation αᵢ^(−1/2)|vᵢ| that they add.",
    )


def figure_8() -> tuple[Picture, Table]:
    t, v = FIGURE_8_TARGET, FIGURE_8_FUNCTION
    with_function = FIGURE_8_NOISE_VARIANCE * np.eye(2) + np.outer(v, v)
    noise_alone = np.sqrt(np.linalg.det(with_function)) * np.eye(2)  # the same |C|
    # The level of noise that makes t most probable without a function.
    fitted = view(v[:, None], t, Columns(), noise_variance=float(np.mean(t**2)))
    figure = Figure(figsize=(8, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    plot_ellipse(left, with_function, FIGURE_8_NOISE_VARIANCE)
    plot_functions(left, v[:, None])
    plot_ellipse(right, noise_alone, noise_alone[0, 0])
    plot_target(left, t)
    plot_target(right, t)
    left.set(title="one function and noise", xlabel="$t_1$", ylabel="$t_2$")
    right.set(title="noise alone", xlabel="$t_1$")
    rows = [
        [name, f"{np.linalg.det(C):.4f}", f"{multivariate_normal.logpdf(t, cov=C):.3f}"]
        for name, C in (("one function and noise", with_function), ("noise alone", noise_alone))
    ]
    cosine = (t @ v) / np.linalg.norm(t) / np.linalg.norm(v)
    return Picture(
        figure,
        "Left, an ellipse along a line that points away from the cross; right, a circle that "
        "comes nearer to it.",
        "Figure 8: two explanations of one pair of targets, with the same |C|. Noise alone makes "
        "the targets more probable than a function that points elsewhere.",
    ), Table(
        "Figure 8 in numbers",
        ["explanation", "|C|", "log density of t"],
        rows,
        "With the noise variance at |t|²/2, a function earns its place where the squared cosine "
        f"of its angle with t exceeds 1/2; here it is {cosine**2:.2f}, and an RVR that is offered "
        f"this function alone keeps {fitted.functions.shape[1]}.",
    )


def figure_9(widths: list[View]) -> Picture:
    X, y = noisy(0)
    evidence = np.array([each.log_evidence for each in widths])
    shown = {"very wide": 0, "most probable": int(evidence.argmax()), "very narrow": -1}
    figure = Figure(figsize=(9, 6.5), layout="constrained")
    axes = figure.subplot_mosaic([list(shown), ["evidence"] * len(shown)])
    pair = np.ix_(FIGURE_9_PAIR, FIGURE_9_PAIR)
    labels = [f"t at x = {x:.1f}" for x in X[FIGURE_9_PAIR, 0]]
    for name, index in shown.items():
        ax, each = axes[name], widths[index]
        plot_ellipse(ax, each.covariance[pair], each.noise_variance)
        plot_target(ax, y[FIGURE_9_PAIR])
        ax.set(title=f"{name}, {each.functions.shape[1]} kept", xlim=(-1.6, 1.6), ylim=(-1.6, 1.6))
        ax.set(xlabel=labels[0], ylabel=labels[1])
    curve, chosen = axes["evidence"], list(shown.values())
    curve.plot(FIGURE_9_GAMMA, evidence, ".-", color=BLUE)
    curve.plot(FIGURE_9_GAMMA[chosen], evidence[chosen], "o", color=INK)
    curve.set(xscale="log", xlabel="γ, narrow kernels to the right", ylabel="log evidence")
    handles = axes["very wide"].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3)
    return Picture(
        figure,
        "Three ellipses, of which the middle one is drawn out towards a cross; below, a curve of "
        "evidence that is highest at a middle width.",
        "Figure 9: the width of a Gaussian kernel and the evidence, on the data of figure 2. "
        "Above, C of two neighbouring targets; below, the log evidence of fits at given widths, "
        "with the three of above marked. Neither end is rewarded: a very wide kernel leaves "
        "everything to the noise, a very narrow one leaves C diagonal.",
    )
