"""
Measurements that come with error bars
======================================

*My rows have standard errors of their own, since some were measured longer than others.*

Hand their squares to ``fit(noise_variance_per_row=...)``. The noise is then not learnt but known,
row by row, and good measurements count for more.
"""

# %%
# A spectrum, in part measured carefully
# --------------------------------------
# A line over a slope, counted a hundred times as long at some energies as at others.
import matplotlib.pyplot as plt
import numpy as np

from relvec import RVR
from relvec.display import BLUE, INK, STEEL

rng = np.random.RandomState(1)
energy = np.linspace(0, 10, 80)
X = energy[:, None]


def rate(energy):
    return 2 + 1.5 * np.exp(-(((energy - 4) / 0.8) ** 2) / 2) + 0.1 * energy


error = np.where(abs(energy - 5.5) < 2, 0.05, 0.5)
y = rate(energy) + error * rng.standard_normal(len(energy))

# %%
# One noise for all, or each its own
# ----------------------------------
learnt = RVR(gamma=0.5).fit(X, y)
known = RVR(gamma=0.5).fit(X, y, noise_variance_per_row=error**2)

grid = np.linspace(0, 10, 300)
fig, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 4), layout="constrained")
for ax, (name, model) in zip(
    axes, {"one learnt noise": learnt, "known standard errors": known}.items(), strict=True
):
    mean, std = model.predict_latent(grid[:, None], return_std=True)
    off = mean - rate(grid)
    careful = abs(grid - 5.5) < 2
    print(
        f"{name}: error {np.sqrt(np.mean(off[careful] ** 2)):.3f} where measured carefully, "
        f"{np.sqrt(np.mean(off[~careful] ** 2)):.3f} elsewhere"
    )
    ax.errorbar(energy, y, error, fmt=".", color=INK, ecolor=STEEL, markersize=3, elinewidth=0.8)
    ax.fill_between(grid, mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.35)
    ax.plot(grid, mean, color=BLUE, label="function, 2 standard deviations")
    ax.plot(grid, rate(grid), "--", color=INK, linewidth=1, label="truth")
    ax.set(xlabel="energy (keV)", title=name)
axes[0].set_ylabel("counts a second")
axes[0].legend(edgecolor="none", fontsize="small")
plt.show()

# %%
# With one noise for all, the band is as wide where the measurements are good as where they are not.
# With known errors it follows them.
