"""
Molecules by their fingerprints
===============================

*I have the activity of a few hundred molecules. Which of the next ones are worth making, and how
far may I trust the numbers?*

A fingerprint says which substructures a molecule has, a bit each. The Tanimoto kernel is the
number of bits that two molecules share, over that of bits that either has. It has no width to
choose, and takes fingerprints as rows of zeros and ones.
"""

# %%
# Fingerprints
# ------------
# Simulated, so that the page needs no library of chemistry: 60 fragments of six bits each, of which
# a molecule has five that are those of its family and three more. A fragment adds to the activity.
# With RDKit the rows of X are ``list(generator.GetFingerprint(molecule))``.
import matplotlib.pyplot as plt
import numpy as np

from relvec import RVR
from relvec.display import RegressionDisplay

rng = np.random.default_rng(0)
bits = np.zeros((60, 512))
for fragment in bits:
    fragment[rng.choice(512, 6, replace=False)] = 1
core = np.array([rng.choice(60, 5, replace=False) for _ in range(40)])
family = np.repeat(np.arange(40), 15)
has = np.zeros((600, 60), dtype=bool)
for row, own in zip(has, family, strict=True):
    row[[*core[own], *rng.choice(60, 3, replace=False)]] = True
X = np.minimum(has @ bits, 1)
y = 6 + has @ rng.normal(0, 0.5, 60) + rng.normal(0, 0.2, 600)

# %%
# Two kinds of new molecules
# --------------------------
# Relatives of known ones, and families of which none was made. Of 100 molecules the machine keeps
# those that it takes to compare with, and a process stands for what they leave. Assays are
# repeated: their noise, a standard deviation of 0.2, is known.
known = family < 32
train = known & (np.arange(600) % 5 > 0)
model = RVR(
    kernel="tanimoto", centers=100, remainder="process", noise_variance=0.2**2, random_state=0
).fit(X[train], y[train])
print(f"{train.sum()} molecules fitted, {len(model.relevance_vectors_)} kept")
for name, rows in {"relatives": known & ~train, "new families": ~known}.items():
    mean, std = model.predict(X[rows], return_std=True)
    low, high = model.predict_interval(X[rows])
    print(
        f"{name:13} error {np.sqrt(np.mean((mean - y[rows]) ** 2)):.2f}, told {std.mean():.2f}, "
        f"intervals hold {np.mean((low < y[rows]) & (y[rows] < high)):.0%}, "
        f"spread {y[rows].std():.2f}"
    )

# %%
RegressionDisplay.from_estimator(model, X[~train], y[~train])
plt.show()

# %%
# An empty fingerprint, of a molecule with none of the substructures, is no error: two of them are
# the same, and have nothing in common with any other.
mean, std = model.predict(np.zeros((1, 512)), return_std=True)
print(f"none of the bits: {mean[0]:.2f} ± {std[0]:.2f}")
