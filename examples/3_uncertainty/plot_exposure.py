"""
Counts over unequal times
=========================

*My stations counted for different times. An hour with three events and a day with forty: how do I
compare them?*

With an ``exposure`` the mean of a count is its exposure times a rate, and the function is the
logarithm of that rate. Long counts tell more of it, short ones less, and the error bars know.
"""

# %%
# Counts
# ------
# Simulated: 200 counts of between a tenth of an hour and ten hours, at a rate that follows the
# time of the day.
import matplotlib.pyplot as plt
import numpy as np

from relvec import RVR
from relvec.display import BLUE, INK, STEEL

rng = np.random.default_rng(0)
time = rng.uniform(0, 24, (200, 1))
hours = 10 ** rng.uniform(-1, 1, 200)


def rate(time):
    """Events an hour."""
    return 2 + 8 * np.exp(-((time - 8) ** 2) / 4) + 6 * np.exp(-((time - 18) ** 2) / 8)


count = rng.poisson(hours * rate(time[:, 0]))
model = RVR(likelihood="poisson", gamma=0.05).fit(time, count, exposure=hours)

# %%
# `predict` without an exposure is for one of 1: events an hour.
grid = np.linspace(0, 24, 200)[:, None]
log_rate, std = model.predict_latent(grid, return_std=True)
band = np.exp(log_rate - 1.96 * std), np.exp(log_rate + 1.96 * std)
held = np.mean((band[0] <= rate(grid[:, 0])) & (rate(grid[:, 0]) <= band[1]))
print(f"the 95 % band holds the true rate over {held:.0%} of the day")

fig, ax = plt.subplots(layout="constrained")
ax.fill_between(grid[:, 0], *band, color=STEEL, label="95 % for the rate")
ax.plot(grid, rate(grid), color=INK, label="truth")
ax.plot(grid, model.predict(grid), color=BLUE, label="predicted")
ax.scatter(time, count / hours, s=4 * hours, color=INK, label="count / hours, larger if longer")
ax.set(xlabel="time of the day in hours", ylabel="events an hour", ylim=(0, 25))
ax.legend(edgecolor="none")
plt.show()

# %%
# The unit does not matter
# ------------------------
# In minutes the evidence is the same, and so are the predictions of the same counts.
minutes = RVR(likelihood="poisson", gamma=0.05).fit(time, count, exposure=60 * hours)
print(f"log evidence {model.log_evidence_:.4f} in hours, {minutes.log_evidence_:.4f} in minutes")
low, high = minutes.predict_interval([[8.0], [8.0]], exposure=[6.0, 600.0])
print(f"at eight: {low[0]:.0f} to {high[0]:.0f} events in six minutes, ", end="")
print(f"{low[1]:.0f} to {high[1]:.0f} in ten hours")

# %%
# Without the exposure
# --------------------
# Rates as targets of Gaussian noise take a count of six minutes for as good as one of ten hours.
gaussian = RVR(gamma=0.05).fit(time, count / hours)
for name, fitted in {"exposure": model, "rates as targets": gaussian}.items():
    error = fitted.predict(grid) - rate(grid[:, 0])
    print(f"{name:16} root mean square error {np.sqrt(np.mean(error**2)):.2f} events an hour")
