"""
Sobol indices from a sparse polynomial chaos
============================================

*My model of the machine takes an hour a run. Which of its inputs make the output vary, and which
only together?*

A polynomial chaos is a linear model whose columns are products of polynomials that are orthonormal
under the distribution of the inputs. The variance of the output is then the sum of the squared
weights, and Sobol indices are shares of it. Products are many and runs are few: the evidence picks.
"""

# %%
# Runs
# ----
# The function of Ishigami and Homma (1990), of which the indices are known, at 150 points of a
# Latin hypercube. Its third input matters with the first alone.
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.stats import qmc

from relvec import SparseBayesianRegressor
from relvec.display import BLUE, INK

A, B = 7.0, 0.1


def ishigami(X):
    return np.sin(X[:, 0]) + A * np.sin(X[:, 1]) ** 2 + B * X[:, 2] ** 4 * np.sin(X[:, 0])


u = 2 * qmc.LatinHypercube(3, rng=np.random.default_rng(0)).random(150) - 1
y = ishigami(np.pi * u)

# %%
# The chaos
# ---------
# Legendre polynomials of three inputs and a degree of at most 10 in all: 285 products, almost twice
# as many as there are runs. Those of degree k have the factor √(2k + 1), which makes their mean
# square 1 for uniform inputs.
DEGREE = 10
powers = np.array([p for p in product(range(DEGREE + 1), repeat=3) if 0 < sum(p) <= DEGREE])


def chaos(u):
    one = legvander(u, DEGREE) * np.sqrt(2 * np.arange(DEGREE + 1) + 1)
    return np.prod([one[:, d, powers[:, d]] for d in range(3)], axis=0)


model = SparseBayesianRegressor().fit(chaos(u), y)
new = 2 * np.random.default_rng(1).random((10_000, 3)) - 1
error = model.predict(chaos(new)) - ishigami(np.pi * new)
print(f"{len(model.relevance_)} of {len(powers)} products kept")
print(f"share of the variance that is missed: {error.var() / ishigami(np.pi * new).var():.1e}")

# %%
# Indices
# -------
# The share of every set of inputs is that of the products in which they, and no others, appear. The
# closed forms are those of the function.
share = model.coef_**2 / np.sum(model.coef_**2)
sets = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
found = [share[((powers > 0) == np.isin(range(3), inputs)).all(axis=1)].sum() for inputs in sets]

first, second = 0.5 * (1 + B * np.pi**4 / 5) ** 2, A**2 / 8
both = 8 * B**2 * np.pi**8 / 225
total = first + second + both
exact = [first / total, second / total, 0, 0, both / total, 0, 0]

names = [", ".join(f"x{d + 1}" for d in inputs) for inputs in sets]
for name, estimate, truth in zip(names, found, exact, strict=True):
    print(f"{name:10} {estimate:.4f}  exact {truth:.4f}")

fig, ax = plt.subplots(layout="constrained")
ax.bar(names, found, color=BLUE, label="chaos of 150 runs")
ax.plot(names, exact, "_", color=INK, markersize=24, label="exact")
ax.set(xlabel="inputs", ylabel="share of the variance")
ax.legend(edgecolor="none")
plt.show()

# %%
# `EffectsRegressor` gives the same shares without a choice of polynomials, with standard
# deviations, and for inputs of any distribution: see :ref:`what each input does
# <sphx_glr_gallery_2_functions_plot_effects.py>`.
