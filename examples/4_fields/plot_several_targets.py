"""
Several targets that share their functions
==========================================

*I predict many quantities from the same inputs. Must I fit, store and explain as many models?*

With a ``y`` of several columns, `RVR` chooses one set of functions for all targets; each has
weights and noise of its own, in its own units. Here the upper halves of scikit-learn's handwritten
digits are the input, and the pixels of the lower halves the targets.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from relvec import RVR
from relvec.exceptions import UnderfitWarning

train, test = train_test_split(load_digits().data, train_size=400, random_state=0)
drawn = train[:, 32:].std(axis=0) > 0.5  # pixels that are more than the edge of the paper
upper, lower = train[:, :32], train[:, 32:][:, drawn]
upper_test, lower_test = test[:, :32], test[:, 32:][:, drawn]

settings = {"gamma": 0.001, "centers": 150, "random_state": 0}
# 150 functions leave of some pixels what like images have in common, of which fits warn.
warnings.simplefilter("ignore", UnderfitWarning)
shared = RVR(**settings).fit(upper, lower)
independent = RVR(**settings, multi_output="independent").fit(upper, lower)
for name, model in [("shared", shared), ("independent", independent)]:
    error = np.sqrt(np.mean((model.predict(upper_test) - lower_test) ** 2))
    print(f"{name}: {len(model.relevance_)} functions, error {error:.2f} of 16 steps of grey")
mean_image = np.sqrt(np.mean((lower_test - lower.mean(axis=0)) ** 2))
print(f"the mean image in place of a model: error {mean_image:.2f}")
print(f"{drawn.sum()} targets, {len(train)} training images")

# %%
# As many functions as candidates are in use somewhere when each target picks its own. Sharing takes
# about half of them at about the same error, and says once what is relevant for all.
#
# Six images completed
# --------------------
mean, std = shared.predict(upper_test, return_std=True)
print(f"std of the pixels: {std.min():.1f} to {std.max():.1f} steps of grey")


def image(halves, row):
    """Upper half as it is, lower half as given, of one test image."""
    whole = np.zeros(64)
    whole[:32] = upper_test[row]
    whole[32:][drawn] = halves[row]
    return whole.reshape(8, 8)


fig, axes = plt.subplots(2, 6, figsize=(6.4, 2.4), layout="constrained")
for row, column in enumerate(axes.T):
    for ax, halves in zip(column, [lower_test, mean], strict=True):
        ax.imshow(image(halves, row), cmap="gray_r", vmin=0, vmax=16)
        ax.axhline(3.5, color="0.5", linewidth=1)
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("true")
axes[1, 0].set_ylabel("predicted")
plt.show()

# %%
# Where the upper half leaves open what is below, the prediction is grey: a mean over what it could
# be. Each pixel has a noise of its own, small at the edges of the paper.
