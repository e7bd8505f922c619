"""
Columns for another model
=========================

*I like my model. I want it to see fewer columns, chosen anew in every fold of its score.*

`SparseBayesianRegressor` decides which columns matter, and scikit-learn's ``SelectFromModel`` hands
them on, as a step of a pipeline.
"""

# %%
# Data
# ----
# Diabetes again, whose ten columns get forty of noise for company.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import SparseBayesianRegressor
from relvec.display import MIST, STEEL

X, y = load_diabetes(return_X_y=True, as_frame=True)
noise = np.random.default_rng(0).standard_normal((len(X), 40))
X = X.join(X.iloc[:, :0].assign(**{f"noise {j}": noise[:, j] for j in range(40)}))

# %%
# The selection
# -------------
# Weights of columns that do not matter are exactly zero, so that any threshold above zero tells
# them apart: there is none to choose.
select = SelectFromModel(SparseBayesianRegressor(), threshold=1e-10)
select.set_output(transform="pandas")
print(*select.fit(X, y).get_feature_names_out(), sep=", ")

# %%
# Neighbours suffer from columns of noise more than most models do.
neighbours = KNeighborsRegressor(20)
pipelines = {
    "all columns": make_pipeline(StandardScaler(), neighbours),
    "selected": make_pipeline(StandardScaler(), select, neighbours),
}
scores = {name: cross_val_score(model, X, y, cv=10) for name, model in pipelines.items()}
for name, score in scores.items():
    print(f"{name:12} R² {score.mean():.3f}")

fig, ax = plt.subplots(layout="constrained")
for place, (name, score) in enumerate(scores.items()):
    ax.barh(name, score.mean(), color=[MIST, STEEL][place])
    ax.plot(score, np.full(10, place), "k.", markersize=4)
ax.set(xlabel="R² of rows left out, mean and ten folds")
plt.show()
