"""
Thirty measurements, of which a few will do
===========================================

*Every input costs money to measure. Which can be left out?*

`SparseBayesianClassifier` and `SparseBayesianRegressor` have the columns of X for functions, and
most columns end with a weight of exactly zero. scikit-learn's breast cancer data have thirty
measurements of cell nuclei, many of which say nearly the same.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import SparseBayesianClassifier
from relvec.display import BLUE, STEEL

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

scaler = StandardScaler().set_output(transform="pandas")  # so that names stay with the columns
model = make_pipeline(scaler, SparseBayesianClassifier()).fit(X_train, y_train)
ridge = GridSearchCV(
    make_pipeline(StandardScaler(), LogisticRegression()),
    {"logisticregression__C": np.logspace(-3, 3, 13)},
    scoring="neg_log_loss",
).fit(X_train, y_train)

for name, classifier in [("sparse", model), ("all thirty, ridge penalty", ridge)]:
    right = accuracy_score(y_test, classifier.predict(X_test))
    loss = log_loss(y_test, classifier.predict_proba(X_test))
    print(f"{name}: {right:.1%} right, log loss {loss:.3f} nats")
print(model[-1].summary()[["weight", "std"]].round(2))

# %%
# The penalty of the second model was cross-validated; there was nothing to choose in the first. Its
# weights are those of the log-odds that a tumour is benign, for one standard deviation more of
# the measurement.
#
# Why so few?
# -----------
# Most of what was left out varies along with something that was kept. It would be a mistake to read
# that those measurements have nothing to do with the tumour.
names = model[-1].basis_.names(model[-1].feature_names_in_)
shared = X_train.corr().abs()[names].max(axis=1).sort_values()

fig, ax = plt.subplots(figsize=(6.4, 6), layout="constrained")
ax.barh(shared.index, shared, color=[BLUE if name in names else STEEL for name in shared.index])
ax.set(xlabel="largest correlation with a measurement that was kept (dark: these)", xlim=(0, 1))
ax.tick_params(axis="y", labelsize="small")
ax.margins(y=0.01)
plt.show()
