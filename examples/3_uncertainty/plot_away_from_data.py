"""
Error bars where there are no data
==================================

*My rows leave a gap. Does the model know that it knows nothing there?*

A model that keeps a few functions is certain that there are no others. Where those it kept have
died off, its error bar shrinks to the noise, just where it should be widest. ``augment=True`` adds,
for every row that is predicted, a function centred on it.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from relvec import RVR
from relvec.display import BLUE, INK, MIST

rng = np.random.RandomState(0)
x = np.concatenate([rng.uniform(-8, -2, 30), rng.uniform(3, 8, 30)])
X = x[:, None]


def truth(x):
    return np.sin(x) + 0.2 * x


y = truth(x) + 0.15 * rng.standard_normal(len(x))
grid = np.linspace(-14, 14, 400)

# %%
# Plain, augmented, and a Gaussian process
# ----------------------------------------
# All three with the same width of the kernel; the process learns its amplitude and its noise.
process = GaussianProcessRegressor(
    ConstantKernel() * RBF(np.sqrt(2), "fixed") + WhiteKernel(0.1), normalize_y=True
)
models = {
    "plain": RVR(gamma=0.25),
    "augment=True": RVR(gamma=0.25, augment=True),
    "Gaussian process": process,
}
fig, axes = plt.subplots(1, 3, sharey=True, figsize=(9, 3.4), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    mean, std = model.fit(X, y).predict(grid[:, None], return_std=True)
    ax.fill_between(grid, mean - 2 * std, mean + 2 * std, color=MIST, label="2 standard deviations")
    ax.plot(grid, mean, color=BLUE, label="mean")
    ax.plot(grid, truth(grid), "--", color=INK, linewidth=1, label="truth")
    ax.plot(x, y, ".", color=INK, markersize=3, label="data")
    ax.set(xlabel="x", title=name)
    near, gap, far = model.predict([[-5.0], [0.5], [13.0]], return_std=True)[1]
    print(f"{name}: std {near:.2f} among the rows, {gap:.2f} in the gap, {far:.2f} far out")
axes[0].set_ylabel("y")
axes[0].legend(edgecolor="none", fontsize="small", loc="upper left")
plt.show()

# %%
# The cost is that an augmented model keeps all its training rows. Its bars open later than those
# of a Gaussian process, which has a function for every place: where error bars away from the data
# are what matters most, the process is the better model.
