"""Queries so far out that predictions there leave the range of float64: refused, by name."""

import re
import warnings

import numpy as np
import pytest

from relvec import RVC, RVR, SparseBayesianClassifier, SparseBayesianRegressor
from relvec.basis import Polynomial
from tests.support.machines import counts

DRAW = np.random.RandomState(0)
X = DRAW.standard_normal((60, 2))
Y = X @ [1.0, 2.0] + 0.1 * DRAW.standard_normal(60)
WEDGES = (X[:, 0] > 0) + 1 * (X @ [1.0, 1.0] > 0)
REGRESSORS = {
    "linear model": SparseBayesianRegressor(),
    "linear": RVR("linear"),
    "poly": RVR("poly"),
    "linear_spline": RVR("linear_spline"),
    "mixed": RVR(["linear", "rbf"]),
    "student_t": RVR("linear", likelihood="student_t"),
    "poisson": RVR("linear", likelihood="poisson"),
    "augmented": RVR(["poly", "rbf"], augment=True),
}
CLASSIFIERS = {
    "linear model": SparseBayesianClassifier(),
    "linear": RVC("linear"),
    "linear_spline": RVC("linear_spline"),
    "softmax": RVC("linear", multi_class="multinomial"),
    "one against the rest": RVC("linear_spline", multi_class="ovr"),
}
ASKED = {
    "predict": lambda model, Q: model.predict(Q),
    "std": lambda model, Q: model.predict(Q, return_std=True),
    "cov": lambda model, Q: model.predict(Q, return_cov=True),
    "latent": lambda model, Q: model.predict_latent(Q, return_std=True),
    "interval": lambda model, Q: model.predict_interval(Q),
    "samples": lambda model, Q: model.sample_y(Q, 2, random_state=0, noise=True),
}
OF_CLASSES = ["predict", "predict_proba", "decision_function"]


def is_answered(ask):
    """Whether there is an answer, which is finite then; NumPy never warns."""
    refusal, found = None, ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = ask()
            found = found if isinstance(found, tuple) else (found,)
        except OverflowError as error:
            refusal = str(error)
    assert refusal is None or re.search("rows of X|a rate of", refusal)
    assert all(np.isfinite(each).all() for each in found)
    return refusal is None


def target_of(model):
    return counts(Y) if model.get_params().get("likelihood") == "poisson" else 1e20 * Y


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("asked", ASKED)
def test_regression(name, asked):
    model = REGRESSORS[name].fit(X, target_of(REGRESSORS[name]))
    if model.get_params().get("augment") and asked in ("cov", "samples"):
        pytest.skip("refused anywhere")
    sizes = [1.0, 1e20, 1e60, 1e90, 1e150, 1e200, 1e308]
    answered = [
        is_answered(lambda size=size: ASKED[asked](model, np.full((1, 2), size))) for size in sizes
    ]
    assert answered[0]
    assert not answered[-1]
    assert answered == sorted(answered, reverse=True)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("asked", OF_CLASSES)
def test_classification(name, asked):
    labels = Y > 0 if name in ("linear model", "linear", "linear_spline") else WEDGES
    model = CLASSIFIERS[name].fit(X, labels)
    answered = [
        is_answered(lambda size=size: getattr(model, asked)(np.full((1, 2), size)))
        for size in [1.0, 1e20, 1e90, 1e160, 1e308]
    ]
    assert answered[0]
    assert not answered[-1]


def test_transform_refuses_by_name():
    basis = Polynomial().fit(X)
    with pytest.raises(OverflowError, match=r"these rows of X.*1e\+200"):
        basis.transform([[1e200, 1.0]])
