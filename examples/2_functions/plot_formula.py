"""
A model that reads as a formula
===============================

*I would rather have a few named terms than a black box. Which ones?*

The functions of a model need not be kernels. Powers, products and functions of one's own go into
one dictionary, with a kernel beside them for what no term explains, and the evidence picks from all
of them.
"""

# %%
# Data
# ----
# Simulated days of heating a building. The load grows with the need for heat, the degrees below
# 15 °C, and with the product of need and wind; and around day 200 there is a test of the boiler
# that nobody wrote down.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from relvec import RVR
from relvec.basis import RBF, Concatenate, FunctionColumns, Polynomial
from relvec.display import BLUE, INK, STEEL

rng = np.random.RandomState(0)
n = 365
day = np.arange(1.0, n + 1)
temperature = 10 - 9 * np.cos(2 * np.pi * day / n) + 3 * rng.standard_normal(n)
wind = rng.gamma(2.0, 2.0, n)
need = np.maximum(15 - temperature, 0)
test_run = 40 * np.exp(-(((day - 200) / 6) ** 2))
load = 20 + 3 * need + 0.4 * need * wind + test_run + 4 * rng.standard_normal(n)
X = pd.DataFrame({"day": day, "temperature": temperature, "wind": wind})

# %%
# A dictionary
# ------------
# What an engineer would try: temperature, wind and day with their squares and products; the need
# for heat, alone and times the wind; and, for what is in neither, a Gaussian function of the day
# centred on every row, ten days wide. That is 9 + 2 + 365 functions for 365 rows.


def heating(inputs):
    """Need for heat in degrees, and its product with the wind."""
    below = np.maximum(15 - inputs[:, 1], 0)
    return np.column_stack([below, below * inputs[:, 2]])


dictionary = Concatenate(
    [
        Polynomial(degree=2),
        FunctionColumns(heating, ["need", "need wind"]),
        RBF(gamma=[1 / 10**2, 0, 0]),
    ]
)

# %%
# A function is to gain five nats of evidence (``tol``), since the best of hundreds seems to gain
# some by chance.
model = RVR(kernel=dictionary, tol=5.0).fit(X, load)
print(model.summary()[["weight", "std"]].round(2))
print(f"intercept {model.intercept_:.1f} kW, noise {np.sqrt(model.noise_variance_):.1f} kW")

# %%
# The table is the formula: the load has the two terms that it was made of, with the weights 3 and
# 0.4 well inside their error bars, and kernel functions named after the row that they are
# centred on, which is the day less one. None of the nine powers and products is needed beside the
# right ones.
centred = model.relevance_rows_ >= 0
values = model.basis_.transform(X) * model.dual_coef_

fig, (above, below) = plt.subplots(2, sharex=True, layout="constrained")
above.plot(day, load, ".", color=INK, markersize=4)
above.set(ylabel="load (kW)")
others = values[:, ~centred].sum(axis=1) + model.intercept_
below.plot(day, load - others, ".", color=STEEL, markersize=4, label="load less the named terms")
below.plot(day, values[:, centred].sum(axis=1), color=BLUE, label="kernel functions kept")
below.plot(day, test_run, "--", color=INK, linewidth=1, label="test of the boiler, in truth")
below.set(xlabel="day of the year", ylabel="load (kW)")
below.legend(edgecolor="none", fontsize="small", loc="upper left")
plt.show()

# %%
# Above, what was measured. Below, what the named terms leave of it, and what the kernel functions
# make of that.
