"""
Onto a microcontroller, and how large it is
===========================================

*The sensor has 32 kB of flash and no Python. Can it have the model?*

A relevance vector machine is a short sum, so it fits. :func:`relvec.export.to_c` writes a fitted
model, or a pipeline that ends in one, as C99 that needs nothing but ``math.h``.
"""

# %%
# A thermistor
# ------------
# The converter of a sensor counts to 4095 at the voltage over a thermistor beside a fixed resistor.
# The temperature follows from the count by a curve that is bent at both ends. 60 rows are measured
# in a bath, to 0.1 °C. The thermistor is simulated, with a resistance that goes with exp(B/T) and
# B = 3950 K. Cubic splines suit a smooth curve over an interval.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVR
from relvec.display import BLUE, INK, STEEL
from relvec.export import to_c

rng = np.random.RandomState(0)


def counts(celsius):
    ratio = np.exp(3950 / (celsius + 273.15) - 3950 / 298.15)
    return np.rint(4095 * ratio / (1 + ratio))


celsius = np.linspace(-20, 80, 60)
X = counts(celsius)[:, None]
bath = celsius + 0.1 * rng.standard_normal(len(celsius))

model = make_pipeline(StandardScaler(), RVR("linear_spline")).fit(X, bath)
between = np.linspace(-20, 80, 1001)
mean, std = model.predict(counts(between)[:, None], return_std=True)
print(f"{len(model[-1].relevance_)} of {len(X)} rows kept")
print(f"root mean square error: {np.sqrt(np.mean((mean - between) ** 2)):.2f} °C")


fig, (above, below) = plt.subplots(2, sharex=True, height_ratios=(2, 1), layout="constrained")
above.plot(X[:, 0], bath, ".", color=INK, markersize=4, label="measured in the bath")
above.plot(counts(between), mean, color=BLUE, label="model")
above.set(ylabel="temperature (°C)")
above.legend(edgecolor="none")
off = mean - between
below.fill_between(
    counts(between), -2 * std, 2 * std, color=STEEL, label="two standard deviations, noise included"
)
below.plot(counts(between), off, color=BLUE, linewidth=1, label="predicted less true")
below.axhline(0, color=INK, linestyle="--", linewidth=0.8)
below.set(xlabel="count of the converter", ylabel="error (°C)", ylim=(-0.6, 0.4))
below.legend(edgecolor="none", fontsize="small", ncols=2, loc="lower center")
plt.show()

# %%
# The C
# -----
# In single precision, as small processors have it. The tables and the stack are counted in bytes.
code = to_c(model, name="thermistor", real="float")
print(f"{code.constant_bytes} bytes of constants, {code.buffer_bytes} bytes on the stack")
print(code.source)

# %%
# How much single precision rounds is bounded by its precision times the sum of the sizes of all
# terms, which is larger than the temperature where terms cancel:
terms = model[-1].basis_.transform(model[:-1].transform(X)) * model[-1].dual_coef_
worst = np.finfo(np.float32).eps * abs(terms).sum(axis=1).max()
print(f"a rounding of the sum: {worst:.4f} °C")

# %%
# ``code.save(folder)`` writes header and source. ``return_std=True`` adds the standard deviation,
# and ``real="double"`` agrees with Python to the last few digits.
