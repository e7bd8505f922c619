"""Optuna looks for the parameters that the evidence, or cross-validation, likes best."""

import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVR
from tests.support import inputs, needs

optuna = needs.library("optuna")


def study():
    optuna.logging.disable_default_handler()
    return optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))


def test_the_best_width_by_evidence_is_the_one_that_a_fit_learns():
    X, y = inputs.noisy_sinc(60, seed=1)
    found = study()

    def evidence(trial):
        gamma = trial.suggest_float("gamma", 1e-2, 1, log=True)
        return RVR(gamma=gamma).fit(X, y).log_evidence_

    found.optimize(evidence, n_trials=25)
    learnt = RVR(gamma="evidence").fit(X, y)
    assert learnt.log_evidence_ - 0.1 < found.best_value <= learnt.log_evidence_
    assert found.best_params["gamma"] == pytest.approx(learnt.gamma_, rel=0.1)


# of widths that are no good
@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
def test_kernels_and_their_parameters_are_searched_by_cross_validation():
    X, y = load_diabetes(return_X_y=True)
    X, y, folds = X[:150], y[:150], KFold(3, shuffle=True, random_state=0)

    def model(kernel, gamma):
        return make_pipeline(StandardScaler(), RVR(kernel, gamma=gamma))

    def score(trial):
        kernel = trial.suggest_categorical("kernel", ["rbf", "laplacian"])
        gamma = trial.suggest_float("gamma", 1e-4, 1e-1, log=True)
        return cross_val_score(model(kernel, gamma), X, y, cv=folds).mean()

    found = study()
    found.optimize(score, n_trials=10)
    assert found.best_value > 0.3
    again = cross_val_score(model(**found.best_params), X, y, cv=folds).mean()
    assert again == found.best_value
    assert found.best_value > min(trial.value for trial in found.trials) + 0.1
