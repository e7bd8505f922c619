"""
Ten classes, and the images that stand for them
===============================================

*I have ten classes. Which examples does a classifier rest on, and can I show them to somebody?*

With several classes `RVC` is one model with a softmax: a relevance vector belongs to all classes,
with a weight for each. On scikit-learn's handwritten digits they are images that one can look at.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from relvec import RVC

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=600, random_state=0)

# %%
# ``centers=200`` offers 200 of the 600 rows as candidates, drawn by chance, which is quicker.
model = RVC(gamma=0.001, centers=200, random_state=0).fit(X_train, y_train)
probability = model.predict_proba(X_test)
print(f"{model.score(X_test, y_test):.1%} right with {len(model.relevance_)} images kept")
print(f"log loss {log_loss(y_test, probability):.2f} nats, {np.log(10):.2f} for a guess")

# %%
# What was kept
# -------------
# Above each image is the class for which it has the largest weight. It need not be its own class: a
# weight says how the function centred there moves a class up or down, among all others.
speaks_for = model.classes_[model.dual_coef_.argmax(axis=0)]
order = np.argsort(speaks_for, kind="stable")

fig, axes = plt.subplots(3, 8, figsize=(6.4, 3.2), layout="constrained")
for ax in axes.flat:
    ax.axis("off")
for ax, place in zip(axes.flat, order, strict=False):
    ax.imshow(model.relevance_vectors_[place].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{speaks_for[place]}", fontsize="small")
plt.show()

# %%
# Where it hesitates
# ------------------
# The test images with the most even probabilities, and what the model makes of them.
hesitant = np.argsort(probability.max(axis=1))[:6]

fig, axes = plt.subplots(2, 6, figsize=(6.4, 2.8), layout="constrained", sharey="row")
for (image, bars), row in zip(axes.T, hesitant, strict=True):
    image.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    image.set(title=f"a {y_test[row]}", xticks=[], yticks=[])
    bars.bar(model.classes_, probability[row], color="0.2")
    bars.set(xlabel="digit", xticks=[0, 3, 6, 9], ylim=(0, 0.4))
axes[1, 0].set_ylabel("probability")
plt.show()
