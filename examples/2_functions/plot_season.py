"""
A trend, a season, and the next three years
===========================================

*I have a monthly series with a season. What comes next, and between which bounds?*

A trend and a season are functions like any others. Here they are the powers of time and the sines
and cosines of the year; out of their dictionary the evidence picks a few. The data are the airline
passengers of Box and Jenkins (*Time series analysis: forecasting and control*, 1970), monthly
totals of international passengers in thousands from 1949 to 1960.
"""

# %%
# Data and dictionary
# -------------------
# The season grows with the level, so the logarithm is fitted. The last three years are held out.
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import TimeSeriesSplit

from relvec import RVR
from relvec.basis import Fourier, Polynomial
from relvec.display import BLUE, INK, MIST, STEEL
from relvec.exceptions import UnderfitWarning

PASSENGERS = """
112 118 132 129 121 135 148 148 136 119 104 118 115 126 141 135 125 149 170 170 158 133 114 140
145 150 178 163 172 178 199 199 184 162 146 166 171 180 193 181 183 218 230 242 209 191 172 194
196 196 236 235 229 243 264 272 237 211 180 201 204 188 235 227 234 264 302 293 259 229 203 229
242 233 267 269 270 315 364 347 312 274 237 278 284 277 317 313 318 374 413 405 355 306 271 306
315 301 356 348 355 422 465 467 404 347 305 336 340 318 362 348 363 435 491 505 404 359 310 337
360 342 406 396 420 472 548 559 463 407 362 405 417 391 419 461 472 535 622 606 508 461 390 432
"""
passengers = np.array(PASSENGERS.split(), dtype=float)
years = np.arange(len(passengers)) / 12
X = pd.DataFrame({"year": years})
known = years < 9

# Residuals of neighbouring months are alike, of which fits warn: see below.
warnings.simplefilter("ignore", UnderfitWarning)

model = RVR(kernel=[Polynomial(degree=2), Fourier(harmonics=6, period=1.0)])
model.fit(X[known], np.log(passengers[known]))
print(model.summary()[["weight", "std"]].round(4))

# %%
# The weight of ``year`` is the growth a year, and the season is read off its sines and cosines,
# whose frequencies are in radians a year: 6.28319 is once a year, 12.5664 twice.
#
# Three years ahead
# -----------------
# The model's own intervals take months for independent around a trend that stays what it was.
# ``calibrate`` with folds in the order of time, as long as what is to be forecast, measures how
# wrong the forecasts were that could have been made after three and after six years.
in_time = TimeSeriesSplit(2, test_size=36)
calibrated = model.calibrate(X[known], np.log(passengers[known]), cv=in_time)

ends = {
    name: np.exp(intervals.predict_interval(X, coverage=0.9))
    for name, intervals in [("calibrated in time", calibrated), ("plain", model)]
}
for name, (low, high) in ends.items():
    inside = ((low <= passengers) & (passengers <= high))[~known]
    print(f"{name}: {inside.mean():.0%} of the months held out inside the 90 % interval")

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for (name, (low, high)), color in zip(ends.items(), [MIST, STEEL], strict=True):
    ax.fill_between(
        1949 + years, low, high, where=~known, color=color, linewidth=0, label=f"90 %, {name}"
    )
ax.plot(1949 + years, np.exp(model.predict(X)), color=BLUE, linewidth=1, label="model")
ax.plot(1949 + years[known], passengers[known], ".", color=INK, markersize=4, label="fitted")
ax.plot(1949 + years[~known], passengers[~known], "x", color=INK, markersize=4, label="held out")
ax.set(xlabel="year", ylabel="passengers a month (thousands)")
ax.legend(edgecolor="none", loc="upper left")
plt.show()

# %%
# What the trend misses lasts for months: residuals of neighbouring months are alike, and months are
# not independent. Growth slowed down in 1958, and the plain intervals miss nearly all that came.
# Those calibrated in time know how far a trend can be off after three years, from two times that it
# was; two are few to know it well.
