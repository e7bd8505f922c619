"""
A curve, its error bars, and the few rows behind it
===================================================

*I have noisy measurements of a curve. What does a relevance vector machine make of them?*

The standard problem of the field: 100 noisy values of sin(x)/x. Every row offers a function
centred on it, and the fit decides which of them it needs, how large their weights are and how
large the noise is. Nothing but the width of the kernel is chosen by hand.
"""

# %%
# Fit and draw
# ------------
# ``gamma`` is the inverse squared width of the kernel, as in ``SVR``. The noise added here has a
# standard deviation of 0.1, which the model is not told.
import matplotlib.pyplot as plt
import numpy as np

from relvec import RVR
from relvec.datasets import make_sinc, sinc
from relvec.display import BLUE, INK, STEEL, RegressionDisplay

X, y = make_sinc(100, noise_scale=0.1, random_state=0)
model = RVR(gamma=1 / 3**2).fit(X, y)

error = np.sqrt(np.mean((model.predict(X) - sinc(X[:, 0])) ** 2))
print(f"{len(model.relevance_)} of {len(X)} rows kept, at x = {model.relevance_vectors_[:, 0]}")
print(f"noise: {np.sqrt(model.noise_variance_):.3f}, in truth 0.1")
print(f"root mean square error to the true curve: {error:.3f}")

RegressionDisplay.from_estimator(model, X, y)
plt.show()

# %%
# The dark band holds the curve, the light one new measurements. Circled rows are the relevance
# vectors: all other rows may be forgotten, since the model is the sum of the functions centred on
# these.
#
# The sum, term by term
# ---------------------
# They need not lie close to the curve, as a support vector's does: a relevance vector says where a
# function sits, not where the curve passes.
grid = np.linspace(-10, 10, 400)[:, None]
terms = model.dual_coef_ * model.basis_.transform(grid)

fig, ax = plt.subplots(layout="constrained")
lines = ax.plot(grid[:, 0], terms, color=STEEL, linewidth=1.2)
lines[0].set_label("weighted functions")
ax.plot(
    grid[:, 0], terms.sum(axis=1) + model.intercept_, color=BLUE, linewidth=2, label="their sum"
)
ax.plot(grid[:, 0], sinc(grid[:, 0]), "--", color=INK, linewidth=1, label="sin(x)/x")
ax.set(xlabel="x", ylabel="y")
ax.legend(edgecolor="none")
plt.show()

# %%
# The width by evidence
# ---------------------
# The width of 3 was a guess of somebody who has seen the curve. ``gamma="evidence"`` learns it
# too, at the cost of some more fits, and does about as well here.
learnt = RVR(gamma="evidence").fit(X, y)
error = np.sqrt(np.mean((learnt.predict(X) - sinc(X[:, 0])) ** 2))
print(f"width {1 / np.sqrt(learnt.gamma_):.2f}, {len(learnt.relevance_)} rows kept")
print(f"root mean square error to the true curve: {error:.3f}")
