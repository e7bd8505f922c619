"""
Where to measure next
=====================

*Every measurement costs a day. I look for the settings with the best yield, in as few as can be.*

Expected improvement is what a measurement at x promises beyond the best one so far: it is large
where the prediction is high, and where it is unsure. It needs the mean and the standard deviation
of the function, which `predict_latent` gives. Libraries for such searches, such as scikit-optimize
and BoTorch, ask a model for the same two.
"""

# %%
# The laboratory
# --------------
# The function of Branin, with three equal minima, stands for what is to be found. Its values are
# negated, as we look for the highest.
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm, qmc

from relvec import RVR
from relvec.display import BLUE, INK, MIST


def branin(X):
    u, v = 15 * X[:, 0] - 5, 15 * X[:, 1]
    valley = v - 5.1 * u**2 / (4 * np.pi**2) + 5 * u / np.pi - 6
    return -(valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(u) + 10)


BEST = -0.397887


# %%
# The search
# ----------
# A relevance vector machine alone is sure of itself away from the data, where no kernel reaches,
# and would never look there. With ``remainder="process"`` its error bars grow.
def expected_improvement(model, X, best):
    mean, std = model.predict_latent(X, return_std=True)
    gain = (mean - best) / std
    return std * (gain * norm.cdf(gain) + norm.pdf(gain))


candidates = qmc.Sobol(2, rng=np.random.default_rng(0)).random(2048)
X = candidates[:8]
for _ in range(22):
    y = branin(X)
    model = RVR(gamma=8.0, remainder="process", noise_variance=1e-3).fit(X, y)
    promise = expected_improvement(model, candidates, y.max())
    X = np.vstack([X, candidates[np.argmax(promise)]])

best = np.maximum.accumulate(branin(X))
print(f"best of 8 to begin with: {best[7]:.2f}; of {len(X)}: {best[-1]:.2f}; possible {BEST:.2f}")

# %%
# Points at random are the thing to beat: the mean best of 30 of them, over 200 draws.
draws = branin(np.random.default_rng(1).random((200 * len(X), 2))).reshape(200, -1)
random = np.maximum.accumulate(draws, axis=1)
print(f"best of {len(X)} at random: {random[:, -1].mean():.2f}")

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
side = np.linspace(0, 1, 60)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
left.contour(side, side, branin(grid).reshape(60, 60), 20, colors=MIST)
left.plot(*X[:8].T, "o", color=INK, label="to begin with")
left.plot(*X[8:].T, "o", color=BLUE, label="chosen")
left.set(xlabel="first setting", ylabel="second setting")
left.legend(edgecolor="none")
count = np.arange(1, len(X) + 1)
right.semilogy(count, BEST - random.mean(axis=0), color=INK, label="at random")
right.semilogy(count, BEST - best, color=BLUE, label="expected improvement")
right.set(xlabel="measurements", ylabel="short of the best")
right.legend(edgecolor="none")
plt.show()
