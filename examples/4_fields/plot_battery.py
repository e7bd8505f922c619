"""
How much a battery still holds, with error bars
===============================================

*My charger sees how long a cell charges and how its resistance grows. What is its capacity, and how
sure may I be of it?*

To measure a capacity takes a full discharge. Charging time at constant current and internal
resistance come for free with every charge, and a model can be fitted on cells in the laboratory
to tell the capacity of those in the field.

Ten cells are simulated. After n cycles a cell has lost the share a √n + b (n/1000)⁵ of its 2 Ah, a
slow loss of lithium and a knee; its resistance has grown by 1 % for every per cent that is lost,
and faster behind the knee. It charges at 1 A until the voltage limit, which it meets the earlier
the higher its resistance is. Every cell has an a, b and resistance of its own, and every charger a
current that is wrong by some tenths of a per cent.
"""

# %%
# Cells
# -----
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVR
from relvec.display import BLUE, INK, MIST, STEEL

rng = np.random.RandomState(0)
cycle = np.arange(20, 1001, 20)


def make_cell():
    """Charging time in minutes and resistance in mΩ, and capacity in Ah, after every 20 cycles."""
    slow = rng.uniform(2.5e-3, 4e-3) * np.sqrt(cycle)
    knee = rng.uniform(0.08, 0.2) * (cycle / 1000) ** 5
    capacity = 2.0 * (1 - slow - knee)
    resistance = rng.normal(60, 2) * (1 + slow + 3 * knee)
    minutes = 60 * (capacity - 1.5e-3 * resistance - 4e-5 * (resistance - 60) ** 2)
    minutes = minutes * rng.normal(1, 3e-3) + 0.3 * rng.standard_normal(len(cycle))
    resistance += 0.5 * rng.standard_normal(len(cycle))
    return np.column_stack([minutes, resistance]), capacity


cells = [make_cell() for _ in range(10)]
in_laboratory, in_field = cells[:7], cells[7:]

# %%
# Fit in the laboratory, predict in the field
# -------------------------------------------
# Cells are held out whole. To hold out cycles at random would ask how well a cell is known whose
# neighbouring cycles were measured, which is an easier question than the one that matters. The same
# goes for intervals: a model that takes all rows for independent believes that it knows more than
# it does. ``calibrate`` with folds of whole cells makes them as wide as the errors on cells that
# were left out.
X, capacity = (np.concatenate(parts) for parts in zip(*in_laboratory, strict=True))
cell = np.repeat(np.arange(len(in_laboratory)), len(cycle))
model = make_pipeline(StandardScaler(), RVR(gamma="ard")).fit(X, capacity)
calibrated = model[-1].calibrate(
    model[0].transform(X), capacity, cv=GroupKFold(len(in_laboratory)), groups=cell
)
print(f"{len(model[-1].relevance_)} of {len(X)} rows kept")

fig, axes = plt.subplots(
    2, 3, sharex=True, sharey="row", figsize=(9, 5), height_ratios=(2, 1), layout="constrained"
)
for number, (above, below, (measured, truth)) in enumerate(zip(*axes, in_field, strict=True), 1):
    mean, std = model.predict(measured, return_std=True)
    off, plain = 1000 * (mean - truth), 1000 * 1.96 * std
    low, high = calibrated.predict_interval(model[0].transform(measured), coverage=0.95)
    wide = 1000 * (high - low) / 2
    print(
        f"cell {number}: root mean square error {np.sqrt(np.mean(off**2)):.0f} mAh, "
        f"{np.mean(abs(off) <= plain):.0%} of cycles inside plain 95 % intervals, "
        f"{np.mean(abs(off) <= wide):.0%} inside calibrated ones"
    )
    above.plot(cycle, mean, color=BLUE, label="predicted")
    above.plot(cycle, truth, "--", color=INK, linewidth=1.2, label="true")
    above.axhline(1.6, color=INK, linewidth=0.6)
    above.set(title=f"cell {number} in the field")
    below.fill_between(cycle, off - wide, off + wide, color=MIST, label="calibrated")
    below.fill_between(cycle, off - plain, off + plain, color=STEEL, label="plain")
    below.plot(cycle, off, color=BLUE)
    below.axhline(0, color=INK, linestyle="--", linewidth=1.2)
    below.set(xlabel="cycles")
axes[0, 0].set_ylabel("capacity (Ah)")
axes[0, 0].legend(edgecolor="none", fontsize="small", loc="lower left")
axes[1, 0].set_ylabel("predicted less\ntrue (mAh)")
axes[1, 0].legend(edgecolor="none", fontsize="small", loc="lower left", ncols=2)
plt.show()

# %%
# Above, the thin line is 80 % of the rated 2 Ah, where a cell is usually retired: a cell whose
# whole interval is above it may stay, which a mean alone could not say. Below, the 95 % intervals
# around the error; zero should be inside of them 95 % of the time.
#
# Errors of one cell go together, since its charger is wrong by the same share all the time: of a
# single cell all cycles may be inside the interval, or few. Seven cells tell roughly how different
# cells are, and no promise is made for each.
