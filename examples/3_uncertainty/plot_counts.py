"""
Counts: disasters in coal mines
===============================

*My target is how many there were: 0, 1, 2 … Error bars that reach below zero make no sense for it.*

``likelihood="poisson"`` fits the logarithm of a rate. The data are the explosions in British coal
mines that killed ten or more, year by year from 1851 to 1962 (R. G. Jarrett, *A note on the
intervals between coal-mining disasters*, Biometrika 66, 1979).
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from relvec import RVR
from relvec.display import BLUE, INK, MIST, STEEL

DISASTERS = """
4 5 4 1 0 4 3 4 0 6 3 3 4 0 2 6 3 3 5 4 5 3 1 4 4 1 5 5 3 4 2 5 2 2 3 4 2 1 3 2 2 1 1 1 1 3 0 0 1 0
1 1 0 0 3 1 0 3 2 2 0 1 1 1 0 1 0 1 0 0 0 2 1 0 0 0 1 1 0 2 3 3 1 1 2 1 1 1 1 2 4 2 0 0 0 1 4 0 0 0
1 0 0 0 0 0 1 0 0 1 0 1
"""
count = np.array(DISASTERS.split(), dtype=float)
year = np.arange(1851.0, 1963.0)
X = year[:, None]

model = RVR(likelihood="poisson", gamma=1 / 25**2).fit(X, count)
rate = model.predict(X)
lower, upper = model.predict_interval(X, coverage=0.9)
print(f"{len(model.relevance_)} of {len(X)} years kept")
print(f"expected a year: {rate[0]:.1f} in {year[0]:.0f}, {rate[-1]:.1f} in {year[-1]:.0f}")
print(f"years inside the 90 % interval: {np.mean((lower <= count) & (count <= upper)):.0%}")

# %%
# The rate and its band
# ---------------------
# `predict_latent` gives the logarithm of the rate and its standard deviation, so the band of the
# rate is positive and lopsided. `predict_interval` gives whole numbers, and holds at least what it
# says, here rather more: of counts that small no choice of ends holds 90 % exactly.
log_rate, std = model.predict_latent(X, return_std=True)

fig, ax = plt.subplots(layout="constrained")
ax.fill_between(year, lower, upper, step="mid", color=MIST, label="90 % of counts")
band = np.exp(log_rate - 1.645 * std), np.exp(log_rate + 1.645 * std)
ax.fill_between(year, *band, color=STEEL, label="90 % for the rate")
ax.plot(year, rate, color=BLUE, label="rate")
ax.plot(year, count, ".", color=INK, label="counted")
ax.set(xlabel="year", ylabel="disasters a year")
ax.legend(edgecolor="none")
plt.show()

# %%
# The fall around 1890 is the well-known one of these data. A Gaussian model of the same counts has
# one noise for all years, too small where there are many disasters and too large where there are
# few, and promises counts below zero.
gaussian = RVR(gamma=1 / 25**2).fit(X, count)
lowest = gaussian.predict_interval(X, coverage=0.9)[0].min()
print(f"lowest end of a Gaussian interval: {lowest:.1f} disasters")
