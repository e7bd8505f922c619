"""
Tomorrow's flow of a river, with error bars that know the weather
=================================================================

*I know the flow of the last days, rain and temperature. What will it be, and when am I unsure?*

Ten years of the Durance at Embrun in the French Alps (airGR; EDF, Banque Hydro, Météo-France): the
flow of a day in mm over the catchment, that of the three days before, rain, temperature and what
may evaporate. In winter the river hardly changes; rain and melting snow move it.

The table is read from a folder that ``RELVEC_DATA`` names, or from ``../shared/data`` beside the
checkout.
"""

# %%
# A model of the logarithm
# ------------------------
# Rows are in time, and the last years are held out: days drawn at random would have their
# neighbours in the fit. Flows are above zero and change by shares, so that the model is one of
# their logarithm. ``TransformedTargetRegressor`` takes it, and the functions of `relvec` answer in
# mm.
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import relvec
from relvec import SparseBayesianRegressor
from relvec.display import BLUE, INK, STEEL

beside = (place / "shared" / "data" for place in Path.cwd().parents)
folder = Path(os.environ.get("RELVEC_DATA") or next(filter(Path.is_dir, beside), "data"))
path = folder / "durance_streamflow" / "data.csv"
here = path.is_file()
if here:
    days = pd.read_csv(path)
    flows = ["Q_lag1", "Q_lag2", "Q_lag3"]
    X = days.drop(columns=["target", "year", "doy"]).assign(**np.log(days[flows]))
    X["sin"], X["cos"] = (f(2 * np.pi * days["doy"] / 365.25) for f in (np.sin, np.cos))
    y, past = days["target"], days["year"] < 2006
else:
    print("durance_streamflow/data.csv is missing: RELVEC_DATA names the folder that it is in")


def fitted(noise):
    """Model of the flow, fitted to the years before 2006."""
    steps = make_pipeline(StandardScaler(), SparseBayesianRegressor(noise=noise))
    model = TransformedTargetRegressor(steps, func=np.log, inverse_func=np.exp)
    return model.fit(X[past], y[past])


models = {noise: fitted(noise) for noise in ("constant", "learnt") if here}
for model in models.values():
    error = np.sqrt(np.mean(np.log(model.predict(X[~past]) / y[~past]) ** 2))
    same = np.sqrt(np.mean(np.log(days["Q_lag1"] / y)[~past] ** 2))
    print(f"root mean square error {error:.1%}; if tomorrow were as today, {same:.1%}")
    print("kept:", ", ".join(relvec.summary(model).index))

# %%
# When it is unsure
# -----------------
# With constant noise intervals hold too much of the quiet days and too little of those on which it
# rains. ``noise="learnt"`` has a noise that depends on the inputs.
for noise, model in models.items():
    new, truth = X[~past], y[~past]
    low, high = relvec.predict_interval(model, new)
    held, wet, quiet = (low <= truth) & (truth <= high), new["P"] > 5, new["T"] < -3
    shares = (
        f"{held.mean():.1%}, of wet days {held[wet].mean():.1%}, of cold {held[quiet].mean():.1%}"
    )
    density = relvec.log_density(model, new, truth)
    print(f"{noise:8} noise: in intervals of 95 % are {shares}; log density {density:.2f}")

# %%
# The spring of 2008
# ------------------
# Learnt noise is narrow while nothing happens, and widest on the days of the flood. There were few
# such days to learn it from, and it is wider than the errors were.
fig, axes = plt.subplots(2, sharex=True, sharey=True, figsize=(7, 5.6), layout="constrained")
for ax, (noise, model) in zip(axes, models.items(), strict=False):
    shown = (days["year"] == 2008) & days["doy"].between(60, 200)
    low, high = relvec.predict_interval(model, X[shown])
    ax.fill_between(days["doy"][shown], low, high, color=STEEL, label="95 % interval")
    ax.plot(days["doy"][shown], y[shown], ".", color=INK, markersize=3, label="measured")
    ax.plot(
        days["doy"][shown], model.predict(X[shown]), color=BLUE, linewidth=0.8, label="predicted"
    )
    ax.set_title(f"{noise} noise")
    ax.legend(edgecolor="none", loc="upper left")
for ax in axes:
    ax.set(xlabel="day of the year", ylabel="flow (mm a day)", yscale="log")
plt.show()
