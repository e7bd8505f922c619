"""
From SVR to RVR, in a pipeline with a grid search
=================================================

*My code has a pipeline, a grid search and an SVR. What changes?*

One word. `RVR` takes the same kernels with the same parameters, and goes wherever an estimator
goes. There is less to search, since `C` and `epsilon` have no counterpart, and there is more to
get.
"""

# %%
# The same search, twice
# ----------------------
# scikit-learn's diabetes data, a quarter held out.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from relvec import RVR
from relvec.display import RegressionDisplay

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

gamma = np.logspace(-4, -1, 7)
svr = GridSearchCV(
    make_pipeline(StandardScaler(), SVR()),
    {
        "svr__gamma": gamma,
        "svr__C": np.logspace(0, 3, 4),
        "svr__epsilon": [1.0, 20.0],
    },
).fit(X_train, y_train)
rvr = GridSearchCV(
    make_pipeline(StandardScaler(), RVR()),
    {"rvr__gamma": gamma},
).fit(X_train, y_train)

for name, search, attribute in [("SVR", svr, "support_"), ("RVR", rvr, "relevance_")]:
    kept = len(getattr(search.best_estimator_[-1], attribute))
    error = root_mean_squared_error(y_test, search.predict(X_test))
    fits = len(search.cv_results_["params"]) * search.n_splits_
    print(f"{name}: test error {error:.1f}, {kept} of {len(X_train)} rows kept, {fits} fits")

# %%
# What comes on top
# -----------------
# An error bar for every prediction, noise included.
best = rvr.best_estimator_
RegressionDisplay.from_estimator(best, X_test, y_test, y_name="progression of diabetes")
plt.show()

mean, std = best.predict(X_test, return_std=True)
print(f"test rows inside the 95 % interval: {np.mean(abs(y_test - mean) <= 1.96 * std):.0%}")

# %%
# No search at all
# ----------------
# ``gamma="evidence"`` learns the width from the training rows alone, in one fit.
learnt = make_pipeline(StandardScaler(), RVR(gamma="evidence")).fit(X_train, y_train)
error = root_mean_squared_error(y_test, learnt.predict(X_test))
print(f"gamma = {learnt[-1].gamma_:.2g}, test error {error:.1f}")
