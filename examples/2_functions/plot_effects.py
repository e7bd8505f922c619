"""
What each input does
====================

*Which measurements matter, in which direction, and how sure is that?*

A model of effects is a constant, a curve for each input that matters, a surface for each pair that
does, and a Gaussian process for what these leave. The evidence chooses the terms, and how smooth
they are.
"""

# %%
# Data
# ----
# How far diabetes progressed in a year in 442 patients, from ten measurements; the data come with
# scikit-learn. They are taken in their own units, and sex as a text: numbers need no scaling, and
# texts are categories.
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from relvec import EffectsRegressor, log_density
from relvec.display import EffectsDisplay, EffectSharesDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X["sex"] = X["sex"].map({1.0: "first", 2.0: "second"})

# %%
# The fit
# -------
# A quarter of the rows, drawn by taking every fourth, is for a check of the error bars.
test = X.index % 4 == 0
model = EffectsRegressor().fit(X[~test], y[~test])
low, high = model.predict_interval(X[test])
print(model.effects_.round(3))
print(f"log density of new rows {log_density(model, X[test], y[test]):.3f} nats a row")
print(f"95 % intervals hold {100 * ((low < y[test]) & (y[test] < high)).mean():.0f} % of them")

# %%
# How much each term matters: its share in the variance of the function, with one standard deviation
# to either side.
EffectSharesDisplay.from_estimator(model)
plt.show()

# %%
# What each term does, with bands that hold the effect with a probability of 95 %. Ticks at the
# bottom are deciles of the rows. Effects are in units of y, and have a mean of zero over the rows.
EffectsDisplay.from_estimator(model, X[~test])
plt.show()

# %%
# The terms add up: the constant and the contributions of all terms, the process among them, make
# the prediction of a patient.
effects = model.predict_effects(X[test][:1])[0]
for term, effect in zip(model.terms_, effects, strict=True):
    print(f"{term:10} {effect:+7.1f}")
print(f"{'constant':10} {model.constant_:+7.1f}")
print(f"{'sum':10} {effects.sum() + model.constant_:+7.1f}")
print(f"{'predicted':10} {model.predict(X[test][:1])[0]:+7.1f}")
