"""
What is left of a battery's life
================================

*My cells lose capacity. When is one at its end, and do the error bars of such a forecast hold?*

Measured cells of two laboratories: four of NASA, with the capacity of every discharge, and eight of
the Xi'an Jiaotong University (XJTU), with features of every charge. Capacities of one cell follow
each other: they come back a little after a rest, and a cell that is better than others stays so. A
model that takes rows for independent counts as many witnesses as there are cycles, where there are
as many as cells.

The tables are read from a folder that ``RELVEC_DATA`` names, or from ``../shared/data`` beside the
checkout.
"""

# %%
# Data
# ----
import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from relvec import SparseBayesianRegressor
from relvec.display import BLUE, INK, STEEL
from relvec.exceptions import UnderfitWarning

beside = (place / "shared" / "data" for place in Path.cwd().parents)
folder = Path(os.environ.get("RELVEC_DATA") or next(filter(Path.is_dir, beside), "data"))
# Residuals that depend on the cycle are what this page is about.
warnings.simplefilter("ignore", UnderfitWarning)


def cells_of(name):
    """Rows of some cells, or none where the table is missing."""
    path = folder / name / "data.csv"
    if path.is_file():
        return pd.read_csv(path)
    print(f"{name}/data.csv is missing: RELVEC_DATA names the folder that it is in")
    return pd.DataFrame({"cell": [], "cycle": [], "target": []})


def predicted(kind, X, table, known):
    """Means and standard deviations of the rows that are not known, from those that are."""
    new, cycle, cell = ~known, table["cycle"].to_numpy(float), table["cell"].to_numpy()
    y = table["target"].to_numpy()
    if kind == "autoregression":
        model = SparseBayesianRegressor(noise_correlation="ar1")
        model.fit(X[known], y[known], times=cycle[known], series=cell[known])
        return model.forecast(X[new], times=cycle[new], series=cell[new], return_std=True)
    remainder = "process" if kind == "remainder" else None
    model = SparseBayesianRegressor(remainder=remainder).fit(X[known], y[known])
    return model.predict(X[new], return_std=True)


def told(kind, found):
    """Line of the share of 95 % intervals that hold, their half width and the error, by cell."""
    cells = []
    for mean, std, y in found:
        held, off = np.mean(abs(y - mean) <= 1.96 * std), np.sqrt(np.mean((y - mean) ** 2))
        cells.append(f"{held:4.0%} ±{1960 * std.mean():4.0f} off{1000 * off:4.0f}")
    return f"{kind:14} " + " | ".join(cells)


# %%
# A cell that was not measured
# ----------------------------
# The trend has the square root of the cycle and the cycle. Three cells tell of the fourth. With
# ``noise_correlation="ar1"`` what a cell has of its own is noise that hardly changes from cycle to
# cycle, and the error bars have it. Each column is a cell that was left out: the share of its
# cycles in intervals of 95 %, half the width of these, and the root mean square error, both in mAh.
TREND = [0.5, 1]


def left_out(kind, X, table):
    """Predictions of each cell by the others, with the truth."""
    for cell in table["cell"].unique():
        known = (table["cell"] != cell).to_numpy()
        yield *predicted(kind, X, table, known), table["target"].to_numpy()[~known]


nasa = cells_of("nasa_battery_capacity")
trend = nasa["cycle"].to_numpy(float)[:, None] ** TREND
for kind in ("independent", "autoregression"):
    print(told(kind, left_out(kind, trend, nasa)))

# %%
# The cycles to come
# ------------------
# Of one cell the first half of its cycles is known, and the others are foretold: by the trend
# alone, with a Gaussian process for what it leaves (``remainder="process"``), and with noise that
# is an autoregression. At 1.4 Ah a cell of 2 Ah is taken out.
END = 1.4
kinds = {"independent": STEEL, "remainder": INK, "autoregression": BLUE}


def foretold(kind, powers):
    """Predictions of the second half of each cell by the first, with the truth."""
    for _, own in nasa.groupby("cell"):
        known = np.arange(len(own)) < len(own) // 2
        X = own["cycle"].to_numpy(float)[:, None] ** powers
        yield *predicted(kind, X, own, known), own["target"].to_numpy()[~known]


by_kind = {kind: list(foretold(kind, TREND)) for kind in kinds}
for kind, found in by_kind.items():
    print(told(kind, found))

fig, axes = plt.subplots(2, 2, sharex=True, sharey=True, figsize=(8, 5.6), layout="constrained")
for number, (ax, (cell, own)) in enumerate(zip(axes.flat, nasa.groupby("cell"), strict=False)):
    ax.plot(own["cycle"], own["target"], ".", color=INK, markersize=2)
    for kind, color in kinds.items():
        mean, std, _ = by_kind[kind][number]
        later = own["cycle"].iloc[-len(mean) :]
        ax.plot(later, mean, color=color, label=kind)
        for end in (mean - 1.96 * std, mean + 1.96 * std):
            ax.plot(later, end, color=color, linewidth=0.6)
    ax.set(title=f"cell {cell}", ylim=(0.9, 2.1))
    ax.legend(edgecolor="none", fontsize="small")
for ax in axes.flat:
    ax.axhline(END, color=INK, linestyle="--", linewidth=0.8)
    ax.set(xlabel="cycle", ylabel="capacity (Ah)")
plt.show()

# %%
# With the process for the remainder the intervals hold what they say, and are wide enough to tell
# that the end of a life may be far or near: half of a life says no more. An autoregression helps
# where it finds that errors last, and cannot where half of a life gives it no sign of that, as of
# cell 6. All of this hangs on the trend: with the square of the cycle beside the others it bends on
# as it began to bend, and no error bar knows that it might not.
for kind in kinds:
    print(told(kind, foretold(kind, [*TREND, 2])))

# %%
# Features of the charge
# ----------------------
# Of the eight other cells each charge has fifteen numbers, such as its mean voltage and how long it
# took. One charge in ten of seven cells tells of the eighth.
xjtu = cells_of("xjtu_battery_2c")
xjtu = xjtu[xjtu["cycle"] % 10 == 0]
features = xjtu.drop(columns=["cell", "cycle", "target"])
usable = np.isfinite(features).all() & (features.nunique() > 1)
for kind in ("independent", "autoregression"):
    print(told(kind, left_out(kind, features.loc[:, usable].to_numpy(), xjtu)))

# %%
# Taken for independent, rows of some cells are held too rarely, and the mean is good. With an
# autoregression the intervals hold them all, are two and a half times as wide, and the mean is
# worse: a correlation near one leaves it to the noise to explain what changes slowly, and capacity
# changes slowly. Where the mean is good and intervals are to hold for new cells, ``calibrate`` with
# folds of whole cells is another way (:ref:`sphx_glr_gallery_4_fields_plot_battery.py`).
