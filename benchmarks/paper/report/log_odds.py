"""Appendix D: error bars away from the data, and figure 10, the log-odds of two classes."""

import numpy as np
from joblib import delayed
from matplotlib.figure import Figure
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from benchmarks.paper import calibration
from benchmarks.paper.calibration import REGIONS, Array
from benchmarks.paper.draws import ENTROPY, seeds
from benchmarks.paper.report.page import Part, Picture, Table
from benchmarks.paper.report.settings import Settings
from benchmarks.table import format_mean
from relvec import RVR
from relvec.datasets import make_overlapping_uniforms, make_sinc
from relvec.display import BLUE, INK, STEEL

N_DRAWS = 20
FIGURE_10_SPAN, FIGURE_10_HEIGHT = (0.3, 1.2), 7.0
WIDTH = 2.0


def build(settings: Settings) -> Part:
    n_draws = settings.count(N_DRAWS)
    draws = settings.parallel(delayed(calibration.log_odds)(seed) for seed in seeds(n_draws))
    return Part(
        "Appendix D and figure 10: probabilistic outputs",
        [
            "Appendix D.1, for which the paper has no figure: with a kernel that dies off, the "
            "error bars of an RVR return to the noise away from the data (eq. 61), where those of "
            "a Gaussian process widen (eq. 60).",
            "Figure 10: two classes, uniform on [0, 1] and on [0.5, 1.5], 1000 rows and a Gaussian "
            "kernel of width 0.1. The log-odds are 0 where the classes overlap and infinite "
            "elsewhere. C of the SVC minimises the errors of 5-fold cross-validation; its "
            "probabilities are those of Platt's sigmoid, fitted to decision values of "
            "cross-validation.",
        ],
        f"{n_draws} draws, seeds from numpy.random.SeedSequence({ENTROPY}); the first is drawn. "
        "The noise of the error bars has seed 0.",
        [error_bars(), figure_10(seeds(n_draws)[0]), table(draws)],
    )


def error_bars() -> Picture:
    X, y = make_sinc(random_state=0)
    grid = np.linspace(-16, 16, 401)[:, None]
    rvr = RVR(gamma=1 / WIDTH**2).fit(X, y)
    # The same kernel: exp(−γ|x − z|²) has γ = 1 / (2 length_scale²).
    kernel = ConstantKernel() * RBF(WIDTH / np.sqrt(2), length_scale_bounds="fixed")
    gp = GaussianProcessRegressor(kernel + WhiteKernel()).fit(X, y)
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, (name, model) in zip(axes, {"RVR": rvr, "Gaussian process": gp}.items(), strict=True):
        mean, std = model.predict(grid, return_std=True)
        band = mean - 2 * std, mean + 2 * std
        ax.fill_between(grid[:, 0], *band, color=STEEL, label="mean ± 2 std")
        ax.plot(grid[:, 0], mean, color=BLUE, label="mean")
        ax.plot(X[:, 0], y, ".", color=INK, markersize=3, label="data")
        ax.set(title=name, xlabel="x")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    ends = [model.predict(grid[:1], return_std=True)[1][0] for model in (rvr, gp)]
    return Picture(
        figure,
        "Two curves with bands. Outside the data the left band stays narrow, the right one opens.",
        "Appendix D.1: error bars of an RVR (left) and of a Gaussian process (right) with the same "
        f"kernel. At x = −16 they are {ends[0]:.3f} and {ends[1]:.3f}; the noise that the RVR "
        f"learnt is {np.sqrt(rvr.noise_variance_):.3f}, to which its intercept adds.",
    )


def figure_10(seed: int) -> Picture:
    svc, rvc = calibration.fit_uniforms(*make_overlapping_uniforms(random_state=seed), seed)
    x = np.linspace(*FIGURE_10_SPAN, 500)[:, None]
    by_rvc, by_svc = rvc.decision_function(x), svc.decision_function(x)
    by_svc *= np.abs(by_rvc).max() / np.abs(by_svc).max()
    start, end = REGIONS["overlap"]
    figure = Figure(figsize=(7, 4), layout="constrained")
    ax = figure.subplots()
    truth_x = [FIGURE_10_SPAN[0], start, start, end, end, FIGURE_10_SPAN[1]]
    above = 2 * FIGURE_10_HEIGHT  # stands for infinity, off the picture
    ax.plot(truth_x, [above, above, 0, 0, -above, -above], color=STEEL, linewidth=4)
    ax.plot(x[:, 0], by_rvc, color=INK)
    ax.plot(x[:, 0], by_svc, color=BLUE, linestyle="dashed")
    ax.legend(["correct log-odds", "RVC, y(x)", "SVC, y(x) rescaled"])
    ax.set(xlabel="x", ylim=(-FIGURE_10_HEIGHT, FIGURE_10_HEIGHT), xlim=FIGURE_10_SPAN)
    return Picture(
        figure,
        "A step through zero between 0.5 and 1, a solid curve that follows it, and a dashed curve "
        "that falls across it.",
        f"Figure 10: output of an RVC with {len(rvc.relevance_)} vectors and an SVC with "
        f"{len(svc.support_)}, with the true log-odds. The output of the SVC is scaled to the "
        "largest value of the RVC's.",
    )


def table(draws: list[dict[str, dict[str, Array]]]) -> Table:
    rows = []
    for name in draws[0]:
        overlap = np.array([draw[name]["overlap"] for draw in draws])
        rms = np.sqrt(np.mean(overlap**2, axis=1))
        means = [np.median([draw[name][region].mean() for draw in draws]) for region in REGIONS]
        rows.append([name, format_mean(rms), f"{rms.max():.2f}", *(f"{y:.2f}" for y in means)])
    regions = [f"mean on [{a:g}, {b:g}]" for a, b in REGIONS.values()]
    return Table(
        "Log-odds where the classes overlap, truly 0",
        ["", "RMS on [0.5, 1]", "largest of the draws", *regions],
        rows,
        "The paper gives no numbers. Means over an interval are the median of the draws.",
    )
