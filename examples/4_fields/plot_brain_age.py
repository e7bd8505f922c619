"""
Few subjects, many voxels: a precomputed kernel
===============================================

*I predict age from brain images: some hundred subjects, tens of thousands of voxels.*

With a linear kernel all that matters of the images is the table of products between subjects. It is
computed once, and every fit afterwards is as quick as if an image had a hundred voxels.

The images are simulated: smooth random fields of 28 × 28 × 28 voxels for 150 subjects from 20 to 80
years, with regions that lose volume as the years go by. Real images of this kind may not be
shipped with a package; the way through them is the same.
"""

# %%
# Images and kernel
# -----------------
# Where volume is lost, it is lost in a region, and subjects of one age differ by more than that.
import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import GridSearchCV, KFold

from relvec import RVR
from relvec.display import BLUE, INK, STEEL

rng = np.random.RandomState(0)
n_subjects, side = 150, 28


def smooth_fields(number):
    """Random fields of unit variance, one row each."""
    noise = rng.standard_normal((number, side, side, side))
    fields = gaussian_filter(noise, sigma=(0, 4, 4, 4), mode="wrap")
    return (fields / fields.std()).reshape(number, -1)


age = rng.uniform(20, 80, n_subjects)
loss = np.maximum(smooth_fields(1), 0)  # a year
images = smooth_fields(n_subjects) - 0.02 * (age[:, None] - 50) * loss
K = images @ images.T / images.shape[1]

standard = (images - images.mean(axis=0)) / images.std(axis=0)
alone = standard.T @ (age - age.mean()) / (n_subjects * age.std())
print(f"{images.shape[1]} voxels; the closest to age correlates with it by {abs(alone).max():.2f}")

# %%
# Nested cross-validation
# -----------------------
# Outer folds measure the error on subjects that had no part in the fit. In each of them inner folds
# choose how many nats of evidence a function is to gain, from the training subjects alone.
# ``RVR(kernel="precomputed")`` tells scikit-learn that rows and columns of K go together, so that
# the inner search cuts both.
search = GridSearchCV(
    RVR(kernel="precomputed"),
    {"tol": [0.03, 1.0, 3.0]},
    cv=KFold(5, shuffle=True, random_state=1),
    scoring="neg_mean_absolute_error",
)
mean, std, kept = np.empty(n_subjects), np.empty(n_subjects), []
calibrated = np.empty((2, n_subjects))
for train, test in KFold(10, shuffle=True, random_state=0).split(K):
    search.fit(K[np.ix_(train, train)], age[train])
    best = search.best_estimator_
    mean[test], std[test] = best.predict(K[np.ix_(test, train)], return_std=True)
    folds = KFold(5, shuffle=True, random_state=2)
    intervals = best.calibrate(K[np.ix_(train, train)], age[train], cv=folds)
    calibrated[:, test] = intervals.predict_interval(K[np.ix_(test, train)], coverage=0.95)
    kept.append(len(best.relevance_))

same_for_all = mean_absolute_error(age, np.full(n_subjects, age.mean()))
low, high = calibrated
plain = np.mean(abs(age - mean) <= 1.96 * std)
by_folds = np.mean((low <= age) & (age <= high))
print(f"mean absolute error: {mean_absolute_error(age, mean):.1f} years")
print(f"if all were taken to be of the mean age: {same_for_all:.1f} years")
print(f"subjects kept: {min(kept)} to {max(kept)} of {len(train)}")
print(f"ages inside the 95 % interval: {plain:.0%}, of calibrated ones {by_folds:.0%}")

# %%
# The picture
# -----------
# Each point is a subject predicted by a fit that has not seen it. A cloud flatter than the diagonal
# is to be expected: who predicts from imperfect images leans to the mean. Studies of the *gap*
# between predicted and true age therefore correct it for age.
fig, ax = plt.subplots(layout="constrained")
bars = mean - low, high - mean
ax.errorbar(age, mean, bars, fmt="o", color=BLUE, ecolor=STEEL, markersize=4, elinewidth=0.8)
ax.plot([15, 85], [15, 85], "--", color=INK, linewidth=1)
ax.set(xlabel="age (years)", ylabel="predicted age (years), with 95 % interval", aspect="equal")
plt.show()
#
# The intervals drawn are calibrated by folds of the training subjects
# (:ref:`sphx_glr_gallery_3_uncertainty_plot_conformal.py`). Those of the model itself hold fewer
# ages than they say: with as many directions among the images as that, a fit to so few subjects
# takes some noise for signal.
