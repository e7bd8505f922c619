"""Figure 6: the prior of two weights, at given precisions and with these integrated out."""

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import norm, t

from benchmarks.paper.report.page import Part, Picture
from benchmarks.paper.report.settings import Settings
from relvec.display import INK

Array = NDArray[np.float64]

SHAPE = RATE = 0.1
REACH, N_POINTS = 3.0, 301
LEVELS = 9


def log_gaussian(w: Array, alpha: float) -> Array:
    """Log density of a weight with a given precision, eq. 5."""
    return norm.logpdf(w, scale=1 / np.sqrt(alpha))


def log_student(w: Array, a: float, b: float) -> Array:
    """Log density of a weight whose precision has a Gamma prior, eq. 32.

    It is Student's with 2a degrees of freedom, of w divided by √(b/a).
    """
    return t.logpdf(w, df=2 * a, scale=np.sqrt(b / a))


def build(_: Settings) -> Part:
    return Part(
        "Figure 6: the prior of the weights",
        [
            "Each weight has a Gaussian prior, whose precision α has a prior Gamma(a, b). With α "
            "integrated out what remains is a Student-t density, eq. 32: mass lies at zero and "
            "along the axes, on which one of two weights is zero. A Gaussian is round."
        ],
        "A formula: nothing is drawn at random or fitted.",
        [picture()],
    )


def picture() -> Picture:
    w = np.linspace(-REACH, REACH, N_POINTS)
    figure = Figure(figsize=(8, 4), layout="constrained")
    priors = {
        "Gaussian, α = 1": log_gaussian(w, 1.0),
        f"Student-t, a = b = {RATE:g}": log_student(w, SHAPE, RATE),
    }
    for ax, (name, one) in zip(figure.subplots(1, 2, sharey=True), priors.items(), strict=True):
        both = np.add.outer(one, one)  # the weights are independent
        levels = np.quantile(both, np.linspace(0, 1, LEVELS + 2)[1:-1])
        shades = colormaps["Greys"](np.linspace(0.05, 0.7, LEVELS + 1))
        ax.contourf(w, w, both, [both.min(), *levels, both.max()], colors=shades)
        ax.contour(w, w, both, levels, colors=INK, linewidths=0.5, linestyles="solid")
        ax.set(title=name, xlabel="$w_1$", ylabel="$w_2$", aspect="equal")
    return Picture(
        figure,
        "Left, circles around the origin; right, a four-pointed star along the two axes.",
        "Figure 6: log density of two weights, darker is denser. Left: a Gaussian prior. Right: "
        f"the precisions integrated out under Gamma({SHAPE:g}, {RATE:g}). Each shade covers a "
        "tenth of the square.",
    )
