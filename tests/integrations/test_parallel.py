"""Work that falls into parts is shared out among processes, and comes out the same."""

import numpy as np
import pytest
from joblib import parallel_config

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor, compare
from tests.support import inputs
from tests.support.machines import answers, classes

MACHINES = {
    "one against the rest": (RVC(multi_class="ovr"), classes(3)),
    "independent targets": (RVR(multi_output="independent"), lambda y: np.column_stack([y, y**2])),
    "learnt scale": (
        RVR(multi_output="independent", gamma="evidence"),
        lambda y: np.column_stack([y, np.abs(y)]),
    ),
    "columns, classes": (SparseBayesianClassifier(multi_class="ovr"), classes(3)),
    "columns": (SparseBayesianRegressor(multi_output="independent"), lambda y: np.outer(y, [1, 2])),
}


def everything(model, X):
    """What a fit found, with the seconds left out, which are its own."""
    passes = [row._replace(seconds=0.0) for row in model.history_]
    return model.relevance_, model.dual_coef_, model.log_evidence_, answers(model, X), passes


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.filterwarnings("ignore::relvec.exceptions.RelvecWarning")
def test_machines_in_processes_are_those_of_one(name):
    machine, target = MACHINES[name]
    X, y = inputs.noisy_sinc(60, seed=3, slope=0.1)
    y = target(y)
    one = everything(machine.set_params(n_jobs=1).fit(X, y), X)
    two = everything(machine.set_params(n_jobs=2).fit(X, y), X)
    for found, expected in zip(two, one, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_large_designs_reach_the_processes_as_memory_they_may_not_write():
    """joblib maps arrays of a megabyte and more from files."""
    X, y = inputs.noisy_sinc(600)
    target = np.column_stack([y, np.abs(y)])
    alone = RVR(multi_output="independent").fit(X, target)
    shared = RVR(multi_output="independent", n_jobs=2).fit(X, target)
    np.testing.assert_array_equal(shared.dual_coef_, alone.dual_coef_)


def test_jobs_are_what_the_context_says():
    X, y = inputs.noisy_sinc(30)
    model = RVR(multi_output="independent")
    with parallel_config(backend="threading", n_jobs=2):
        threads = model.fit(X, np.column_stack([y, -y])).dual_coef_
    np.testing.assert_array_equal(threads, model.fit(X, np.column_stack([y, -y])).dual_coef_)


def test_models_are_compared_in_processes():
    X, y = inputs.noisy_sinc(60, slope=0.2)
    models = {
        "wide": RVR(gamma=0.01),
        "middle": RVR(gamma=0.1),
        "lambda": RVR(lambda a, b: a @ b.T),
    }
    one, two = compare(models, X, y), compare(models, X, y, n_jobs=2)
    assert one.drop(columns="seconds").equals(two.drop(columns="seconds"))


@pytest.mark.parametrize("n_jobs", [0, "two"])
def test_jobs_that_are_no_count_are_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs"):
        RVR(n_jobs=n_jobs).fit(*inputs.noisy_sinc(20))
