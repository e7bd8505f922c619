"""
Outliers, and noise that expects them
=====================================

*Now and then a sensor reports nonsense. How do I keep it from bending the curve?*

Gaussian noise hardly ever strays by five standard deviations, so a model that believes in it does
what it can to pass by such a row, and takes all others to be noisier than they are.
``likelihood="student_t"`` has noise with heavy tails, and learns how heavy they are.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from relvec import RVR
from relvec.datasets import make_sinc, sinc
from relvec.display import INK, RegressionDisplay

X, y = make_sinc(100, noise_scale=0.1, random_state=0)
clean = RVR(gamma=1 / 9).fit(X, y)

rng = np.random.RandomState(1)
nonsense = rng.choice(len(y), 8, replace=False)
y[nonsense] += rng.uniform(1, 3, len(nonsense))

# %%
# The same rows, two noises
# -------------------------
models = {
    "Gaussian noise": RVR(gamma=1 / 9).fit(X, y),
    "Student-t noise": RVR(gamma=1 / 9, likelihood="student_t").fit(X, y),
}
fig, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 4), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    RegressionDisplay.from_estimator(model, X, y, ax=ax)
    ax.plot(X[:, 0], sinc(X[:, 0]), "--", color=INK, linewidth=1, label="truth")
    ax.set(title=name, ylim=(-1.3, 4))
    ax.legend(edgecolor="none", fontsize="small", loc="upper left", ncols=2)
for name, model in {"Gaussian noise, no outliers": clean, **models}.items():
    error = np.sqrt(np.mean((model.predict(X) - sinc(X[:, 0])) ** 2))
    print(f"{name}: error to the true curve {error:.3f}")
plt.show()

# %%
student = models["Student-t noise"]
print(f"scale of the noise: {student.noise_scale_:.2f}, in truth 0.1 for all but the outliers")
print(f"degrees of freedom: {student.degrees_of_freedom_:.1f}")

# %%
# No row was thrown out and no threshold was set. Where there are no outliers, the degrees of
# freedom come out large and little is lost, so Student-t noise is a safe choice if one cannot know;
# it takes about a dozen fits instead of one.
