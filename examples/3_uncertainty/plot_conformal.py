"""
Intervals and sets of classes that hold what they say
=====================================================

*My 80 % intervals must hold 80 % of what comes, whether or not the model is right.*

The intervals of a model hold their share as far as the model is right. ``calibrate`` asks instead
how far off the fitted model was on rows that it was not fitted to, and makes its intervals as wide
as that: split-conformal prediction.
"""

# %%
# Where the model is wrong
# ------------------------
# Friedman's function of ten inputs from 100 rows, with one width for inputs that bend the function
# and inputs that do nothing: the model takes noise for signal and is too sure of itself. It is
# calibrated by 100 more rows or, with ``cv``, by the rows of the fit themselves, each predicted by
# a refit without its fold. It is asked about 1000 new rows, and all that twenty times.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from relvec import RVC, RVR
from relvec.datasets import make_friedman
from relvec.display import BLUE, INK, STEEL

promised = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
held = {"plain": [], "calibrated by more rows": [], "calibrated by folds": []}
for seed in range(20):
    X, y = make_friedman(1, 1200, random_state=seed)
    fitted, others, new = slice(100), slice(100, 200), slice(200, None)
    model = RVR(gamma=0.4).fit(X[fitted], y[fitted])
    by_rows = model.calibrate(X[others], y[others])
    by_folds = model.calibrate(X[fitted], y[fitted], cv=5)
    for name, intervals in zip(held, [model, by_rows, by_folds], strict=True):
        ends = [intervals.predict_interval(X[new], coverage) for coverage in promised]
        held[name].append([np.mean((low <= y[new]) & (y[new] <= high)) for low, high in ends])

fig, axes = plt.subplots(1, 3, sharey=True, figsize=(9, 3.6), layout="constrained")
for ax, (name, shares) in zip(axes, held.items(), strict=True):
    mean = np.mean(shares, axis=0)
    print(f"{name}: the 80 % interval holds {mean[promised == 0.8][0]:.0%} of new rows")
    ax.plot(promised, np.transpose(shares), color=STEEL, linewidth=0.8)
    ax.plot(promised, mean, "o-", color=BLUE, label="mean of 20 draws")
    ax.plot([0.5, 0.95], [0.5, 0.95], "--", color=INK, label="as promised")
    ax.set(xlabel="coverage promised", title=name, ylim=(0, 1))
axes[0].set_ylabel("share of new rows held")
axes[-1].legend(edgecolor="none", loc="lower right")
plt.show()

# %%
# A thin line is one draw. The promise is one on average over calibrations: each is off by some
# points, the less so the more rows it has. Folds need no more rows, and promise it as far as the
# refits are like the fit.
#
# Sets of classes
# ---------------
# A classifier names as many classes as it takes. One that gets a tenth of the digits wrong, fitted
# to 300 of them, is calibrated with 300 others and asked for sets that hold the true class in 98 of
# 100 cases.
X, y = load_digits(return_X_y=True)
X_fitted, X_others, y_fitted, y_others = train_test_split(X, y, train_size=300, random_state=0)
classifier = RVC(gamma=0.001, centers=100, random_state=0).fit(X_fitted, y_fitted)
calibrated = classifier.calibrate(X_others[:300], y_others[:300])
X_new, y_new = X_others[300:], y_others[300:]
sets = calibrated.predict_set(X_new, coverage=0.98)
size = sets.sum(axis=1)
print(f"{classifier.score(X_new, y_new):.1%} right with one class each")
print(f"{sets[np.arange(len(y_new)), y_new].mean():.1%} of the sets hold the true one")
for number, share in enumerate(np.bincount(size) / len(size)):
    print(f"{share:.1%} of the sets hold {number}")

# %%
# The first few whose sets hold three or more:
fig, axes = plt.subplots(1, 6, figsize=(6.4, 1.5), layout="constrained")
for ax, row in zip(axes, np.flatnonzero(size >= 3), strict=False):
    ax.imshow(X_new[row].reshape(8, 8), cmap="gray_r")
    ax.set_title(" ".join(map(str, classifier.classes_[sets[row]])))
    ax.set(xticks=[], yticks=[], xlabel=f"a {y_new[row]}")
plt.show()
