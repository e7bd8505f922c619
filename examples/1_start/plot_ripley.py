"""
Two classes: probabilities, not only a boundary
===============================================

*I need to know how sure a classifier is. And how few rows does it get by with?*

Ripley's problem has two classes of two normal clouds each, which overlap: even who knows the
clouds errs on 8.9 % of new rows.
:func:`relvec.datasets.make_ripley` draws from them, so that there are any number of test rows.
"""

# %%
# Beside a support vector machine
# -------------------------------
# Both have the same Gaussian kernel. The support vector machine needs its C chosen by
# cross-validation; the relevance vector machine has nothing to choose.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from relvec import RVC
from relvec.datasets import make_ripley
from relvec.display import BoundaryDisplay, CalibrationDisplay

X, y = make_ripley(100, random_state=1)
X_test, y_test = make_ripley(10_000, random_state=2)

rvc = RVC(gamma=4.0).fit(X, y)
svc = GridSearchCV(SVC(gamma=4.0), {"C": np.logspace(-1, 3, 9)}).fit(X, y).best_estimator_
for name, model, vectors in [("RVC", rvc, rvc.relevance_), ("SVC", svc, svc.support_)]:
    print(f"{name}: {1 - model.score(X_test, y_test):.1%} errors with {len(vectors)} rows kept")

BoundaryDisplay.from_estimator(rvc, X, y)
plt.show()

# %%
# Tone and contours are the probability of class 1, and the thick line is where it passes one half.
# Circled rows are kept. They are typical of their class rather than close to the boundary, where
# support vectors lie.
#
# Can the probabilities be believed?
# ----------------------------------
# Of the new rows that are given a probability of about 0.7, seven in ten should be of class 1. With
# 10,000 test rows it can be seen how nearly that is so: the bars are where the points would be, but
# for chance, if the probabilities were exactly right.
CalibrationDisplay.from_estimator(rvc, X_test, y_test)
print(f"log loss: {log_loss(y_test, rvc.predict_proba(X_test)):.3f} nats a row")
plt.show()
