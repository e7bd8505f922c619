"""
Which inputs matter
===================

*I have ten inputs and suspect that half of them are noise.*

A kernel with one width for all inputs cannot leave any of them out: noise in five of ten inputs
hides what is near in the others. ``gamma="ard"`` learns a width for every input, and an input that
does not matter ends with an infinite one.

Friedman's function is made for this: y = 10 sin(π x₀ x₁) + 20 (x₂ − ½)² + 10 x₃ + 5 x₄ plus noise
of standard deviation 1, with five more inputs that do nothing.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from relvec import RVR
from relvec.datasets import make_friedman
from relvec.display import RelevanceDisplay

X, y = make_friedman(1, 240, random_state=0)
X_test, truth = make_friedman(1, 1000, noise=False, random_state=1)

for name, gamma in [("one given width", "scale"), ("one learnt width", "evidence")]:
    model = RVR(gamma=gamma).fit(X, y)
    error = np.sqrt(np.mean((model.predict(X_test) - truth) ** 2))
    print(f"{name}: error {error:.2f}, {len(model.relevance_)} functions")

model = RVR(gamma="ard").fit(X, y)
error = np.sqrt(np.mean((model.predict(X_test) - truth) ** 2))
print(f"a learnt width for every input: error {error:.2f}, {len(model.relevance_)} functions")
print("inputs left out:", np.flatnonzero(model.feature_relevance_ == 0))

# %%
# The bars say over how many widths of the kernel an input spreads: how much the function bends
# along it. Inputs of which the fit found that they do not matter are at exactly zero.
RelevanceDisplay.from_estimator(model)
plt.show()

# %%
# A bar that is short is not the same as a small effect: x₃ and x₄ act linearly, and a straight
# line bends little however steep it is.
