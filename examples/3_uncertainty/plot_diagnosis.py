"""
What is wrong with my fit?
==========================

*It runs, and the numbers look odd. What would a specialist say?*

``diagnose(X, y)`` looks at the model, the rows and the residuals, and says in words what it finds
and which parameter to change.
"""

# %%
# Noise that grows with the value
# -------------------------------
# A measurement with a relative error of 15 %, as of concentrations, prices or counts of cells, but
# fitted as it is.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from relvec import RVR
from relvec.display import BLUE, INK, MIST
from relvec.exceptions import UnderfitWarning

rng = np.random.RandomState(0)
hours = np.sort(rng.uniform(0, 24, 150))
X = hours[:, None]
concentration = 2 + 60 * np.exp(-(((hours - 10) / 4) ** 2))
y = concentration * np.exp(0.15 * rng.standard_normal(len(hours)))

model = RVR(gamma=1 / 4**2).fit(X, y)
print(model.diagnose(X, y))

# %%
# The noise is not even, and logarithms make it so; with them nothing is left to report.
logarithm = RVR(gamma=1 / 4**2).fit(X, np.log(y))
print(logarithm.diagnose(X, np.log(y)))

grid = np.linspace(0, 24, 300)[:, None]
intervals = {
    "y as it is": model.predict_interval(grid),
    "log y": tuple(np.exp(end) for end in logarithm.predict_interval(grid)),
}
means = {"y as it is": model.predict(grid), "log y": np.exp(logarithm.predict(grid))}

fig, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 4), layout="constrained")
for ax, name in zip(axes, means, strict=True):
    ax.fill_between(grid[:, 0], *intervals[name], color=MIST, label="95 % of new observations")
    ax.plot(grid[:, 0], means[name], color=BLUE, label="predicted")
    ax.plot(hours, y, ".", color=INK, markersize=3, label="measured")
    ax.set(xlabel="time (h)", title=name)
axes[0].set_ylabel("concentration (mg/L)")
axes[0].legend(edgecolor="none", fontsize="small", loc="upper right")
plt.show()

# %%
# Other findings
# --------------
# A kernel far too narrow, one far too wide, rows that are far from all that was fitted, and
# a few measurements gone wrong:
warnings.simplefilter("ignore", UnderfitWarning)  # the fit warns of it, too
print("gamma=1000:", RVR(gamma=1000.0).fit(X, np.log(y)).diagnose(X, np.log(y)).codes)
print("gamma=1e-6:", RVR(gamma=1e-6).fit(X, np.log(y)).diagnose(X, np.log(y)).codes)
print("after 100 hours:", logarithm.diagnose([[100.0], [120.0]]).codes)

log_y = np.log(y)
log_y[[20, 70, 110]] += 2
print(RVR(gamma=1 / 4**2).fit(X, log_y).diagnose(X, log_y))
