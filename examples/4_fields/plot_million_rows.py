"""
A million rows
==============

*I have a million rows. Does it fit into memory, how long does it take, and is it worth it?*

With ``centers`` the candidate functions are centred on that many rows only. What Gaussian noise
needs to know of all the others are sums over rows, so they go by in blocks, and neither a
million rows nor ten make the problem larger than its centres.

Rides in a town are simulated: minutes from kilometres and the hour of the day, with two rush
hours and a standard deviation of four minutes.
"""

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

from relvec import RVR
from relvec.display import BLUE, INK

rng = np.random.RandomState(0)


def minutes(kilometres, hour):
    """What a ride takes on average."""
    rush = 0.6 * np.exp(-(((hour - 8.5) / 1.2) ** 2)) + 0.8 * np.exp(-(((hour - 17.5) / 2) ** 2))
    return 4 + 1.8 * kilometres * (1 + rush)


n = 1_000_000
X = np.column_stack([rng.gamma(2, 2.5, n).clip(0.5, 20), rng.uniform(0, 24, n)])
y = minutes(*X.T) + 4 * rng.standard_normal(n)
asked = np.column_stack([rng.uniform(0.5, 15, 5000), rng.uniform(0, 24, 5000)])
truth = minutes(*asked.T)

# %%
# How much do more rows help?
# ---------------------------
# ``memory_limit`` says how many bytes the values of the functions may take. Above it they are
# computed anew for a block of rows at a time and not stored.
counts, errors, spreads = [1000, 10_000, 100_000, 1_000_000], [], []
for rows in counts:
    model = RVR(gamma=[1 / 8**2, 1 / 2.5**2], centers=200, memory_limit=1e8, random_state=0)
    began = time.perf_counter()
    model.fit(X[:rows], y[:rows])
    seconds = time.perf_counter() - began
    mean, std = model.predict_latent(asked, return_std=True)
    errors.append(np.sqrt(np.mean((mean - truth) ** 2)))
    spreads.append(np.sqrt(np.mean(std**2)))
    print(
        f"{rows:>9,} rows: {seconds:4.1f} s, {len(model.relevance_)} functions, "
        f"error {errors[-1]:.2f} minutes"
    )
stored = 8e-9 * len(X) * 200
print(f"stored, the functions of a million rows would take {stored:.1f} GB")

# %%
# On the left, the last model: a ride of 3, 6 and 12 kilometres over the day. On the right, the
# error of the mean on rides that were not fitted, and what the model takes it to be.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
hours = np.linspace(0, 24, 300)
for kilometres, style in [(12, "-"), (6, "--"), (3, ":")]:
    ride = np.column_stack([np.full(300, kilometres), hours])
    left.plot(hours, model.predict(ride), style, color=BLUE, label=f"{kilometres} km")
    left.plot(hours, minutes(kilometres, hours), color=INK, linewidth=0.5)
left.plot([], [], color=INK, linewidth=0.5, label="in truth")
left.set(xlabel="hour of the day", ylabel="minutes", ylim=(0, None), xticks=range(0, 25, 6))
left.legend(edgecolor="none", fontsize="small", loc="upper left")
right.loglog(counts, errors, "o-", color=INK, label="error")
right.loglog(counts, spreads, "s--", color=BLUE, label="standard deviation of the function")
right.set(xlabel="rows", ylabel="minutes")
right.set_yticks([0.05, 0.1, 0.2, 0.5, 1.0], ["0.05", "0.1", "0.2", "0.5", "1"])
right.legend(edgecolor="none")
plt.show()

# %%
# The error is a few times what the model takes it to be: a sparse model is certain that what it
# left out is zero, and with that many rows there is little else to be uncertain of.
#
# Whether a million rows are worth it depends on what is asked. For one ride, which scatters by four
# minutes, ten thousand are enough; where a few seconds of the mean matter, a million are not too
# many.
